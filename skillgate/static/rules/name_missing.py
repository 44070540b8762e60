"""The frontmatter has no name.

Why:
    The specification requires a name. Its validator and uploads to claude.ai and the API reject a skill without one.
    Claude Code and newer versions of Codex use the name of the directory.

Bad:
    A frontmatter with a description alone.

Good:
    name: fill-pdf-forms

Source: Agent Skills specification, field `name`; quick_validate.py of the skill-creator in anthropics/skills; Claude
Code documentation, skills; the skills loader of openai/codex (default_skill_name).
"""

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule


def find(skill: Skill) -> Hits:
    """Yield one hit; none if the frontmatter could not be read."""
    head = skill.frontmatter
    name = head.values.get("name") or ""
    if head.valid and isinstance(name, str) and not name.strip():
        yield Hit(Span(head.line("name")), "name is missing (required by the specification)")


RULE = rule(
    find,
    Severity.WARNING,
    "spec",
    fix="add name: with the name of the directory",
    advice="name",
    refused_by=(Client.SPEC, Client.CLAUDE_UPLOAD),
)
