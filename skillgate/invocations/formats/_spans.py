"""One span of OTLP JSON: what it counts for the invocation above it, and the invocation that it may itself be.

Sources: the specification of OTLP's JSON encoding (ids in hexadecimal, 64-bit numbers as text), and OpenTelemetry's
conventions for generative AI, which are still in development: the names of attributes here are those of 2026, with two
that older instrumentations write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, NamedTuple

from skillgate.invocations.formats._attributes import OURS, attributes, value_of, whole
from skillgate.invocations.formats._checks import MOST, shown
from skillgate.invocations.formats._json import NotJsonError, parsed
from skillgate.invocations.formats._record import invocation_of
from skillgate.invocations.ports import Options
from skillgate.model.invocation import Read

_TOOL = "Skill"  # the tool by which Claude Code loads a skill
_LATEST = 2**64  # nanoseconds; times are of 64 bits
_HEX = re.compile(r"[0-9a-fA-F]{16}(?:[0-9a-fA-F]{16})?")
_BACKWARDS = "a span ends before it begins: its duration is left open"


class Kind(Enum):
    """What a span tells of tokens: a call of a model has its own, an agent has those of its calls once more."""

    MODEL = "model"
    AGENT = "agent"
    TOOL = "tool"
    OTHER = "other"


_OPERATIONS = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "embeddings"), Kind.MODEL),
    **dict.fromkeys(("invoke_agent", "invoke_workflow"), Kind.AGENT),
    "execute_tool": Kind.TOOL,
}


class SpanError(ValueError):
    """A span that cannot be read."""


class Skill(NamedTuple):
    """The invocation that a span is.

    Attributes:
        read: what its own attributes say, or why it is rejected.
        loaded: whether it is only known to be a call of the tool that loads skills.
        duration_ms: between its times.
    """

    read: Read
    loaded: bool
    duration_ms: float | None


class Span(NamedTuple):
    """What is kept of a span; ids are numbers, since a large file has millions of them."""

    trace: int
    id: int
    parent: int | None
    kind: Kind
    failed: bool
    input: int | None
    output: int | None
    skill: Skill | None


def span_of(data: object, options: Options, line: int) -> Span:
    """Read a span.

    Raises:
        SpanError: it has no usable ids, so that nobody knows where it belongs.
    """
    if not isinstance(data, dict):
        raise SpanError(f"expected a span, found {shown(data)}")
    trace, span = _id(data, "traceId", 32), _id(data, "spanId", 16)
    parent = _id(data, "parentSpanId", 16) if data.get("parentSpanId") else None
    said = attributes(data.get("attributes"))
    given = _usage(said, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    made = _usage(said, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
    operation = value_of(said.get("gen_ai.operation.name"))
    kind = _OPERATIONS.get(operation, Kind.OTHER) if isinstance(operation, str) else Kind.OTHER
    if operation == "embeddings" and made is None:
        made = 0  # they have no output that is counted in tokens
    skill = None
    if "skillgate.skill.name" in said or value_of(said.get("gen_ai.tool.name")) == _TOOL:
        skill = _skill(data, said, options, line)
    elif operation is None and (given, made) != (None, None):
        kind = Kind.MODEL
    return Span(
        int(trace, 16),
        int(span, 16),
        int(parent, 16) if parent else None,
        kind,
        _failed(data, said),
        given,
        made,
        skill,
    )


def _id(data: Mapping[str, Any], key: str, digits: int) -> str:
    value = data.get(key)
    if not isinstance(value, str) or len(value) != digits or not _HEX.fullmatch(value):
        raise SpanError(f"{key}: expected {digits} hexadecimal digits, found {shown(value)}")
    return value.lower()


def _usage(said: Mapping[str, object], key: str, older: str) -> int | None:
    value = value_of(said.get(key, said.get(older)))
    return value if type(value) is int and 0 <= value <= MOST else None


def _failed(data: Mapping[str, Any], said: Mapping[str, object]) -> bool:
    status = data.get("status")
    code = status.get("code") if isinstance(status, dict) else None
    if code in (1, "STATUS_CODE_OK"):  # somebody decided so, whatever was met on the way
        return False
    if code in (2, "STATUS_CODE_ERROR") or value_of(said.get("error.type")):
        return True
    events = data.get("events")
    return isinstance(events, list) and any(
        isinstance(event, dict) and event.get("name") == "exception" for event in events
    )


def _skill(data: Mapping[str, Any], said: Mapping[str, object], options: Options, line: int) -> Skill:
    began, ended = _time(data.get("startTimeUnixNano")), _time(data.get("endTimeUnixNano"))
    lasted, backwards = None, False
    if began is not None and ended is not None:
        backwards = ended < began
        lasted = None if backwards else (ended - began) / 1e6
    record = _record(said)
    record.setdefault("invocation_id", f"{data['traceId']}-{data['spanId']}".lower())
    if began is not None:
        record.setdefault("timestamp", began // 1_000_000_000)
    read = invocation_of(record, options, line, source="otlp")
    if read.problem is not None:
        read = read._replace(problem=f"span {data['spanId'].lower()}: {read.problem}")
    if backwards:
        read = read._replace(warnings=(*read.warnings, _BACKWARDS))
    return Skill(read, "skillgate.skill.name" not in said, lasted)


def _time(value: object) -> int | None:
    found = whole(value)
    return found if type(found) is int and 0 < found < _LATEST else None


def _record(said: Mapping[str, object]) -> dict[str, Any]:
    """Give a span's attributes as a record in the rubric's field names: ours as they are, then the standard's."""
    record: dict[str, Any] = {}
    for key, encoded in said.items():
        value = value_of(encoded) if key.startswith(OURS) else None
        if value is not None:
            _put(record, key.removeprefix(OURS), value)
    for field, keys in _STANDARD.items():
        found = next((value for value in (value_of(said.get(key)) for key in keys) if value not in (None, "")), None)
        if found is not None:
            record.setdefault(field, found)
    if "skill_name" not in record:
        named = _named(value_of(said.get("gen_ai.tool.call.arguments")))
        if named is not None:
            record["skill_name"] = named
    return record


_STANDARD = {
    "skill_name": ("gen_ai.skill.name",),
    "session_id": ("gen_ai.conversation.id", "session.id"),
    "model": ("gen_ai.request.model", "gen_ai.response.model"),
}


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
    """Find a skill's name among the arguments of the tool: ``skill``, or ``command`` in earlier versions of it."""
    if isinstance(arguments, str):
        try:
            arguments = parsed(arguments.encode("utf-8", "replace"))
        except NotJsonError:
            return None
    if not isinstance(arguments, dict):
        return None
    found, command = arguments.get("skill"), arguments.get("command")
    if not found and isinstance(command, str):
        found = command.strip().partition(" ")[0]  # what follows is what the skill is to do
    return found.strip().removeprefix("/") if isinstance(found, str) else found or command
