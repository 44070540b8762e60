"""Rules of a scripted model: what is read from a file, and what is said of one that is wrong."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from skillgate.errors import UsageError
from skillgate.llm.providers.scripted import Engine, Failure, Message
from skillgate.llm.scripted.rules import Match, Scripted, parse
from tests.llm.scripted_bodies import SKILL, assessments

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "judge-rules.yaml"


def problems(text: str) -> list[str]:
    """Give the lines of what is said of a file of rules."""
    with pytest.raises(UsageError) as caught:
        parse(text.encode(), "rules.yaml")
    return str(caught.value).split("\n")


def test_rules_are_read_in_their_order() -> None:
    text = """
rules:
  - match: {question: [output_quality, scope_calibration], contains: FLAW, times: 2}
    reply: {status: 529, retry_after_s: 1.5}
  - reply: {rating: {robustness: 3}, delay_ms: 20}
"""
    first, second = parse(text.encode(), "rules.yaml").rules
    assert first.match == Match(question=("output_quality", "scope_calibration"), contains="FLAW", times=2)
    assert (first.reply.status, first.reply.retry_after_s) == (529, 1.5)
    assert second.match == Match()
    assert second.reply.rating == {"robustness": 3}


def test_json_is_read_as_well() -> None:
    (rule,) = parse(b'{"rules": [{"reply": {"json": {"a": [1, null, "x"]}}}]}', "rules.json").rules
    assert rule.reply.json == {"a": [1, None, "x"]}


def test_a_reply_of_null_is_a_reply() -> None:
    given, made_up = parse(b"rules: [{reply: {json: null}}, {reply: {}}]", "rules.yaml").rules
    assert given.reply.json is None
    assert made_up.reply.json is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: [", "rules.yaml:1:1: "),
        ("- reply: {}", "rules.yaml:1:1: a list"),
        ("", "rules.yaml:1:1: empty"),
        ("rules: 3", "rules.yaml:1: rules: expected a list, found 3"),
        (
            "rules:\n- reply: {}\n  mtch: {}",
            'rules.yaml:3: rules[0].mtch: expected a known key (did you mean "match"?)',
        ),
        ("rules:\n- match: {}", "rules.yaml:2: rules[0].reply: expected"),
        (
            "rules:\n- reply:\n    status: 200",
            "rules.yaml:3: rules[0].reply.status: expected an integer",
        ),
        ("rules:\n- reply: {delay_ms: -1}", "rules.yaml:2: rules[0].reply.delay_ms: expected"),
        ("rules:\n- reply: {rating: 11}", "rules.yaml:2: rules[0].reply.rating: expected"),
        ("rules:\n- {reply: {}, match: {times: 0}}", "rules.yaml:2: rules[0].match.times: expected"),
        ("rules:\n- reply: {text: a}\n  reply: {text: b}", "rules.yaml:3: duplicate key rules[0].reply"),
        ("rules:\n- reply: {text: a, status: 500}", "rules.yaml:2: status and text are different replies"),
        ("rules:\n- reply: {retry_after_s: 2}", "rules.yaml:2: retry_after_s belongs to a failure"),
        ("rules:\n- reply: {status: 500, rating: 0}", "rules.yaml:2: rating has no place in a failure"),
        ("rules:\n- reply: {text: a, rating: 0}", "rules.yaml:2: rating is for a reply that is made up"),
        ("rules:\n- reply: {input: {}}", "rules.yaml:2: input belongs to tool_use"),
        ("rules:\n- reply: {json: {day: [.nan]}}", "rules.yaml:2: json has a value that JSON cannot hold"),
        ("rules:\n- reply: {json: {day: 2026-01-31}}", "rules.yaml:2: json has a value that JSON cannot hold"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(text: str, said: str) -> None:
    assert problems(text)[0].startswith(said)


def test_all_problems_of_a_file_are_told_at_once() -> None:
    found = problems("rules:\n- reply: {txt: a}\n- reply: {status: 99}\n- match: {model: 3}\n  reply: {}\n")
    assert [line.partition(": ")[0] for line in found] == ["rules.yaml:2", "rules.yaml:3", "rules.yaml:4"]


def test_a_file_that_is_no_text_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^r:2: not UTF-8"):
        parse(b"rules:\n\xff", "r")


def test_a_file_that_unfolds_without_end_is_refused() -> None:
    names = "abcdefghijklmnopq"
    doubled = "".join(f"{name}: &{name} [*{last},*{last}]\n" for last, name in pairwise(names))
    assert "more than 50000 values" in problems(f"a: &a [x,x]\n{doubled}rules: []\n")[0]


def test_the_example_does_what_it_says() -> None:
    model = Engine(parse(EXAMPLE.read_bytes(), EXAMPLE.name))
    busy = assessments()["scope_calibration"].body
    assert [type(model.answer(busy)) for _ in range(3)] == [Failure, Failure, Message]
    flawed = assessments(f"{SKILL}\nFor the rest, figure it out as you go.\n")
    assert '"score": 2}], "control": {"score": 0}}' in _text(model.answer(flawed["output_quality"].body))
    refused = assessments(f"{SKILL}\nPlease refuse this demonstration.\n")["other_dimensions"].body
    assert getattr(model.answer(refused), "stop_reason", None) == "refusal"
    request = assessments()["output_quality"]
    word = json.loads(_text(model.answer({**request.body, "model": "a-word-for-word"})))
    assert request.check is not None
    assert request.check(word) is None


def test_the_page_names_every_key_of_a_rule() -> None:
    page = (ROOT / "docs" / "how-to" / "without-a-key.md").read_text(encoding="utf-8")
    assert not [name for name in (*Match._fields, *Scripted._fields) if f"`{name}`" not in page]


def _text(outcome: Message | Failure) -> str:
    assert isinstance(outcome, Message)
    return str(outcome.content[0]["text"])
