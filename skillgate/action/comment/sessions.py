"""What a comment says of simulated sessions, matches and lift, folded away: figures, what moved, the Elo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.action.comment.fit import Section
from skillgate.action.comment.links import shown_path
from skillgate.model.documents import State
from skillgate.report.escape import code, inert
from skillgate.report.findings import bounded
from skillgate.report.lift_words import lift_in_words
from skillgate.report.ranking_words import elo_condition, ranking_of, rated
from skillgate.report.sampled_moves import groups
from skillgate.report.simulated_figures import figures
from skillgate.report.simulated_words import amiss, by_prompt, quoted, sessions_of, style, verdict, who

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.report import SkillResult
    from skillgate.report.standing import Row

_SKILLS = 5  # skills that are shown
_AMISS = 3  # prompts of one skill
_TEXT = 400  # characters of a sentence
_APART = "not compared with the base"
_CELL = 80  # characters of a kind of prompt, and of what came of it


def simulated(rows: Sequence[Row]) -> Section:
    """Say what sessions, matches and lift say of the worst skills that changed, folded away."""
    shown = [row for row in rows if row.listed and row.result and _sampled(row.result)]
    lines = [line for row in shown[:_SKILLS] for line in _of(row)]
    if not lines:
        return Section("simulated sessions")
    head = ("", "<details><summary>What simulated sessions and matches say</summary>", "")
    left = f"- {len(shown) - _SKILLS:,} more skills in the report"
    return Section(
        "simulated sessions",
        head,
        (*lines, *((left,) if len(shown) > _SKILLS else ())),
        ("", "</details>"),
        rank=7,
    )


def _sampled(result: SkillResult) -> bool:
    return sessions_of(result) is not None or ranking_of(result) is not None or result.lift is not None


def _of(row: Row) -> Iterator[str]:
    if row.result is None:
        return
    before = code(shown_path(row.path))
    texts = (*_against(row), *_figures(row.result))
    yield from (f"- {before} {inert(bounded(text, _TEXT))}" for text in texts if text)


def _figures(result: SkillResult) -> Iterator[str]:
    layer, ranking = sessions_of(result), ranking_of(result)
    if layer is not None:
        yield from figures(layer)
        for run, count in by_prompt(amiss(layer))[:_AMISS]:
            times = f" ×{count}" if count > 1 else ""
            yield f"{bounded(style(run), _CELL)}, {bounded(verdict(run), _CELL)}{times}: {quoted(run.prompt)}"
        yield who(layer)
    if ranking is not None:
        yield from rated(ranking)
        yield elo_condition(result)
    if result.lift is not None:
        yield from lift_in_words(result.lift)


def _against(row: Row) -> Iterator[str]:
    """Say how figures moved against the base, what does not compare and why; nothing for a new skill."""
    if row.change is None or row.state is State.NEW:
        return
    moved = _moved(row)
    yield moved
    for group in groups(row.change.sampled):
        if group.title != "sessions" or not moved.startswith(_APART):
            yield f"{group.title} against the base: {group.text}"


def _moved(row: Row) -> str:
    """Say how the dimensions that sessions measure moved against the base; ``""`` where there is nothing to compare."""
    layer = sessions_of(row.result) if row.result else None
    if layer is None or row.change is None or row.state is State.NEW:
        return ""
    if row.result is not None and row.result.drop is not None and row.result.drop.reason:
        return f"{_APART}: {row.result.drop.reason}"
    known = [row.change.dimensions[key] for key in layer.scores if key in row.change.dimensions]
    if any(change.change is None and None not in (change.a, change.b) for change in known):
        return f"{_APART}: the two sides' scores mean different things"
    moved = [
        f"{key.value} {change.a:.4f} → {change.b:.4f}"
        for key in layer.scores
        if (change := row.change.dimensions.get(key)) is not None
        and change.change
        and change.a is not None
        and change.b is not None
    ]
    return f"against the base, of what sessions measure: {', '.join(moved) or 'nothing moved'}"
