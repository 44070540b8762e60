"""Name and description: in SKILL.md's frontmatter, which has to be valid; of a program without one, in skill.json."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.checks._found import Found, portion, prose

if TYPE_CHECKING:
    from skillgate.bench.checks._found import Subject


def check(skill: Subject) -> Found:
    """Check one skill."""
    found = prose(skill)
    if found is None:
        spec = skill.spec
        return portion(
            (0.5, None if spec.name.strip() else "skill.json names no name"),
            (0.5, None if spec.description.strip() else "skill.json has no description"),
        )
    frontmatter = found.frontmatter
    if not frontmatter.valid:
        return Found(0.0, ("the frontmatter of SKILL.md is missing or no YAML mapping",))
    missing = [key for key in ("name", "description") if not frontmatter.text(key).strip()]
    return portion(
        (0.5, "the frontmatter of SKILL.md has no name" if "name" in missing else None),
        (0.5, "the frontmatter of SKILL.md has no description" if "description" in missing else None),
    )
