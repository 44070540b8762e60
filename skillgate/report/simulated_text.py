"""What sessions, matches and tasks without the skill say of one skill, in a text report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.report.findings import bounded
from skillgate.report.lift_words import lift_in_words, task_in_words
from skillgate.report.ranking_words import against, doubts, ranking_of, rated
from skillgate.report.simulated_figures import figures, further
from skillgate.report.simulated_words import (
    amiss,
    by_prompt,
    lost,
    quoted,
    remarks,
    sessions_of,
    style,
    verdict,
    who,
    wide,
)
from skillgate.report.terminal import hanging, margin, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.model.layers import MonteCarloLayer
    from skillgate.model.report import SkillResult
    from skillgate.report.terminal import Style

_LISTED = 200  # sessions, matches or tasks that are listed one by one
_FURTHER = ("precision", "activation_rate_wilson", "efficiency", "orchestration", "scope")
_WHOLE = 160  # characters of a prompt where each session has its line


def sampled_block(result: SkillResult, form: Style, *, everything: bool) -> Iterator[str]:
    """Write what sessions, matches and lift say of a skill; ``everything`` lists them one by one."""
    if (layer := sessions_of(result)) is not None:
        yield from _lines("sessions", _sessions(layer, everything=everything), form)
        yield from _below(_runs(layer), form) if everything else ()
    if (ranking := ranking_of(result)) is not None:
        ratings = [(text, "") for text in rated(ranking)]
        yield from _lines("ranking", [*ratings, *((text, "yellow") for text in doubts(ranking))], form)
        yield from _below(map(against, ranking.played), form) if everything else ()
    if result.lift is not None:
        yield from _lines("lift", [(text.removeprefix("lift "), "") for text in lift_in_words(result.lift)], form)
        yield from _below(map(task_in_words, result.lift.tasks), form) if everything else ()


def _sessions(layer: MonteCarloLayer, *, everything: bool) -> Iterator[tuple[str, str]]:
    """Give each text with its colour: what is missing first, then the figures, how wide they are, what was lost."""
    for text in remarks(layer):
        yield text, "red" if text.startswith("not ") else "yellow"
    yield from ((text, "") for text in figures(layer))
    if everything:
        yield from ((text, "") for text in further(layer, _FURTHER))
    yield wide(layer, every=everything), ""
    yield lost(layer), "yellow"
    yield who(layer), "dim"


def _lines(title: str, texts: Iterable[tuple[str, str]], form: Style) -> Iterator[str]:
    for index, (text, tone) in enumerate(pair for pair in texts if pair[0]):
        yield from hanging(title if index == 0 else "", text, form, tone)


def _runs(layer: MonteCarloLayer) -> Iterator[str]:
    for run, count in by_prompt(amiss(layer)):
        times = f" ×{count}" if count > 1 else ""
        yield f"{style(run)}, {verdict(run)}{times}: {quoted(run.prompt, _WHOLE)}"


def _below(texts: Iterable[str], form: Style) -> Iterator[str]:
    indent = len(margin(form)) + 12
    every = list(texts)
    left = [f"+ {len(every) - _LISTED} more"] if len(every) > _LISTED else []
    for text in (*every[:_LISTED], *left):
        for index, line in enumerate(wrap(bounded(text), max(20, form.width - indent))):
            yield " " * (indent if index else indent - 2) + line
