"""Skills that were found or selected, in a terminal; texts from files are made harmless."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.format import printable
from skillgate.report.numbers import NONE as NOTHING
from skillgate.report.numbers import decimal as figure
from skillgate.report.numbers import milliseconds
from skillgate.report.numbers import share as percent
from skillgate.report.terminal import columns, cut, pad

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.benchmark import Choice, Figures, FoundSkill, FoundSkills
    from skillgate.report.terminal import Style

_CELL = 28  # columns of a name, an id, tags
_SHOWN = 20  # rejected skills without -v
_OWN = "its own word"


def found_text(found: FoundSkills, style: Style, *, verbose: bool = False) -> str:
    """Render what was found; what it completed by its own word alone is marked so. ``verbose`` changes nothing."""
    del verbose
    lines = []
    if not found.skills:
        lines.append("no skill found" + (": none that matches was evaluated" if found.not_evaluated else ""))
    else:
        rows = [("id", "name", "version", "adapter", "completed", "tags"), *(_found(one) for one in found.skills)]
        lines += table(rows, style)
        if found.matched > len(found.skills):
            lines.append(f"{found.matched - len(found.skills)} more; --limit shows them")
    if found.not_evaluated:
        lines.append(f"{found.not_evaluated} not evaluated, and so left out by --{settings.MIN_COMPLETION.key}")
    return "\n".join(lines) + "\n"


def _found(skill: FoundSkill) -> tuple[str, ...]:
    past = skill.completion
    past_rate = NOTHING
    if past is not None:
        on = "" if past.benchmark_id is None else f" on {past.benchmark_id}"
        past_rate = f"{percent(past.completion_rate)}{on}" + (f" ({_OWN})" if past.source != "store" else "")
    return (skill.id, skill.name, skill.version or NOTHING, skill.adapter_type.value, past_rate, ", ".join(skill.tags))


def selected_text(
    names: Sequence[str], figures: Sequence[Figures | None], choices: Sequence[Choice], style: Style, *, verbose: bool
) -> str:
    """Render what was selected and what was not, with the filters that it failed.

    Args:
        names: of the candidates.
        figures: likewise; None for those that were not evaluated.
        choices: about them, by their place.
        style: how it is laid out.
        verbose: whether all that were rejected are shown.
    """
    selected = [choice for choice in choices if choice.selected]
    others = [choice for choice in choices if not choice.selected]
    lines = [style.paint(f"{len(selected)} of {len(choices)} skills selected", "bold")]
    if selected:
        head = ("rank", "skill", "completed", "errors", "p95", "composite", "tokens")
        lines += ["", *table([head, *(_row(names[one.entrant], figures[one.entrant], one) for one in selected)], style)]
    if others:
        lines += ["", style.paint("not selected", "bold")]
        shown = others if verbose else others[:_SHOWN]
        width = min(_CELL, max(columns(printable(names[one.entrant])) for one in shown))
        for one in shown:
            name = pad(cut(printable(names[one.entrant]), width), width)
            lines.append(f"  {name}  {printable('; '.join(one.reasons))}")
        if len(others) > len(shown):
            lines.append(f"  … {len(others) - len(shown)} more; -v shows them")
    return "\n".join(lines) + "\n"


def _row(name: str, figures: Figures | None, choice: Choice) -> tuple[str, ...]:
    if figures is None:
        return (str(choice.rank), name, *[NOTHING] * 5)
    return (
        str(choice.rank),
        name,
        percent(figures.completion_rate),
        percent(figures.error_rate),
        milliseconds(figures.latency_p95_ms),
        figure(figures.composite_score),
        NOTHING if figures.tokens is None else f"{figures.tokens:,}",
    )


def table(rows: Sequence[Sequence[str]], style: Style) -> Iterator[str]:
    """Lay a table out; the first row is its head, and the last column may be as long as it likes."""
    shown = [[cut(printable(cell), _CELL) for cell in row[:-1]] + [printable(row[-1])] for row in rows]
    widths = [max(columns(row[index]) for row in shown) for index in range(len(shown[0]))]
    for number, row in enumerate(shown):
        line = "  ".join(pad(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        line = cut(line, style.width)
        yield style.paint(line, "dim") if number == 0 else line
