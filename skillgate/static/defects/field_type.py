"""A field of the frontmatter has the wrong type.

Why:
    YAML turns 123, yes, 2024-05-01 and [a, b] into numbers, truth values, dates and lists. A name or description of
    that kind is dropped by clients (an error); a flag written as text is read as set by some and unset by others (a
    warning).

Bad:
    description: 2024-05-01

Good:
    description: "Notes on the release of 2024-05-01. Use when …"

Source: Agent Skills specification, frontmatter fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill

_DROPPED = ("name ", "description ")


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each field; an error where clients drop the skill for it."""
    for problem in skill.problems_of("field_type"):
        severity = Severity.ERROR if problem.message.startswith(_DROPPED) else Severity.WARNING
        yield Hit(span=problem.span, message=problem.message, severity=severity)


RULE = Rule(
    id="FIELD_TYPE",
    severity=Severity.ERROR,
    summary="a frontmatter field of the wrong type",
    fix="give the field the type that is named; quotes make it text",
    find=find,
    blocks_badge=True,
)
