"""Is the main file of a useful size, with detail kept in linked files that are read only when needed?

The size band gives up to 0.60; a non-empty, linked file in references/ gives 0.25 where the main file has more than 400
lines and 0.15 below; a non-empty, linked file in assets/ gives 0.15. A body of more than 10,000 estimated tokens counts
as more than 800 lines, however few its lines.

Source: PluginEval method, sub-check progressive_disclosure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.score import Dimension, Evidence, Measured, SubCheck
from skillgate.static.signals import linked_files, without_body
from skillgate.static.unread import lost

if TYPE_CHECKING:
    from skillgate.model.skill import Skill

BANDS = ((99, 0.20), (199, 0.50), (600, 0.60), (800, 0.40))  # up to and including so many lines
OVER = 0.15
LONG = 400


def measure(skill: Skill) -> Measured:
    """Score in [0, 1]; 0 without a body."""
    if not skill.has_body:
        return without_body(BANDS[0][1])
    bonus = 0.25 if skill.lines > LONG else 0.15  # by its lines alone: what makes a file heavy must not pay
    return Measured.total(
        (
            _size(skill),
            _folder("references", linked_files(skill, skill.references), present=bool(skill.references), bonus=bonus),
            _folder("assets", linked_files(skill, skill.assets), present=bool(skill.assets), bonus=0.15),
        )
    )


def _size(skill: Skill) -> Evidence:
    lines = skill.effective_lines
    points = next((points for most, points in BANDS if lines <= most), OVER)
    text = f"{skill.lines} lines" if lines == skill.lines else f"{skill.tokens:,} tokens in {skill.lines} lines"
    advice = None if points == 0.60 else "longer" if lines < 200 else "shorter"
    return Evidence(text=text, points=points, possible=0.60, advice=None if "metadata" in lost(skill) else advice)


def _folder(name: str, linked: int, *, present: bool, bonus: float) -> Evidence:
    if linked:
        return Evidence(text=f"{linked} linked in {name}/", points=bonus, possible=bonus)
    text = f"nothing in {name}/ is linked" if present else f"no file in {name}/"
    return Evidence(text=text, points=0.0, possible=bonus, advice=name)


SUBCHECK = SubCheck(
    dimension=Dimension.PROGRESSIVE_DISCLOSURE,
    weight=0.15,
    summary="size of the main file, and detail in linked references/ and assets/",
    measure=measure,
)
