"""report convert: every kind of document in every format that can show it, and a refusal in any other."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from skillgate.model.codec import encode
from skillgate.report.rendering import KINDS, formats_of
from tests.cli.running import Done, commit, run
from tests.report import kinds as made
from tests.skills import BODY, write_skill

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SKILL = {"skill": {"name": "x", "path": "x"}, "findings": 0, "suppressed": 0, "score": None, "badge": None}
_GONE = BODY + "\n[x](references/gone.md)\n"


def _is_json(text: str) -> bool:
    return isinstance(json.loads(text), dict | list)


_LOOKS_LIKE: dict[str, Callable[[str], bool]] = {
    "text": lambda text: bool(text.strip()) and not text.startswith(("<", "{")),
    "json": _is_json,
    "markdown": lambda text: "|" in text or "**" in text or "#" in text,
    "html": lambda text: text.startswith("<!doctype html>"),
    "csv": lambda text: len(list(csv.reader(io.StringIO(text)))) > 1,
    "junit": lambda text: ElementTree.fromstring(text).tag == "testsuites",
    "sarif": lambda text: json.loads(text)["version"] == "2.1.0",
    "github": lambda text: "skillgate: " in text,
    "gitlab": _is_json,
    "prometheus": lambda text: text.startswith("# HELP skillgate_"),
}


@pytest.fixture(scope="module")
def documents() -> dict[str, str]:
    """Return a document of each kind, as JSON."""
    return {kind: json.dumps(encode(document)) for kind, document in made.documents().items()}


def test_the_table_has_every_kind_that_a_type_declares() -> None:
    assert set(KINDS) == made.declared()


@pytest.mark.parametrize("form", formats_of())
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_in_every_format(tmp_path: Path, documents: dict[str, str], kind: str, form: str) -> None:
    (tmp_path / "document.json").write_text(documents[kind], encoding="utf-8")
    done = run(tmp_path, "report", "convert", "document.json", "--format", form)
    if form in formats_of(kind):
        assert (done.code, done.err) == (0, "")
        assert _LOOKS_LIKE[form](done.out)
    else:
        can = ", ".join(formats_of(kind))
        assert (done.code, done.out) == (2, "")
        assert done.err == f"skillgate: error: {KINDS[kind].what} cannot be written as {form}; it can be as {can}\n"


@pytest.mark.parametrize("kind", KINDS)
def test_json_of_json_is_the_same_document(tmp_path: Path, documents: dict[str, str], kind: str) -> None:
    (tmp_path / "document.json").write_text(documents[kind], encoding="utf-8")
    assert run(tmp_path, "report", "convert", "document.json", "--format", "json").json == json.loads(documents[kind])


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    write_skill(tmp_path / "skills", "tidy", body=_GONE)
    write_skill(tmp_path / "skills", "fine")
    aside = "\n<!-- skillgate: ignore ORPHAN_REFERENCE: the release writes it -->\n[x](references/gone.md)\n"
    write_skill(tmp_path / "skills", "aside", body=BODY + aside)
    (tmp_path / "skills/odd/SKILL.md").mkdir(parents=True)
    commit(tmp_path)
    sarif: dict[str, Any] = {"message": {"text": "no licence"}, "ruleId": "licence", "level": "warning"}
    sarif["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": "README.md"}}}]
    log = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "other"}}, "results": [sarif]}]}
    (tmp_path / "other.sarif").write_text(json.dumps(log), encoding="utf-8")
    return tmp_path


def _converted(folder: Path, form: str, *words: str) -> tuple[Done, Done]:
    """Return what a command prints in a format, and what its JSON becomes in it."""
    direct = run(folder, *words, "--output", form)
    (folder / "document.json").write_text(run(folder, *words, "--json").out, encoding="utf-8")
    return direct, run(folder, "report", "convert", "document.json", "--format", form)


@pytest.mark.parametrize("form", ["text", "github", "gitlab", "junit", "sarif"])
def test_a_check_is_converted_into_what_check_prints(skills: Path, form: str) -> None:
    gates = ("--fail-on", "error,warning", "--threshold", "50", "--merge-sarif", "other.sarif")
    direct, converted = _converted(skills, form, "check", "skills", *gates)
    assert direct.code == 1
    assert converted.code == 0
    assert converted.out == direct.out != ""


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_check_is_converted_into_a_page_with_its_findings(skills: Path, form: str) -> None:
    _, converted = _converted(skills, form, "check", "skills")
    assert "references/gone.md" in converted.out
    assert "skills/tidy" in converted.out


@pytest.mark.parametrize(
    "words", [("score", "skills"), ("score", "skills/tidy"), ("compare", "skills/tidy", "HEAD:skills/tidy")]
)
@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_scores_are_converted_into_what_is_printed(skills: Path, words: tuple[str, ...], form: str) -> None:
    direct, converted = (_shared(done.out) for done in _converted(skills, form, *words))
    assert converted == direct != ""


def _shared(page: str) -> str:
    """Leave out what only one of them knows: the source, and the digest of the configuration."""
    page = re.sub(r"<pre>.*?</pre>", "", page, flags=re.DOTALL)
    return re.sub(r"<div><dt>Configuration</dt>.*?</div>\n|- Configuration: .*\n", "", page)


@pytest.mark.parametrize("command", ["check", "score"])
def test_the_address_of_a_rule_in_a_document_brings_no_markup(skills: Path, command: str) -> None:
    hostile = "https://example.org/) <img src=x> | \x1b[31m"
    text = run(skills, command, "skills/tidy", "skills/fine", "--json").out
    document = json.loads(text, object_hook=lambda found: found | {"url": hostile} if "url" in found else found)
    (skills / "hostile.json").write_text(json.dumps(document), encoding="utf-8")
    for form in ("markdown", "html"):
        done = run(skills, "report", "convert", "hostile.json", "--format", form)
        assert (done.code, "ORPHAN" in done.out) == (0, True)
        assert "example.org" not in done.out
        assert "\x1b" not in done.out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"findings": []}, "its skills have other findings than it lists"),
        ({"suppressed": []}, "its skills have other findings than it lists"),
        ({"skills": [_SKILL | {"findings": -1}]}, "skills[0].findings"),
        ({"kind": "nonsense"}, "kind: expected one of score, check"),
        ({"kind": ["check"]}, "kind: expected one of score, check"),
        ({"schema_version": 999}, "a later one wrote it"),
    ],
)
def test_a_document_that_contradicts_itself_is_refused(skills: Path, change: dict[str, Any], said: str) -> None:
    document = run(skills, "check", "skills", "--json").json | change
    (skills / "odd.json").write_text(json.dumps(document), encoding="utf-8")
    done = run(skills, "report", "convert", "odd.json", "--format", "junit")
    assert (done.code, done.out) == (2, "")
    assert said in done.err
