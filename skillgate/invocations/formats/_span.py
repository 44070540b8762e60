"""Read one span: whether it is a use of a skill, and its tokens. A format turns its file into :class:`SpanData`.

Sources, all in development:

- OpenTelemetry's conventions for generative AI, semantic-conventions-genai of October 2026, and two older names.
- The traces of Claude Code, by its page on monitoring, version 2.1.193.
- OpenInference, spec/semantic_conventions.md of October 2026.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from skillgate.invocations.formats import Options
from skillgate.invocations.formats._input import MOST, NAME_CHARACTERS, NotJsonError, parsed
from skillgate.invocations.formats._record import invocation_of
from skillgate.model.invocation import Read

OURS = "skillgate."
"""Prefix of attributes that are fields of an invocation."""
KEYS = frozenset(
    (
        *("gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.call.arguments", "gen_ai.conversation.id"),
        *("gen_ai.skill.name", "gen_ai.skill.version", "gen_ai.skill.resource.name", "process.executable.name"),
        *("gen_ai.request.model", "gen_ai.response.model", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
        *("gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens", "gen_ai.usage.cache_read.input_tokens"),
        *("error.type", "session.id"),
        *("tool_name", "skill_name", "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"),
        *("model", "decision", "success"),
        *("openinference.span.kind", "tool.name", "tool.parameters", "input.value", "llm.model_name", "llm.cost.total"),
        *("llm.token_count.prompt", "llm.token_count.completion", "llm.token_count.prompt_details.cache_read"),
    )
)
"""Other attributes that are read: of OpenTelemetry's conventions, of Claude Code, and of OpenInference."""
ARGUMENTS = ("gen_ai.tool.call.arguments", "tool.parameters", "input.value")
"""Attributes with the arguments of a tool, and perhaps a user's texts."""
HIDDEN = "Claude Code hides the names of skills; set OTEL_LOG_TOOL_DETAILS=1 where it runs"
_BACKWARDS = "a span ends before it begins; its duration is unknown"


class SpanData(NamedTuple):
    """A span as its file has it.

    Attributes:
        trace, id, parent: integers, to save memory.
        identity: id of the invocation that it may be, and ``shown`` its name in messages.
        name: of the span.
        began, ended: nanoseconds since 1970.
        failed: whether its status is an error.
        get: returns an attribute; None if missing.
        own: attributes with :data:`OURS`, without this prefix.
        source: of the invocation.
    """

    trace: int
    id: int
    parent: int | None
    identity: str
    shown: str
    name: str
    began: int | None
    ended: int | None
    failed: bool
    get: Callable[[str], Any]
    own: Mapping[str, object]
    source: str = "otlp"


class Kind(Enum):
    """Kinds of spans: a model call has its own tokens, an agent repeats the sum of its calls."""

    MODEL = "model"
    AGENT = "agent"
    TOOL = "tool"
    OTHER = "other"


_OPERATIONS = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "embeddings"), Kind.MODEL),
    **dict.fromkeys(("invoke_agent", "invoke_workflow"), Kind.AGENT),
    **dict.fromkeys(("execute_tool", "load_skill"), Kind.TOOL),
    **dict.fromkeys(("LLM", "EMBEDDING"), Kind.MODEL),  # OpenInference, from here on
    "AGENT": Kind.AGENT,
    "TOOL": Kind.TOOL,
}
_CLAUDE = {
    "claude_code.interaction": Kind.AGENT,
    "claude_code.llm_request": Kind.MODEL,
    "claude_code.tool": Kind.TOOL,
}
_CLAUDE_RUNS, _CLAUDE_WAITS = "claude_code.tool.execution", "claude_code.tool.blocked_on_user"
_LOADERS = frozenset(("skill", "load_skill", "skill_load", "use_skill", "activate_skill"))  # in small letters
_SKILL_OPERATIONS = frozenset(("execute_tool", "load_skill", "invoke_skill", "skill"))
_NAMES = ("skill", "skill_name", "name")  # arguments of these tools
_STANDARD = {
    "skill_name": ("gen_ai.skill.name", "skill_name"),
    "skill_version": ("gen_ai.skill.version",),
    "session_id": ("gen_ai.conversation.id", "session.id"),
    "model": ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name"),
}
_USAGES = (  # of input, of output, of what was cached
    ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens", "gen_ai.usage.cache_read.input_tokens"),
    ("gen_ai.usage.prompt_tokens", "gen_ai.usage.completion_tokens", "gen_ai.usage.cache_read.input_tokens"),
    ("llm.token_count.prompt", "llm.token_count.completion", "llm.token_count.prompt_details.cache_read"),
)


class SkillSpan(NamedTuple):
    """An invocation span.

    Attributes:
        read: the invocation from its own attributes, or why it is rejected.
        loaded: whether it is only known as a call that loads a skill.
        implied: whether it is only a tool call with the name of a skill, such as a program of the skill.
        claude: whether it is Claude Code's, whose logs may have the same use.
        duration_ms: from its start and end.
    """

    read: Read
    loaded: bool
    implied: bool
    claude: bool
    duration_ms: float | None


class Span(NamedTuple):
    """The held data of a span. ``input`` does not contain ``cached``."""

    trace: int
    id: int
    parent: int | None
    kind: Kind
    failed: bool
    denied: bool
    input: int | None
    output: int | None
    cached: int | None
    cost: float | None
    model: str | None
    began: int | None
    ended: int | None
    skill: SkillSpan | None


# One span


def span_of(data: SpanData, options: Options, line: int) -> Span:
    """Return what is held of a span, with its invocation if it is a use of a skill."""
    kind, usage = _kind_of(data), _usage_of(data)
    operation = data.get("gen_ai.operation.name")
    operation = operation if isinstance(operation, str) else None
    if operation == "embeddings" and usage[1] is None:
        usage = (usage[0], 0, usage[2])  # embeddings have no output tokens
    skill = None
    if "skill.name" in data.own or "skill_name" in data.own:
        skill = _skill(data, options, line)
    elif kind is not Kind.MODEL:
        loads, named = _loads(data, kind), isinstance(data.get("gen_ai.skill.name"), str)
        part = data.get("gen_ai.skill.resource.name") or data.get("process.executable.name")
        if loads or (named and operation in _SKILL_OPERATIONS and not part):
            skill = _skill(data, options, line, loaded=True, implied=not loads)
    if skill is None and kind is Kind.OTHER and operation is None and usage[:2] != (None, None):
        kind = Kind.MODEL
    cost = data.get("llm.cost.total")
    return Span(
        *(data.trace, data.id, data.parent, kind),
        failed=data.failed or (data.name == _CLAUDE_RUNS and _is_false(data.get("success"))),
        denied=data.name == _CLAUDE_WAITS and data.get("decision") == "reject",
        input=usage[0],
        output=usage[1],
        cached=usage[2],
        cost=cost if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost <= MOST else None,
        model=_model_of(data) if kind is Kind.MODEL else None,
        began=data.began,
        ended=data.ended,
        skill=skill,
    )


def _is_false(value: object) -> bool:
    return value is False or value == "false"


def _kind_of(data: SpanData) -> Kind:
    if data.name.startswith("claude_code."):
        return _CLAUDE.get(data.name, Kind.OTHER)
    for key in ("gen_ai.operation.name", "openinference.span.kind"):
        operation = data.get(key)
        if isinstance(operation, str):
            return _OPERATIONS.get(operation, Kind.OTHER)
    return Kind.OTHER


def _loads(data: SpanData, kind: Kind) -> bool:
    """Whether a span is a call of a tool that loads skills."""
    if data.name == "claude_code.tool":
        return bool(data.get("tool_name") == "Skill")
    if data.get("gen_ai.operation.name") == "load_skill":
        return True
    tool = data.get("gen_ai.tool.name")
    if tool is None and kind is Kind.TOOL:
        tool = data.get("tool.name") or data.name
    return isinstance(tool, str) and tool.lower() in _LOADERS


def _model_of(data: SpanData) -> str | None:
    for key in (*_STANDARD["model"], "model"):
        found = data.get(key)
        if isinstance(found, str) and found:
            return found[:NAME_CHARACTERS]
    return None


def _usage_of(data: SpanData) -> tuple[int | None, int | None, int | None]:
    """Return tokens of input without cached ones, of output, and cached ones.

    By OpenTelemetry's conventions and OpenInference's, input includes what was read from a cache; Claude Code's does
    not. If more was cached than input, the recorder does not follow the conventions.
    """
    if data.name == "claude_code.llm_request":
        incoming, made = _count(data.get("input_tokens")), _count(data.get("cache_creation_tokens"))
        if incoming is not None:
            return incoming + (made or 0), _count(data.get("output_tokens")), _count(data.get("cache_read_tokens"))
    for keys in _USAGES:
        incoming, outgoing, cached = (_count(data.get(key)) for key in keys)
        if (incoming, outgoing) != (None, None):
            if incoming is not None and cached is not None and cached <= incoming:
                incoming -= cached
            return incoming, outgoing, cached
    return None, None, None


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MOST else None


def _skill(data: SpanData, options: Options, line: int, *, loaded: bool = False, implied: bool = False) -> SkillSpan:
    duration_ms, warnings = None, []
    if data.began is not None and data.ended is not None:
        if data.ended < data.began:
            warnings.append(_BACKWARDS)
        else:
            duration_ms = (data.ended - data.began) / 1e6
    claude = data.name.startswith("claude_code.")
    record = _record(data)
    if claude and loaded and "skill_name" not in record:
        return SkillSpan(Read(line, None, warnings=(HIDDEN,)), loaded, implied, claude, duration_ms)
    record.setdefault("invocation_id", data.identity)
    if data.began is not None:
        record.setdefault("timestamp", data.began // 1_000_000_000)
    read = invocation_of(record, options, line, source=data.source)
    if read.problem is not None:
        read = read._replace(problem=f"{data.shown}: {read.problem}")
    read = read._replace(warnings=(*read.warnings, *warnings))
    return SkillSpan(read, loaded, implied, claude, duration_ms)


def _record(data: SpanData) -> dict[str, Any]:
    """Return a span's attributes as a record with the rubric's field names: our own first, then the standard ones."""
    record: dict[str, Any] = {}
    for key, value in data.own.items():
        if value is not None:
            _put(record, key, value)
    for field, keys in _STANDARD.items():
        found = next((value for key in keys if (value := data.get(key)) not in (None, "")), None)
        if found is not None:
            record.setdefault(field, found)
    if "skill_name" not in record:
        record |= {"skill_name": named} if (named := named_skill(data)) is not None else {}
    return record


def is_loader(data: SpanData) -> bool:
    """Whether a span is a call of a tool that loads skills."""
    return _loads(data, _kind_of(data))


def named_skill(data: SpanData) -> object:
    """Return what the arguments of a call name as the skill; None if nothing."""
    return next((named for key in ARGUMENTS if (named := _named(data.get(key))) is not None), None)


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
    """Return a skill's name from the tool's arguments: ``skill``, or ``command`` in earlier versions of Claude Code."""
    if isinstance(arguments, str):
        try:
            arguments = parsed(arguments.encode("utf-8", "replace"))
        except NotJsonError:
            return None
    if not isinstance(arguments, dict):
        return None
    found = next((arguments[key] for key in _NAMES if arguments.get(key)), None)
    command = arguments.get("command")
    if not found and isinstance(command, str):
        found = command.strip().partition(" ")[0]  # the rest is the skill's task
    return found.strip().removeprefix("/") if isinstance(found, str) else found or command
