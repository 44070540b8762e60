"""A frontmatter field that is no part of the specification and that one harness gave its meaning.

Why:
    Other clients ignore it or refuse the skill for it: a skill that relies on `context: fork` or on `hooks` does
    something else there. Opt-in: select `portability`.

Bad:
    context: fork

Good:
    (the instructions say which steps need a context of their own)

Source: Agent Skills specification, frontmatter; Claude Code documentation, skills, frontmatter reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Span
from skillgate.static.fields import CLAUDE_CODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each such field."""
    for field in CLAUDE_CODE:
        if field in skill.frontmatter.values:
            yield Hit(
                Span(skill.frontmatter.line(field)), f"{field} is a field of Claude Code, not of the specification"
            )


RULE = Rule(
    id="PORTABLE_FIELD",
    severity=Severity.WARNING,
    summary="a frontmatter field of one harness",
    fix="say it in the instructions, or leave it out",
    find=find,
    group="portability",
    optional=True,
)
