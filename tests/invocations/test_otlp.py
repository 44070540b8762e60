"""OTLP JSON: which spans are invocations, what those below them add up to, and what is left open and not guessed."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.format import printable
from skillgate.invocations.formats import LONGEST, reader
from skillgate.invocations.formats._traces import COUNTS
from skillgate.model.invocation import SEEN_UNTIL, Accuracy, Ending, Invocation, Read
from tests.invocations.claude_telemetry import activated, logs
from tests.invocations.readings import OPTIONS, SAMPLES, one, read, record
from tests.invocations.traces import AGENT, BEGAN, LOADS, SKILL, TRACE, chat, encoded, span, tool, traces, usage
from tests.properties.documents import CI

if TYPE_CHECKING:
    from collections.abc import Iterator

UNWHOLE = "not all spans of a trace could be read or held; its tokens, tool calls and errors are unknown"
LOADED = "a span of the Skill tool without child spans only shows that the skill was loaded"
FAILED = {"status": {"code": 2}}


def figures(found: Invocation) -> tuple[object, ...]:
    return found.tokens_input, found.tokens_output, found.tokens_used, found.tool_call_count, found.error_count


def invocations(*spans: object) -> list[Invocation]:
    return [found.invocation for found in read("otlp", traces(*spans)) if found.invocation]


@pytest.mark.parametrize("file", ["otlp.json", "otlp.jsonl"])
def test_a_document_and_lines_of_documents_give_the_same(file: str) -> None:
    merged, loaded = read("otlp", (SAMPLES / file).read_bytes())
    found = merged.invocation
    assert found
    assert (found.skill_name, found.skill_category, found.source) == ("csv-merge", "code_generation", "otlp")
    assert (found.invocation_id, found.session_id) == (f"{TRACE}-00000000000000b1", "s-1")
    assert (found.ending, found.output_size, found.duration_ms) == (Ending.RECOVERED, 40, 12_000)
    assert figures(found) == (1200, 800, 2000, 2, 0)
    assert merged.warnings == ()
    assert loaded.invocation
    assert loaded.invocation.skill_name == "docs:changelog"
    assert (loaded.invocation.duration_ms, *figures(loaded.invocation)) == (None,) * 6
    assert [warning.startswith(LOADED) for warning in loaded.warnings] == [True]


OLDER = {"gen_ai.usage.prompt_tokens": 5, "gen_ai.usage.completion_tokens": 7}
EXPLICIT = {"skillgate.tokens_used": 9, "skillgate.error_count": 0, "skillgate.tool_call_count": 3}
EMBEDS = {"gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 5}
MAKES = {"gen_ai.operation.name": "create_agent"}
SUMS: tuple[tuple[str, list[dict[str, Any]], tuple[object, ...]], ...] = (
    ("nothing below", [span(1, None, SKILL)], (None, None, None, None, 0)),
    ("its own usage", [span(1, None, SKILL, usage(5, 7))], (5, 7, 12, None, 0)),
    ("calls of a model", [span(1, None, SKILL), chat(2, 1, 5, 7), chat(3, 1, 1, 1)], (6, 8, 14, 0, 0)),
    ("children first", [chat(2, 1, 5, 7), tool(3, 1), span(1, None, SKILL)], (5, 7, 12, 1, 0)),
    ("a span sent twice", [span(1, None, SKILL), chat(2, 1, 5, 7), chat(2, 1, 5, 7)], (5, 7, 12, 0, 0)),
    ("its own usage with calls", [span(1, None, SKILL, usage(5, 7)), chat(2, 1, 9, 8)], (14, 15, 29, 0, 0)),
    ("its own usage as their sum", [span(1, None, SKILL, usage(9, 9)), chat(2, 1, 9, 8)], (9, 9, 18, 0, 0)),
    ("a call told by two", [span(1, None, SKILL), chat(2, 1, 5, 7), chat(3, 2, 5, 7)], (5, 7, 12, 0, 0)),
    (
        "an agent that sums up",
        [span(1, None, SKILL), span(2, 1, AGENT, usage(5, 7)), chat(3, 2, 5, 7)],
        (5, 7, 12, 0, 0),
    ),
    ("an agent that is told alone", [span(1, None, SKILL), span(2, 1, AGENT, usage(5, 7))], (5, 7, 12, 0, 0)),
    ("an agent that is a skill", [span(1, None, SKILL, AGENT, usage(5, 7)), chat(3, 1, 5, 7)], (5, 7, 12, 0, 0)),
    ("an agent without usage", [span(1, None, SKILL), span(2, 1, AGENT), chat(3, 1, 5, 7)], (None, None, None, 0, 0)),
    ("embeddings", [span(1, None, SKILL), span(2, 1, EMBEDS)], (5, 0, 5, 0, 0)),
    ("an agent that is made", [span(1, None, SKILL), span(2, 1, MAKES), chat(3, 1, 5, 7)], (5, 7, 12, 0, 0)),
    ("a call without usage", [span(1, None, SKILL), chat(2, 1, 5, 7), chat(3, 1)], (None, None, None, 0, 0)),
    ("a call without output", [span(1, None, SKILL), chat(2, 1, 5, 7), chat(3, 1, 2)], (7, None, None, 0, 0)),
    ("a span that is only usage", [span(1, None, SKILL), span(2, 1, usage(5, 7))], (5, 7, 12, 0, 0)),
    (
        "deep calls of tools",
        [span(1, None, SKILL), tool(2, 1), span(3, 2), tool(4, 3), chat(5, 4, 1, 2)],
        (1, 2, 3, 2, 0),
    ),
    ("another trace", [span(1, None, SKILL), chat(2, 1, 5, 7, traceId="0" * 31 + "1")], (None, None, None, None, 0)),
    ("spans above and beside", [span(1, None, SKILL), span(9, None), chat(2, 9, 5, 7)], (None, None, None, None, 0)),
    ("a skill that fails", [span(1, None, SKILL, **FAILED)], (None, None, None, None, 1)),
    (
        "errors below",
        [span(1, None, SKILL), tool(2, 1, **FAILED), tool(3, 2, status={"code": "STATUS_CODE_ERROR"})],
        (None, None, None, 2, 0),
    ),
    ("a type of error", [span(1, None, SKILL), span(2, 1, {"error.type": "timeout"})], (None, None, None, 0, 0)),
    ("an exception", [span(1, None, SKILL), span(2, 1, events=[{"name": "exception"}, 3])], (None, None, None, 0, 0)),
    (
        "an exception that was none",
        [span(1, None, SKILL), span(2, 1, events=[{"name": "exception"}], status={"code": 1})],
        (None, None, None, 0, 0),
    ),
    ("older names", [span(1, None, SKILL), span(2, 1, OLDER)], (5, 7, 12, 0, 0)),
    (
        "said explicitly",
        [span(1, None, SKILL, EXPLICIT), chat(2, 1, 5, 7), tool(3, 1, **FAILED)],
        (None, None, 9, 3, 0),
    ),
    ("usage that is none", [span(1, None, SKILL), chat(2, 1, -5, 7)], (None, 7, None, 0, 0)),
)


@pytest.mark.parametrize(("case", "spans", "expected"), SUMS, ids=[case for case, _, _ in SUMS])
def test_what_stands_below_an_invocation_is_added_up(case: str, spans: list[object], expected: object) -> None:
    (found,) = invocations(*spans)
    assert figures(found) == expected
    (again,) = invocations(*reversed(spans))
    assert figures(again) == expected, "the order of spans does not matter"


def test_a_skill_within_a_skill_counts_for_both() -> None:
    outer, inner = invocations(span(1, None, SKILL), span(2, 1, LOADS, {"gen_ai.skill.name": "b"}), chat(3, 2, 5, 7))
    assert (outer.skill_name, figures(outer)) == ("csv-merge", (5, 7, 12, 1, 0))
    assert (inner.skill_name, figures(inner)) == ("b", (5, 7, 12, 0, 0))
    assert inner.duration_ms == 12_000


NAMES: tuple[tuple[dict[str, Any], str | None], ...] = (
    (SKILL, "csv-merge"),
    ({**LOADS, "gen_ai.tool.call.arguments": '{"skill": "pdf"}'}, "pdf"),
    ({**LOADS, "gen_ai.tool.call.arguments": '{"command": "/docs:pdf and so on"}'}, "docs:pdf"),
    ({**LOADS, "gen_ai.tool.call.arguments": {"skill": "pdf", "args": ["x"]}}, "pdf"),
    ({**LOADS, "gen_ai.skill.name": "a", "gen_ai.tool.call.arguments": '{"skill": "pdf"}'}, "a"),
    ({**LOADS, **SKILL, "gen_ai.skill.name": "a"}, "csv-merge"),
    (LOADS, None),
    ({**LOADS, "gen_ai.tool.call.arguments": "not JSON"}, None),
    ({**LOADS, "gen_ai.tool.call.arguments": '{"skill": 7}'}, None),
    ({**LOADS, "gen_ai.tool.call.arguments": "[" * 100_000}, None),
    ({**LOADS, "gen_ai.tool.call.arguments": '"pdf"'}, None),
    ({"skillgate.skill.name": ""}, None),
    ({"skillgate.skill.name": 7}, None),
)


@pytest.mark.parametrize(("said", "expected"), NAMES, ids=lambda value: str(value)[-60:])
def test_a_skill_is_named_by_our_attribute_by_the_standard_or_by_the_tools_arguments(said: Any, expected: Any) -> None:
    (found,) = read("otlp", traces(span(1, None, said)))
    assert (found.invocation and found.invocation.skill_name) == expected
    if expected is None:
        assert (found.problem or "").startswith("span 0000000000000001: skill_name")


def test_other_spans_are_no_invocations() -> None:
    assert read("otlp", traces(tool(1, 0), chat(2, 1, 5, 7), span(3, None, {"gen_ai.skill.name": "a"}))) == [
        Read(1, None, unused=f"none of 3 spans is a use of a skill; {COUNTS}")
    ]


def test_any_field_can_be_an_attribute() -> None:
    (found,) = invocations(
        span(
            *(1, None, SKILL),
            {
                "skillgate.skill.version": "2",
                "skillgate.skill_category": "design",
                "skillgate.invocation_id": "mine",
                "skillgate.timestamp": "2026-05-03T10:00:00Z",
                "skillgate.duration_ms": 5,
                "skillgate.user_accepted": True,
                "skillgate.user_edit_ratio": 0.25,
                "skillgate.feedback.accuracy": "mostly",
                "skillgate.feedback.rating": "down",
                "skillgate.code_quality.tests_passed": False,
                "skillgate.tool_calls": ["Read", {"tool": "Edit", "count": 2}],
                "skillgate.follow_ups": [{"resolved": False}],
                "gen_ai.request.model": "claude-sonnet",
                "session.id": "s",
            },
        )
    )
    assert (found.skill_version, found.skill_category, found.invocation_id) == ("2", "design", "mine")
    assert (found.timestamp.day, found.duration_ms, found.user_accepted, found.user_edit_ratio) == (3, 5, True, 0.25)
    assert (found.accuracy, found.rating, found.tests_passed) == (Accuracy.MOSTLY, "negative", False)
    assert (found.tool_call_kinds, found.tool_call_count) == (2, 3)
    assert (found.follow_up_count, found.follow_up_open) == (1, 1)
    assert (found.model, found.session_id) == ("claude-sonnet", "s")


def test_an_attribute_that_is_refused_is_told_with_its_span() -> None:
    told = [found.problem for found in read("otlp", traces(span(171, None, SKILL, {"skillgate.duration_ms": "x"})))]
    assert told == ['span 00000000000000ab: duration_ms: expected a number from 0 to 2^53, found "x"']


def test_unknown_attributes_of_ours_are_kept_and_told_and_those_of_others_are_not() -> None:
    (found,) = read("otlp", traces(span(1, None, SKILL, {"skillgate.stars": 3, "gen_ai.other": 4, "app.user": "x"})))
    assert found.invocation
    assert found.invocation.extra == {"stars": 3, SEEN_UNTIL: BEGAN + 12}
    assert found.warnings == ("unknown key stars: stored, but not scored",)


@pytest.mark.parametrize(
    ("times", "duration", "warned"),
    [
        ({"startTimeUnixNano": BEGAN * 10**9, "endTimeUnixNano": BEGAN * 10**9 + 1_500_000}, 1.5, False),
        ({"endTimeUnixNano": "0"}, None, False),
        ({"endTimeUnixNano": None}, None, False),
        ({"endTimeUnixNano": "soon"}, None, False),
        ({"endTimeUnixNano": f"{BEGAN - 1}000000000"}, None, True),
    ],
)
def test_a_span_lasts_between_its_times_where_it_has_them(times: Any, duration: object, warned: bool) -> None:
    (found,) = read("otlp", traces(span(1, None, SKILL, **times)))
    assert found.invocation
    assert found.invocation.duration_ms == duration
    assert ("a span ends before it begins; its duration is unknown" in found.warnings) is warned


@pytest.mark.parametrize("began", ["", "0", None, "-5", "9" * 400, 1.5, True, {}])
def test_a_span_without_a_beginning_is_rejected(began: object) -> None:
    (found,) = read("otlp", traces(span(1, None, SKILL, startTimeUnixNano=began)))
    assert found.problem == "span 0000000000000001: timestamp is missing"


@pytest.mark.parametrize(
    "wrong",
    [
        *({"traceId": ""}, {"traceId": "xyz"}, {"traceId": None}, {"spanId": "0" * 32}, {"traceId": "5b8e" * 4}),
        *({"spanId": 7}, {"parentSpanId": "root"}, {"spanId": "é" * 16}, {"spanId": "\x1b" * 16}),
    ],
    ids=ascii,
)
def test_a_span_that_belongs_nowhere_is_told_and_leaves_figures_open(wrong: dict[str, Any]) -> None:
    lost, kept = read("otlp", traces(span(1, None, SKILL), span(2, 1) | wrong, chat(3, 1, 5, 7)))
    assert (lost.problem or "").startswith(f"invalid span: {next(iter(wrong))}: expected ")
    assert printable(lost.problem or "") == lost.problem
    assert kept.invocation
    assert figures(kept.invocation) == (None,) * 5
    assert kept.invocation.duration_ms == 12_000
    assert kept.warnings == (UNWHOLE,)


def test_ids_are_the_same_in_large_and_small_letters() -> None:
    (found,) = invocations(
        span(171, None, SKILL, traceId=TRACE.upper()), chat(2, 171, 5, 7, parentSpanId="0" * 14 + "AB")
    )
    assert (found.invocation_id, found.tokens_used) == (f"{TRACE}-00000000000000ab", 12)


@pytest.mark.parametrize("loop", [[span(1, 1, SKILL)], [span(1, 2, SKILL), span(2, 3), span(3, 1)]])
def test_spans_that_stand_below_themselves_add_up_to_nothing(loop: list[object]) -> None:
    (found,) = read("otlp", traces(*loop, chat(9, 1, 5, 7)))
    assert found.invocation
    assert figures(found.invocation) == (None,) * 5
    assert found.warnings == (UNWHOLE,)


def test_times_beyond_64_bits_are_none() -> None:
    (found,) = read("otlp", traces(span(1, None, SKILL, endTimeUnixNano=10**400)))
    assert found.invocation
    assert found.invocation.duration_ms is None
    (found,) = read("otlp", traces(span(1, None, SKILL, startTimeUnixNano=10**400)))
    assert found.problem == "span 0000000000000001: timestamp is missing"


def test_tokens_that_no_database_holds_leave_their_sum_open() -> None:
    most = 2**53
    (found,) = invocations(span(1, None, SKILL), *(chat(number, 1, most, 1) for number in range(2, 5)))
    assert (found.tokens_input, found.tokens_output, found.tokens_used) == (None, 3, None)


def test_empty_lines_take_no_memory() -> None:
    def lines() -> Iterator[tuple[int, bytes]]:
        yield 1, b'{"resourceSpans": [{"scopeSpans": [{"spans": ['
        yield 50_000_000, b"1]}]}]}"

    tracemalloc.start()
    (found,) = reader("otlp")(lines(), OPTIONS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.line, found.problem) == (50_000_000, "invalid span: expected a span, found 1")
    assert peak < 5_000_000


def test_deeply_nested_skills_are_added_up_in_linear_time() -> None:
    found = invocations(span(1, None, SKILL), *(span(number, number - 1, SKILL) for number in range(2, 16_001)))
    assert len(found) == 16_000
    assert found[0].tool_call_count == 0


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (traces(span(1, None, SKILL))[:-4], [(1, "truncated JSON"), (1, None)]),
        (
            traces(tool(2, 1))[:200] + b"\n" + traces(span(1, None, SKILL)),
            [(1, "truncated JSON"), (2, None)],
        ),
        (
            traces(span(1, None, SKILL)) + b"\nrubbish\n" + traces(span(2, None, SKILL)),
            [(2, "content after the end of the document"), (3, None), (1, None)],
        ),
        (b"rubbish\n" + traces(span(1, None, SKILL)), [(1, "does not begin with an object"), (2, None)]),
        (b'{"resourceSpans": [}', [(1, "unexpected }")]),
        (
            b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"a": tru}]}]}]}',
            [(1, "invalid span: invalid JSON at character 7: Expecting value")],
        ),
        (
            b'{"resourceSpans": [{"scopeSpans": [{"spans": [3, null, {"a": 1}, "x"]}]}]}',
            [
                (1, "invalid span: expected a span, found 3"),
                (1, "invalid span: expected a span, found null"),
                (1, "invalid span: traceId: expected 32 hexadecimal digits, found null"),
                (1, 'invalid span: expected a span, found "x"'),
            ],
        ),
        (b'{"resourceSpans": 3}', [(1, None)]),
        (b'{"resourceSpans": []}', [(1, None)]),
        (b"", [(1, None)]),
        (b"\n\n", [(1, None)]),
    ],
)
def test_a_broken_document_takes_no_other_with_it(data: bytes, expected: list[object]) -> None:
    found = [(read.line, read.problem) for read in read("otlp", data)]
    assert sorted(found, key=str) == sorted(expected, key=str)


def test_after_a_broken_document_figures_are_left_open() -> None:
    data = traces(chat(2, 1, 5, 7))[:300] + b"\n" + traces(span(1, None, SKILL), chat(3, 1, 5, 7))
    assert [figures(found.invocation) for found in read("otlp", data) if found.invocation] == [(None,) * 5]


def test_other_signals_in_the_same_file_are_passed_over() -> None:
    other = b'{"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"name": "x"}]}]}]}\n{"resourceLogs": []}\n'
    assert one(read("otlp", other + traces(span(1, None, SKILL)) + b"\n\n")).skill_name == "csv-merge"


def test_a_line_longer_than_others_may_be_comes_in_pieces() -> None:
    many = traces(*(tool(number, 1) for number in range(2, 20_000)), span(1, None, SKILL))
    assert len(many) > LONGEST
    pieces = ((1, many[at : at + LONGEST]) for at in range(0, len(many), LONGEST))
    assert one(list(reader("otlp")(pieces, OPTIONS))).tool_call_count == 19_998


def test_a_span_that_is_too_long_is_passed_over() -> None:
    long = span(2, 1, {"x": "y" * LONGEST})
    lost, kept = read("otlp", traces(span(1, None, SKILL), long, chat(3, 1, 5, 7)))
    assert lost.problem == "invalid span: longer than 4,000,000 bytes"
    assert kept.warnings == (UNWHOLE,)


def small(trace: int, number: int, parent: int | None, said: dict[str, Any] | None = None) -> dict[str, Any]:
    keys = [{"key": key, "value": encoded(value)} for key, value in (said or {}).items()]
    found = {"traceId": f"{trace:032x}", "spanId": f"{number:016x}", "attributes": keys}
    found |= {"startTimeUnixNano": f"{BEGAN}000000000"} if said else {}
    return found if parent is None else {**found, "parentSpanId": f"{parent:016x}"}


def test_a_file_with_more_spans_than_are_held_leaves_open_what_is_not_whole() -> None:
    call = {"gen_ai.operation.name": "execute_tool"}
    whole, torn, late, last = ({"skillgate.skill.name": name} for name in ("whole", "torn", "late", "last"))

    def lines() -> Iterator[tuple[int, bytes]]:
        yield 1, traces(small(1, 2, 1, call), small(1, 1, None, whole))  # all of a trace
        yield 2, traces(small(2, 2, 1, call), small(2, 1, 7, torn))  # one whose root is still to come
        for batch in range(105):
            yield 3 + batch, traces(*(small(1000 + batch, number, None) for number in range(1_000)))
        yield 300, traces(small(2, 3, 1, call), small(2, 9, 1, late))
        yield 301, traces(small(3, 2, 1, call), small(3, 1, None, last))

    found = list(reader("otlp")(lines(), OPTIONS))
    assert [
        (read.line, read.invocation and (read.invocation.skill_name, read.invocation.tool_call_count), read.warnings)
        for read in found
    ] == [
        (1, ("whole", 1), ()),
        (2, ("torn", None), (UNWHOLE,)),
        (300, ("late", None), (UNWHOLE,)),
        (301, ("last", 1), ()),
    ]


def test_a_trace_with_more_spans_than_are_held_leaves_its_figures_open() -> None:
    def lines() -> Iterator[tuple[int, bytes]]:
        yield 1, traces(small(1, 1, None, SKILL))
        for batch in range(1, 105):
            yield 1 + batch, traces(*(small(1, batch * 1000 + number, 1) for number in range(1_000)))

    (found,) = reader("otlp")(lines(), OPTIONS)
    assert found.invocation
    assert figures(found.invocation) == (None,) * 5
    assert found.warnings == (UNWHOLE,)


_LARGE = """
import resource
from datetime import UTC, datetime
from skillgate.invocations.formats import Options, reader

SPAN = ('{"traceId": "%032x", "spanId": "%016x", "parentSpanId": "%016x", "startTimeUnixNano": "1777888800000000000",'
        ' "attributes": [{"key": "skillgate.skill.name", "value": {"stringValue": "a"}}, {"key": "x", "value": "%s"}]}')

def lines():
    for number in range(NUMBER):
        spans = ",".join(SPAN % (number, child + 1, child, "x" * 2000) for child in range(5))
        yield number + 1, ('{"resourceSpans": [{"scopeSpans": [{"spans": [%s]}]}]}' % spans).encode()

found = sum(read.invocation is not None for read in reader("otlp")(lines(), Options(datetime(2026, 7, 20, tzinfo=UTC))))
print(found, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_a_file_of_any_size_is_read_in_bounded_memory() -> None:
    pytest.importorskip("resource")

    def peak_mb(traces_of_five: int) -> int:
        code = _LARGE.replace("NUMBER", str(traces_of_five))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        found, peak = map(int, done.stdout.split())
        assert found == 5 * traces_of_five
        return peak

    assert peak_mb(7_000) < peak_mb(10) + 60  # 80 MB, and twice as many invocations as are held


def test_an_invocation_says_the_same_in_every_form() -> None:
    said: dict[str, Any] = {"outcome": "complete", "error_count": 0, "output_type": "code", "output_size": 40}
    said |= {"duration_ms": 12_000, "user_accepted": True, "user_edit_ratio": 0.25, "files_changed": 2}
    said |= {"skill_category": "code_generation", "requested_items": 3, "delivered_items": 2}
    nested = {"feedback": {"accuracy": "mostly"}, "code_quality": {"tests_passed": True}}
    tokens: dict[str, Any] = {"tokens_used": {"input": 6, "output": 8}, "tool_calls": ["Read"]}
    entry = {**said, **nested, **tokens}
    line = one(read("jsonl", record(**entry)))
    top = {"logs_version": 1, "skill_name": "csv-merge", "skill_category": said.pop("skill_category")}
    whole = json.dumps({**top, "entries": [{**json.loads(record(**entry)), "skill_name": None}]}).encode()
    own = {f"skillgate.{key}": value for key, value in said.items()}
    own |= {"skillgate.skill.category": "code_generation", "skillgate.invocation_id": "i-1"}
    own |= {"skillgate.feedback.accuracy": "mostly", "skillgate.code_quality.tests_passed": True}
    spans = traces(chat(2, 1, 5, 7), chat(3, 1, 1, 1), tool(4, 1), span(1, None, SKILL, own))
    assert one(read("portable", whole)) == line
    assert one(read("otlp", spans))._replace(source="log", extra=None) == line


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
VALUES = ANY | st.dictionaries(
    st.sampled_from(("stringValue", "intValue", "doubleValue", "boolValue", "arrayValue", "kvlistValue", "bytesValue")),
    ANY | st.builds(lambda values: {"values": values}, ANY),
    max_size=2,
)
KEYS = st.sampled_from(
    (
        *("skillgate.skill.name", "skillgate.skill.", "skillgate.", "skillgate.feedback", "skillgate.feedback.rating"),
        *("skillgate.invocation_id", "gen_ai.tool.name", "gen_ai.tool.call.arguments", "gen_ai.operation.name"),
        *("gen_ai.usage.input_tokens", "gen_ai.conversation.id", "error.type", "session.id"),
    )
)
ATTRIBUTES = ANY | st.lists(st.builds(lambda key, value: {"key": key, "value": value}, KEYS | ANY, VALUES), max_size=5)
IDS = st.sampled_from(("0" * 15 + "1", "0" * 15 + "2", ""))


@CI
@given(
    st.lists(
        st.builds(
            lambda number, parent, said, more: {
                **span(1, None),
                **{"spanId": number, "parentSpanId": parent, "attributes": said},
                **more,
            },
            IDS,
            IDS,
            ATTRIBUTES,
            st.dictionaries(st.sampled_from(("status", "events", "startTimeUnixNano", "endTimeUnixNano")), ANY),
        )
        | ANY,
        max_size=4,
    ),
    st.booleans(),
)
def test_any_spans_give_invocations_or_reasons(spans: list[object], loads: bool) -> None:
    first = [span(1, None, LOADS if loads else SKILL)]
    for found in read("otlp", traces(*first, *spans)):
        assert (found.invocation is None) is (found.problem is not None)
        assert printable(found.problem or "") == (found.problem or "")


@CI
@given(st.binary(max_size=200) | st.binary(max_size=100).map(lambda data: b'{"resourceSpans": [{"scopeSpans"' + data))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for found in read("otlp", data):
        assert printable(found.problem or "") == (found.problem or "")


@pytest.mark.parametrize(
    ("spans", "own", "of_tools"),
    [
        ([span(1, None, SKILL), tool(2, 1, **FAILED), tool(3, 2, status={"code": "STATUS_CODE_ERROR"})], 0, 2),
        ([span(1, None, SKILL), span(2, 1, {"error.type": "timeout"})], 0, 1),
        ([span(1, None, SKILL), span(2, 1, events=[{"name": "exception"}, 3])], 0, 1),
        ([span(1, None, SKILL, **FAILED), tool(2, 1)], 1, 0),
        ([span(1, None, {**SKILL, "skillgate.error_count": 3, "skillgate.tool_error_count": 4}), tool(2, 1)], 3, 4),
    ],
)
def test_a_failed_span_below_a_use_is_no_error_of_the_skill(spans: list[object], own: int, of_tools: int) -> None:
    (found,) = invocations(*spans)
    assert (found.error_count, found.tool_error_count) == (own, of_tools)


@pytest.mark.parametrize("value", [["chat"], {"a": "chat"}, 1, True])
def test_an_operation_that_is_no_text_is_ignored(value: Any) -> None:
    strange = span(1, None, {"gen_ai.operation.name": value, "gen_ai.skill.name": "pdf"})
    (found,) = invocations(strange, span(2, None, SKILL))
    assert found.skill_name == "csv-merge"


def test_a_session_that_is_no_unicode_is_rejected() -> None:
    found = read("otlp", logs(activated("pdf", 1, session="\ud800")))
    (problem,) = (str(rejected.problem) for rejected in found)
    assert problem.startswith("session_id: expected a name")


def test_a_time_before_the_year_2000_is_unknown() -> None:
    (found,) = read("otlp", traces(span(1, None, SKILL, startTimeUnixNano="1")))
    assert found.invocation is None
