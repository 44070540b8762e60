"""The name contains a word that claude.ai and the API reserve.

Why:
    The name of an uploaded skill must not contain `anthropic` or `claude`: uploads reject claude-md-enhancer as well as
    claude. Other clients accept such names.

Bad:
    name: claude-md-enhancer

Good:
    name: agents-md-enhancer

Source: Claude platform documentation, Agent Skills, field requirements ("cannot contain reserved words"); the upload's
message "Skill name in SKILL.md cannot contain the reserved word 'claude'" for the name above.
"""

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule

RESERVED = ("anthropic", "claude")


def find(skill: Skill) -> Hits:
    """Yield one hit that names the first reserved word in the name."""
    name = skill.frontmatter.text("name")
    word = next((word for word in RESERVED if word in name.lower()), None)
    if word:
        message = f"name contains {word!r}, a reserved word; claude.ai and the API reject the upload"
        yield Hit(Span(skill.frontmatter.line("name")), message)


RULE = rule(
    find,
    Severity.WARNING,
    "spec",
    fix="choose a name without 'claude' and 'anthropic'",
    refused_by=(Client.CLAUDE_UPLOAD,),
    about=(Client.CLAUDE_UPLOAD,),
)
