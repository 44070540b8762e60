"""What sessions, matches and tasks without the skill say of skills, as Markdown: figures, what went amiss, matches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.report.escape import code, inert
from skillgate.report.findings import bounded
from skillgate.report.lift_words import change_of, lift_in_words, signed
from skillgate.report.ranking_words import doubts, elo_condition, ranking_of, rated, result_of
from skillgate.report.resumed_words import part_of
from skillgate.report.simulated_figures import figures, is_missing, not_measured
from skillgate.report.simulated_words import (
    amiss,
    by_prompt,
    label,
    lost,
    measured,
    remarks,
    run_in_words,
    sessions_of,
    style,
    verdict,
    who,
    wide,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.layers import Lift, MonteCarloLayer, RankingLayer
    from skillgate.model.report import Report, SkillResult

_PROMPT, _NAME, _TEXT = 200, 80, 400  # characters
_ROWS = 50


def simulated(ranked: Sequence[SkillResult]) -> Iterator[str]:
    """Write what sessions, matches and lift say, folded away: all of one skill, the figures of several."""
    parts = (
        ("Simulated sessions", [line for result in ranked for line in _sessions(result, alone=len(ranked) == 1)]),
        ("Ranking", [line for result in ranked for line in _ranking(result, alone=len(ranked) == 1)]),
        ("Lift", [line for result in ranked for line in _lift(result, alone=len(ranked) == 1)]),
    )
    for title, lines in parts:
        if lines:
            yield from ("", f"<details><summary>{title}</summary>", "", *lines, "", "</details>")


def _said(result: SkillResult, texts: Sequence[str], *, alone: bool) -> Iterator[str]:
    before = "" if alone else f"{code(result.skill.path)} "
    yield from (f"- {before}{inert(bounded(text, 2 * _TEXT))}" for text in texts if text)


def _sessions(result: SkillResult, *, alone: bool) -> Iterator[str]:
    layer = sessions_of(result)
    if layer is None:
        return
    texts = [*remarks(layer), *(() if alone else figures(layer)), wide(layer), lost(layer), who(layer)]
    yield from _said(result, texts, alone=alone)
    if alone:
        yield from _measures(layer)
        yield from _amiss(layer)


def _measures(layer: MonteCarloLayer) -> Iterator[str]:
    if not layer.completed + layer.failed:
        return
    yield from ("", "| measure | value | | n |", "|---|---|---|--:|")
    for name, found in layer.measures.items():
        if is_missing(found):
            continue
        sure = inert(bounded(layer.spread[name].label, _NAME)) if name in layer.spread else ""
        yield f"| {inert(label(name))} | {inert(measured(name, found))} | {sure} | {found.n:,} |"
    if layer.mc_score is not None:
        yield f"| mc\\_score | {layer.mc_score:.4f} | | |"
    missing = list(not_measured(layer, tuple(layer.measures)))
    yield from ("", *(f"- {inert(bounded(text, 2 * _TEXT))}" for text in missing)) if missing else ()


def _amiss(layer: MonteCarloLayer) -> Iterator[str]:
    found = by_prompt(amiss(layer))
    if not found:
        return
    yield from ("", "| prompt that failed or missed | kind | what came of it |", "|---|---|---|")
    for run, count in found[:_ROWS]:
        times = f" ×{count}" if count > 1 else ""
        cells = (inert(bounded(run.prompt, _PROMPT)), inert(style(run)), inert(f"{verdict(run)}{times}"))
        yield f"| {' | '.join(cells)} |"
    if len(found) > _ROWS:
        yield from ("", f"{len(found) - _ROWS} more.")


def _ranking(result: SkillResult, *, alone: bool) -> Iterator[str]:
    layer = ranking_of(result)
    if layer is None:
        return
    yield from _said(result, [*rated(layer), *doubts(layer), elo_condition(result)], alone=alone)
    if alone and layer.played:
        yield from _matches(layer)


def _matches(layer: RankingLayer) -> Iterator[str]:
    yield from ("", "| opponent | its rating | result | orders |", "|---|--:|---|---|")
    for match in layer.played[:_ROWS]:
        orders = inert(bounded(", ".join(match.orders) or match.reason or "—", _PROMPT))
        disagree = ", which disagree" if match.position_bias else ""
        cells = (code(bounded(match.opponent, _NAME)), f"{match.opponent_rating:,.0f}", result_of(match))
        yield f"| {' | '.join(cells)} | {orders}{disagree} |"


def _lift(result: SkillResult, *, alone: bool) -> Iterator[str]:
    if result.lift is None:
        return
    yield from _said(result, list(lift_in_words(result.lift)), alone=alone)
    if alone and result.lift.tasks:
        yield from _tasks(result.lift)


def _tasks(lift: Lift) -> Iterator[str]:
    yield from ("", "| task | with | without | change | preferred |", "|---|--:|--:|--:|---|")
    for task in lift.tasks[:_ROWS]:
        change = change_of(task)
        scores = ["—" if arm.score is None else f"{arm.score:.2f}" for arm in (task.with_skill, task.without_skill)]
        cells = ("—" if change is None else signed(change), inert(bounded(task.preferred or "—", _NAME)))
        yield f"| {code(bounded(task.id, _NAME))} | {' | '.join((*scores, *cells))} |"


def footer(report: Report) -> str:
    """Say how many sessions there were, and of a run that was resumed or divided that; ``""`` where none of it is."""
    parts = (*run_in_words(report.results), part_of(report))
    return "".join(f" · {inert(part)}" for part in parts if part)
