"""What the schema of a record accepts is read, and what is read it accepts, as far as a schema can say it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.invocations.formats import Options
from skillgate.invocations.formats._record import CHOICES, FIELDS, FILLERS, invocation_of
from skillgate.invocations.record_schema import invocation_schema
from tests.architecture.source import ROOT
from tests.cli.running import run

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = invocation_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
OVERRIDDEN = {"skill": "skill_name", "category": "skill_category", "id": "invocation_id", "errors": "error_count"}
OPTIONS = Options(datetime(2026, 11, 20, tzinfo=UTC))
BASE = {"skill_name": "notes", "timestamp": "2026-11-01T10:00:00Z"}
KEYS = sorted({*FIELDS, *FILLERS})
SECTIONS = ("input", "execution", "output")
NUMBERS = (0, 1, -1, 2, 7, 0.0, 0.5, 1.5, -0.5, 3.0, 2**53, 2**53 + 1, -(2**53), -(2**53) - 1, 1e300)
TEXTS = (
    *("", " ", "\t", "\u3000", "a", "a b", " a ", "a\n", "\n", "a\x00", "\u2028", "ü" * 200, "u" * 201),
    *("up", "down", "+1", "-1", "positive", "negative", "unknown", "none", "accurate", "mostly", "mostly_accurate"),
    *(word for words in CHOICES.values() for word in words),
)
TIMES = (
    *("2026-11-01", "2026-11-01T10", "2026-11-01T10:00", "2026-11-01 10:00:00", "2026-11-01t10:00:00z"),
    *("2026-11-01T10:00:00.1Z", "2026-11-01T10:00:00,123456789+01:00", "2026-11-01T1000", "2026-11-01T100000Z"),
    *("2026-11-01T10:0000", "2026-11-01T1000:00", "20261101T100000Z", "2026-W01-1T10:00", "2026-11-01T10:00:00+0100"),
    *("2026-11-01T10:00:00-01", "2026-11-01T10:00:00+25:00", "2026-13-01T10:00:00Z", "2026-11-32T10:00:00Z"),
    *("2026-00-01T10:00", "2026-11-00T10:00", "2026-11-01T25:00:00Z", "2026-11-01T10:60:00Z", "2026-11-01T10:00:61Z"),
    *("1969-11-01T10:00:00Z", "0001-01-01T00:00:00", "2026-11-01T10:00:00Z ", "2026-11-01T10:00:00Z\n", "now"),
    *("2026-11-01x10:00", "2026-11-01T10:00:00+01:00:30", "٢026-11-01T10"),
)
LEAVES = st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(TEXTS), st.sampled_from(TIMES))
INNER = (
    *("total", "input", "output", "count", "tool", "resolved", "accurate", "mostly_accurate", "partially_accurate"),
    *("accuracy", "rating", "linter_passed", "types_valid", "tests_passed", "other"),
)
OBJECTS = st.dictionaries(st.sampled_from(INNER), LEAVES, max_size=3)
LISTS = st.lists(st.one_of(LEAVES, OBJECTS, st.lists(LEAVES, max_size=1)), max_size=3)
VALUES = st.one_of(LEAVES, OBJECTS, LISTS)


def accepted(record: Any) -> bool:
    return invocation_of(record, OPTIONS, 1).problem is None


def beyond_a_schema(record: dict[str, Any]) -> bool:
    """Whether the difference is one of those that the module names."""
    problem = invocation_of(record, OPTIONS, 1).problem or ""
    of_integers = any(name in problem for name in ("id: ", "rating: "))
    whole_as_fraction = of_integers and ("found 3.0" in problem or "found 0.0" in problem)
    sums = "a sum of up to 2^53" in problem or "tool_calls: expected a whole number" in problem
    times = "at most a day after now" in problem
    return whole_as_fraction or sums or times or "expected at most follow_up_count" in problem


def agree(record: dict[str, Any]) -> None:
    if VALIDATOR.is_valid(record) and not accepted(record):
        assert beyond_a_schema(record), (record, invocation_of(record, OPTIONS, 1).problem)
    elif accepted(record) and not VALIDATOR.is_valid(record):
        single = {key: value for key, value in record.items() if key not in OVERRIDDEN or OVERRIDDEN[key] not in record}
        assert VALIDATOR.is_valid(single), record
        assert single != record


def alone(key: str) -> dict[str, Any]:
    """The least record without another name of the key."""
    return {own: value for own, value in BASE.items() if own != OVERRIDDEN.get(key)}


@pytest.mark.parametrize("key", KEYS)
@given(value=VALUES)
def test_each_key_takes_the_same_values(key: str, value: object) -> None:
    agree({**alone(key), key: value})


@pytest.mark.parametrize("key", KEYS)
def test_each_key_takes_the_same_plain_values(key: str) -> None:
    values: list[object] = [None, True, False, *NUMBERS, *TEXTS, *TIMES]
    for value in [*values, [], {}, [[]], [None], ["a"], [{}], [{"count": 2}]]:
        agree({**alone(key), key: value})


@given(record=st.dictionaries(st.sampled_from([*KEYS, "unknown"]), VALUES, max_size=6))
def test_records_of_several_keys(record: dict[str, Any]) -> None:
    agree(record)


@given(
    top=st.dictionaries(st.sampled_from(["skill", "skill_name", "timestamp"]), st.none(), max_size=3),
    sections=st.dictionaries(
        st.sampled_from(SECTIONS),
        st.one_of(
            LEAVES,
            st.dictionaries(st.sampled_from(["skill", "skill_name", "timestamp", "errors", "outcome"]), LEAVES),
        ),
    ),
)
def test_sections(top: dict[str, Any], sections: dict[str, Any]) -> None:
    """What a later section repeats is not read, so the schema may refuse more."""
    record = {**top, **sections}
    if VALIDATOR.is_valid(record):
        agree(record)
    elif accepted(record):
        named = [key for section in sections.values() if isinstance(section, dict) for key in section]
        assert len(named) > len(set(named)), record


def test_every_key_has_a_shape_and_every_accepted_value_of_the_example_fits() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert list(SCHEMA["$defs"]["fields"]["properties"]) == KEYS
    lines = (ROOT / "examples" / "invocations" / "november.jsonl").read_text(encoding="utf-8").splitlines()
    assert all(VALIDATOR.is_valid(json.loads(line)) for line in lines)
    assert not VALIDATOR.is_valid({"skill_name": "notes"})
    assert not VALIDATOR.is_valid({**BASE, "outcome": "good"})
    assert not VALIDATOR.is_valid([])


def test_the_command_prints_it(tmp_path: Path) -> None:
    assert run(tmp_path, "schema", "invocation").json == SCHEMA
