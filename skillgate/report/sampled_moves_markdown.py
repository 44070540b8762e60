"""What sessions, matches and lift measured on two sides, as Markdown: rows of a comparison, a table of a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.report.escape import code, inert
from skillgate.report.sampled_moves import change, name, number, reasons, rows
from skillgate.report.simulated_compared import sampled_changes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.documents import SkillChange
    from skillgate.model.report import SkillResult

_ROWS = 50


def compared(a: SkillResult, b: SkillResult) -> Iterator[str]:
    """Write the rows of a table on two skills, then what of them is not compared, and why."""
    found = sampled_changes(a, b)
    for item in found:
        cells = [number(item.name, side.value) for side in (item.before, item.after)]
        yield f"| {inert(name(item.name))} | {' | '.join(cells)} | {change(item)} |"
    texts = reasons(found)
    yield from ("", *(f"- {inert(text)}" for text in texts)) if texts else ()


def moved(changes: Sequence[SkillChange]) -> Iterator[str]:
    """Write what sessions, matches and lift measured of skills before and after, folded away."""
    found = [(one.path, row) for one in changes for row in rows(one.sampled)]
    if not found:
        return
    yield from ("", "<details><summary>What sessions, matches and lift measured</summary>", "")
    yield from ("| skill | figure | before | after | change | n |", "|---|---|--:|--:|--:|--:|")
    yield from (f"| {code(path)} | {' | '.join(map(inert, row))} |" for path, row in found[:_ROWS])
    if len(found) > _ROWS:
        yield from ("", f"{len(found) - _ROWS} more.")
    left = [(one.path, text) for one in changes for text in reasons(one.sampled)]
    if left:
        yield from ("", *(f"- {code(path)} {inert(text)}" for path, text in left[:_ROWS]))
    yield from ("", "</details>")
