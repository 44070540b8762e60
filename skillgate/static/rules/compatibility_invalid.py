"""The field compatibility is empty or has more than 500 characters.

Why:
    The specification gives it 1 to 500 characters where it is there at all. Its validator refuses a longer one (and
    lets an empty one pass, against the text); the check before an upload refuses both. A value that is no text is
    FIELD_TYPE's.

Bad:
    compatibility: ""

Good:
    compatibility: Requires git, docker and access to the internet

Source: Agent Skills specification, field `compatibility`; quick_validate.py of the skill-creator in anthropics/skills.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Client, Hit, Rule, Severity
from skillgate.model.skill import Skill, Span

MOST = 500


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit; none where the field is absent or of another type."""
    head = skill.frontmatter
    value = head.values.get("compatibility", 0)
    if not isinstance(value, str | None):
        return
    length = len((value or "").strip())
    span = Span(head.line("compatibility"))
    refuse = "the specification and uploads to claude.ai and the API refuse that"
    if not length:
        yield Hit(span, f"compatibility is there and empty; {refuse}", fix="remove the field, or fill it")
    elif length > MOST:
        yield Hit(span, f"compatibility has {length:,} characters, over {MOST}; {refuse}")


RULE = Rule(
    id="COMPATIBILITY_INVALID",
    severity=Severity.WARNING,
    summary="compatibility is empty or has more than 500 characters",
    fix="name what the skill needs in a sentence; move the rest into the instructions",
    find=find,
    group="spec",
    refused_by=(Client.SPEC, Client.CLAUDE_UPLOAD),
)
