"""The frontmatter has no name.

Why:
    The specification requires a name. Some clients fall back to the directory's, others drop the skill.

Bad:
    A frontmatter with a description alone.

Good:
    name: fill-pdf-forms

Source: Agent Skills specification, field `name`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit; none where the frontmatter could not be read."""
    head = skill.frontmatter
    name = head.values.get("name") or ""
    if head.valid and isinstance(name, str) and not name.strip():
        yield Hit(span=Span(line=head.line("name")), message="there is no name; the specification requires one")


RULE = Rule(
    id="NAME_MISSING",
    severity=Severity.WARNING,
    summary="the frontmatter has no name",
    fix="add name: with the name of the directory",
    find=find,
    advice="name",
)
