"""Lines that msgspec reads in bulk give what the checker of single lines gives, and all others are left to it."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from itertools import repeat
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("msgspec", reason="the extra store is not installed")

from skillgate.invocations.formats import Options, reader
from skillgate.invocations.formats._record import FIELDS, FILLERS
from skillgate.invocations.formats._struct import decoded
from skillgate.invocations.formats.jsonl import checked
from tests.invocations.readings import LEAST, NOW, OPTIONS, record
from tests.properties.documents import CI

KEYS = (*FIELDS, *FILLERS, "input", "output", "unknown", "source", "extra", "tool_call_kinds", "accuracy")
INNER = (
    "input",
    "output_tokens",
    "total",
    "count",
    "tool",
    "resolved",
    "accurate",
    "accuracy",
    "rating",
    "tests_passed",
)
NUMBERS = st.one_of(
    st.sampled_from([0, 1, 2**53, 2**53 + 1, 2**63, 2**64, 10**25, -1, 0.0, -0.0, 1.0, 0.5, 1e16, 1e300, 5e-324]),
    st.integers(-5, 5),
    st.floats(allow_nan=False, allow_infinity=False),
)
TEXTS = st.one_of(
    st.sampled_from(["", " ", "a", "csv-merge", "2026-05-04T10:00:00Z", "up", "complete", "interrupted"]),
    st.sampled_from(["mostly", "x" * 201, "two words", "e\u0301", "\u202e", "\ud800", "\0", "+1", "7"]),
    st.text(max_size=5),
)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
OBJECTS = st.dictionaries(st.one_of(st.sampled_from(INNER), st.text(max_size=3)), SCALARS, max_size=3)
LISTS = st.lists(st.one_of(SCALARS, OBJECTS), max_size=3)
VALUES = st.one_of(SCALARS, OBJECTS, LISTS, st.lists(LISTS, max_size=2))
RECORDS = st.lists(st.tuples(st.sampled_from(KEYS), VALUES), max_size=6)
FITTING: dict[str, Any] = {
    "skill_version": "1.2.0",
    "skill_category": "code_generation",
    "model": "org/model",
    "session_id": 7,
    "outcome": "recovered",
    "errors": ["timeout", {"kind": "x", "at": 1.5}],
    "recovered": True,
    "tokens_used": {"input": 5, "output": 7.0, "cached": None},
    "tool_calls": [{"tool": "Read", "count": 3}, "Bash"],
    "duration_ms": 1.0,
    "output_size": 20,
    "files_changed": ["a", "b"],
    "requested_items": 4,
    "delivered_items": 3.5,
    "code_quality": {"linter_passed": True, "types_valid": None},
    "feedback": {"mostly_accurate": True, "rating": "up", "text": "fine"},
    "user_accepted": False,
    "user_edit_ratio": 1,
    "follow_ups": [{"resolved": True}, "more"],
    "explicit_rating": -1,
    "hung": False,
    "crashed": None,
}


def both(line: bytes, options: Options = OPTIONS) -> tuple[Any, Any]:
    """Read a line twice; what bulk leaves to the checker counts as equal. NaN and 0.0 are told apart."""
    bulk, single = decoded(line, options, 3), checked(line, options, 3)
    return repr(single if bulk is None else bulk), repr(single)


def written(pairs: list[tuple[str, Any]]) -> bytes:
    """Write a record, keys that stand twice included."""
    return b"{" + b",".join(json.dumps(key).encode() + b":" + json.dumps(value).encode() for key, value in pairs) + b"}"


@settings(CI, max_examples=400)
@given(RECORDS)
@example([("category", "x"), ("skill_category", "")])
@example([("feedback", {"other": 1}), ("code_quality", {"other": 2})])
@example([("tokens_used", {"input_tokens": 1, "input": 2})])
def test_bulk_gives_what_the_checker_gives(pairs: list[tuple[str, Any]]) -> None:
    bulk, single = both(written([*LEAST.items(), *pairs]))
    assert bulk == single
    bulk, single = both(written(pairs))
    assert bulk == single


@pytest.mark.parametrize("keep_text", [False, True])
@pytest.mark.parametrize("key", [None, *FITTING])
def test_what_fits_is_read_in_bulk(key: str | None, keep_text: bool) -> None:
    line = record(**(FITTING if key is None else {key: FITTING[key]}))
    options = OPTIONS._replace(keep_text=keep_text, category="design")
    bulk = decoded(line, options, 3)
    assert bulk is not None
    assert repr(bulk) == repr(checked(line, options, 3))


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b"{}x",
        b"\xef\xbb\xbf{}",
        b'{"skill_name": "a\xff"}',
        b'{"skill_name": "a\x01"}',
        b'{"\\ud800": 1}',
        record()[:-1] + b', "units": NaN}',
        record()[:-1] + b', "units": 1e400}',
        record()[:-1] + b', "units": 01}',
        record()[:-1] + b', "error_count": ' + b"1" * 5_000 + b"}",
        record()[:-1] + b', "errors": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        record()[:-1] + b', "units": 1, "units": -1}',
        record()[:-1] + b', "units": -1, "units": 1}',
        record()[:-1] + b', "error_count": 3.0, "user_accepted": 1}',
        record(tool_calls=True, errors=False, duration_ms=True),
        record(tokens_used={"input": 2**53, "output": 2**53}),
        record(follow_up_open=2, follow_up_count=1),
        record(timestamp=(NOW + timedelta(days=2)).isoformat()),
        record(timestamp="2026-05-04T10:00:00"),
        record(execution={"errors": 1}),
        record(id="another", skill="b"),
    ],
    ids=lambda line: repr(line[-40:]),
)
def test_what_does_not_fit_is_told_by_the_checker(line: bytes) -> None:
    bulk, single = both(line)
    assert bulk == single


def test_a_long_file_is_read_in_bulk_and_its_problems_name_line_and_keys() -> None:
    line = record(**FITTING)
    bad = record(units=-1, error_count="x")
    numbered = enumerate([*repeat(line, 600), bad, line], 1)
    reads = list(reader("jsonl")(iter(numbered), OPTIONS))
    assert [read.line for read in reads if read.problem] == [601]
    problem = "units: expected a number from 0 to 2^53, found -1; error_count: expected a whole number from 0 to 2^53"
    assert str(reads[600].problem).startswith(problem)
    assert {repr(read.invocation) for read in reads if read.invocation} == {repr(checked(line, OPTIONS, 1).invocation)}


def test_without_msgspec_the_checker_reads_all() -> None:
    script = (
        "import sys; sys.modules['msgspec'] = None\n"
        "from tests.invocations.readings import OPTIONS, record\n"
        "from skillgate.invocations.formats import reader\n"
        "reads = list(reader('jsonl')(((number, record()) for number in range(1, 700)), OPTIONS))\n"
        "print(sum(read.invocation is not None for read in reads))\n"
        "print('skillgate.invocations.formats._struct' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["699", "False"]
