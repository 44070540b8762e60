"""The description has more than 1,024 characters.

Why:
    It is the limit of the specification. Its validator and uploads to claude.ai and the API refuse a longer one; older
    versions of Codex refuse it, newer ones cut it. Claude Code loads the skill, and lists 1,536 characters at
    most. Characters are counted on the parsed value, without white space at its ends, not on the lines of the file.

Bad:
    description: (a paragraph of 1,300 characters that retells the instructions)

Good:
    description: Fill, merge and split PDF files. Use when the user has a PDF form, or wants several PDFs as one.

Source: Agent Skills specification, field `description`; quick_validate.py of the skill-creator in anthropics/skills;
the skills loader of openai/codex (MAX_DESCRIPTION_LEN, later truncate_skill_description).
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Client, Hit, Rule, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static.rules import DESCRIPTION_CHARACTERS


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit at the description."""
    length = len(skill.frontmatter.text("description"))
    if length > DESCRIPTION_CHARACTERS:
        clients = "the specification, claude.ai, the API and Codex"
        message = f"the description has {length:,} characters; {clients} take {DESCRIPTION_CHARACTERS:,}"
        yield Hit(Span(skill.frontmatter.line("description")), message)


RULE = Rule(
    id="DESCRIPTION_TOO_LONG",
    severity=Severity.WARNING,
    summary="the description has more than 1,024 characters",
    fix="keep what the skill does and when to use it; move the rest into the instructions",
    find=find,
    group="spec",
    refused_by=(Client.SPEC, Client.CLAUDE_UPLOAD, Client.CODEX),
)
