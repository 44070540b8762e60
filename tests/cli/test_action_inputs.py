"""The Action's inputs: every form is read as GitHub hands it over, and all mistakes are told at once."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from skillgate import settings
from skillgate.action import request as action_inputs
from skillgate.action.plan import OUTPUTS
from skillgate.action.request import choices_of, default_of, read_inputs, set_options, unknown_inputs, variable
from skillgate.config import Config
from skillgate.errors import UsageError
from skillgate.model.setting import (
    BASE,
    BASE_ALONE,
    CHANGE,
    KEY,
    NEVER,
    OUTPUT,
    SHARD,
    UNTRACKED,
    WORDS,
    Input,
    Kind,
)
from skillgate.settings import INPUTS
from tests.architecture.source import ROOT

BY_NAME = {entry.key: entry for entry in INPUTS}


def read(**inputs: str) -> dict[str, object]:
    """Read inputs whose names are written with underscores."""
    return dict(read_inputs({variable(name.replace("_", "-")): text for name, text in inputs.items()}))


def test_variables_keep_their_hyphens_as_the_runner_does() -> None:
    assert variable("github-token") == "INPUT_GITHUB-TOKEN"
    assert variable("two words") == "INPUT_TWO_WORDS"
    assert read_inputs({"INPUT_REPORT-DIR": "out"})["report-dir"] == "out"
    assert read_inputs({"INPUT_REPORT_DIR": "out"})["report-dir"] == "skillgate-report"


def test_without_any_input_the_defaults_hold() -> None:
    found = read()
    assert set(found) == set(BY_NAME)
    assert found["github-token"] is None  # GitHub fills it in
    expected = {"mode": "auto", "paths": (".",), "baseline": "auto", "allow-exec": False, "comment": "always"}
    assert {name: found[name] for name in expected} == expected
    assert [name for name in ("threshold", "max-drop", "depth", "profile", "fail-on", "sarif") if found[name]] == []


def test_an_empty_input_is_the_same_as_none_given() -> None:
    assert read(**{name.replace("-", "_"): " \n " for name in BY_NAME}) == read()


def test_every_default_that_github_does_not_fill_in_is_valid() -> None:
    assert read_inputs({variable(entry.key): default_of(entry) for entry in INPUTS}) == read()


@pytest.mark.parametrize("name", [entry.key for entry in INPUTS if entry.kind is Kind.CHOICE])
def test_each_choice_is_taken_and_nothing_else(name: str) -> None:
    choices = choices_of(BY_NAME[name])
    for choice in choices:
        assert read_inputs({variable(name): f" {choice}\n"})[name] == choice
    with pytest.raises(UsageError, match=f"input {name}: expected {choices[0]}, .*; found 'no-such'"):
        read_inputs({variable(name): "no-such"})
    with pytest.raises(UsageError, match="found"):
        read_inputs({variable(name): choices[0].upper()})


def test_a_mistyped_choice_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"\(did you mean 'failures'\?\)"):
        read(comment="failure")


@pytest.mark.parametrize("text", ["true", "True", "TRUE"])
def test_a_flag_is_on_in_yamls_three_spellings(text: str) -> None:
    off = text.replace("true", "false").replace("True", "False").replace("TRUE", "FALSE")
    assert read(regression_issue=text)["regression-issue"] is True
    assert read(regression_issue=off)["regression-issue"] is False


@pytest.mark.parametrize("text", ["yes", "1", "tRUE", "on", "truee"])
def test_anything_else_is_no_flag(text: str) -> None:
    with pytest.raises(UsageError, match=f"input regression-issue: expected true or false, found '{text}'"):
        read(regression_issue=text)


@pytest.mark.parametrize(("text", "number"), [("0", 0.0), ("100", 100.0), ("82.25", 82.25), (" 7 ", 7.0)])
def test_a_number_within_its_bounds_is_read(text: str, number: float) -> None:
    assert read(threshold=text)["threshold"] == number


@pytest.mark.parametrize(
    "text", ["-1", "100.1", "1e3", "nan", "inf", "0x10", "1_000", "8,5", "9" * 13, "1.", ".5", "+1"]
)
def test_a_number_out_of_bounds_or_in_another_spelling_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="input threshold: expected a number from 0 to 100, found"):
        read(threshold=text)


def test_bounds_are_told_as_they_are() -> None:
    with pytest.raises(UsageError, match="input max-drop: expected a number of at least 0, found '-2'"):
        read(max_drop="-2")
    with pytest.raises(UsageError, match="input pr-number: expected a whole number of at least 1, found '0'"):
        read(pr_number="0")


def test_lines_keep_their_order_and_what_stands_in_them() -> None:
    assert read(paths=" a b \r\n\n!c, d\n\ta b")["paths"] == ("a b", "!c, d", "a b")


def test_a_whole_number_is_read_as_one_and_a_part_of_one_refused() -> None:
    assert [type(read(judges=text)["judges"]) for text in ("3", "3.0")] == [int, int]
    with pytest.raises(UsageError, match=r"input judges: expected a whole number from 1 to 9, found '2\.5'"):
        read(judges="2.5")


def test_words_are_split_at_commas_and_lines_and_stand_once() -> None:
    assert read(fail_on="threshold, error\nerror,,regression,")["fail-on"] == ("threshold", "error", "regression")
    assert read(fail_on=" , ")["fail-on"] is None
    with pytest.raises(UsageError, match=r"input fail-on: expected error, .*; found 'benchmarks'"):
        read(fail_on="error,benchmarks")


@pytest.mark.parametrize("text", ["default", "A.b_c-1", "x" * 64])
def test_a_key_of_harmless_characters_is_read(text: str) -> None:
    assert read(comment_key=text)["comment-key"] == text


@pytest.mark.parametrize("text", ["a b", "a-->", "<!--", "a\nb", "é", "x" * 65, "a/b", "a\x00"])
def test_a_key_that_could_end_a_marker_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="input comment-key: expected 1 to 64 letters"):
        read(comment_key=text)


def test_all_mistakes_are_told_at_once_in_the_order_of_declaration() -> None:
    with pytest.raises(UsageError) as caught:
        read(threshold="high", mode="x", regression_issue="perhaps", comment_key="a b")
    lines = str(caught.value).split("\n")
    assert [line.partition(":")[0] for line in lines] == [
        "input mode",
        "input threshold",
        "input comment-key",
        "input regression-issue",
    ]


@given(st.sampled_from(sorted(BY_NAME)), st.text(st.characters(codec="utf-8"), max_size=300))
def test_any_text_is_either_read_or_refused_in_one_short_line(name: str, text: str) -> None:
    message = ""
    try:
        read_inputs({variable(name): text})
    except UsageError as error:
        message = str(error)
    assert not message or message.startswith(f"input {name}: expected ")
    assert "\n" not in message
    assert len(message) < 1200


def test_what_github_fills_in_is_read_where_it_is_given() -> None:
    assert read(github_token="ghs_x")["github-token"] == "ghs_x"


def test_unknown_inputs_are_told_and_known_ones_not() -> None:
    environ = {variable(name): "x" for name in BY_NAME} | {"INPUT_TRESHOLD": "1", "INPUT_A-B": "", "HOME": "/root"}
    assert unknown_inputs(environ) == (
        "unknown input 'a-b' has no effect",
        "unknown input 'treshold' has no effect (did you mean 'threshold'?)",
    )


def test_what_a_configuration_says_is_no_input() -> None:
    gone = ("min-dimension", "near-misses", "seed", "min-activation", "max-failure-rate", "opponents", "summary")
    assert not {*gone, "github-api-url"} & BY_NAME.keys()
    told = unknown_inputs({variable(name): "x" for name in ("min-dimension", "script", "summary")})
    assert told == (
        "unknown input 'min-dimension' has no effect; set min-dimension in the configuration",
        "unknown input 'script' has no effect",  # no project's file may set it
        "unknown input 'summary' has no effect",
    )


def test_the_manifest_says_of_each_input_over_the_configuration_that_this_holds_without_it() -> None:
    manifest = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    over = {
        entry.key
        for entry in INPUTS
        if entry.configured and entry.action and entry.action.configures and not entry.personal
        if not entry.action.default
    }
    texts = {key: manifest["inputs"][key]["description"] for key in over}
    assert {key for key, text in texts.items() if re.search("as configured|the configuration's", text)} == over
    assert over >= {"threshold", "judge-model", "judges", "model"}


def test_an_entry_is_all_that_an_input_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = settings.MAX_CALLS._replace(action=Input())
    monkeypatch.setattr(action_inputs, "INPUTS", (*INPUTS, calls))
    inputs = read_inputs({variable("max-calls"): "7"})
    assert set_options(inputs)["max-calls"] == 7
    assert Config(cwd="/").with_options(set_options(inputs)).get(settings.MAX_CALLS) == 7


def test_an_input_is_declared_once_with_a_sentence_and_a_name_in_small_letters() -> None:
    for name, text in [*((entry.key, entry.help) for entry in INPUTS), *OUTPUTS]:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
        assert text.endswith(".")
        assert "\n" not in text
    assert len(BY_NAME) == len(INPUTS)
    assert len({declared.name for declared in OUTPUTS}) == len(OUTPUTS)


def test_an_input_says_what_its_kind_needs() -> None:
    for entry in INPUTS:
        assert bool(entry.choices) == (entry.kind in (Kind.CHOICE, Kind.CHOICES)), entry.key
        assert entry.action is not None
        assert entry.action.origin in ("", CHANGE, BASE, BASE_ALONE, UNTRACKED, OUTPUT, NEVER)
        assert entry.action.form in {Kind.TEXTS: ("", WORDS), Kind.TEXT: ("", KEY, SHARD)}.get(entry.kind, ("",))
        assert set(entry.action.without) <= set(entry.choices)
