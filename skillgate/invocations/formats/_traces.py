"""Holds the spans of traces until nothing more can come, and adds up what stands below an invocation.

Spans come in any order, children before parents as a rule, and a trace is spread over a file. What is held is bounded:
where there is too much, the traces that were quiet for longest are settled. Figures of one that was not whole then are
left open, since they would be too small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from skillgate.invocations.formats._checks import MOST
from skillgate.invocations.formats._spans import Kind, Skill, Span
from skillgate.model.invocation import Invocation, Read

T = TypeVar("T")

MAX_SPANS = 100_000  # held at once, about 30 MB
MAX_SETTLED = 250_000  # traces that are remembered to have been settled early
_QUIET = MAX_SPANS // 10  # other spans since the last of a trace make it quiet: exporters send a few hundred at once
_SKILL_WEIGHT = 6  # an invocation takes as much memory as so many other spans
_SPARE = 0.75  # of MAX_SPANS is left when there were too many

_UNWHOLE = "tokens, tool calls and errors are left open where not all spans of a trace could be held or read"
_LOADED = (
    "a span of the Skill tool with none below it tells that a skill was loaded, and not what came of it: its duration,"
    " tokens, tool calls and errors are left open"
)


class Traces:
    """The traces of one file. ``damaged`` is set when spans were lost, whosever they were."""

    def __init__(self) -> None:
        self.damaged = False
        self._traces: dict[int, _Trace] = {}  # the one that was quiet for longest comes first
        self._seen = self._size = 0
        self._settled: set[int] = set()

    def add(self, span: Span) -> Iterator[Read]:
        """Take a span; a second one of the same id is the same span sent again. Give what had to be settled for it."""
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
        """Settle all traces that are left."""
        while self._traces:
            yield from self._settle(next(iter(self._traces)), whole=True)

    def _make_room(self) -> Iterator[Read]:
        while self._size > MAX_SPANS * _SPARE:
            number, trace = next(iter(self._traces.items()))
            quiet = self._seen - trace.touched >= _QUIET
            yield from self._settle(number, whole=quiet and trace.is_closed())
            self._settled.add(number)
        if len(self._settled) > MAX_SETTLED:
            self.damaged = True  # from here on nobody knows which trace is the rest of another
            self._settled.clear()

    def _settle(self, number: int, *, whole: bool) -> Iterator[Read]:
        spans = self._traces.pop(number).spans
        self._size -= sum(map(_weight, spans.values()))
        skills = [(span, span.skill) for span in spans.values() if span.skill is not None]
        if not skills:
            return
        sums = _sums(spans) if whole and not self.damaged and number not in self._settled else {}
        for span, skill in skills:
            yield _told(skill, span, sums.get(span.id))


@dataclass(slots=True)
class _Trace:
    """The spans of a trace by their ids; ``touched`` is the number of the last of them among all of a file."""

    spans: dict[int, Span]
    touched: int = 0

    def is_closed(self) -> bool:
        """Tell whether it looks whole: it has its root, and every span its parent."""
        parents = {span.parent for span in self.spans.values()}
        return None in parents and all(parent is None or parent in self.spans for parent in parents)


def _weight(span: Span) -> int:
    return 1 if span.skill is None else _SKILL_WEIGHT


@dataclass(slots=True)
class _Sum:
    """What a span and all below it amount to; ``usages`` counts those that have tokens in it, known or not."""

    below: int = 0
    calls: int = 0
    errors: int = 0
    usages: int = 0
    input: int | None = 0
    output: int | None = 0
    waiting: int = 0  # children that are not yet in it

    def take_own(self, span: Span) -> None:
        """Add the span itself, when its children are in.

        What it and they tell twice counts once: a call of a model may be told by two libraries, and an agent tells the
        sum of its calls. An invocation that tells less than what stands below it does not tell of that, and is added.
        """
        self.errors += span.failed
        own = span.input, span.output
        if own != (None, None):
            if not self.usages or span.kind is Kind.MODEL or self._is_within(own):
                self.usages, self.input, self.output = 0, 0, 0
                self.add_usage(*own)
            elif span.skill is not None and span.kind is not Kind.AGENT:
                self.add_usage(*own)
        elif span.kind in (Kind.MODEL, Kind.AGENT) and not self.usages:
            self.add_usage(None, None)

    def take_child(self, span: Span, child: _Sum) -> None:
        """Add a child with all below it."""
        self.below += child.below + 1
        self.calls += child.calls + (span.kind is Kind.TOOL)
        self.errors += child.errors
        if child.usages:
            self.add_usage(child.input, child.output)

    def add_usage(self, given: int | None, made: int | None) -> None:
        """Add tokens; where somebody's are not known, the sum is not."""
        self.usages += 1
        self.input = None if self.input is None or given is None else self.input + given
        self.output = None if self.output is None or made is None else self.output + made

    def _is_within(self, own: tuple[int | None, int | None]) -> bool:
        sums = (self.input, self.output)
        return all(mine is not None and (below or 0) <= mine for mine, below in zip(own, sums, strict=True))


def _sums(spans: dict[int, Span]) -> dict[int, _Sum]:
    """Add up every span with all below it, leaves first; those that stand below themselves are left out."""
    sums = {number: _Sum() for number in spans}
    for span in spans.values():
        if span.parent in sums:
            sums[span.parent].waiting += 1
    ready = [span for span in spans.values() if not sums[span.id].waiting]
    for span in ready:  # which grows on the way
        own = sums[span.id]
        own.take_own(span)
        if span.parent in sums:
            above = sums[span.parent]
            above.take_child(span, own)
            above.waiting -= 1
            if not above.waiting:
                ready.append(spans[span.parent])
    return {span.id: sums[span.id] for span in ready}


def _told(skill: Skill, span: Span, total: _Sum | None) -> Read:
    """Give an invocation with the figures that its own attributes did not give; no sum where the trace is not whole."""
    read, found = skill.read, skill.read.invocation
    if found is None:
        return read
    if skill.loaded and (total is None or not total.below):
        found = found._replace(error_count=_first(found.error_count, 1 if total and span.failed else None))
        return _with(
            read, found if total is None else _with_tokens(found, total), _UNWHOLE if total is None else _LOADED
        )
    found = found._replace(duration_ms=_first(found.duration_ms, skill.duration_ms))
    if total is None:
        return _with(read, found, _UNWHOLE)
    if total.below and found.tool_call_count is None:
        found = found._replace(tool_call_kinds=total.calls, tool_call_count=total.calls)
    found = found._replace(error_count=_first(found.error_count, total.errors))
    return read._replace(invocation=_with_tokens(found, total))


def _with_tokens(found: Invocation, total: _Sum) -> Invocation:
    said = (found.tokens_used, found.tokens_input, found.tokens_output)
    if not total.usages or said != (None, None, None):
        return found
    given, made = (None if count is None or count > MOST else count for count in (total.input, total.output))
    used = None if given is None or made is None else given + made
    return found._replace(tokens_input=given, tokens_output=made, tokens_used=used)


def _with(read: Read, found: Invocation, warning: str) -> Read:
    return read._replace(invocation=found, warnings=(*read.warnings, warning))


def _first(said: T | None, found: T | None) -> T | None:
    return found if said is None else said
