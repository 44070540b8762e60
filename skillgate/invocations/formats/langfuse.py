"""Read exports of Langfuse: observations of its table, a trace, its API, or its export to blob storage, as JSON.

Sources: Langfuse's pages on exports and its API reference of October 2026. The categories of ``usageDetails`` add up to
the total, so that input does not contain what was cached.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from skillgate.invocations.formats import Lines, Options
from skillgate.invocations.formats._input import NotJsonError, parsed
from skillgate.invocations.formats._rows import RowError, identity, nanoseconds, number, read_rows
from skillgate.invocations.formats._span import OURS, SpanData
from skillgate.model.invocation import Read

POSITION = 5
EXPECTED = "an export of Langfuse"
ONE_DOCUMENT = True
GROWS = True
_TYPES = "SPAN|GENERATION|EVENT|AGENT|TOOL|CHAIN|RETRIEVER|EVALUATOR|EMBEDDING|GUARDRAIL"
_TYPE = re.compile(rf'"type"\s*:\s*"(?:{_TYPES})"'.encode())
_IDS = re.compile(rb'"(?:traceId|trace_id)"\s*:')
_TIMES = re.compile(rb'"(?:startTime|start_time)"\s*:')
_COSTS = ("totalCost", "total_cost", "calculatedTotalCost")
_KINDS = {"GENERATION": "LLM", "EMBEDDING": "EMBEDDING", "AGENT": "AGENT", "TOOL": "TOOL"}


def is_it(head: bytes) -> bool:
    """Whether a file begins with an observation: its type, its trace and its time."""
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return first.startswith((b"{", b"[")) and all(one.search(first) for one in (_TYPE, _IDS, _TIMES))


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read the uses of skills among observations."""
    yield from read_rows(lines, options, ("observations", "data"), _span)


def _span(row: dict[str, object]) -> SpanData:
    if not isinstance(row.get("type"), str):
        raise RowError("type is missing")
    trace, own = identity(row, "traceId", "trace_id"), identity(row, "id")
    parent = row.get("parentObservationId") or row.get("parent_observation_id")
    values = _attributes(row)
    name = row.get("name")
    return SpanData(
        trace=number(trace),
        id=number(own),
        parent=number(parent) if isinstance(parent, str) else None,
        identity=f"{trace}-{own}",
        shown="an observation",
        name=name if isinstance(name, str) else "",
        began=nanoseconds(row.get("startTime") or row.get("start_time")),
        ended=nanoseconds(row.get("endTime") or row.get("end_time")),
        failed=row.get("level") == "ERROR",
        get=values.get,
        own={key.removeprefix(OURS): value for key, value in values.items() if key.startswith(OURS)},
        source="langfuse",
    )


def _attributes(row: dict[str, object]) -> dict[str, Any]:
    """Return the attributes of a span: those that Langfuse received, and its own fields in their place."""
    metadata = _decoded(row.get("metadata"))
    received = _decoded(metadata.get("attributes"))
    values = {**metadata, **received}
    name = row.get("name")
    fields = {
        "openinference.span.kind": _KINDS.get(str(row.get("type"))),
        "tool.name": name.removeprefix("execute_tool ") if isinstance(name, str) else None,
        "input.value": row.get("input"),
        "session.id": row.get("sessionId") or row.get("session_id"),
        "llm.model_name": row.get("model") or row.get("providedModelName") or row.get("provided_model_name"),
        "llm.cost.total": next(
            (row[key] for key in ("totalCost", "total_cost", "calculatedTotalCost") if row.get(key)), None
        ),
        **_usage(row),
    }
    return {**values, **{key: value for key, value in fields.items() if value not in (None, "")}}


def _decoded(value: object) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = parsed(value.encode("utf-8", "replace"))
        except NotJsonError:
            return {}
    return value if isinstance(value, dict) else {}


def _usage(row: dict[str, object]) -> dict[str, int]:
    """Return tokens under the names of OpenTelemetry's conventions, whose input contains cached ones."""
    usage = _decoded(row.get("usageDetails") or row.get("usage_details") or row.get("usage"))
    counts = {key: count for key, count in usage.items() if type(count) is int and count >= 0}
    if not counts.keys() & {"input", "output"}:
        return {}
    cached = sum(count for key, count in counts.items() if "cache_read" in key or "cached" in key)
    made = sum(count for key, count in counts.items() if "cache_creation" in key or "cache_write" in key)
    rest = [key for key in counts if "cache" not in key]
    incoming = sum(counts[key] for key in rest if key.startswith("input"))
    outgoing = sum(counts[key] for key in rest if key.startswith("output"))
    return {
        "gen_ai.usage.input_tokens": incoming + made + cached,
        "gen_ai.usage.output_tokens": outgoing,
        "gen_ai.usage.cache_read.input_tokens": cached,
    }
