"""Filter, rank, keep the first: which of some skills are selected, and why the others are not. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.choosing.matching import folded
from skillgate.model.report import GateOutcome
from skillgate.model.score import Outcome
from skillgate.model.strategy import Choice, SortKey
from skillgate.scoring.gate import Measurement, at_least, at_most

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.choosing import Figures
    from skillgate.model.strategy import Filters, Strategy

GATE = "selection"
_UNKNOWN = "its report does not say it"
_LABELS = {
    SortKey.COMPLETION_RATE: "completion rate",
    SortKey.COMPOSITE_SCORE: "composite",
    SortKey.LATENCY: "95th percentile of latencies (ms)",
    SortKey.TOKEN_COST: "tokens",
}


class Entrant(NamedTuple):
    """A skill that may be selected.

    Attributes:
        id: breaks ties.
        adapter: the word for how it is run.
        tags: that it has.
        figures: what its evaluation says; None where there is none, and ``refused`` says why.
        refused: why it cannot be selected, whatever its figures are.
    """

    id: str
    adapter: str
    tags: Sequence[str]
    figures: Figures | None
    refused: tuple[str, ...] = ()


def choose(entrants: Sequence[Entrant], strategy: Strategy) -> tuple[Choice, ...]:
    """Select; the selected come first in their order, then those behind the last rank, then the rejected by id."""
    passed: list[tuple[int, float, tuple[str, ...]]] = []
    rejected: list[Choice] = []
    for index, entrant in enumerate(entrants):
        outcomes = tuple(_outcomes(entrant, strategy.filters))
        failed = (*entrant.refused, *(one.reason for one in outcomes if one.verdict is not Outcome.PASS))
        figure = None if entrant.figures is None else figure_of(entrant.figures, strategy.sort_by)
        if figure is None and not failed:
            failed = (f"{_LABELS[strategy.sort_by]} was not measured, and it is ranked by",)
        if figure is None or failed:
            rejected.append(Choice(index, selected=False, rank=None, reasons=failed))
        else:
            passed.append((index, figure, tuple(one.reason for one in outcomes)))
    sign = -1 if strategy.descending else 1
    passed.sort(key=lambda one: (sign * one[1], *_ties(entrants[one[0]])))
    rejected.sort(key=lambda one: entrants[one.entrant].id)
    return (*_ranked(passed, strategy), *rejected)


def figure_of(figures: Figures, key: SortKey) -> float | None:
    """Give the figure that skills are ranked by; None where it was not measured."""
    match key:
        case SortKey.COMPLETION_RATE:
            return figures.completion_rate
        case SortKey.COMPOSITE_SCORE:
            return figures.composite_score
        case SortKey.LATENCY:
            return figures.latency_p95_ms
        case SortKey.TOKEN_COST:
            return figures.tokens


def _ranked(passed: Sequence[tuple[int, float, tuple[str, ...]]], strategy: Strategy) -> Iterator[Choice]:
    label = _LABELS[strategy.sort_by]
    for rank, (index, figure, reasons) in enumerate(passed, start=1):
        said = f"rank {rank} of {len(passed)} by {label} {figure:.6g}"
        if strategy.top_k is not None and rank > strategy.top_k:
            said = f"{said}: the first {strategy.top_k} are selected"
            yield Choice(index, selected=False, rank=rank, reasons=(said,))
        else:
            yield Choice(index, selected=True, rank=rank, reasons=(said, *reasons))


def _ties(entrant: Entrant) -> tuple[float, float, str]:
    """Give what decides between equal figures: composite, completion rate, then the id."""
    figures = entrant.figures
    composite = 0.0 if figures is None else figures.composite_score or 0.0
    completion = 0.0 if figures is None else figures.completion_rate or 0.0
    return -composite, -completion, entrant.id


def _outcomes(entrant: Entrant, filters: Filters) -> Iterator[GateOutcome]:
    yield from _words(entrant, filters)
    figures = entrant.figures
    if figures is None:
        return
    if filters.min_completion_rate is not None:
        rate = Measurement("completion rate", figures.completion_rate, reason=_UNKNOWN)
        yield at_least(rate, filters.min_completion_rate, gate=GATE, digits=4)
    if filters.max_error_rate is not None:
        errors = Measurement("error rate", figures.error_rate, reason=_UNKNOWN)
        yield at_most(errors, filters.max_error_rate, gate=GATE, digits=4)
    if filters.max_latency_p95_ms is not None:
        slow = Measurement("95th percentile of latencies (ms)", figures.latency_p95_ms, reason=_UNKNOWN)
        yield at_most(slow, filters.max_latency_p95_ms, gate=GATE, digits=0)


def misfits(entrant: Entrant, filters: Filters) -> tuple[str, ...]:
    """Say which filters an entrant fails that need no evaluation."""
    return tuple(one.reason for one in _words(entrant, filters) if one.verdict is not Outcome.PASS)


def _words(entrant: Entrant, filters: Filters) -> Iterator[GateOutcome]:
    if filters.adapter_types:
        wanted = [kind.value for kind in filters.adapter_types]
        fine = entrant.adapter in wanted
        said = f"adapter {entrant.adapter} is {'' if fine else 'not '}among {', '.join(wanted)}"
        yield GateOutcome(gate=GATE, verdict=Outcome.PASS if fine else Outcome.FAIL, reason=said)
    if filters.required_tags:
        has = {folded(tag) for tag in entrant.tags}
        missing = [tag for tag in filters.required_tags if folded(tag) not in has]
        said = f"lacks the tag {', '.join(missing)}" if missing else f"has the tag {', '.join(filters.required_tags)}"
        yield GateOutcome(gate=GATE, verdict=Outcome.FAIL if missing else Outcome.PASS, reason=said)
