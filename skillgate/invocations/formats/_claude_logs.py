"""Find the uses of skills among Claude Code's log events, and what belongs to them.

An event says that a skill was activated. What follows within the same prompt may belong to it. Requests of current
versions name the active skill (``skill.name``). Otherwise the minimum is what precedes the assistant's next text to the
user, if texts are reported at all, and the maximum is the rest of the prompt.

Source: Claude Code's page on monitoring, events, as of version 2.1.193. Its names of skills are hidden by default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

from skillgate.format import plural
from skillgate.invocations.formats import Options
from skillgate.invocations.formats._input import MOST, NotJsonError, parsed
from skillgate.invocations.formats._record import invocation_of
from skillgate.invocations.formats._span import HIDDEN
from skillgate.invocations.formats._traces import CACHED, MAX_SPANS
from skillgate.model.invocation import SEEN_UNTIL, Caller, Ending, Evidence, Invocation, Read

LOG_KEYS = frozenset(
    (
        *("event.name", "event.sequence", "session.id", "prompt.id", "query_source", "model", "success", "tool_name"),
        *("skill.name", "plugin.name", "invocation_trigger", "skill.source", "tool_parameters", "cost_usd"),
        *("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens"),
    )
)
"""Attributes of log records that are read."""
_EVENTS = frozenset(
    (
        *("skill_activated", "api_request", "api_error", "api_refusal", "tool_result", "user_prompt"),
        "assistant_response",
    )
)
_PLACEHOLDERS = frozenset(("custom_skill", "third-party", "custom"))  # in place of names
_TRIGGERS = {"user-slash": Caller.USER, "claude-proactive": Caller.MODEL, "nested-skill": Caller.SKILL}
_MAIN = ("repl_main_thread", "sdk")  # beginnings of the source of requests whose text the user sees
_ERRORS = frozenset(("api_error", "api_refusal"))
_FOLLOWED = 20  # maximum uses of one prompt that are followed at once
_HELD = MAX_SPANS  # maximum events held at once
_CUT = "not all events of a session could be read or held; its tokens, tool calls and errors are unknown"
_NAME = 200  # maximum characters of a name that is held


class Event(NamedTuple):
    """What is used of one event. ``input`` leaves out ``cached``; ``main`` is whether the user sees its text."""

    kind: str
    session: str
    prompt: str
    at: int  # nanoseconds since 1970
    sequence: int
    line: int = 0
    skill: str | None = None
    plugin: str | None = None
    trigger: str | None = None
    source: str | None = None
    tool: str | None = None
    model: str | None = None
    failed: bool = False
    main: bool = False
    input: int | None = None
    output: int | None = None
    cached: int | None = None
    cost: float | None = None


def event_of(name: object, at: int | None, get: Callable[[str], Any]) -> Event | None:
    """Return an event of Claude Code that is used; None for any other log record."""
    kind = name.removeprefix("claude_code.") if isinstance(name, str) else ""
    session = _text(get("session.id"))
    if kind not in _EVENTS or session is None or at is None:
        return None
    source = _text(get("query_source")) or ""
    tool = _text(get("tool_name"))
    skill = _text(get("skill.name"))
    if tool == "Skill":
        skill = skill or _skill_parameter(get("tool_parameters"))
    incoming, made = _count(get("input_tokens")), _count(get("cache_creation_tokens"))
    return Event(
        *(kind, session, _text(get("prompt.id")) or "", at, _count(get("event.sequence")) or 0),
        skill=skill,
        plugin=_text(get("plugin.name")),
        trigger=_text(get("invocation_trigger")),
        source=_text(get("skill.source")),
        tool=tool,
        model=_text(get("model")),
        failed=get("success") in (False, "false"),
        main=source.startswith(_MAIN),
        input=None if incoming is None else incoming + (made or 0),
        output=_count(get("output_tokens")),
        cached=_count(get("cache_read_tokens")),
        cost=_number(get("cost_usd")),
    )


def _text(value: object) -> str | None:
    return value[:_NAME] if isinstance(value, str) and value else None


def _count(value: object) -> int | None:
    """Return a whole number; before version 2.1.122 they were strings."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= len(str(MOST)):
        value = int(value)
    return value if type(value) is int and 0 <= value <= MOST else None


def _number(value: object) -> float | None:
    if isinstance(value, str) and len(value) <= 32:
        try:
            value = float(value)
        except ValueError:
            return None
    return value if type(value) in (int, float) and 0 <= value <= MOST else None  # type: ignore[operator, return-value]


def _skill_parameter(value: object) -> str | None:
    """Return the skill's name from the parameters of the Skill tool, a JSON string."""
    try:
        found = parsed(value.encode("utf-8", "replace")) if isinstance(value, str) else None
    except NotJsonError:
        return None
    return _text(found.get("skill_name")) if isinstance(found, dict) else None


class Sessions:
    """The sessions of one file.

    Attributes:
        damaged: set once log records were lost.
        records: number of log records seen, of any program.
        hidden: number of uses without a name.
        used: sessions with uses.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self.damaged = False
        self.records = self.hidden = 0
        self.used: set[str] = set()
        self._held: dict[str, dict[tuple[int, int, str], Event]] = {}  # the one quiet for longest comes first
        self._size = 0
        self._cut: set[str] = set()  # sessions of which earlier events are gone

    def add(self, event: Event | None, line: int) -> Iterator[Read]:
        """Add the event of a log record. One that was sent twice counts once."""
        self.records += 1
        if event is None:
            return
        events = self._held.pop(event.session, {})
        self._held[event.session] = events
        key = (event.at, event.sequence, event.kind)
        if key not in events:
            events[key] = event._replace(line=line)
            self._size += 1
        while self._size > _HELD:
            session = next(iter(self._held))
            yield from self._settle(session, whole=False)
            if len(self._cut) < MAX_SPANS:
                self._cut.add(session)
            else:
                self.damaged = True

    def rest(self) -> Iterator[Read]:
        """Yield the uses of all remaining sessions."""
        while self._held:
            session = next(iter(self._held))
            yield from self._settle(session, whole=session not in self._cut and not self.damaged)

    def unused(self) -> str:
        """Describe a file without a use of a skill."""
        if self.hidden:
            return f"{plural(self.hidden, 'use')} of skills without a name: {HIDDEN}"
        return f"none of {plural(self.records, 'log record')} is a use of a skill; a use is claude_code.skill_activated"

    def _settle(self, session: str, *, whole: bool) -> Iterator[Read]:
        events = sorted(self._held.pop(session).values(), key=lambda event: (event.at, event.sequence))
        self._size -= len(events)
        speaks = any(event.kind == "assistant_response" for event in events)
        for prompt in _prompts(events):
            for use in _uses(prompt, speaks=speaks):
                if use.name is None:
                    self.hidden += 1
                    yield Read(use.begin.line, None, warnings=(HIDDEN,))
                else:
                    self.used.add(session)
                    yield use.read(self._options, until=events[-1].at, whole=whole)


def _prompts(events: Sequence[Event]) -> Iterator[list[Event]]:
    """Divide a session's events by prompt; without ids, at each prompt of the user."""
    found: dict[str, list[Event]] = {}
    number = 0
    for event in events:
        number += event.kind == "user_prompt"
        found.setdefault(event.prompt or f"#{number}", []).append(event)
    yield from found.values()


@dataclass(slots=True)
class _Effort:
    """What events add up to; ``last`` is the time of the last one."""

    calls: int = 0
    errors: int = 0
    requests: int = 0
    input: int | None = 0
    output: int | None = 0
    cached: int = 0
    cost: float | None = None
    last: int | None = None
    tools: set[str | None] = field(default_factory=set)

    def add(self, event: Event) -> None:
        if event.kind == "tool_result":
            self.calls += 1
            self.errors += event.failed
            self.tools.add(event.tool)
        elif event.kind == "api_request":
            self.requests += 1
            self.input = None if self.input is None or event.input is None else self.input + event.input
            self.output = None if self.output is None or event.output is None else self.output + event.output
            self.cached += event.cached or 0
            self.cost = self.cost if event.cost is None else (self.cost or 0) + event.cost
        self.last = event.at

    def tokens(self) -> int | None:
        """Return tokens of input and output; None if unknown."""
        known = self.requests and self.input is not None and self.output is not None
        return min(MOST, (self.input or 0) + (self.output or 0)) if known else None


class _Use:
    """One use of a skill: the minimum and the maximum of what belongs to it."""

    def __init__(self, begin: Event, *, speaks: bool) -> None:
        self.begin, self.name = begin, _name_of(begin)
        self.least, self.most = _Effort(), _Effort()
        self.model: str | None = None
        self.tagged = False  # whether requests name the active skill
        self.inside = True  # whether the assistant has not yet spoken, as far as it is known
        self.speaks = speaks
        self.shared = not speaks
        self.failed: Evidence | None = None
        self.lost = False  # whether it was not followed to its end

    def is_tag(self, event: Event) -> bool:
        """Whether a request names this skill as the active one."""
        tag, name = event.skill, self.begin.skill
        if tag is None or name is None:
            return False
        hidden = tag in _PLACEHOLDERS and (self.begin.source == "plugin" or name in _PLACEHOLDERS)
        return hidden or tag == name or (self.name or name).endswith(f":{tag}") or tag == self.name

    def take(self, event: Event, *, sure: bool) -> None:
        """Add an event of its prompt."""
        self.most.add(event)
        if sure:
            self.least.add(event)
            self.model = self.model or event.model
        else:
            self.shared = True

    def read(self, options: Options, *, until: int, whole: bool) -> Read:
        """Return the invocation."""
        begin, least = self.begin, self.least if self.tagged or self.speaks else _Effort()
        key = f"{begin.session}\0{begin.at}\0{begin.sequence}"
        identity = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        record = {
            "invocation_id": f"claude-{identity}",
            "skill_name": self.name,
            "timestamp": begin.at // 1_000_000_000,
            "session_id": begin.session,
            "model": self.model,
        }
        found = invocation_of(record, options, begin.line, source="otlp")
        if found.invocation is None:
            return found
        one = found.invocation._replace(
            called_by=_TRIGGERS.get(begin.trigger or ""), extra={SEEN_UNTIL: until // 1_000_000_000}
        )
        if self.lost or not whole:
            return found._replace(invocation=one, warnings=(*found.warnings, _CUT))
        return found._replace(invocation=self._measured(one, least))

    def _measured(self, one: Invocation, least: _Effort) -> Invocation:
        most, began = self.most, self.begin.at
        if self.failed is not None:
            one = one._replace(ending=Ending.HARD_FAILURE, outcome_evidence=self.failed, error_count=1)
        if most.last is None:
            return one
        if least.last is not None:
            counted = least.calls > 0 or not self.shared
            cached = {CACHED: least.cached} if least.cached else {}
            one = one._replace(
                duration_ms=(least.last - began) / 1e6,
                tokens_input=least.input if least.requests else None,
                tokens_output=least.output if least.requests else None,
                tokens_used=least.tokens(),
                tool_call_count=least.calls if counted else None,
                tool_call_kinds=len(least.tools) if counted else None,
                tool_error_count=least.errors,
                cost_usd=least.cost,
                cost_estimated=None if least.cost is None else True,
                extra={**cached, **(one.extra or {})},
            )
        one = one._replace(shared=self.shared)
        if not self.shared:
            return one
        return one._replace(
            tool_calls_most=most.calls, tokens_most=most.tokens(), duration_most_ms=(most.last - began) / 1e6
        )


def _name_of(event: Event) -> str | None:
    """Return a skill's name with its plugin; None if it is hidden."""
    name, plugin = event.skill, event.plugin
    if name is None or name in _PLACEHOLDERS:
        return None
    return f"{plugin}:{name}" if plugin and ":" not in name and plugin not in _PLACEHOLDERS else name


def _uses(events: Sequence[Event], *, speaks: bool) -> list[_Use]:
    """Return the uses of one prompt, with what belongs to them."""
    uses = [_Use(event, speaks=speaks) for event in events if event.kind == "skill_activated"]
    for use in uses[:-_FOLLOWED]:
        use.lost = True
    owners = list(_owners(events, uses))
    last = {id(owner): place for place, owner in enumerate(owners)}
    begun = 0
    for place, event in enumerate(events):
        current = uses[max(0, begun - _FOLLOWED) : begun]
        if event.kind == "skill_activated":
            begun += 1
        elif event.kind == "tool_result" and event.tool == "Skill":
            if event.failed and current and event.skill in (None, current[-1].begin.skill, current[-1].name):
                current[-1].failed = Evidence.LOAD_FAILED
        elif event.kind in ("api_request", "tool_result"):
            _assign(event, current, owners[place], [use for use in current if last.get(id(use), 0) > place])
        elif event.kind == "assistant_response" and event.main:
            for use in current:
                use.inside = False
    if events[-1].kind in _ERRORS and uses and uses[-1].failed is None:
        uses[-1].failed = Evidence.ENDED_IN_ERROR
    return uses


def _owners(events: Sequence[Event], uses: Sequence[_Use]) -> Iterator[_Use | None]:
    """Yield for each event the use that the latest request names as active; None if it names none."""
    owner: _Use | None = None
    begun = 0
    for event in events:
        begun += event.kind == "skill_activated"
        if event.kind == "api_request":
            current = uses[max(0, begun - _FOLLOWED) : begun]
            owner = next((use for use in reversed(current) if use.is_tag(event)), None)
            if owner is not None:
                owner.tagged, owner.shared = True, False
        yield owner


def _assign(event: Event, begun: Sequence[_Use], owner: _Use | None, later: Sequence[_Use]) -> None:
    """Add a request or a call to the uses that it belongs to, or may belong to; ``later`` have requests after it."""
    for use in begun:
        if use is owner:
            use.take(event, sure=True)
        elif owner is None and not use.tagged:
            use.take(event, sure=use.inside and use is begun[-1])
        elif owner is None and use.least.last is not None and use in later:
            use.take(event, sure=False)  # its tag comes back
