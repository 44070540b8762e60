"""The description contains a tag or an angle bracket.

Why:
    Uploads to claude.ai and the API reject a description with XML tags, because it becomes part of a system prompt. A
    placeholder such as <name> and a generic type such as List<T> count as tags (a warning). The check that the
    skill-creator runs before it packs a skill rejects any < or >, so `->` and `<5 MB` fail it too. Whether the upload
    itself rejects those is unknown (an info). Other clients accept the text.

Bad:
    description: Renders <chart> elements. Use when the input is > 5 MB.

Good:
    description: Renders chart elements. Use when the input is over 5 MB.

Source: Claude platform documentation, Agent Skills, field requirements ("cannot contain XML tags"); quick_validate.py
of the skill-creator in anthropics/skills; the upload's message "SKILL.md description cannot contain XML tags".
"""

import re

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.text import excerpt

_TAG = r"<[A-Za-z/!?][^<>]*>"
_AROUND = 12  # characters quoted on both sides of a bracket that is not a tag


def find(skill: Skill) -> Hits:
    """Yield one hit: at the first tag, else an info at the first bracket."""
    text = skill.frontmatter.text("description")
    first = next((place for place, character in enumerate(text) if character in "<>"), None)
    if first is None:
        return
    span = Span(skill.frontmatter.line("description"))
    tag = re.search(_TAG, text)
    if tag:
        message = f"description contains {excerpt(tag[0])!r}; claude.ai and the API reject tags"
        yield Hit(span, message)
        return
    quoted = excerpt(text[max(0, first - _AROUND) : first + _AROUND])
    message = (
        f"description contains {text[first]!r} (in {quoted!r}); the skill-creator's check before an upload rejects it"
    )
    yield Hit(span, message, severity=Severity.INFO, refused_by=())


RULE = rule(
    find,
    Severity.WARNING,
    "spec",
    fix="write it without angle brackets: {name} for a placeholder, 'over' and 'to' for > and ->",
    refused_by=(Client.CLAUDE_UPLOAD,),
    about=(Client.CLAUDE_UPLOAD,),
)
