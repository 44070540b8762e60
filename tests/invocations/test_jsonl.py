"""JSON Lines of our own fields: what each key says, what is refused, and that nothing at all brings the reader down."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.format import printable
from skillgate.invocations.formats import LONGEST, Options, reader
from skillgate.invocations.formats._input import REPLACED
from skillgate.model.invocation import Accuracy, Ending
from tests.invocations.readings import LEAST, NOW, OPTIONS, SAMPLES, lines_of, one, problem, read, record, taken
from tests.properties.documents import CI

MOST = 2**53


def test_a_file_gives_its_records_in_order_with_their_lines() -> None:
    found = read("jsonl", (SAMPLES / "records.jsonl").read_bytes())
    assert [(read.line, read.invocation and read.invocation.invocation_id) for read in found] == [
        (1, "csv-1"),
        (2, "csv-2"),
        (4, "csv-3"),
    ]
    first, second, third = (read.invocation for read in found)
    assert first
    assert second
    assert third
    assert (first.tokens_used, first.tokens_input, first.tokens_output) == (2000, 1200, 800)
    assert (first.files_changed, first.tests_passed, first.accuracy) == (2, False, Accuracy.MOSTLY)
    assert (first.rating, first.ending, first.source) == ("positive", Ending.COMPLETE, "log")
    assert second.timestamp == datetime(2026, 5, 4, 10, 30, tzinfo=UTC)
    assert (second.tool_call_kinds, second.tool_call_count, second.error_count) == (2, 6, 1)
    assert (third.timestamp, third.tokens_used) == (datetime(2026, 5, 4, 10, 0, tzinfo=UTC), None)
    assert (third.follow_up_count, third.follow_up_open) == (2, 1)


SAID: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({}, {"error_count": None, "feedback_given": None, "tokens_used": None, "extra": None}),
    ({"errors": []}, {"error_count": 0}),
    ({"errors": ["a", {"b": 1}]}, {"error_count": 2}),
    ({"errors": 3}, {"error_count": 3}),
    ({"errors": ["a"], "error_count": 5}, {"error_count": 5}),
    ({"error_count": 5, "errors": ["a"]}, {"error_count": 5}),
    ({"errors": None, "error_count": None}, {"error_count": None}),
    ({"outcome": "hard_failure"}, {"ending": Ending.HARD_FAILURE}),
    ({"outcome": "interrupted"}, {"ending": None}),
    ({"recovered": True, "partial_completion": False}, {"recovered": True, "partial_completion": False}),
    ({"timed_out": True, "crashed": False}, {"crashed": True}),
    ({"crashed": True, "hung": False}, {"crashed": True}),
    ({"hung": False}, {"crashed": False}),
    ({"tokens_used": 900.0}, {"tokens_used": 900, "tokens_input": None}),
    (
        {"tokens_used": {"input": 5, "output": 7, "cache": 8}},
        {"tokens_used": 20, "tokens_input": 5, "tokens_output": 7},
    ),
    ({"tokens_used": {"input": 5, "output": 7, "total": 30}}, {"tokens_used": 30}),
    ({"tokens_used": {"prompt": 5, "completion": 7}}, {"tokens_used": 12, "tokens_input": None}),
    ({"tokens_used": {"input": 5}}, {"tokens_used": None, "tokens_input": 5}),
    ({"tokens_used": {}}, {"tokens_used": None}),
    ({"tokens_used": {"input": 5, "output": 7}, "tokens_input": 6}, {"tokens_used": 12, "tokens_input": 6}),
    ({"tokens_input": 5, "tokens_output": 7}, {"tokens_used": 12}),
    ({"tokens_input": 5, "tokens_output": 0}, {"tokens_used": 5}),
    ({"tokens_input": 5, "tokens_output": 5}, {"tokens_used": 10}),
    ({"tokens_output": 7}, {"tokens_used": None, "tokens_output": 7}),
    ({"tool_calls": []}, {"tool_call_kinds": 0, "tool_call_count": 0}),
    (
        {"tool_calls": ["Read", {"tool": "Edit", "count": 3}, {"tool": "Bash"}]},
        {"tool_call_kinds": 3, "tool_call_count": 5},
    ),
    ({"tool_calls": 9}, {"tool_call_kinds": None, "tool_call_count": 9}),
    ({"tool_calls": ["Read"], "tool_call_count": 7}, {"tool_call_kinds": 1, "tool_call_count": 7}),
    (
        {"files_changed": ["a", "b"], "requested_items": [], "delivered_items": 2.5},
        {"files_changed": 2, "requested_items": 0, "delivered_items": 2.5},
    ),
    ({"code_quality": {"linter_passed": True, "types_valid": None}}, {"linter_passed": True, "types_valid": None}),
    ({"feedback": {}}, {"feedback_given": False, "accuracy": None}),
    ({"feedback": {"accurate": None}}, {"feedback_given": False}),
    (
        {"feedback": {"accurate": True, "mostly_accurate": True}},
        {"feedback_given": True, "accuracy": Accuracy.ACCURATE},
    ),
    ({"feedback": {"accurate": False}}, {"accuracy": Accuracy.INACCURATE}),
    ({"feedback": {"accurate": False, "partially_accurate": True}}, {"accuracy": Accuracy.PARTIALLY}),
    ({"feedback": {"mostly_accurate": False}}, {"feedback_given": True, "accuracy": None}),
    ({"feedback": {"accuracy": "inaccurate"}}, {"accuracy": Accuracy.INACCURATE}),
    ({"feedback": {"accuracy": "unknown"}}, {"feedback_given": True, "accuracy": None}),
    ({"feedback": {"rating": "up"}}, {"feedback_given": True, "accuracy": None, "rating": "positive"}),
    ({"feedback": {"rating": "up"}, "explicit_rating": -1}, {"rating": "negative"}),
    ({"explicit_rating": "+1"}, {"rating": "positive", "feedback_given": None}),
    (
        {"user_accepted": False, "user_used_output": True, "user_edit_ratio": 1},
        {"user_accepted": False, "user_edit_ratio": 1},
    ),
    ({"follow_ups": []}, {"follow_up_count": 0, "follow_up_open": 0}),
    ({"follow_ups": 2}, {"follow_up_count": 2, "follow_up_open": None}),
    ({"follow_ups": [{"resolved": True}, {"resolved": True}]}, {"follow_up_count": 2, "follow_up_open": 0}),
    ({"follow_ups": [{"resolved": True}, {}]}, {"follow_up_count": 2, "follow_up_open": None}),
    ({"follow_ups": ["why?", {"resolved": False}]}, {"follow_up_count": 2, "follow_up_open": 1}),
    ({"follow_up_count": 3, "follow_up_open": 1}, {"follow_up_count": 3, "follow_up_open": 1}),
    ({"skill_version": "", "model": None}, {"skill_version": None, "model": None}),
    ({"category": "design"}, {"skill_category": "design"}),
    ({"category": "design", "skill_category": "research"}, {"skill_category": "research"}),
    ({"session_id": 17}, {"session_id": "17"}),
    (
        {"execution": {"duration_ms": 5, "errors": []}, "output": {"output_size": 2}},
        {"duration_ms": 5, "error_count": 0, "output_size": 2},
    ),
    ({"execution": {"duration_ms": 5}, "duration_ms": 6}, {"duration_ms": 6}),
    ({"execution": {"duration_ms": 5}, "duration_ms": None}, {"duration_ms": 5}),
)


@pytest.mark.parametrize(("said", "expected"), SAID, ids=lambda value: json.dumps(value, default=str)[:60])
def test_what_a_key_says(said: dict[str, Any], expected: dict[str, Any]) -> None:
    found = taken(**said)
    assert {field: getattr(found, field) for field in expected} == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"skill": "a", "timestamp": 1777888800, "id": 7}, ("a", "7")),
        ({"skill": "a", "skill_name": "b", "timestamp": 1777888800, "id": "x", "invocation_id": "y"}, ("b", "y")),
        ({"skill_name": "b", "skill": "a", "timestamp": 1777888800, "invocation_id": "y", "id": "x"}, ("b", "y")),
    ],
)
def test_a_shorter_name_of_a_key_counts_where_the_key_does_not_stand(data: object, expected: object) -> None:
    found = one(read("jsonl", json.dumps(data).encode()))
    assert (found.skill_name, found.invocation_id) == expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("2026-05-04T10:00:00Z", datetime(2026, 5, 4, 10, tzinfo=UTC)),
        ("2026-05-04t10:00:00z", datetime(2026, 5, 4, 10, tzinfo=UTC)),
        ("2026-05-04T10:00:00.999999Z", datetime(2026, 5, 4, 10, tzinfo=UTC)),
        ("2026-05-04 10:00:00.5-01:30", datetime(2026, 5, 4, 11, 30, tzinfo=UTC)),
        ("2026-05-04T10:00:00+14:00", datetime(2026, 5, 3, 20, tzinfo=UTC)),
        ("2026-05-04T10:00", datetime(2026, 5, 4, 10, tzinfo=UTC)),
        (1777888800, datetime(2026, 5, 4, 10, tzinfo=UTC)),
        (1777888800.9, datetime(2026, 5, 4, 10, tzinfo=UTC)),
        (1777888800999, datetime(2026, 5, 4, 10, tzinfo=UTC)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        ("2026-07-21T12:00:00Z", datetime(2026, 7, 21, 12, tzinfo=UTC)),
    ],
)
def test_a_time_is_taken_to_the_second_in_utc(said: object, expected: datetime) -> None:
    assert taken(timestamp=said).timestamp == expected


@pytest.mark.parametrize(
    "said",
    [
        *("2026-02-30T10:00:00Z", "2026-05-04T25:00:00Z", "2026-05-04", "20260504T100000Z", "2026-W19-1T10:00:00Z"),
        *("yesterday", "", "1777888800", "0001-01-01T00:00:00+14:00", "9999-12-31T23:00:00-12:00"),
        *("1969-12-31T23:59:59Z", "10000-01-01T00:00:00Z", "٢٠٢٦-05-04T10:00:00Z", "2026-05-04\n10:00"),
        *(-1, 1e300, 10**18, True, [], {}, [2026, 5, 4]),
    ],
)
def test_what_is_no_time_is_refused(said: object) -> None:
    assert problem({"timestamp": said}).startswith("timestamp: expected a time from 1970 on, ")


@pytest.mark.parametrize("said", ["2026-07-21T12:00:01Z", "9999-12-31T23:59:59Z", 9_000_000_000, 253402300799_000])
def test_a_time_more_than_a_day_ahead_is_refused(said: object) -> None:
    assert problem({"timestamp": said}).startswith("timestamp: expected at most a day after now, found ")


def test_a_time_without_a_zone_is_taken_for_utc_and_told() -> None:
    (found,) = read("jsonl", record(timestamp="2026-05-04T10:00:00"))
    assert found.warnings == ("times without a time zone are read as UTC",)


ACCURACIES = "accurate, mostly, partially, inaccurate"
ENDINGS = "complete, recovered, partial, workaround, explained_failure, hard_failure"
REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"duration_ms": "5"}, 'duration_ms: expected a number from 0 to 2^53, found "5"'),
    ({"duration_ms": -0.5}, "duration_ms: expected a number from 0 to 2^53, found -0.5"),
    ({"duration_ms": True}, "duration_ms: expected a number from 0 to 2^53, found true"),
    ({"output_size": MOST + 1}, f"output_size: expected a number from 0 to 2^53, found {MOST + 1}"),
    ({"error_count": 1.5}, "error_count: expected a whole number from 0 to 2^53, found 1.5"),
    ({"error_count": False}, "error_count: expected a whole number from 0 to 2^53, found false"),
    ({"errors": "no"}, 'errors: expected a whole number from 0 to 2^53, found "no"'),
    ({"user_accepted": "yes"}, 'user_accepted: expected true or false, found "yes"'),
    ({"recovered": 1}, "recovered: expected true or false, found 1"),
    ({"user_edit_ratio": 1.01}, "user_edit_ratio: expected a number from 0 to 1, found 1.01"),
    ({"user_edit_ratio": -0.1}, "user_edit_ratio: expected a number from 0 to 1, found -0.1"),
    ({"tokens_used": {"input": -1}}, "tokens_used.input: expected a whole number from 0 to 2^53, found -1"),
    ({"tokens_used": {"note": "many"}}, 'tokens_used.note: expected a whole number from 0 to 2^53, found "many"'),
    ({"tokens_used": []}, "tokens_used: expected a whole number from 0 to 2^53, found a list"),
    ({"tool_calls": ["a", 3]}, "tool_calls[1]: expected a tool name, or an object with tool and count, found 3"),
    ({"tool_calls": [{"count": "2"}]}, 'tool_calls[0].count: expected a whole number from 0 to 2^53, found "2"'),
    ({"follow_ups": [None]}, "follow_ups[0]: expected an object or a string, found null"),
    ({"follow_ups": [{}, {"resolved": 1}]}, "follow_ups[1].resolved: expected true or false, found 1"),
    ({"follow_up_count": 1, "follow_up_open": 2}, "follow_up_open: expected at most follow_up_count, 1, found 2"),
    ({"feedback": "good"}, 'feedback: expected an object, found "good"'),
    ({"feedback": {"accurate": "yes"}}, 'feedback.accurate: expected true or false, found "yes"'),
    ({"feedback": {"accuracy": True}}, f"feedback.accuracy: expected one of {ACCURACIES}, unknown, found true"),
    ({"feedback": {"rating": True}}, "feedback.rating: expected up, down, positive, negative, +1 or -1, found true"),
    ({"explicit_rating": []}, "explicit_rating: expected up, down, positive, negative, +1 or -1, found a list"),
    ({"code_quality": {"tests_passed": "3/3"}}, 'code_quality.tests_passed: expected true or false, found "3/3"'),
    ({"code_quality": 8}, "code_quality: expected an object, found 8"),
    ({"tokens_used": {"a": MOST, "b": 1}}, f"tokens_used: expected a sum of up to 2^53, found {MOST + 1}"),
    (
        {"tool_calls": [{"count": MOST}, {"count": 1}]},
        f"tool_calls: expected a whole number from 0 to 2^53, found {MOST + 1}",
    ),
    ({"outcome": "ok"}, f'outcome: expected one of {ENDINGS}, interrupted, found "ok"'),
    ({"skill_name": ""}, 'skill_name: expected a non-empty name, found ""'),
    ({"skill_name": " "}, 'skill_name: expected a non-empty name, found " "'),
    ({"skill_name": None}, "skill_name is missing"),
    ({"timestamp": None}, "timestamp is missing"),
    ({"skill_name": 5}, "skill_name: expected a non-empty name, found 5"),
    ({"execution": {"duration_ms": "x"}}, 'execution.duration_ms: expected a number from 0 to 2^53, found "x"'),
    (
        {"duration_ms": -1, "recovered": "x"},
        'duration_ms: expected a number from 0 to 2^53, found -1; recovered: expected true or false, found "x"',
    ),
)


@pytest.mark.parametrize(("said", "expected"), REFUSED, ids=lambda value: str(value)[:60])
def test_a_wrong_value_rejects_its_record_with_path_expected_and_found(said: dict[str, Any], expected: str) -> None:
    assert problem(said) == expected


@pytest.mark.parametrize("key", ["skill_version", "invocation_id", "session_id", "model", "output_type"])
@pytest.mark.parametrize(
    "hidden", ["a\0b", "a\x1b[2Jb", "a\nb", "a\u202eb", "\ud800", "a\u2028b", "x" * 201], ids=ascii
)
def test_a_name_that_hides_something_is_refused_and_shown_harmless(key: str, hidden: str) -> None:
    told = problem({key: hidden})
    assert told.startswith(f"{key}: expected a name of at most 200 characters")
    assert told.isprintable()
    assert len(told) < 200


def test_a_name_may_hold_any_letters() -> None:
    assert taken(skill_name="équipe:表を結合").skill_name == "équipe:表を結合"


@pytest.mark.parametrize(
    "name", ["équipe: ✓", "a\0b", "a\x1b[2Jb", "a\u202eb", "\ud800", "x" * 201, "../../x", "a@b.c"]
)
def test_the_name_of_a_skill_that_does_not_look_like_one_is_replaced(name: str) -> None:
    assert taken(skill_name=name).skill_name == REPLACED


def test_messages_are_bounded_however_much_is_wrong() -> None:
    keys = ("duration_ms", "output_size", "units", "time_units", "files_changed", "error_count", "tokens_input")
    more = ("recovered", "crashed", "hung", "user_accepted", "user_used_output")
    told = problem(dict.fromkeys((*keys, *more), "\x1b" * 5000))
    assert told.endswith("; and 2 more")
    assert told.isprintable()
    assert len(told) < 5000


BROKEN = (
    (b'{"skill_name": "a", "timest', "truncated JSON: ends after 27 bytes"),
    (b'{"a": tr', "truncated JSON: ends after 8 bytes"),
    (b'{"a": 1', "truncated JSON: ends after 7 bytes"),
    (b'{"a": 1}}', "invalid JSON at character 9: Extra data"),
    (b"{'a': 1}", "invalid JSON at character 2: Expecting property name enclosed in double quotes"),
    (b"hello", "invalid JSON at character 1: Expecting value"),
    (b'{"duration_ms": NaN}', "invalid JSON: contains NaN"),
    (b'{"duration_ms": -Infinity}', "invalid JSON: contains -Infinity"),
    (b'{"a": ' + b"1" * 5000 + b"}", "contains a number of thousands of digits"),
    (b'{"a": "\xff"}', "byte 8 is not UTF-8"),
    (b"\xff\xfe{\x00}\x00", "byte 1 is not UTF-8"),
    (b"[" * 100_000, "JSON nested too deeply"),
    (b"[]", "expected an object, found a list"),
    (b'"skill"', 'expected an object, found "skill"'),
    (b"null", "expected an object, found null"),
    (b"3", "expected an object, found 3"),
    (b"{" + b" " * LONGEST + b"}", "longer than 4,000,000 bytes"),
)


@pytest.mark.parametrize(("line", "expected"), BROKEN, ids=lambda value: str(value[:20]))
def test_a_broken_line_is_told_with_its_number_and_stops_no_other(line: bytes, expected: str) -> None:
    found = read("jsonl", record() + b"\n" + line + b"\n" + record(invocation_id="i-2"))
    assert [(read.line, read.problem) for read in found] == [(1, None), (2, expected), (3, None)]


def test_1e999_is_no_number() -> None:
    assert "found inf" in problem(record()[:-1] + b', "duration_ms": 1e999}')


def test_a_line_in_pieces_is_rejected_once() -> None:
    pieces = iter([(1, b"{" + b" " * LONGEST), (1, b'"a": 1}'), (2, record())])
    found = list(reader("jsonl")(pieces, OPTIONS))
    assert [(read.line, read.problem) for read in found] == [(1, "longer than 4,000,000 bytes"), (2, None)]


def test_a_mark_at_the_beginning_line_ends_and_empty_lines_do_not_matter() -> None:
    data = b"\xef\xbb\xbf" + record() + b"\r\n\r\n   \r\n" + record(invocation_id="i-2") + b"\r\n"
    assert [read.line for read in read("jsonl", data) if read.invocation] == [1, 4]


def test_of_a_key_that_stands_twice_the_last_counts() -> None:
    assert one(read("jsonl", record()[:-1] + b', "duration_ms": 1, "duration_ms": 2}')).duration_ms == 2


def test_the_category_of_the_options_stands_in_for_none() -> None:
    options = Options(NOW, category="research")
    assert one(read("jsonl", record(), options)).skill_category == "research"
    assert one(read("jsonl", record(category="design"), options)).skill_category == "design"


def test_records_without_an_id_have_the_same_one_whenever_they_are_read() -> None:
    said = {**LEAST, "invocation_id": None, "duration_ms": 5}
    same = dict(reversed([*said.items(), ("model", None)]))
    first, second = (one(read("jsonl", json.dumps(data).encode())) for data in (said, same))
    other = one(read("jsonl", json.dumps({**said, "duration_ms": 6}).encode()))
    assert first.invocation_id == second.invocation_id != other.invocation_id
    assert first.invocation_id.startswith("auto-")
    (told,) = read("jsonl", json.dumps(said).encode())
    assert told.warnings == ("records without invocation_id get an id from their content, so equal records count once",)


EXTRA: tuple[tuple[dict[str, Any], object, object], ...] = (
    ({"words": 7, "retried": False, "none": None}, {"words": 7, "retried": False}, {"words": 7, "retried": False}),
    ({"prompt": "secret"}, None, {"prompt": "secret"}),
    ({"input": "secret"}, None, {"input": "secret"}),
    ({"input": {"prompt": "secret", "length": 6}}, {"input.length": 6}, {"input.prompt": "secret", "input.length": 6}),
    (
        {"a": {"b": ["x", 1, {"c": True}], "d": "y"}},
        {"a": {"b": [1, {"c": True}]}},
        {"a": {"b": ["x", 1, {"c": True}], "d": "y"}},
    ),
    (
        {"feedback": {"comment": "bad", "stars": 2}},
        {"feedback.stars": 2},
        {"feedback.comment": "bad", "feedback.stars": 2},
    ),
    ({"code_quality": {"coverage": 0.9}}, {"code_quality.coverage": 0.9}, {"code_quality.coverage": 0.9}),
    ({"a": [], "b": {}, "c": [[["x"]]]}, None, {"c": [[["x"]]]}),
    ({"bad\nkey": 1, "\x1b": 2, "": 3, "a\ud800": 4}, None, None),
    ({"t": "a\0b", "u": "\ud800"}, None, None),
    ({"huge": 2**60}, None, None),
    ({"a secret.txt": 1, "b": {"my words": 2}}, None, {"a secret.txt": 1, "b": {"my words": 2}}),
    ({"deep": [[[[[[[[[[1]]]]]]]]]]}, None, None),
)


@pytest.mark.parametrize(("said", "expected", "with_text"), EXTRA, ids=lambda value: ascii(value)[:50])
def test_unknown_keys_are_kept_without_texts_unless_these_are_asked_for(
    said: dict[str, Any], expected: object, with_text: object
) -> None:
    assert taken(**said).extra == expected
    assert one(read("jsonl", record(**said), Options(NOW, keep_text=True))).extra == with_text


def test_each_unknown_key_is_told_in_words_that_hold_for_the_file() -> None:
    found = read("jsonl", record(words=7, prompt="secret", big=2**60))
    assert found[0].warnings == (
        "unknown key words: stored, but not scored",
        "unknown key prompt: text is not stored by default",
        "unknown key big: only partly stored",
    )


@pytest.mark.parametrize(
    "key", ["errors", "feedback", "follow_ups", "outcome", "duration_ms", "timestamp", "files_changed"]
)
def test_a_problem_repeats_no_words_of_anybody(key: str) -> None:
    told = problem({key: "call Alice about it", "tokens_used": {"call Alice": "about it"}})
    assert "Alice" not in told
    assert f"{key}: expected " in told
    assert "found a string of 19 characters" in told


def test_a_warning_repeats_no_key_that_is_no_name_of_a_field() -> None:
    (found,) = read("jsonl", record(**{"call Alice": 1, "feedback": {"she said": "no"}}))
    assert [told for told in found.warnings if "Alice" in told or "she" in told] == []
    assert len(found.warnings) == 2


def test_a_record_of_unknown_keys_alone_has_a_bounded_number_of_warnings() -> None:
    (found,) = read("jsonl", record(**{f"k{number}": "text" for number in range(50_000)}))
    assert found.invocation
    assert len(found.warnings) < 2_000
    assert "the rest is not stored" in found.warnings[-1]


def test_a_warning_shows_nothing_that_a_terminal_obeys() -> None:
    (found,) = read("jsonl", record(**{"\x1b[2J\u202e" + "x" * 999: 1}))
    (told,) = found.warnings
    assert told.isprintable()
    assert len(told) < 200


@pytest.mark.parametrize(
    "said",
    [
        {f"k{number}": number for number in range(200)},
        {"k": list(range(100_000))},
        {"k": [{"a": 1}] * 100_000},
        {f"k{number}": "x" * 2000 for number in range(20)},
    ],
    ids=["keys", "list", "objects", "texts"],
)
def test_unknown_keys_are_bounded(said: dict[str, Any]) -> None:
    (found,) = read("jsonl", record(**said), Options(NOW, keep_text=True))
    assert found.invocation
    assert len(json.dumps(found.invocation.extra)) <= 16 * 1024
    assert len(found.invocation.extra or ()) <= 64
    assert any("more than 64 unknown keys or 16 KiB" in warning for warning in found.warnings)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.sampled_from(["2026-05-04T10:00:00Z", "complete", "accurate", 1e308, -0.0, MOST, 10**4000]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(
    (
        *("skill_name", "skill", "timestamp", "invocation_id", "id", "category", "outcome", "crashed", "hung"),
        *("errors", "error_count", "tokens_used", "tokens_input", "tool_calls", "tool_call_count", "duration_ms"),
        *("files_changed", "code_quality", "feedback", "accurate", "accuracy", "rating", "explicit_rating", "count"),
        *("user_accepted", "user_edit_ratio", "follow_ups", "follow_up_count", "follow_up_open", "resolved"),
        *("input", "execution", "output", "total", "linter_passed"),
    )
)
RECORDS = st.dictionaries(KEYS | st.text(max_size=5), JSON | st.dictionaries(KEYS, JSON, max_size=4), max_size=8)


@CI
@given(JSON | RECORDS | RECORDS.map(lambda said: {**LEAST, **said}), st.booleans())
def test_any_json_gives_an_invocation_or_a_reason_in_words_that_can_be_shown(data: object, text: bool) -> None:
    try:
        line = json.dumps(data).encode()
    except ValueError:  # Python writes no number of thousands of digits
        return
    for found in reader("jsonl")(lines_of(line), Options(NOW, keep_text=text)):
        assert (found.invocation is None) is (found.problem is not None)
        assert printable(found.problem or "") == (found.problem or "")
        if found.invocation:
            json.dumps(found.invocation.extra, allow_nan=False).encode()
            assert 0 < len(found.invocation.skill_name) <= 200
            assert 0 < len(found.invocation.invocation_id) <= 200


@CI
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for found in read("jsonl", data):
        assert printable(found.problem or "") == (found.problem or "")
