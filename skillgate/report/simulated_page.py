"""What sessions, matches and tasks without the skill say of one skill, as a page shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural
from skillgate.report.findings import bounded
from skillgate.report.html_charts import Whisker, whisker
from skillgate.report.html_parts import PATH, Some, first
from skillgate.report.lift_words import change_of, lift_in_words
from skillgate.report.ranking_words import doubts, elo_condition, ranking_of, rated, result_of
from skillgate.report.resumed_words import part_of
from skillgate.report.simulated_charts import Box, Columns, Field, Styled, box, field, grades, styles
from skillgate.report.simulated_words import (
    amiss,
    by_prompt,
    label,
    lost,
    measured,
    remarks,
    run_in_words,
    sessions_of,
    short,
    style,
    verdict,
    who,
    wide,
)

if TYPE_CHECKING:
    from skillgate.model.layers import Estimate, Lift, MonteCarloLayer, RankingLayer
    from skillgate.model.report import Report, SkillResult

_SESSIONS, _MATCHES, _TASKS = 60, 60, 60
_UNDRAWN = ("tokens", "quality_cv", "activation_rate_wilson")  # no share between 0 and 1, or the same share once more


class MeasureRow(NamedTuple):
    """One measure.

    ``sure`` is ``stable``, ``wide`` or ``""``, ``whisker`` None where it is no share, ``missing`` why there is none.
    """

    name: str
    text: str
    n: int
    sure: str
    whisker: Whisker | None
    missing: str = ""


class SessionRow(NamedTuple):
    """Sessions of one prompt that failed or missed."""

    prompt: str
    style: str
    outcome: str
    times: int


class SessionsPart(NamedTuple):
    """All that the sessions say of a skill; ``notes`` are what has to be known before the figures are read."""

    notes: tuple[str, ...]
    measures: tuple[MeasureRow, ...]
    mc_score: float | None
    texts: tuple[str, ...]
    grades: Columns | None
    box: Box | None
    styles: tuple[Styled, ...]
    amiss: Some[SessionRow]


class MatchRow(NamedTuple):
    """One match."""

    opponent: str
    rating: float
    result: str
    orders: str


class RankingPart(NamedTuple):
    """All that the matches say of a skill."""

    texts: tuple[str, ...]
    notes: tuple[str, ...]
    field: Field | None
    matches: Some[MatchRow]


class TaskRow(NamedTuple):
    """One task with the skill and without it."""

    name: str
    with_skill: float | None
    without_skill: float | None
    change: float | None
    preferred: str


class LiftPart(NamedTuple):
    """All that is known of what the skill adds."""

    texts: tuple[str, ...]
    tasks: Some[TaskRow]


class SampledPart(NamedTuple):
    """What sessions, matches and lift say of one skill; each None where it was not asked for."""

    sessions: SessionsPart | None
    ranking: RankingPart | None
    lift: LiftPart | None


def sampled_part(result: SkillResult) -> SampledPart | None:
    """Give what sessions, matches and lift say of a skill, None where none was asked for."""
    layer, ranking, lift = sessions_of(result), ranking_of(result), result.lift
    if layer is None and ranking is None and lift is None:
        return None
    return SampledPart(
        _sessions(layer) if layer is not None else None,
        _ranking(ranking, result) if ranking is not None else None,
        _lift(lift) if lift is not None else None,
    )


def _sessions(layer: MonteCarloLayer) -> SessionsPart:
    rows = [SessionRow(run.prompt, style(run), verdict(run), count) for run, count in by_prompt(amiss(layer))]
    return SessionsPart(
        notes=tuple(remarks(layer)),
        measures=tuple(_measure(layer, name, found) for name, found in layer.measures.items()),
        mc_score=layer.mc_score,
        texts=tuple(filter(None, (wide(layer), lost(layer), who(layer)))),
        grades=grades(layer.runs),
        box=box(layer),
        styles=styles(layer.runs),
        amiss=first(rows, _SESSIONS),
    )


def _measure(layer: MonteCarloLayer, name: str, found: Estimate) -> MeasureRow:
    sure = layer.spread[name].label if name in layer.spread else ""
    drawn = None if name in _UNDRAWN or found.reason else whisker(found.value, found.ci_low, found.ci_high)
    if found.value is None and found.ci_low is None:
        return MeasureRow(
            label(name),
            "—",
            found.n,
            sure,
            None,
            missing="see above" if found.reason and found.reason == layer.reason else short(found.reason),
        )
    return MeasureRow(label(name), measured(name, found), found.n, sure, drawn)


def _ranking(layer: RankingLayer, result: SkillResult) -> RankingPart:
    rows = [
        MatchRow(
            match.opponent,
            match.opponent_rating,
            result_of(match),
            (", ".join(match.orders) or match.reason or "—") + (", which disagree" if match.position_bias else ""),
        )
        for match in layer.played
    ]
    notes = tuple(filter(None, (*rated(layer), elo_condition(result))))
    return RankingPart(notes, tuple(doubts(layer)), field(layer), first(rows, _MATCHES))


def _lift(lift: Lift) -> LiftPart:
    rows = [
        TaskRow(
            bounded(task.id, PATH),
            task.with_skill.score,
            task.without_skill.score,
            change_of(task),
            task.preferred or "—",
        )
        for task in lift.tasks
    ]
    return LiftPart(tuple(lift_in_words(lift)), first(rows, _TASKS))


def method(report: Report) -> tuple[tuple[str, str], ...]:
    """Say how a run was simulated, each with what it is called; nothing where no session was asked for."""
    layers = [layer for result in report.results if (layer := sessions_of(result)) is not None]
    models = ", ".join(dict.fromkeys(bounded(layer.model, PATH) for layer in layers if layer.model))
    rows = (
        ("Sessions", "; ".join(filter(None, (*run_in_words(report.results), models and f"tested: {models}")))),
        ("Ranking", _corpus(report)),
        ("Part of a run", part_of(report)),
    )
    return tuple((name, text) for name, text in rows if text)


def _corpus(report: Report) -> str:
    layers = [layer for result in report.results if (layer := ranking_of(result)) is not None and layer.corpus]
    sizes = dict.fromkeys((layer.corpus_size, layer.corpus) for layer in layers)
    named = [f"{plural(size, 'other skill')} (corpus {bounded(digest or '', 12)})" for size, digest in list(sizes)[:3]]
    return f"against a corpus of {', '.join(named)}" if named else ""
