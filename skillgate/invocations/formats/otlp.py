"""Read OpenTelemetry traces as OTLP JSON: one document, or one per line, as the collector's file exporter writes.

Spans come in any order, usually children before parents, and a trace is spread over a file. So its spans are held until
no more can follow, and the spans below an invocation are summed. Memory is bounded: if there are too many spans, the
traces that were quiet for longest are settled. Figures of incomplete traces are unknown, since sums would be too small.

Sources: the specification of OTLP's JSON encoding (ids in hexadecimal, 64-bit numbers as strings), and OpenTelemetry's
conventions for generative AI, which are still in development. The attribute names are those of 2026, with two of older
instrumentations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import Any, NamedTuple

from skillgate.format import plural
from skillgate.invocations.formats import LONGEST, Lines, Options
from skillgate.invocations.formats._input import MOST, BrokenError, Element, NotJsonError, elements, parsed
from skillgate.invocations.formats._record import invocation_of, shown
from skillgate.model.invocation import Invocation, Read

POSITION = 3
EXPECTED = "OTLP JSON traces"
ONE_DOCUMENT = True
MAX_SPANS = 100_000  # held at once, about 30 MB
MAX_SETTLED = 250_000  # maximum traces remembered as settled early
_QUIET = MAX_SPANS // 10  # a trace is quiet after so many other spans: exporters send a few hundred at once
_SKILL_WEIGHT = 6  # an invocation takes as much memory as this many other spans
_SPARE = 0.75  # share of MAX_SPANS that remains after settling
_SPANS = ("resourceSpans", None, "scopeSpans", None, "spans", None)
_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*+\{\s*+"resource(?:Spans|Logs|Metrics|Profiles)"')
_COUNTS = "a use has gen_ai.tool.name Skill or an attribute skillgate.skill.name"
_UNWHOLE = "not all spans of a trace could be read or held; its tokens, tool calls and errors are unknown"
_LOADED = (
    "a span of the Skill tool without child spans only shows that the skill was loaded; its duration, tokens, tool"
    " calls and errors are unknown"
)
_BACKWARDS = "a span ends before it begins; its duration is unknown"


def is_it(head: bytes) -> bool:
    """Whether a file begins like OTLP JSON."""
    return _BEGINNING.match(head) is not None


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read the invocations among the spans: calls of the Skill tool, and spans with ``skillgate.skill.name``.

    An invocation is yielded when its trace is presumably complete: for files of ordinary size, at the end.
    """
    traces = _Traces()
    spans = skills = 0
    filled = (line for line in lines if line[1].strip())
    for _, document in groupby(filled, _Documents()):
        try:
            for element in elements(document, (_SPANS,)):
                if element.path == _SPANS:
                    spans += 1
                    for read in _span(element, traces, options):
                        skills += read.invocation is not None or read.problem is not None
                        yield read
        except BrokenError as broken:
            traces.damaged = True
            skills += 1
            yield Read(broken.line, None, str(broken))
    for read in traces.rest():
        skills += 1
        yield read
    if not skills:
        seen = f"none of {plural(spans, 'span')} is a use of a skill" if spans else "no spans (logs are not read)"
        yield Read(1, None, unused=f"{seen}; {_COUNTS}")


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


def _span(element: Element, traces: _Traces, options: Options) -> Iterator[Read]:
    why: object = f"longer than {LONGEST:,} bytes"
    try:
        if element.text is not None:
            yield from traces.add(_span_of(parsed(element.text), options, element.line))
            return
    except (NotJsonError, _SpanError) as problem:
        why = problem
    traces.damaged = True
    yield Read(element.line, None, f"invalid span: {why}")


# Attributes: pairs of a key and an encoded value; only some are used

_OURS = "skillgate."
_PREFIXES = (_OURS, "gen_ai.", "error.type", "session.id")
_DEPTH = 16  # of lists and maps in an attribute
_DIGITS = 20  # of a 64-bit number with its sign


def _attributes(entries: object) -> dict[str, object]:
    """Return the used attributes, with encoded values."""
    found: dict[str, object] = {}
    for entry in entries if isinstance(entries, list) else ():
        key = entry.get("key") if isinstance(entry, dict) else None
        if isinstance(key, str) and key.startswith(_PREFIXES):
            found[key] = entry.get("value")
    return found


def _value_of(encoded: object, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """Decode a value; None if it is missing or of an unused kind."""
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
            return [_value_of(one, depth + 1) for one in inner]
        if kind == "kvlistValue":
            keyed = ((pair.get("key"), pair.get("value")) for pair in inner if isinstance(pair, dict))
            return {key: _value_of(one, depth + 1) for key, one in keyed if isinstance(key, str)}
    return None


def _whole(value: object) -> object:
    """Read a 64-bit number, usually a string; anything else is returned as it is and rejected later."""
    if isinstance(value, str) and len(value) <= _DIGITS and value.removeprefix("-").isdecimal():
        return int(value)
    return value


# One span

_TOOL = "Skill"  # the tool by which Claude Code loads a skill
_LATEST = 2**64  # nanoseconds; times are of 64 bits
_HEX = re.compile(r"[0-9a-fA-F]{16}(?:[0-9a-fA-F]{16})?")


class _Kind(Enum):
    """Kinds of spans: a model call has its own tokens, an agent repeats the sum of its calls."""

    MODEL = "model"
    AGENT = "agent"
    TOOL = "tool"
    OTHER = "other"


_OPERATIONS = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "embeddings"), _Kind.MODEL),
    **dict.fromkeys(("invoke_agent", "invoke_workflow"), _Kind.AGENT),
    "execute_tool": _Kind.TOOL,
}
_STANDARD = {
    "skill_name": ("gen_ai.skill.name",),
    "session_id": ("gen_ai.conversation.id", "session.id"),
    "model": ("gen_ai.request.model", "gen_ai.response.model"),
}


class _SpanError(ValueError):
    """A span that cannot be read."""


class _Skill(NamedTuple):
    """An invocation span.

    Attributes:
        read: the invocation from its own attributes, or why it is rejected.
        loaded: whether it is only known as a call of the tool that loads skills.
        duration_ms: from its start and end.
    """

    read: Read
    loaded: bool
    duration_ms: float | None


class _Span(NamedTuple):
    """The held data of a span; ids are integers to save memory."""

    trace: int
    id: int
    parent: int | None
    kind: _Kind
    failed: bool
    input: int | None
    output: int | None
    skill: _Skill | None


def _span_of(data: object, options: Options, line: int) -> _Span:
    """Read a span; raise _SpanError if its ids are invalid."""
    if not isinstance(data, dict):
        raise _SpanError(f"expected a span, found {shown(data)}")
    trace, span = _id(data, "traceId", 32), _id(data, "spanId", 16)
    parent = _id(data, "parentSpanId", 16) if data.get("parentSpanId") else None
    values = _attributes(data.get("attributes"))
    incoming = _usage(values, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    outgoing = _usage(values, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
    operation = _value_of(values.get("gen_ai.operation.name"))
    kind = _OPERATIONS.get(operation, _Kind.OTHER) if isinstance(operation, str) else _Kind.OTHER
    if operation == "embeddings" and outgoing is None:
        outgoing = 0  # embeddings have no output tokens
    skill = None
    if "skillgate.skill.name" in values or _value_of(values.get("gen_ai.tool.name")) == _TOOL:
        skill = _skill(data, values, options, line)
    elif operation is None and (incoming, outgoing) != (None, None):
        kind = _Kind.MODEL
    return _Span(trace, span, parent, kind, _failed(data, values), incoming, outgoing, skill)


def _id(data: Mapping[str, Any], key: str, digits: int) -> int:
    value = data.get(key)
    if not isinstance(value, str) or len(value) != digits or not _HEX.fullmatch(value):
        raise _SpanError(f"{key}: expected {digits} hexadecimal digits, found {shown(value)}")
    return int(value, 16)


def _usage(values: Mapping[str, object], key: str, older: str) -> int | None:
    value = _value_of(values.get(key, values.get(older)))
    return value if type(value) is int and 0 <= value <= MOST else None


def _failed(data: Mapping[str, Any], values: Mapping[str, object]) -> bool:
    status = data.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    if code in (1, "STATUS_CODE_OK"):  # an explicit decision, which overrides recorded errors
        return False
    if code in (2, "STATUS_CODE_ERROR") or _value_of(values.get("error.type")):
        return True
    events = data.get("events")
    named = (event.get("name") for event in events if isinstance(event, dict)) if isinstance(events, list) else ()
    return "exception" in named


def _skill(data: Mapping[str, Any], values: Mapping[str, object], options: Options, line: int) -> _Skill:
    began, ended = _time(data.get("startTimeUnixNano")), _time(data.get("endTimeUnixNano"))
    duration_ms, warnings = None, []
    if began is not None and ended is not None:
        if ended < began:
            warnings.append(_BACKWARDS)
        else:
            duration_ms = (ended - began) / 1e6
    record = _record(values)
    record.setdefault("invocation_id", f"{data['traceId']}-{data['spanId']}".lower())
    if began is not None:
        record.setdefault("timestamp", began // 1_000_000_000)
    read = invocation_of(record, options, line, source="otlp")
    if read.problem is not None:
        read = read._replace(problem=f"span {data['spanId'].lower()}: {read.problem}")
    read = read._replace(warnings=(*read.warnings, *warnings))
    return _Skill(read, "skillgate.skill.name" not in values, duration_ms)


def _time(value: object) -> int | None:
    found = _whole(value)
    return found if type(found) is int and 0 < found < _LATEST else None


def _record(values: Mapping[str, object]) -> dict[str, Any]:
    """Return a span's attributes as a record with the rubric's field names: our own first, then the standard ones."""
    record: dict[str, Any] = {}
    for key, encoded in values.items():
        value = _value_of(encoded) if key.startswith(_OURS) else None
        if value is not None:
            _put(record, key.removeprefix(_OURS), value)
    for field, keys in _STANDARD.items():
        found = next((value for key in keys if (value := _value_of(values.get(key))) not in (None, "")), None)
        if found is not None:
            record.setdefault(field, found)
    if "skill_name" not in record:
        named = _named(_value_of(values.get("gen_ai.tool.call.arguments")))
        if named is not None:
            record["skill_name"] = named
    return record


def _put(record: dict[str, Any], key: str, value: object) -> None:
    """Put ``skill.name`` under ``skill_name``, and ``feedback.accuracy`` into ``feedback``."""
    first, dot, rest = key.partition(".")
    if first == "skill" and dot:
        record[f"skill_{rest}"] = value
    elif dot and isinstance(record.setdefault(first, {}), dict):
        record[first][rest] = value
    else:
        record[key] = value


def _named(arguments: object) -> object:
    """Return a skill's name from the tool's arguments: ``skill``, or ``command`` in earlier versions."""
    if isinstance(arguments, str):
        try:
            arguments = parsed(arguments.encode("utf-8", "replace"))
        except NotJsonError:
            return None
    if not isinstance(arguments, dict):
        return None
    found, command = arguments.get("skill"), arguments.get("command")
    if not found and isinstance(command, str):
        found = command.strip().partition(" ")[0]  # the rest is the skill's task
    return found.strip().removeprefix("/") if isinstance(found, str) else found or command


# Traces


class _Traces:
    """The traces of one file. ``damaged`` is set once spans of any trace were lost."""

    def __init__(self) -> None:
        self.damaged = False
        self._traces: dict[int, _Trace] = {}  # the one quiet for longest comes first
        self._seen = self._size = 0
        self._settled: set[int] = set()

    def add(self, span: _Span) -> Iterator[Read]:
        """Add a span, and yield what is settled to make room. A span with a known id is a duplicate."""
        trace = self._traces.pop(span.trace, None) or _Trace({})
        self._traces[span.trace] = trace
        self._seen += 1
        trace.touched = self._seen
        if span.id not in trace.spans:
            trace.spans[span.id] = span
            self._size += _weight(span)
        if self._size > MAX_SPANS:
            yield from self._make_room()

    def rest(self) -> Iterator[Read]:
        """Settle all remaining traces."""
        while self._traces:
            yield from self._settle(next(iter(self._traces)), whole=True)

    def _make_room(self) -> Iterator[Read]:
        while self._size > MAX_SPANS * _SPARE:
            number, trace = next(iter(self._traces.items()))
            quiet = self._seen - trace.touched >= _QUIET
            yield from self._settle(number, whole=quiet and trace.is_closed())
            self._settled.add(number)
        if len(self._settled) > MAX_SETTLED:
            self.damaged = True  # from here on a trace may be the rest of an earlier one
            self._settled.clear()

    def _settle(self, number: int, *, whole: bool) -> Iterator[Read]:
        spans = self._traces.pop(number).spans
        self._size -= sum(map(_weight, spans.values()))
        skills = [(span, span.skill) for span in spans.values() if span.skill is not None]
        if not skills:
            return
        sums = _sums(spans) if whole and not self.damaged and number not in self._settled else {}
        for span, skill in skills:
            yield _completed(skill, span, sums.get(span.id))


@dataclass(slots=True)
class _Trace:
    """The spans of a trace by id; ``touched`` is the index of the last one in the file."""

    spans: dict[int, _Span]
    touched: int = 0

    def is_closed(self) -> bool:
        """Whether it looks complete: it has a root, and every span has its parent."""
        parents = {span.parent for span in self.spans.values()}
        return None in parents and all(parent is None or parent in self.spans for parent in parents)


def _weight(span: _Span) -> int:
    return 1 if span.skill is None else _SKILL_WEIGHT


@dataclass(slots=True)
class _Sum:
    """The sums of a span and all spans below it; ``usages`` counts those with tokens, known or not."""

    below: int = 0
    calls: int = 0
    errors: int = 0  # of spans below
    usages: int = 0
    input: int | None = 0
    output: int | None = 0
    waiting: int = 0  # children that are not added yet

    def take_own(self, span: _Span) -> None:
        """Add the span itself, after its children.

        Tokens reported by both count once: two libraries may record the same model call, and an agent has the sum of
        its calls. An invocation with fewer tokens than its children does not include them, and is added.
        """
        own = span.input, span.output
        if own != (None, None):
            if not self.usages or span.kind is _Kind.MODEL or self._is_within(own):
                self.usages, self.input, self.output = 0, 0, 0
                self.add_usage(*own)
            elif span.skill is not None and span.kind is not _Kind.AGENT:
                self.add_usage(*own)
        elif span.kind in (_Kind.MODEL, _Kind.AGENT) and not self.usages:
            self.add_usage(None, None)

    def take_child(self, span: _Span, child: _Sum) -> None:
        """Add a child with all below it."""
        self.below += child.below + 1
        self.calls += child.calls + (span.kind is _Kind.TOOL)
        self.errors += child.errors + span.failed
        if child.usages:
            self.add_usage(child.input, child.output)

    def add_usage(self, incoming: int | None, outgoing: int | None) -> None:
        """Add tokens; the sum is unknown if one part is."""
        self.usages += 1
        self.input = None if self.input is None or incoming is None else self.input + incoming
        self.output = None if self.output is None or outgoing is None else self.output + outgoing

    def _is_within(self, own: tuple[int | None, int | None]) -> bool:
        sums = (self.input, self.output)
        return all(mine is not None and (below or 0) <= mine for mine, below in zip(own, sums, strict=True))


def _sums(spans: dict[int, _Span]) -> dict[int, _Sum]:
    """Sum every span with all spans below it, leaves first; cycles are left out."""
    sums = {number: _Sum() for number in spans}
    for span in spans.values():
        if span.parent in sums:
            sums[span.parent].waiting += 1
    ready = [span for span in spans.values() if not sums[span.id].waiting]
    for span in ready:  # the list grows during iteration
        own = sums[span.id]
        own.take_own(span)
        if span.parent in sums:
            above = sums[span.parent]
            above.take_child(span, own)
            above.waiting -= 1
            if not above.waiting:
                ready.append(spans[span.parent])
    return {span.id: sums[span.id] for span in ready}


def _completed(skill: _Skill, span: _Span, total: _Sum | None) -> Read:
    """Return an invocation completed with sums; ``total`` is None if the trace is incomplete."""
    read, found = skill.read, skill.read.invocation
    if found is None:
        return read
    warning = _UNWHOLE if total is None else None
    if skill.loaded and (total is None or not total.below):
        warning = warning or _LOADED
        if found.error_count is None and total is not None and span.failed:
            found = found._replace(error_count=1)
    else:
        if found.duration_ms is None:
            found = found._replace(duration_ms=skill.duration_ms)
        if total is not None and total.below and found.tool_call_count is None:
            found = found._replace(tool_call_kinds=total.calls, tool_call_count=total.calls)
        if total is not None and found.error_count is None:
            found = found._replace(error_count=int(span.failed))
            found = found._replace(tool_error_count=total.errors) if found.tool_error_count is None else found
    found = found if total is None else _with_tokens(found, total)
    return read._replace(invocation=found, warnings=(*read.warnings, *([warning] if warning else [])))


def _with_tokens(found: Invocation, total: _Sum) -> Invocation:
    own = (found.tokens_used, found.tokens_input, found.tokens_output)
    if not total.usages or own != (None, None, None):
        return found
    incoming, outgoing = (None if count is None or count > MOST else count for count in (total.input, total.output))
    used = None if incoming is None or outgoing is None else incoming + outgoing
    return found._replace(tokens_input=incoming, tokens_output=outgoing, tokens_used=used)
