"""What ``find`` and ``select`` show: the skills, and why others were not selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.format import plural
from skillgate.report.numbers import NONE, count, decimal, milliseconds, share
from skillgate.report.view import Cell, Heading, Row, Table, View, code, columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.benchmark import Choice, Figures, FoundSkill, FoundSkills
    from skillgate.report.view import Block

_ALL = 100_000  # the command has its own limit
_FOUND = columns("id", "name", "version", "adapter", "#completed", "tags")
_SELECTED = columns("skill", "#rank", "#completed", "#errors", "#p95", "#composite", "#tokens")


def view(found: FoundSkills) -> View:
    """Build what was found."""
    missing = found.not_evaluated
    notes = (f"{missing:,} not evaluated, so --{settings.MIN_COMPLETION.key} leaves them out",) if missing else ()
    if not found.skills:
        return View("No skill found" + (": no match was evaluated" if missing else ""), notes=notes)
    more = found.matched - len(found.skills)
    title = f"{plural(len(found.skills), 'skill')} found" + (f"; {more:,} more, --limit shows them" if more > 0 else "")
    rows = tuple(map(_found, found.skills))
    return View(title, notes=notes, blocks=(Table(_FOUND, rows, noun="skill", most=_ALL),))


def selected(names: Sequence[str], figures: Sequence[Figures | None], choices: Sequence[Choice]) -> View:
    """Build what was selected and what was not, with the filters that it failed.

    Args:
        names: of the candidates.
        figures: of the candidates; None for those that were not evaluated.
        choices: about them, by their place.
    """
    chosen = [choice for choice in choices if choice.selected]
    others = [choice for choice in choices if not choice.selected]
    blocks: list[Block] = []
    if chosen:
        rows = (_selected(names[one.entrant], figures[one.entrant], one) for one in chosen)
        blocks.append(Table(_SELECTED, tuple(rows), noun="skill", most=_ALL))
    if others:
        why = tuple(Row((code(names[one.entrant]), "; ".join(one.reasons))) for one in others)
        blocks += [Heading("Not selected"), Table(columns("skill", "why"), why, noun="skill")]
    return View(f"{len(chosen)} of {len(choices)} skills selected", blocks=tuple(blocks))


def _found(skill: FoundSkill) -> Row:
    past = skill.completion
    rate = Cell(NONE)
    if past is not None:
        on = "" if past.benchmark_id is None else f"on {past.benchmark_id}"
        source = "" if past.source == "store" else "self-reported"
        rate = Cell(share(past.completion_rate), ", ".join(filter(None, (on, source))), sort=past.completion_rate)
    version = skill.version or NONE
    return Row((code(skill.id), skill.name, version, skill.adapter_type.value, rate, ", ".join(skill.tags)))


def _selected(name: str, figures: Figures | None, choice: Choice) -> Row:
    if figures is None:
        return Row((code(name), str(choice.rank), *[NONE] * 5))
    cells = (
        code(name),
        str(choice.rank),
        share(figures.completion_rate),
        share(figures.error_rate),
        milliseconds(figures.latency_p95_ms),
        decimal(figures.composite_score),
        count(figures.tokens),
    )
    return Row(cells)
