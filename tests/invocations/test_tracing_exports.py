"""Exports of Langfuse and Phoenix, and skills by the conventions of OpenTelemetry and OpenInference."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillgate.format import printable
from skillgate.invocations.formats import recognise
from skillgate.invocations.spool import reduced
from skillgate.model.invocation import Caller, Ending, Evidence, Invocation, Read
from tests.invocations.claude_telemetry import activated, event, logs, request, result
from tests.invocations.readings import one, read
from tests.invocations.traces import AGENT, BEGAN, TRACE, chat, encoded, span, tool, traces
from tests.properties.documents import CI

AT = "2026-05-04T10:00:{:02d}.500Z"
USAGE = {"input": 10, "output": 5, "input_cached_tokens": 70, "total": 85}


def observation(number: int, parent: int | None, kind: str, began: int, ended: int, **said: Any) -> dict[str, Any]:
    """Write an observation as Langfuse exports it."""
    return {
        "id": f"obs-{number}",
        "traceId": "trace-1",
        "parentObservationId": None if parent is None else f"obs-{parent}",
        "type": kind,
        "name": "openai-chat",
        "startTime": AT.format(began),
        "endTime": AT.format(ended),
        "level": "DEFAULT",
        **said,
    }


OBSERVATIONS = [
    observation(1, None, "AGENT", 0, 50, sessionId="s-9"),
    observation(2, 1, "TOOL", 1, 2, name="load_skill", input={"skill": "pdf"}, sessionId="s-9"),
    observation(3, 1, "GENERATION", 3, 9, model="gpt-5", usageDetails=USAGE, totalCost=0.25, input='"data": ['),
    observation(4, 1, "TOOL", 10, 20, name="Bash"),
]
_SNAKES = {"traceId": "trace_id", "parentObservationId": "parent_observation_id", "usageDetails": "usage_details"}
_SNAKES |= {"startTime": "start_time", "endTime": "end_time", "sessionId": "session_id", "totalCost": "total_cost"}
BLOB = [{_SNAKES.get(key, key): value for key, value in row.items()} for row in OBSERVATIONS]
for row in BLOB:
    row |= {key: row[key].replace("T", " ").replace("Z", "000") for key in ("start_time", "end_time")}


def phoenix(number: int, parent: int | None, kind: str, began: int, ended: int, **said: Any) -> dict[str, Any]:
    """Write a span as Phoenix exports it; ``__`` in a name stands for a dot."""
    return {
        "name": "step",
        "context": {"trace_id": TRACE, "span_id": f"{number:016x}"},
        "span_kind": kind,
        "parent_id": None if parent is None else f"{parent:016x}",
        "start_time": AT.format(began),
        "end_time": AT.format(ended),
        "status_code": "OK",
        "attributes": {
            "openinference.span.kind": kind,
            "session.id": "s-9",
            **{key.replace("__", "."): value for key, value in said.items()},
        },
    }


PHOENIX = [
    phoenix(1, None, "AGENT", 0, 50),
    phoenix(2, 1, "TOOL", 1, 2, tool__name="load_skill", input__value='{"skill": "pdf"}'),
    phoenix(
        *(3, 1, "LLM", 3, 9),
        llm__model_name="gpt-5",
        llm__token_count__prompt=80,
        llm__token_count__completion=5,
        llm__token_count__prompt_details__cache_read=70,
        llm__cost__total=0.25,
    ),
    phoenix(4, 1, "TOOL", 10, 20, tool__name="Bash"),
]


def nested(row: dict[str, Any]) -> dict[str, Any]:
    """Nest attributes, as the command line of some versions does."""
    found: dict[str, Any] = {}
    for key, value in row["attributes"].items():
        *path, last = key.split(".")
        place = found
        for step in path:
            place = place.setdefault(step, {})
        place[last] = value
    return {**row, "attributes": found}


def columns(row: dict[str, Any]) -> dict[str, Any]:
    """Write a row of a data frame."""
    rest = {key: value for key, value in row.items() if key not in ("context", "attributes")}
    context = {f"context.{key}": value for key, value in row["context"].items()}
    return {**context, **rest, **{f"attributes.{key}": value for key, value in row["attributes"].items()}}


def lines(rows: list[dict[str, Any]]) -> bytes:
    return b"\n".join(json.dumps(row).encode() for row in rows)


FILES = {
    "langfuse: table": ("langfuse", json.dumps(OBSERVATIONS).encode()),
    "langfuse: table over several lines": ("langfuse", json.dumps(OBSERVATIONS, indent=2).encode()),
    "langfuse: trace": ("langfuse", json.dumps({"id": "trace-1", "observations": OBSERVATIONS}).encode()),
    "langfuse: API": ("langfuse", json.dumps({"data": OBSERVATIONS, "meta": {"cursor": None}}).encode()),
    "langfuse: blob storage": ("langfuse", lines(BLOB)),
    "phoenix: traces": ("phoenix", json.dumps([{"traceId": TRACE, "spans": PHOENIX}]).encode()),
    "phoenix: spans": ("phoenix", json.dumps(PHOENIX).encode()),
    "phoenix: API": ("phoenix", json.dumps({"data": PHOENIX, "next_cursor": None}, indent=1).encode()),
    "phoenix: nested attributes": ("phoenix", json.dumps([nested(row) for row in PHOENIX]).encode()),
    "phoenix: a data frame": ("phoenix", lines([columns(row) for row in PHOENIX])),
}


@pytest.mark.parametrize("name", FILES)
def test_an_export_is_recognised_and_read(name: str) -> None:
    form, data = FILES[name]
    assert recognise(data) == form
    found = one(read(form, data))
    assert (found.skill_name, found.session_id, found.model, found.source) == ("pdf", "s-9", "gpt-5", form)
    assert (found.timestamp.isoformat(), found.called_by) == ("2026-05-04T10:00:01+00:00", Caller.MODEL)
    assert (found.shared, found.tool_calls_most, found.tokens_most) == (True, 1, 15)
    assert (found.tool_call_count, found.tokens_used, found.duration_most_ms) == (None, None, 19_000)


@pytest.mark.parametrize("form", ["langfuse", "phoenix"])
def test_an_export_without_a_use_says_so(form: str) -> None:
    rows = [row for row in (OBSERVATIONS if form == "langfuse" else PHOENIX) if "load_skill" not in json.dumps(row)]
    (found,) = read(form, json.dumps(rows).encode())
    assert (found.unused or "").startswith("none of 3 spans is a use of a skill; a use is a call of the tool Skill")


@pytest.mark.parametrize(
    ("form", "data", "problem"),
    [
        ("langfuse", b'[{"type": "TOOL"}]', "invalid span: traceId: expected an id, found null"),
        ("langfuse", b'[{"type": "TOOL", "traceId": "a", "id": 7}]', "invalid span: id: expected an id, found 7"),
        ("langfuse", b"[3]", "invalid span: expected an object, found 3"),
        ("langfuse", json.dumps(OBSERVATIONS).encode()[:-1], "truncated JSON"),
        ("phoenix", b'[{"context": {"trace_id": "a", "span_id": "b"}}]', "invalid span: span_kind is missing"),
        ("phoenix", b'{"spans": [{"context": 3, "span_kind": "LLM"}]}', "invalid span: trace_id: expected an id"),
        ("phoenix", b'{"a": 1}\n{"b": \n', "invalid span: trace_id: expected an id, found null"),
    ],
)
def test_what_is_no_span_is_rejected_by_itself(form: str, data: bytes, problem: str) -> None:
    assert any((found.problem or "").startswith(problem) for found in read(form, data))


def test_a_langfuse_observation_has_the_attributes_that_it_received() -> None:
    metadata = {
        "attributes": {"gen_ai.skill.name": "pdf", "gen_ai.skill.version": "1.2", "skillgate.outcome": "complete"}
    }
    rows = [observation(1, None, "TOOL", 0, 1, name="execute_tool load_skill", metadata=metadata)]
    found = one(read("langfuse", json.dumps(rows).encode()))
    assert (found.skill_name, found.skill_version, found.ending) == ("pdf", "1.2", Ending.COMPLETE)


# OpenTelemetry's conventions

LOAD = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "load_skill", "gen_ai.skill.name": "pdf"}


def after(number: int, seconds: int) -> dict[str, Any]:
    """Return the identity and the times of a span of one second."""
    nano = (BEGAN + seconds) * 10**9
    return {"startTimeUnixNano": str(nano), "endTimeUnixNano": str(nano + 10**9)}


def uses(*spans: object) -> list[Invocation]:
    return [found.invocation for found in read("otlp", traces(*spans)) if found.invocation]


def test_a_load_by_the_conventions_is_a_use() -> None:
    turn = span(1, None, AGENT)
    load = span(2, 1, LOAD, {"gen_ai.skill.version": "1.4.0", "gen_ai.conversation.id": "c-1"}, **after(2, 1))
    (found,) = uses(turn, load, chat(3, 1, 10, 2, **after(3, 3)), tool(4, 1, **after(4, 5)))
    assert (found.skill_name, found.skill_version, found.session_id) == ("pdf", "1.4.0", "c-1")
    assert (found.shared, found.tool_calls_most, found.tokens_most) == (True, 1, 12)
    assert (found.tokens_used, found.called_by) == (None, Caller.MODEL)


def test_what_began_before_a_load_is_not_its() -> None:
    before = [chat(3, 1, 10, 2, **after(3, 0)), tool(4, 1, **after(4, 1))]
    (found,) = uses(span(1, None, AGENT), span(2, 1, LOAD, **after(2, 2)), *before, chat(5, 1, 1, 1, **after(5, 4)))
    assert (found.tool_calls_most, found.tokens_most) == (0, 2)


@pytest.mark.parametrize("part", [{"gen_ai.skill.resource.name": "references/a.md"}, {"process.executable.name": "sh"}])
def test_files_and_programs_of_a_skill_are_no_uses(part: dict[str, str]) -> None:
    name = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "bash", "gen_ai.skill.name": "pdf"}
    assert uses(span(1, None, AGENT), span(2, 1, name, part)) == []


def test_calls_with_the_name_of_a_skill_count_once() -> None:
    calls = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read_file", "gen_ai.skill.name": "pdf"}
    some = [span(number, 1, calls, **after(number, number)) for number in (2, 3, 4)]
    invoked = span(6, 5, {"gen_ai.operation.name": "invoke_skill", "gen_ai.skill.name": "pdf"}, **after(6, 5))
    assert len(uses(span(1, None, AGENT), *some)) == 1
    assert len(uses(span(1, None, AGENT), span(5, 1, LOAD, **after(5, 0)), *some, invoked)) == 1
    twice = [span(5, 1, LOAD, **after(5, 0)), span(6, 5, LOAD, **after(6, 0)), span(7, 1, LOAD, **after(7, 8))]
    assert len(uses(span(1, None, AGENT), *twice)) == 2


def test_a_failed_load_is_evidence() -> None:
    (found,) = uses(span(1, None, AGENT), span(2, 1, LOAD, {"error.type": "timeout"}))
    assert (found.ending, found.outcome_evidence) == (Ending.HARD_FAILURE, Evidence.LOAD_FAILED)


@pytest.mark.parametrize(
    ("given", "cached", "expected"),
    [(100, 90, 12), (100, None, 102), (100, 0, 102), (100, 100, 2), (3, 90, 5), (100, -1, 102)],
)
def test_cached_tokens_are_no_work_of_a_skill(given: int, cached: int | None, expected: int) -> None:
    usage = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": given, "gen_ai.usage.output_tokens": 2}
    usage |= {} if cached is None else {"gen_ai.usage.cache_read.input_tokens": cached}
    (found,) = uses(span(1, None, {"skillgate.skill.name": "pdf"}), span(2, 1, usage))
    assert found.tokens_used == expected
    assert (found.extra or {}).get("tokens_cache_read") == (cached if cached and cached > 0 else None)


def test_an_agent_that_does_not_separate_cached_tokens_counts_by_its_calls() -> None:
    usage = {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 2}
    total = {**AGENT, "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 2}
    (found,) = uses(
        span(1, None, {"skillgate.skill.name": "pdf"}),
        span(2, 1, total),
        span(3, 2, usage, {"gen_ai.usage.cache_read.input_tokens": 90}),
    )
    assert found.tokens_used == 12


def test_an_openinference_span_below_a_use_has_tokens_and_cost() -> None:
    call = {"openinference.span.kind": "LLM", "llm.token_count.prompt": 80, "llm.token_count.completion": 5}
    call |= {"llm.token_count.prompt_details.cache_read": 70, "llm.cost.total": 0.25, "llm.model_name": "gpt-5"}
    (found,) = uses(span(1, None, {"skillgate.skill.name": "pdf"}), span(2, 1, call), span(3, 1, call))
    assert (found.tokens_used, found.cost_usd, found.model) == (30, 0.5, "gpt-5")


def test_an_openinference_tool_that_loads_is_a_use() -> None:
    load = {"openinference.span.kind": "TOOL", "tool.name": "Skill", "input.value": '{"skill": "pdf"}'}
    (found,) = uses(span(1, None, {"openinference.span.kind": "AGENT"}), span(2, 1, load))
    assert found.skill_name == "pdf"


def test_telemetry_without_a_use_says_what_would_be_one() -> None:
    (found,) = read("otlp", traces(chat(1, 0, 1, 1), tool(2, 1)))
    assert found == Read(1, None, unused=found.unused)
    assert (found.unused or "").startswith("none of 2 spans is a use of a skill; a use is a call of the tool Skill")


# Whatever a file or a sender has, it is read or refused

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
ROWS = [*OBSERVATIONS, *BLOB, *PHOENIX]
KEYS = sorted({key for row in ROWS for key in row} | {"context", "attributes", "input", "metadata", "usage"})


@CI
@given(
    st.sampled_from(("langfuse", "phoenix")),
    st.sampled_from(ROWS),
    st.dictionaries(st.sampled_from(KEYS), ANY, max_size=4),
    st.booleans(),
)
def test_any_row_is_read_or_rejected(form: str, row: dict[str, Any], more: dict[str, Any], in_a_list: bool) -> None:
    rows = [row | more, row]
    for found in read(form, json.dumps(rows).encode() if in_a_list else lines(rows)):
        assert printable(found.problem or "") == (found.problem or "")


@CI
@given(
    st.sampled_from(("langfuse", "phoenix")),
    st.binary(max_size=200) | st.text('{}[]",:ad \n', max_size=80).map(str.encode),
)
def test_any_bytes_are_read_or_refused(form: str, data: bytes) -> None:
    for found in read(form, data):
        assert printable(found.problem or "") == (found.problem or "")


RECORDS = [activated("pdf", 1), request(2, skill__name="pdf"), result(3, "Skill", "false"), event("api_error", 4)]
ATTRIBUTES = sorted({entry["key"] for record in RECORDS for entry in record["attributes"]})


@CI
@given(
    st.sampled_from(RECORDS),
    st.dictionaries(st.sampled_from(ATTRIBUTES), ANY, max_size=3),
    st.dictionaries(st.sampled_from(("timeUnixNano", "body", "attributes")), ANY, max_size=2),
)
def test_any_record_is_read_or_rejected_and_the_same_through_a_spool(
    record: dict[str, Any], said: dict[str, Any], more: dict[str, Any]
) -> None:
    changed = [{"key": key, "value": encoded(value)} for key, value in said.items()]
    odd = {**record, "attributes": [*record["attributes"], *changed], **more}
    data = logs(*RECORDS, odd)
    direct = [found.invocation for found in read("otlp", data) if found.invocation]
    through = b"\n".join(reduced("logs", json.loads(data)).lines())
    spooled = [found.invocation for found in read("otlp", through) if found.invocation]
    assert len(spooled) == len(direct)
    for one_direct, one_spooled in zip(direct, spooled, strict=True):
        assert one_spooled.skill_name == one_direct.skill_name


@CI
@given(ANY, st.sampled_from(("traces", "logs")))
def test_any_document_is_reduced(document: object, signal: str) -> None:
    outer, scope, inner = {
        "traces": ("resourceSpans", "scopeSpans", "spans"),
        "logs": ("resourceLogs", "scopeLogs", "logRecords"),
    }[signal]
    for whole in (document, {outer: document}, {outer: [{scope: document}]}, {outer: [{scope: [{inner: [document]}]}]}):
        for line in reduced(signal, whole).lines():
            list(read("otlp", line))
