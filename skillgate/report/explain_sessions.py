"""What simulated sessions say of one dimension: the prompts that missed, the lowest grades, work handed on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.layers import COMPLETED, FAILED
from skillgate.model.score import Dimension
from skillgate.report.findings import bounded
from skillgate.report.simulated_words import (
    by_prompt,
    is_missed,
    label,
    lost,
    measured,
    quoted,
    remarks,
    style,
    verdict,
    who,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skillgate.model.layers import MonteCarloLayer, Simulation

_PROMPT = 300  # characters of a prompt
_MOST = 50  # sessions that are listed
_GRADES = 10  # of the lowest grades and the most tokens, so many are enough


class _View(NamedTuple):
    """What one dimension is computed from: measures, the sessions to look at, and what is told of each."""

    measures: tuple[str, ...]
    title: str
    chosen: Callable[[MonteCarloLayer], list[Simulation]]
    outcome_of: Callable[[Simulation], str] = verdict
    column: str = "what came of it"


def _served(layer: MonteCarloLayer) -> list[Simulation]:
    """Give the sessions that completed with the skill loaded."""
    return [run for run in layer.runs if run.outcome == COMPLETED and run.activated]


def _missed(layer: MonteCarloLayer) -> list[Simulation]:
    return [run for run in layer.runs if is_missed(run)]


def _lowest(layer: MonteCarloLayer) -> list[Simulation]:
    graded = [run for run in _served(layer) if run.quality is not None]
    return sorted(graded, key=lambda run: run.quality or 0.0)[:_GRADES]


def _handed_on(layer: MonteCarloLayer) -> list[Simulation]:
    return [run for run in _served(layer) if run.delivers is False]


def _uncovered(layer: MonteCarloLayer) -> list[Simulation]:
    return [run for run in layer.runs if run.outcome == COMPLETED and run.should_trigger and run.covers is False]


def _dearest(layer: MonteCarloLayer) -> list[Simulation]:
    counted = [run for run in _served(layer) if run.tokens is not None]
    return sorted(counted, key=lambda run: -(run.tokens or 0))[:_GRADES]


def _failed(layer: MonteCarloLayer) -> list[Simulation]:
    return [run for run in layer.runs if run.outcome == FAILED]


def _grade(run: Simulation) -> str:
    return "—" if run.quality is None else f"{run.quality:.2f}"


def _amount(run: Simulation) -> str:
    return "—" if run.tokens is None else f"{run.tokens:,}"


_VIEWS = {
    Dimension.TRIGGERING_ACCURACY: _View(
        ("f1", "activation_rate", "false_activation_rate", "precision"), "Prompts that missed", _missed
    ),
    Dimension.OUTPUT_QUALITY: _View(("quality", "quality_cv"), "The lowest grades", _lowest, _grade, "grade"),
    Dimension.ORCHESTRATION_FITNESS: _View(("orchestration",), "Answers that hand the work on", _handed_on),
    Dimension.SCOPE_CALIBRATION: _View(("scope",), "Requests that the answer does not cover", _uncovered),
    Dimension.TOKEN_EFFICIENCY: _View(
        ("efficiency", "tokens"), "Sessions to which it adds the most tokens", _dearest, _amount, "tokens"
    ),
    Dimension.ROBUSTNESS: _View(("failure_rate",), "Sessions that failed", _failed),
}


def explained(layer: MonteCarloLayer, dimension: Dimension, inert: Callable[[str], str]) -> Iterator[str]:
    """Say what the sessions say of one dimension, as lines of Markdown below a heading.

    Args:
        layer: the sessions.
        dimension: which one.
        inert: makes a text harmless where it stands.
    """
    view = _VIEWS.get(dimension)
    if view is None:
        yield "Sessions say nothing of this dimension."
        return
    for name in view.measures:
        if (found := layer.measures.get(name)) is not None:
            yield f"- {inert(label(name))} {inert(measured(name, found))}, n = {found.n:,}"
    for text in (_moved(layer, view), *remarks(layer), lost(layer), who(layer)):
        yield from (f"- {inert(bounded(text))}",) if text else ()
    yield from _listed(view, by_prompt(view.chosen(layer)), inert)


def _moved(layer: MonteCarloLayer, view: _View) -> str:
    """Say what a wide measure comes from."""
    spread = layer.spread.get(view.measures[0])
    if spread is None:
        return ""
    named = ", ".join(quoted(prompt) for prompt in spread.prompts)
    varies = f"{bounded(spread.style, _MOST)} prompts vary more" if spread.style else ""
    varied = "; ".join(filter(None, (varies, f"moved most by {named}" if named else "")))
    return f"{bounded(spread.label, _MOST)}, half-width {spread.half_width:.2f}{f': {varied}' if varied else ''}"


def _listed(view: _View, found: list[tuple[Simulation, int]], inert: Callable[[str], str]) -> Iterator[str]:
    if not found:
        yield from ("", f"{view.title}: none.")
        return
    yield from ("", f"{view.title}:", "", f"| prompt | kind | {view.column} |", "|---|---|---|")
    for run, count in found[:_MOST]:
        times = f" ×{count}" if count > 1 else ""
        cells = (bounded(run.prompt, _PROMPT), style(run), f"{view.outcome_of(run)}{times}")
        yield f"| {' | '.join(map(inert, cells))} |"
    if len(found) > _MOST:
        yield from ("", f"{len(found) - _MOST} more.")
