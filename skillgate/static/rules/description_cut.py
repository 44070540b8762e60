"""The description is longer than what Claude Code lists.

Why:
    Claude Code joins description and when_to_use with " - " and lists the first 1,536 characters. A model that decides
    whether to load the skill never sees the rest, which often contains the last use cases. Skills that Claude Code does
    not list (disable-model-invocation, paths) are not checked.

Bad:
    description of 1,000 characters, and when_to_use of 700

Good:
    Both together within 1,536 characters, with the most important first.

Source: Claude Code documentation, skills, frontmatter reference; the limit can be set there (skillListingMaxDescChars).
"""

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.scoring.listing import LIMITS
from skillgate.static import Hits, rule
from skillgate.static.text import excerpt, needs_no_trigger


def find(skill: Skill) -> Hits:
    """Yield one hit, at when_to_use if set; the message quotes the text at the cut."""
    head = skill.frontmatter
    key = "when_to_use" if head.text("when_to_use") else "description"
    listed = " - ".join(part for part in (head.text("description"), head.text("when_to_use")) if part)
    limit = LIMITS[Client.CLAUDE_CODE].one
    if len(listed) <= limit or needs_no_trigger(skill):
        return
    message = (
        f"Claude Code lists only {limit:,} of {len(listed):,} characters; the rest begins {excerpt(listed[limit:])!r}"
    )
    yield Hit(Span(head.line(key)), message)


RULE = rule(
    find,
    Severity.WARNING,
    "spec",
    fix="shorten description and when_to_use to 1,536 characters together; put the most important first",
    about=(Client.CLAUDE_CODE,),
)
