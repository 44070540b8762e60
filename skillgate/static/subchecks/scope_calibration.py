"""Is the main file of the length that suits its kind: neither a stub nor everything at once?

1 inside the size band of the category in `metadata.category` (200–600 lines without one); below it falls to 0 at 50
lines; above it falls too, unless the surplus is kept company by linked references.

Source: PluginEval method, category norms of its rubrics for scope; the straight lines outside a band are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.score import Dimension, Evidence, Measured, SubCheck
from skillgate.scoring.weights import DEFAULT_BAND, SIZE_BANDS
from skillgate.static.signals import linked_files, without_body
from skillgate.static.unread import lost

if TYPE_CHECKING:
    from skillgate.model.skill import Skill

STUB = 50


def measure(skill: Skill) -> Measured:
    """Score in [0, 1]; 0 without a body."""
    if not skill.has_body:
        return without_body()
    category, (low, high) = _band(skill)
    linked = bool(linked_files(skill, skill.references))
    # A short file with long lines is a stub and bloated at once: the worse of the two counts.
    found = [_fit(lines, low, high, linked=linked) for lines in {skill.lines, skill.effective_lines}]
    points, advice = min(found, key=lambda fit: fit[0])
    heavy = f"{skill.tokens:,} tokens in {skill.lines} lines" if skill.effective_lines != skill.lines else ""
    suits = f"{low}–{high} suit {category}"
    if "metadata" in lost(skill):
        suits, advice = "its category, which says how many suit it, cannot be read", None
    text = f"{heavy or f'{skill.lines} lines'}; {suits}"
    return Measured.total((Evidence(text=text, points=max(0.0, points), possible=1.0, advice=advice),))


def _fit(lines: int, low: int, high: int, *, linked: bool) -> tuple[float, str | None]:
    if lines < low:
        return (lines - STUB) / (low - STUB), "longer"
    if lines > high and not linked:
        return 1 - (lines - high) / high, "shorter"
    return 1.0, None


def _band(skill: Skill) -> tuple[str, tuple[int, int]]:
    metadata = skill.frontmatter.values.get("metadata")
    category = metadata.get("category") if isinstance(metadata, dict) else None
    if isinstance(category, str) and category.strip().lower() in SIZE_BANDS:
        name = category.strip().lower()
        return f"the category {name}", SIZE_BANDS[name]
    return "a skill without a category", DEFAULT_BAND


SUBCHECK = SubCheck(
    dimension=Dimension.SCOPE_CALIBRATION,
    weight=0.0,
    summary="length of the main file for its category",
    measure=measure,
)
