"""The description is longer than 1,024 characters.

Why:
    That is the limit of the specification. Its validator and uploads to claude.ai and the API reject a longer
    description. Older versions of Codex reject it, newer ones cut it. Claude Code loads the skill and lists up to 1,536
    characters. The characters of the parsed value count, without white space at its ends, not those of the file.

Bad:
    description: (a paragraph of 1,300 characters that retells the instructions)

Good:
    description: Fill, merge and split PDF files. Use when the user has a PDF form, or wants several PDFs as one.

Source: Agent Skills specification, field `description`; quick_validate.py of the skill-creator in anthropics/skills;
the skills loader of openai/codex (MAX_DESCRIPTION_LEN, later truncate_skill_description).
"""

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.rules import DESCRIPTION_CHARACTERS


def find(skill: Skill) -> Hits:
    """Yield one hit at the description."""
    length = len(skill.frontmatter.text("description"))
    if length > DESCRIPTION_CHARACTERS:
        limit = f"maximum {DESCRIPTION_CHARACTERS:,} in the specification, claude.ai, the API and Codex"
        message = f"description is {length:,} characters long ({limit})"
        yield Hit(Span(skill.frontmatter.line("description")), message)


RULE = rule(
    find,
    Severity.WARNING,
    "spec",
    fix="say what the skill does and when to use it; move the rest into the instructions",
    refused_by=(Client.SPEC, Client.CLAUDE_UPLOAD, Client.CODEX),
)
