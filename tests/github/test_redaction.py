"""No value of a secret leaves in any spelling, and nothing else is touched."""

from __future__ import annotations

import base64
import html
import json
import re
import string
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillgate.action.protocol import MASK, SHORTEST, Redactor, command, quiet, secrets_of
from skillgate.format import printable
from skillgate.model.codec import encode
from skillgate.report.escape import code, inert
from skillgate.report.formats.github import Annotation
from tests.report.reports import a_finding, a_report, a_skill

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN = "ghs_16C7e42F292c6912E7710c838347Ae178B4a"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA75y\nh9+Qz/kvWTlqH7wJ\nZm9v\n-----END RSA PRIVATE KEY-----"


def _lowered(text: str) -> str:
    parts = text.split("%")
    return "%".join([parts[0], *(part[:2].lower() + part[2:] for part in parts[1:])])


ENCODINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "JSON": json.dumps,
    "JSON with every letter": lambda text: json.dumps(text, ensure_ascii=False),
    "JSON in JSON": lambda text: json.dumps(json.dumps(text)),
    "JSON in HTML": lambda text: (
        json.dumps(text).replace("<", "\\u003c").replace("&", "\\u0026").replace("'", "\\u0027")
    ),
    "an address": lambda text: quote(text, safe=""),
    "a path of an address": quote,
    "a form": quote_plus,
    "an address in small digits": lambda text: _lowered(quote(text, safe="")),
    "an address twice": lambda text: quote(quote(text, safe=""), safe=""),
    "HTML": html.escape,
    "HTML twice": lambda text: html.escape(html.escape(text)),
    "Markdown": inert,
    "code in Markdown": code,
    "Markdown in JSON": lambda text: json.dumps(inert(text)),
    "a line": printable,
    "a command": lambda text: command("error", text=text),
    "a property": lambda text: str(Annotation("error", (("title", text),), "x")),
    "a quiet text": lambda text: quiet(text, lambda: "0123456789abcdefghij"),
}


def secrets() -> st.SearchStrategy[str]:
    """Give values as people and services make them, with whatever an encoding has to escape."""
    likely = string.ascii_letters + string.digits + "+/=_-.~!@#$%^&*()<>\"'|: ,;[]{}?éß漢😀"
    return (
        st.text(likely, min_size=SHORTEST, max_size=40)
        .map(str.strip)
        .filter(lambda text: len(text) >= SHORTEST and len(set(text)) > 1)
    )


@pytest.mark.parametrize("name", ENCODINGS)
@settings(deadline=None)
@given(secret=secrets(), before=st.text(max_size=10), after=st.text(max_size=10))
def test_no_encoding_of_a_secret_survives(name: str, secret: str, before: str, after: str) -> None:
    encoded = ENCODINGS[name](before + secret + after)
    cleaned = Redactor([secret]).clean(encoded)
    assert secret not in cleaned
    assert MASK in cleaned
    around = ENCODINGS[name](f"{before}-{after}")
    assert not [run for run in re.findall(r"[A-Za-z0-9]{4,6}", secret) if run in cleaned and run not in around]


@settings(deadline=None)
@given(secret=secrets(), before=st.binary(max_size=7), after=st.binary(max_size=7), urlsafe=st.booleans())
def test_no_base64_of_a_secret_survives_wherever_it_begins(
    secret: str, before: bytes, after: bytes, *, urlsafe: bool
) -> None:
    encode64 = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    encoded = encode64(before + secret.encode() + after).decode()
    cleaned = Redactor([secret]).clean(f"basic {encoded}.")
    assert cleaned.startswith("basic ")
    assert MASK in cleaned
    shown = cleaned.removeprefix("basic ").removesuffix(".").split(MASK)
    assert sum(map(len, shown)) <= 4 * (len(before) + len(after)) // 3 + 8


@settings(deadline=None)
@given(st.lists(secrets(), max_size=5), st.text(), st.lists(st.integers(0, 4), max_size=6))
def test_of_several_secrets_side_by_side_none_survives(values: list[str], filler: str, order: list[int]) -> None:
    text = filler.join(values[index % len(values)] for index in order) if values else filler
    cleaned = Redactor(values).clean(text)
    assert not [value for value in values if value in cleaned]


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_a_text_without_secrets_is_the_same_object(text: str) -> None:
    assert Redactor([TOKEN, KEY, "correct horse battery"]).clean(text) is text


@settings(deadline=None)
@given(st.lists(secrets(), max_size=3), st.text())
def test_what_is_clean_stays_as_it_is(values: list[str], text: str) -> None:
    redactor = Redactor(values)
    cleaned = redactor.clean(text + "".join(values))
    assert redactor.clean(cleaned) is cleaned


def test_secrets_that_overlap_become_one_and_the_longest_wins() -> None:
    assert Redactor(["abcdefgh", "efghijkl"]).clean("-abcdefghijkl-") == "-***-"
    assert Redactor(["abcdefgh", "abcdefghijkl"]).clean("-abcdefghijkl-abcdefgh!") == "-***-***!"
    assert Redactor(["abcdefgh", "defghijk"]).clean("abcdefghabcdefgh") == "******"


def test_the_text_around_a_secret_stays() -> None:
    assert Redactor([TOKEN]).clean(f"x={TOKEN};") == "x=***;"
    assert json.loads(Redactor(['a"b\\c"d"e<f']).clean(json.dumps({"x": 'a"b\\c"d"e<f', "y": 1}))) == {
        "x": "***",
        "y": 1,
    }


@pytest.mark.parametrize(
    "value", ["", "short", "1234567", "********", "        ", "\\\\\\\\\\\\\\\\", "\n\n\n\n\n\n\n\n\n"]
)
def test_what_is_too_short_or_nothing_but_one_character_is_left_alone(value: str) -> None:
    text = f"a {value} b 1234567 ******** short"
    assert Redactor([value]).clean(text) is text


@pytest.mark.parametrize(
    "written", [str, lambda text: text.replace("\n", "\\n"), lambda text: text.replace("\n", "\r\n")]
)
def test_a_secret_of_several_lines_is_found_whole_and_by_line(written: Callable[[str], str]) -> None:
    redactor = Redactor([written(KEY)])
    for whole in (
        KEY,
        json.dumps(KEY),
        inert(KEY),
        printable(KEY),
        KEY.replace("\n", "\r\n"),
        command("error", text=KEY),
    ):
        assert "MIIEow" not in redactor.clean(whole)
        assert "Zm9v" not in redactor.clean(whole)
    assert redactor.clean("1: h9+Qz/kvWTlqH7wJ.") == "1: ***."
    assert redactor.clean("-----BEGIN RSA PRIVATE KEY-----") == "-----BEGIN RSA PRIVATE KEY-----"


class Colour(Enum):
    RED = TOKEN


class Pair(NamedTuple):
    left: object
    right: object = 1


@dataclass(frozen=True, slots=True)
class Record:
    text: str
    paths: tuple[PurePosixPath, ...] = ()
    colour: Colour = Colour.RED


def test_values_are_cleaned_at_any_depth_and_keep_their_types() -> None:
    path = PurePosixPath(f"skills/{TOKEN}/SKILL.md")
    value = Pair((Record(f"a {TOKEN}", (path,)), [TOKEN, 3, None, True, 1.5]), MappingProxyType({TOKEN: {"k": TOKEN}}))
    cleaned = Redactor([TOKEN]).clean_values(value)
    record = Record("a ***", (PurePosixPath("skills/***/SKILL.md"),))
    assert cleaned == Pair((record, ["***", 3, None, True, 1.5]), {TOKEN: {"k": "***"}})
    assert type(cleaned) is Pair


def test_values_without_a_secret_are_the_same_object() -> None:
    value = Pair((Record("a", (PurePosixPath("b"),)), [1, None]), MappingProxyType({TOKEN: Colour.RED}))
    assert Redactor([TOKEN]).clean_values(value) is value
    assert Redactor([]).clean_values(value) is value


def test_a_cleaned_report_holds_the_secret_nowhere_and_keeps_the_rest() -> None:
    finding = a_finding(message=f"prints {TOKEN}", path=f"skills/{TOKEN}.md", fix=f"remove {TOKEN}")
    report = a_report(a_skill(finding), a_skill(path="skills/two"))
    cleaned = Redactor([TOKEN]).clean_values(report)
    assert TOKEN not in json.dumps(encode(cleaned))
    assert cleaned.results[1] is report.results[1]
    assert json.loads(json.dumps(encode(report)).replace(TOKEN, MASK)) == encode(cleaned)


SECRETS = (
    {"GITHUB_TOKEN": TOKEN},
    {"INPUT_GITHUB-TOKEN": "anything-at-all"},
    {"ACTIONS_RUNTIME_TOKEN": "eyJhbGciOiJS.x"},
    {"ACTIONS_ID_TOKEN_REQUEST_TOKEN": "some-long-value"},
    {"ANTHROPIC_API_KEY": "sk-something-long"},
    {"AWS_SECRET_ACCESS_KEY": "/wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"},
    {"DB_PASSWORD": "correcthorse"},
    {"MYSQL_PWD": "correcthorse"},
    {"npm_config__auth": "dXNlcjpwYXNz"},
    {"SLACK_WEBHOOK_URL": "https://hooks.example.com/services/T0/B0/x"},
    {"STORAGE_TOKEN": "https://store.example.com/x?sig=abcdefgh"},
    {"APP_PRIVATE_KEY": KEY},
    {"DATABASE_DSN": "user:hunter22@tcp(db)/x"},
)


@pytest.mark.parametrize("environ", SECRETS, ids=lambda environ: next(iter(environ)))
def test_a_variable_that_is_called_like_a_secret_is_one(environ: dict[str, str]) -> None:
    assert set(environ.values()) <= set(secrets_of(environ))


@pytest.mark.parametrize(
    "token",
    [
        TOKEN,
        "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv",
        "sk-ant-api03-abcdefghijklmnop-qrst",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
        KEY,
    ],
)
def test_a_value_of_a_known_form_is_a_secret_under_any_name(token: str) -> None:
    assert token in secrets_of({"HEADER": f"Authorization: bearer {token}"})


def test_of_an_address_only_the_password_or_a_token_is_a_secret() -> None:
    environ = {
        "DATABASE_URL": "postgres://somebody:p%40ssw0rd!@db.example.com/x",
        "PIP_INDEX_URL": "https://0123456789abcdef0123@pypi.example.com/simple",
        "ACTIONS_ID_TOKEN_REQUEST_URL": "https://pipelines.example.com/x",
        "SSH": "ssh://git@github.com/a/b",
    }
    assert secrets_of(environ) == ("p%40ssw0rd!", "p@ssw0rd!", "0123456789abcdef0123")


def test_facts_words_and_paths_are_no_secrets() -> None:
    sha = "8a1b2c3d4e5f60718293a4b5c6d7e8f901234567"
    environ = {
        "GITHUB_SHA": sha,
        "GITHUB_REPOSITORY": "octo-org/octo-repo",
        "GITHUB_HEAD_REF": "feature/token",
        "GITHUB_EVENT_PATH": "/github/workflow/event.json",
        "INPUT_COMMENT-KEY": "skills-nightly",
        "INPUT_PATHS": "skills/secret-keeper",
        "PWD": "/github/workspace",
        "HOME": "/github/home",
        "SSH_AUTH_SOCK": "/tmp/ssh-abcdefgh/agent.1",
        "GOOGLE_APPLICATION_CREDENTIALS": "/github/workspace/gha-creds.json",
        "AUTH_METHOD": "kubernetes-service",
        "SECRET_STORE": "kubernetes",
        "TOKENIZERS_PARALLELISM": "false",
        "CACHE_KEY": sha,
        "GIT_AUTHOR_NAME": "Somebody Or Other",
        "MONKEY_BUSINESS": "bananas and more",
    }
    assert secrets_of(environ) == ()


@pytest.mark.parametrize(
    "run", ["\\", "%25", "%2525", "&amp;", "&", "%", "a", "\u200b", "\\u200b", "a\\", "&#0", "%EF"]
)
def test_a_long_run_of_what_escapes_is_read_once(run: str) -> None:
    redactor = Redactor(["%&%&%&%&!", "\u00e9&aaaaaaaa", "aaaaaaa\n%", "<aaaaaaaab"])
    text = run * (400_000 // len(run))  # read at every place this would take hours
    assert MASK not in redactor.clean(text)


def test_two_hundred_secrets_do_not_make_the_pattern_try_each_at_each_place() -> None:
    values = [f"{index:x}-{index * 7919 + 12345:x}/{'qw' * (index % 5)}+secret" for index in range(200)]
    redactor = Redactor(values)
    text = "The quick brown fox: 17 of https://example.com/a?b=c%20d.\n" * 200
    assert redactor.clean(text) is text
    assert redactor.clean(f"{text}{values[137]}{text}") == f"{text}***{text}"
