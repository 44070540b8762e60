"""Claude Code cuts what it lists of the skill.

Why:
    Claude Code joins description and when_to_use with " - " and lists the first 1,536 characters. A model that decides
    whether to load the skill never sees the rest, which is often where the last use cases stand. Skills that it does
    not list (disable-model-invocation, paths) are left alone.

Bad:
    description of 1,000 characters, and when_to_use of 700

Good:
    Both together within 1,536 characters, what matters most first.

Source: Claude Code documentation, skills, frontmatter reference; the limit can be set there (skillListingMaxDescChars).
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Client, Hit, Rule, Severity
from skillgate.model.skill import Skill, Span
from skillgate.scoring.listing import LIMITS
from skillgate.static.text import excerpt, needs_no_trigger


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit, at when_to_use where there is one; it quotes where the cut falls."""
    head = skill.frontmatter
    key = "when_to_use" if head.text("when_to_use") else "description"
    listed = " - ".join(part for part in (head.text("description"), head.text("when_to_use")) if part)
    most = LIMITS[Client.CLAUDE_CODE].one
    if len(listed) <= most or needs_no_trigger(skill):
        return
    message = f"Claude Code lists {most:,} of {len(listed):,} characters; the rest begins {excerpt(listed[most:])!r}"
    yield Hit(Span(head.line(key)), message)


RULE = Rule(
    id="DESCRIPTION_CUT",
    severity=Severity.WARNING,
    summary="Claude Code lists only part of the description",
    fix="shorten description and when_to_use to 1,536 characters together, what matters most first",
    find=find,
    group="spec",
    about=(Client.CLAUDE_CODE,),
)
