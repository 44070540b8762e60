"""The prompts of a skill's sessions: those of a baseline, else those the skill brings, and what is missing generated.

As many distinct prompts as there are sessions, since repeats of a few say little about others. Requests are chunks
that are written at the same time; what comes back doubled, or names the skill, is asked for again, at most twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.evals.wording import folded
from skillgate.judge.asking import ask
from skillgate.judge.schema import STYLES, names
from skillgate.judge.sheet import provoked, reason_of
from skillgate.judge.triggering import prompts_digest
from skillgate.model.exchange import Status, Together
from skillgate.model.judging import TriggerPrompt
from skillgate.montecarlo.prompt_requests import MOST_OF_ONE, Ordered, orders, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.model.exchange import Answer, Steps
    from skillgate.montecarlo.subject import Plan, Subject

__all__ = ["LEAST", "MOST_OF_ONE", "ROUNDS", "Prompts", "prompts"]

LEAST = 5
"""Prompts of a kind under which nothing is measured, where so many were asked for: as many as the judge predicts on."""
ROUNDS = 3
"""Of requests: the first, and two more for what is missing."""
LEAST_SHARE = 0.8
"""Of the prompts of a kind that were asked for. With fewer, a writer that repeats itself would choose how many sessions
there are, and a skill's text can bring that about."""
SPARE = 3  # prompts beyond those that are missing, in a further round: some come back doubled again


class Prompts(NamedTuple):
    """The prompts of a skill's sessions.

    Attributes:
        cases: those that should load the skill, then the near misses; empty where ``missing`` says why.
        source: ``evals``, ``generated``, ``evals and generated`` or ``baseline``.
        digest: of prompts and labels; None without any.
        answers: of those who wrote them, for the usage.
        missing: why there are too few to measure anything; None where there are enough.
        provoked: whether the skill's text can be why they are missing.
        short: what there is less of than was asked for, and why; None where nothing is.
    """

    cases: tuple[TriggerPrompt, ...]
    source: str
    digest: str | None = None
    answers: tuple[Answer, ...] = ()
    missing: str | None = None
    provoked: bool = False
    short: str | None = None


def prompts(subject: Subject, plan: Plan) -> Steps[Prompts]:
    """Get the prompts of a skill's sessions.

    Those of a baseline are used as they are, however many were asked for. Else those that the skill brings come first,
    of each kind as many as there are sessions, and the grader's model writes what is missing.

    Returns:
        The prompts; under four fifths of a kind, or under five (or under as many as were asked for, where that is
        less), none, with why.
    """
    if subject.prompts_source == "baseline" and subject.prompts:
        kept = _by_kind(subject.prompts)
        return Prompts(kept, "baseline", prompts_digest(kept), short=_instead(kept, subject, plan))
    kinds = _kinds(subject, plan)
    answers: list[Answer] = []
    for number in range(ROUNDS):
        wanted = [order for kind in kinds for order in kind.orders(spare=SPARE if number else 0)]
        if not wanted:
            break
        given = yield Together(tuple(ask(written(subject, plan, order)) for order in wanted))
        answers += given
        for order, answer in zip(wanted, given, strict=True):
            _take(kinds, order, answer)
        if not any(answer.status is Status.OK for answer in given):
            break  # what nobody answers is not asked again in the same words
    return _settled(kinds, tuple(answers))


def _instead(kept: Sequence[TriggerPrompt], subject: Subject, plan: Plan) -> str | None:
    """Say that a baseline's prompts stand in for another number of them, None where as many were asked for."""
    should = sum(case.should_trigger for case in kept)
    found, asked = (should, len(kept) - should), (plan.simulations, plan.near_misses)
    if asked in (found, subject.asked):
        return None
    counts = [f"{one} + {other}" for one, other in (found, asked)]
    return f"the baseline's {counts[0]} prompts are used, not the {counts[1]} that are asked for"


def unlisted(subject: Subject) -> Prompts:
    """Give no prompts, for a skill that no model can load: whatever is asked, there is nothing to find out."""
    return Prompts((), subject.prompts_source, missing=subject.unlisted)


class _Seen:
    """The prompts that are there, by their words: two of the same words in any order are one."""

    def __init__(self) -> None:
        self._known: set[frozenset[str]] = set()

    def is_new(self, prompt: str) -> bool:
        """Tell whether a prompt is none of those seen so far; from now on it is one of them."""
        words = frozenset((folded(prompt) or prompt).split())
        if words in self._known:
            return False
        self._known.add(words)
        return True


class _Kind:
    """The prompts of one label: those given, and those written so far."""

    def __init__(self, subject: Subject, *, should_trigger: bool, most: int, seen: _Seen) -> None:
        self.should_trigger = should_trigger
        self.most = most
        self._name = subject.name
        self._seen = seen
        own = [one for one in subject.prompts if one.should_trigger is should_trigger and seen.is_new(one.prompt)]
        self.given = _balanced(own, most, _halves(most))
        self.written: list[TriggerPrompt] = []
        self.naming: list[TriggerPrompt] = []

    def take(self, entries: Iterable[TriggerPrompt]) -> None:
        """Keep those that are new; those that name the skill apart."""
        for one in entries:
            if self._seen.is_new(one.prompt):
                (self.naming if names(one.prompt, self._name) else self.written).append(one)

    def orders(self, *, spare: int) -> Iterator[Ordered]:
        """Order what is missing, told what is there already."""
        known = tuple(one.prompt for one in (*self.given, *self.written, *self.naming))
        return orders(self.missing(), should_trigger=self.should_trigger, spare=spare, known=known)

    def missing(self) -> tuple[int, ...]:
        """Count for each style how many are still to be written, so that both have half in the end."""
        left = self.most - len(self.given)
        needs = {style: min(left, max(0, half)) for style, half in self._halves().items()}
        return tuple(max(0, need - _count(self.written, style)) for style, need in needs.items())

    def is_short(self, found: int) -> bool:
        """Tell whether so many are too few."""
        return found < max(self.least, LEAST_SHARE * self.most)

    def chosen(self) -> tuple[TriggerPrompt, ...]:
        """Choose what is used: what was given, then what was written, both styles alike as far as that goes."""
        found = self.written
        if len(self.given) + len(found) < self.least:
            found = found + self.naming  # a tool's name can be what the task is called
        return (*self.given, *_balanced(found, self.most - len(self.given), self._halves()))

    def _halves(self) -> dict[str, int]:
        """Say by style how many belong to it beside those given, below 0 where these are too many."""
        return {style: half - _count(self.given, style) for style, half in _halves(self.most).items()}

    @property
    def least(self) -> int:
        """Say how many there must be, however few were asked for."""
        return min(LEAST, self.most)


def _kinds(subject: Subject, plan: Plan) -> tuple[_Kind, _Kind]:
    seen = _Seen()
    return (
        _Kind(subject, should_trigger=True, most=plan.simulations, seen=seen),
        _Kind(subject, should_trigger=False, most=plan.near_misses, seen=seen),
    )


def _take(kinds: Sequence[_Kind], order: Ordered, answer: Answer) -> None:
    if answer.status is not Status.OK:
        return
    kind = next(kind for kind in kinds if kind.should_trigger is order.should_trigger)
    kind.take(
        TriggerPrompt(prompt, order.should_trigger, entry["style"])
        for entry in answer.value["prompts"]
        if (prompt := order.usable(entry["prompt"])) is not None
    )


def _settled(kinds: Sequence[_Kind], answers: tuple[Answer, ...]) -> Prompts:
    chosen = [kind.chosen() for kind in kinds]
    failed = [answer for answer in answers if answer.status is not Status.OK]
    why = reason_of(failed[-1]) if failed else "the others were doubled, empty or named the skill"
    few = [kind for kind, found in zip(kinds, chosen, strict=True) if len(found) < kind.most]
    told = [_told(kind, len(found)) for kind, found in zip(kinds, chosen, strict=True) if kind in few]
    source = _source(kinds, chosen)
    if any(kind.is_short(len(found)) for kind, found in zip(kinds, chosen, strict=True)):
        said = f"there are too few prompts for sessions, {' and '.join(told)}: {why}"
        return Prompts((), source, None, answers, said, provoked=not failed or any(map(provoked, failed)))
    cases = tuple(one for found in chosen for one in found)
    short = f"{' and '.join(told)}: {why}" if told else None
    return Prompts(cases, source, prompts_digest(cases), answers, short=short)


def _told(kind: _Kind, found: int) -> str:
    return f"{found} of {kind.most} {'that should load the skill' if kind.should_trigger else 'near misses'}"


def _source(kinds: Sequence[_Kind], chosen: Sequence[tuple[TriggerPrompt, ...]]) -> str:
    given = any(kind.given for kind in kinds)
    generated = any(len(found) > len(kind.given) for kind, found in zip(kinds, chosen, strict=True))
    if given:
        return "evals and generated" if generated else "evals"
    return "generated"


def _by_kind(cases: Sequence[TriggerPrompt]) -> tuple[TriggerPrompt, ...]:
    return tuple(sorted(cases, key=lambda one: not one.should_trigger))


def _count(cases: Iterable[TriggerPrompt], style: str) -> int:
    return sum(one.style == style for one in cases)


def _halves(most: int) -> dict[str, int]:
    return {style: (most + 1 - at) // len(STYLES) for at, style in enumerate(STYLES)}


def _balanced(cases: Sequence[TriggerPrompt], most: int, halves: Mapping[str, int]) -> tuple[TriggerPrompt, ...]:
    """Choose so many, of each style its half first, in their own order; what a style lacks the other makes up for."""
    left = dict(halves)
    first: list[int] = []
    rest: list[int] = []
    for index, one in enumerate(cases):
        left[one.style] = left.get(one.style, 0) - 1
        (first if left[one.style] >= 0 else rest).append(index)
    return tuple(cases[index] for index in sorted([*first, *rest][: max(0, most)]))
