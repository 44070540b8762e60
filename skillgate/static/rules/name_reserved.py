"""The name holds a word that uploads to claude.ai and the API reserve.

Why:
    `anthropic` and `claude` may stand nowhere in the name of an uploaded skill: claude-md-enhancer is refused as claude
    is. Other clients take such names.

Bad:
    name: claude-md-enhancer

Good:
    name: agents-md-enhancer

Source: Claude platform documentation, Agent Skills, field requirements ("cannot contain reserved words"); the upload's
message "Skill name in SKILL.md cannot contain the reserved word 'claude'" for the name above.
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Client, Hit, Rule, Severity
from skillgate.model.skill import Skill, Span

RESERVED = ("anthropic", "claude")


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit that names the first reserved word in the name."""
    name = skill.frontmatter.text("name")
    word = next((word for word in RESERVED if word in name.lower()), None)
    if word:
        message = f"the name holds {word!r}, a word that claude.ai and the API reserve: they refuse the upload"
        yield Hit(Span(skill.frontmatter.line("name")), message)


RULE = Rule(
    id="NAME_RESERVED",
    severity=Severity.WARNING,
    summary="a reserved word in the name",
    fix="choose a name without 'claude' and 'anthropic'",
    find=find,
    group="spec",
    refused_by=(Client.CLAUDE_UPLOAD,),
    about=(Client.CLAUDE_UPLOAD,),
)
