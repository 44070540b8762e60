"""The frontmatter has no name.

Why:
    The specification requires a name; its validator and uploads to claude.ai and the API refuse a skill without one.
    Claude Code takes the directory's, and so do newer versions of Codex.

Bad:
    A frontmatter with a description alone.

Good:
    name: fill-pdf-forms

Source: Agent Skills specification, field `name`; quick_validate.py of the skill-creator in anthropics/skills; Claude
Code documentation, skills; the skills loader of openai/codex (default_skill_name).
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Client, Hit, Rule, Severity
from skillgate.model.skill import Skill, Span


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit; none where the frontmatter could not be read."""
    head = skill.frontmatter
    name = head.values.get("name") or ""
    if head.valid and isinstance(name, str) and not name.strip():
        yield Hit(Span(head.line("name")), "there is no name; the specification requires one")


RULE = Rule(
    id="NAME_MISSING",
    severity=Severity.WARNING,
    summary="the frontmatter has no name",
    fix="add name: with the name of the directory",
    find=find,
    advice="name",
    group="spec",
    refused_by=(Client.SPEC, Client.CLAUDE_UPLOAD),
)
