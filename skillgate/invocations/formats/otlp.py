"""Read OpenTelemetry traces and logs as OTLP JSON: one document, or one per line, as the collector writes.

Source: the specification of OTLP 1.10, JSON encoding (ids in hexadecimal, 64-bit numbers as strings).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from skillgate.invocations.formats import FAULTS, LONGEST, Lines, Options
from skillgate.invocations.formats._claude_logs import LOG_KEYS, Event, Sessions, event_of
from skillgate.invocations.formats._input import BrokenError, Element, NotJsonError, elements, parsed
from skillgate.invocations.formats._record import shown
from skillgate.invocations.formats._span import KEYS, OURS, SpanData
from skillgate.invocations.formats._traces import COUNTS, Traces
from skillgate.model.invocation import Read

POSITION = 3
EXPECTED = "OTLP JSON"
ONE_DOCUMENT = True
GROWS = True
_SPANS = ("resourceSpans", None, "scopeSpans", None, "spans", None)
_LOGS = ("resourceLogs", None, "scopeLogs", None, "logRecords", None)
_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*+\{\s*+"resource(?:Spans|Logs|Metrics|Profiles)"')
_DEPTH = 16  # of lists and maps in an attribute
_DIGITS = 20  # of a 64-bit number with its sign
_EARLIEST = 946_684_800 * 10**9  # nanoseconds; an earlier time than the year 2000 comes from a wrong clock
_LATEST = 2**64  # nanoseconds; times are of 64 bits
_HEX = re.compile(r"[0-9a-fA-F]{16}(?:[0-9a-fA-F]{16})?")


class SpanError(ValueError):
    """A span or a log record that cannot be read."""


def is_it(head: bytes) -> bool:
    """Whether a file begins like OTLP JSON."""
    return _BEGINNING.match(head) is not None


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read the uses of skills among spans, and among the logs of Claude Code.

    A use is yielded when its trace or session is presumably complete: for files of ordinary size, at the end.
    """
    traces, sessions = Traces(options), Sessions(options)
    skills = 0
    for found in _read(lines, traces, sessions):
        skills += found.invocation is not None or found.problem is not None
        yield found
    if not skills:
        yield Read(1, None, unused=_unused(traces, sessions))


def _unused(traces: Traces, sessions: Sessions) -> str:
    if traces.spans and not sessions.hidden:
        return traces.unused()
    return sessions.unused() if sessions.records else f"no spans or log records; {COUNTS}"


def _read(lines: Lines, traces: Traces, sessions: Sessions) -> Iterator[Read]:
    filled = (line for line in lines if line[1].strip())
    for _, document in groupby(filled, _Documents()):
        try:
            for element in elements(document, (_SPANS, _LOGS)):
                if element.path in (_SPANS, _LOGS):
                    yield from _element(element, traces, sessions)
        except BrokenError as broken:
            traces.damaged = True
            yield Read(broken.line, None, str(broken))
    yield from sessions.rest()
    traces.logged |= sessions.used
    yield from traces.rest()


class _Documents:
    """Numbers the documents of a file: each begins on a line that looks like a beginning.

    So a truncated document does not affect the next one.
    """

    def __init__(self) -> None:
        self._count = self._line = 0

    def __call__(self, line: tuple[int, bytes]) -> int:
        number, raw = line
        if number != self._line and _BEGINNING.match(raw):
            self._count += 1
        self._line = number
        return self._count


def _element(element: Element, traces: Traces, sessions: Sessions) -> Iterator[Read]:
    what = "span" if element.path == _SPANS else "log record"
    why: object = f"longer than {LONGEST:,} bytes"
    try:
        if element.text is not None:
            data = parsed(element.text)
            if what == "span":
                yield from traces.add(span_data(data), element.line)
            else:
                yield from sessions.add(log_event(data), element.line)
            return
    except (NotJsonError, SpanError) as problem:
        why = problem
    except FAULTS as error:  # one span must not end the import of all others
        why = f"unexpected {type(error).__name__}"
    if what == "span":
        traces.damaged = True
    else:
        sessions.damaged = True
    yield Read(element.line, None, f"invalid {what}: {why}")


def span_data(data: object) -> SpanData:
    """Return the data of a span; raise SpanError if its ids are invalid."""
    if not isinstance(data, dict):
        raise SpanError(f"expected a span, found {shown(data)}")
    trace, span = _id(data, "traceId", 32), _id(data, "spanId", 16)
    values = _attributes(data.get("attributes"), KEYS)
    name = data.get("name")
    return SpanData(
        trace=trace,
        id=span,
        parent=_id(data, "parentSpanId", 16) if data.get("parentSpanId") else None,
        identity=f"{data['traceId']}-{data['spanId']}".lower(),
        shown=f"span {data['spanId'].lower()}",
        name=name if isinstance(name, str) else "",
        began=_time(data.get("startTimeUnixNano")),
        ended=_time(data.get("endTimeUnixNano")),
        failed=_failed(data, values),
        get=lambda key: value_of(values.get(key)),
        own={key.removeprefix(OURS): value_of(value) for key, value in values.items() if key.startswith(OURS)},
    )


def log_event(data: object) -> Event | None:
    """Return the event of a log record; None if it is not Claude Code's. Raises SpanError."""
    if not isinstance(data, dict):
        raise SpanError(f"expected a log record, found {shown(data)}")
    values = _attributes(data.get("attributes"), LOG_KEYS)
    name = value_of(data.get("body"))
    if not isinstance(name, str) or not name.startswith("claude_code."):
        name = value_of(values.get("event.name"))
    at = _time(data.get("timeUnixNano")) or _time(data.get("observedTimeUnixNano"))
    return event_of(name, at, lambda key: value_of(values.get(key)))


def _attributes(entries: object, keys: frozenset[str]) -> dict[str, object]:
    """Return the used attributes, with encoded values."""
    found: dict[str, object] = {}
    for entry in entries if isinstance(entries, list) else ():
        key = entry.get("key") if isinstance(entry, dict) else None
        if isinstance(key, str) and (key in keys or key.startswith(OURS)):
            found[key] = entry.get("value")
    return found


def value_of(encoded: object, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """Decode an attribute's value; None if it is missing or of an unused kind."""
    if not isinstance(encoded, dict) or depth > _DEPTH:
        return None
    for kind, value in encoded.items():
        if kind == "intValue":
            return _whole(value)
        if kind in ("stringValue", "boolValue", "doubleValue"):
            return value
        inner = value.get("values") if isinstance(value, dict) else None
        inner = inner if isinstance(inner, list) else []
        if kind == "arrayValue":
            return [value_of(one, depth + 1) for one in inner]
        if kind == "kvlistValue":
            keyed = ((pair.get("key"), pair.get("value")) for pair in inner if isinstance(pair, dict))
            return {key: value_of(one, depth + 1) for key, one in keyed if isinstance(key, str)}
    return None


def _whole(value: object) -> object:
    """Read a 64-bit number, usually a string; anything else is returned as it is and rejected later."""
    if isinstance(value, str) and len(value) <= _DIGITS and value.removeprefix("-").isdecimal():
        return int(value)
    return value


def _id(data: Mapping[str, Any], key: str, digits: int) -> int:
    value = data.get(key)
    if not isinstance(value, str) or len(value) != digits or not _HEX.fullmatch(value):
        raise SpanError(f"{key}: expected {digits} hexadecimal digits, found {shown(value)}")
    return int(value, 16)


def _failed(data: Mapping[str, Any], values: Mapping[str, object]) -> bool:
    status = data.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    if code in (1, "STATUS_CODE_OK"):  # an explicit decision, which overrides recorded errors
        return False
    if code in (2, "STATUS_CODE_ERROR") or value_of(values.get("error.type")):
        return True
    events = data.get("events")
    named = (event.get("name") for event in events if isinstance(event, dict)) if isinstance(events, list) else ()
    return "exception" in named


def _time(value: object) -> int | None:
    found = _whole(value)
    return found if type(found) is int and _EARLIEST <= found < _LATEST else None
