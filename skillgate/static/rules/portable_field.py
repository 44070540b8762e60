"""A frontmatter field that only one client supports.

Why:
    The specification does not define the field. Other clients ignore it or reject the skill: a skill that relies on
    `context: fork` or on `hooks` behaves differently there. Opt-in: select `portability`.

Bad:
    context: fork

Good:
    (the instructions say which steps need their own context)

Source: Agent Skills specification, frontmatter; Claude Code documentation, skills, frontmatter reference.
"""

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.rules import CLAUDE_CODE


def find(skill: Skill) -> Hits:
    """Yield one hit for each such field."""
    for field in CLAUDE_CODE:
        if field in skill.frontmatter.values:
            message = f"{field} is a Claude Code field, not part of the specification"
            yield Hit(Span(skill.frontmatter.line(field)), message)


RULE = rule(find, Severity.WARNING, "portability", fix="put it in the instructions, or remove it", optional=True)
