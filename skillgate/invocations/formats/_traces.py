"""Find the uses of skills among spans, and what belongs to them.

Spans come in any order, usually children before parents, and a trace is spread over a file. So its spans are held until
no more can follow, and the spans below a use are summed. Memory is bounded: if there are too many spans, the traces
that were quiet for longest are settled. Figures of incomplete traces are unknown, since sums would be too small.

A span that only loads a skill has nothing below it: the work follows in the same turn. No attribute marks its end, and
no span shows when the assistant speaks to the user. So only the maximum of what belongs to it is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skillgate.format import plural
from skillgate.invocations.formats import Options
from skillgate.invocations.formats._input import MOST
from skillgate.invocations.formats._span import HIDDEN, Kind, SkillSpan, Span, SpanData, span_of
from skillgate.model.invocation import SEEN_UNTIL, Caller, Ending, Evidence, Invocation, Read

CACHED = "tokens_cache_read"
"""Key in ``extra``: cached input tokens, which ``tokens_used`` leaves out."""
MAX_SPANS = 100_000  # held at once, about 40 MB
MAX_SETTLED = 250_000  # maximum traces remembered as settled early
_QUIET = MAX_SPANS // 10  # a trace is quiet after so many other spans: exporters send a few hundred at once
_SKILL_WEIGHT = 6  # an invocation takes as much memory as this many other spans
_SPARE = 0.75  # share of MAX_SPANS that remains after settling
_STEPS = 2_000_000  # maximum spans looked at for what follows the loads of one trace
COUNTS = (
    "a use is a call of the tool Skill, load_skill, use_skill or activate_skill, a tool call with gen_ai.skill.name, or"
    " a span with skillgate.skill.name"
)
_UNWHOLE = "not all spans of a trace could be read or held; its tokens, tool calls and errors are unknown"
_LOADED = (
    "a span of the Skill tool without child spans only shows that the skill was loaded; its duration, tokens, tool"
    " calls and errors are unknown"
)


class Traces:
    """The traces of one file.

    Attributes:
        damaged: set once spans of any trace were lost.
        spans: number of spans seen.
        hidden: number of uses without a name.
        logged: sessions of Claude Code whose uses come from its logs.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self.damaged = False
        self.spans = self.hidden = 0
        self.logged: set[str] = set()
        self._traces: dict[int, _Trace] = {}  # the one quiet for longest comes first
        self._size = 0
        self._settled: set[int] = set()

    def add(self, data: SpanData, line: int) -> Iterator[Read]:
        """Add a span, and yield what is settled to make room. A span with a known id is a duplicate."""
        span = span_of(data, self._options, line)
        trace = self._traces.pop(span.trace, None) or _Trace({})
        self._traces[span.trace] = trace
        self.spans += 1
        trace.touched = self.spans
        if span.id not in trace.spans:
            trace.spans[span.id] = span
            self._size += _weight(span)
        if self._size > MAX_SPANS:
            yield from self._make_room()

    def rest(self) -> Iterator[Read]:
        """Settle all remaining traces."""
        while self._traces:
            yield from self._settle(next(iter(self._traces)), whole=True)

    def unused(self) -> str:
        """Describe a file without a use of a skill."""
        if self.hidden:
            return f"{plural(self.hidden, 'use')} of skills without a name: {HIDDEN}"
        return f"none of {plural(self.spans, 'span')} is a use of a skill; {COUNTS}"

    def _make_room(self) -> Iterator[Read]:
        while self._size > MAX_SPANS * _SPARE:
            number, trace = next(iter(self._traces.items()))
            quiet = self.spans - trace.touched >= _QUIET
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
        whole = whole and not self.damaged and number not in self._settled
        follow = _Following(spans, _sums(spans) if whole else {})
        until = max((time for span in spans.values() if (time := span.ended or span.began)), default=None)
        repeated = _repeated(spans, skills)
        for span, skill in skills:
            if span.id in repeated or (skill.claude and skill.loaded and follow.is_denied(span)):
                continue
            found = skill.read.invocation
            self.hidden += found is None and skill.read.problem is None
            if skill.claude and found is not None and found.session_id in self.logged:
                continue
            yield _seen(follow.completed(skill, span), until)


def _seen(read: Read, until: int | None) -> Read:
    if read.invocation is None or until is None:
        return read
    extra = {**(read.invocation.extra or {}), SEEN_UNTIL: until // 1_000_000_000}
    return read._replace(invocation=read.invocation._replace(extra=extra))


def _repeated(spans: Mapping[int, Span], skills: list[tuple[Span, SkillSpan]]) -> set[int]:
    """Return spans that repeat another span's use: two libraries report a call, or its work has the skill's name."""
    first: dict[str, tuple[int, bool]] = {}
    for span, skill in skills:
        name = _name(span)
        if name and span.began is not None:
            first[name] = min(first.get(name, (span.began, True)), (span.began, skill.implied))
    found = set()
    for span, skill in skills:
        name = _name(span)
        above = spans.get(span.parent) if span.parent is not None else None
        if skill.implied and span.began is not None and name in first and first[name] < (span.began, True):
            found.add(span.id)
        elif skill.loaded and above is not None and above.id != span.id and above.skill is not None:
            found |= {span.id} if above.skill.loaded and name and name == _name(above) else set()
    return found


def _name(span: Span) -> str:
    """Return the skill of a use; empty if there is none."""
    found = span.skill.read.invocation if span.skill is not None else None
    return "" if found is None else found.skill_name


@dataclass(slots=True)
class _Trace:
    """The spans of a trace by id; ``touched`` is the index of the last one in the file."""

    spans: dict[int, Span]
    touched: int = 0

    def is_closed(self) -> bool:
        """Whether it looks complete: it has a root, and every span has its parent."""
        parents = {span.parent for span in self.spans.values()}
        return None in parents and all(parent is None or parent in self.spans for parent in parents)


def _weight(span: Span) -> int:
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
    cached: int = 0
    cost: float | None = None  # of those with a cost
    work: bool = False  # whether there is any call of a model or a tool below
    model: str | None = None
    waiting: int = 0  # children that are not added yet

    def take_own(self, span: Span) -> None:
        """Add the span itself, after its children.

        Tokens reported by both count once: two libraries may record the same model call, and an agent has the sum of
        its calls. An invocation with fewer tokens than its children does not include them, and is added.
        """
        own = span.input, span.output
        if span.cost is not None and (span.kind is Kind.MODEL or self.cost is None):
            self.cost = span.cost
        if own != (None, None):
            if (
                span.kind is Kind.AGENT
                and span.cached is None
                and self.cached
                and None not in (self.input, self.output)
            ):
                return  # it says nothing of what was cached, unlike its calls
            if not self.usages or span.kind is Kind.MODEL or self._is_within(own):
                self.usages, self.input, self.output, self.cached = 0, 0, 0, 0
                self.add_usage(*own, span.cached)
            elif span.skill is not None and span.kind is not Kind.AGENT:
                self.add_usage(*own, span.cached)
        elif span.kind in (Kind.MODEL, Kind.AGENT) and not self.usages:
            self.add_usage(None, None)

    def take_child(self, span: Span, child: _Sum) -> None:
        """Add a child with all below it."""
        self.below += child.below + 1
        self.calls += child.calls + (span.kind is Kind.TOOL)
        self.errors += child.errors + span.failed
        self.work = self.work or child.work or span.kind is not Kind.OTHER or span.skill is not None
        self.model = self.model or span.model or child.model
        if child.cost is not None:
            self.cost = (self.cost or 0) + child.cost
        if child.usages:
            self.add_usage(child.input, child.output, child.cached)

    def add_usage(self, incoming: int | None, outgoing: int | None, cached: int | None = None) -> None:
        """Add tokens; the sum is unknown if one part is."""
        self.usages += 1
        self.input = None if self.input is None or incoming is None else self.input + incoming
        self.output = None if self.output is None or outgoing is None else self.output + outgoing
        self.cached += cached or 0

    def tokens(self) -> tuple[int | None, int | None, int | None]:
        """Return input, output and their sum; unknown ones, and those that no database holds, are None."""
        both = (self.input, self.output) if self.usages else (None, None)
        incoming, outgoing = (None if count is None or count > MOST else count for count in both)
        return incoming, outgoing, None if incoming is None or outgoing is None else incoming + outgoing

    def _is_within(self, own: tuple[int | None, int | None]) -> bool:
        sums = (self.input, self.output)
        return all(mine is not None and (below or 0) <= mine for mine, below in zip(own, sums, strict=True))


def _sums(spans: dict[int, Span]) -> dict[int, _Sum]:
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


class _Following:
    """Completes the invocations of a trace with what is below them, or follows them; ``sums`` is empty if unknown."""

    def __init__(self, spans: dict[int, Span], sums: dict[int, _Sum]) -> None:
        self._spans, self._sums = spans, sums
        self._steps = _STEPS
        self._children: dict[int, list[Span]] = {}
        self._called: set[int] = set()  # turns in which a skill was loaded before
        for span in spans.values():
            if span.parent is not None:
                self._children.setdefault(span.parent, []).append(span)

    def is_denied(self, span: Span) -> bool:
        """Whether the user did not permit a call."""
        return any(child.denied for child in self._children.get(span.id, ()))

    def completed(self, skill: SkillSpan, span: Span) -> Read:
        """Return an invocation completed with sums."""
        read, found = skill.read, skill.read.invocation
        if found is None:
            return read
        total = self._sums.get(span.id)
        warning = _UNWHOLE if total is None else None
        if skill.loaded and (total is None or not total.work):
            found, missing = self._loaded(found, span, total)
            warning = warning or missing
        else:
            found = _enclosing(found, skill, span, total)
        return read._replace(invocation=found, warnings=(*read.warnings, *([warning] if warning else [])))

    def _loaded(self, found: Invocation, span: Span, total: _Sum | None) -> tuple[Invocation, str | None]:
        """Complete a load with the maximum of what belongs to it."""
        turn = self._turn(span)
        if turn is not None and turn not in self._called:
            self._called.add(turn)
            found = found._replace(called_by=found.called_by or Caller.MODEL)
        if total is not None and (span.failed or total.errors) and found.error_count is None and found.ending is None:
            evidence = Evidence.LOAD_FAILED
            return found._replace(error_count=1, ending=Ending.HARD_FAILURE, outcome_evidence=evidence), None
        after = None if total is None or turn is None else self._after(span, self._spans[turn])
        if after is None or not after[0].below:
            return found, _LOADED
        following, last = after
        found = found._replace(
            shared=True,
            model=found.model or following.model,
            tool_calls_most=following.calls,
            tokens_most=following.tokens()[2],
            duration_most_ms=None if span.began is None or last is None else (last - span.began) / 1e6,
        )
        return found, None

    def _turn(self, span: Span) -> int | None:
        """Return the agent or tool within which a span is, or else the root; None if unknown."""
        seen = {span.id}
        while span.parent is not None and span.parent in self._spans and span.parent not in seen:
            span = self._spans[span.parent]
            seen.add(span.id)
            if span.kind in (Kind.AGENT, Kind.TOOL):
                return span.id
        return span.id if len(seen) > 1 and span.parent is None else None

    def _after(self, load: Span, turn: Span) -> tuple[_Sum, int | None] | None:
        """Return the sum of what begins in a turn after a load, and when it ends; None if unknown."""
        if load.ended is None:
            return None
        total, last, waiting = _Sum(), load.ended, [turn]
        while waiting:
            for child in self._children.get(waiting.pop().id, ()):
                self._steps -= 1
                if self._steps < 0 or child.began is None or child.id not in self._sums:
                    return None
                if child.id == load.id:
                    continue
                if child.began >= load.ended:
                    total.take_child(child, self._sums[child.id])
                    last = max(last, child.ended or child.began)
                elif child.ended is None or child.ended > load.ended:
                    waiting.append(child)
        return total, last


def _enclosing(found: Invocation, skill: SkillSpan, span: Span, total: _Sum | None) -> Invocation:
    """Complete an invocation with the work below it."""
    if found.duration_ms is None:
        found = found._replace(duration_ms=skill.duration_ms)
    if total is None:
        return found
    if total.below and found.tool_call_count is None:
        found = found._replace(tool_call_kinds=total.calls, tool_call_count=total.calls)
    if found.error_count is None:
        found = found._replace(error_count=int(span.failed))
        found = found._replace(tool_error_count=total.errors) if found.tool_error_count is None else found
    if total.cached:
        found = found._replace(extra={CACHED: total.cached, **(found.extra or {})})
    if found.cost_usd is None:
        found = found._replace(cost_usd=total.cost)
    own = (found.tokens_used, found.tokens_input, found.tokens_output)
    if not total.usages or own != (None, None, None):
        return found._replace(model=found.model or total.model)
    incoming, outgoing, used = total.tokens()
    return found._replace(
        model=found.model or total.model, tokens_input=incoming, tokens_output=outgoing, tokens_used=used
    )
