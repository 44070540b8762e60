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

from collections.abc import Iterator

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static.rules import CLAUDE_CODE


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each such field."""
    for field in CLAUDE_CODE:
        if field in skill.frontmatter.values:
            message = f"{field} is a field of Claude Code, not of the specification"
            yield Hit(Span(skill.frontmatter.line(field)), message)


RULE = Rule(
    id="PORTABLE_FIELD",
    severity=Severity.WARNING,
    summary="a frontmatter field of one harness",
    fix="say it in the instructions, or leave it out",
    find=find,
    group="portability",
    optional=True,
)
