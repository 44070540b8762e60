"""The name breaks the naming rule of the specification.

Why:
    A name has 1 to 64 lower-case letters, digits and single hyphens, none at either end. Clients that enforce it refuse
    the skill; those that do not turn it into a command that nobody can type.

Bad:
    name: PDF_Forms (v2)

Good:
    name: pdf-forms

Source: Agent Skills specification, field `name`; letters of other scripts, which its text allows, are accepted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity, Span
from skillgate.skill.naming import name_defect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit that names the first rule broken."""
    name = skill.frontmatter.text("name")
    reason = name_defect(name) if name else None
    if reason:
        yield Hit(span=Span(line=skill.frontmatter.line("name")), message=f"the name {reason}")


RULE = Rule(
    id="NAME_INVALID",
    severity=Severity.WARNING,
    summary="the name breaks the naming rule",
    fix="use 1 to 64 lower-case letters, digits and single hyphens",
    find=find,
    advice="name",
)
