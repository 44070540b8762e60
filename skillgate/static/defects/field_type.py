"""A field of the frontmatter has the wrong type.

Why:
    YAML turns 123, yes, 2024-05-01 and [a, b] into numbers, truth values, dates and lists. A name or description of
    that kind is dropped by clients (an error); a flag written as text is read as set by some and unset by others (a
    warning). Uploads to claude.ai and the API refuse a compatibility that is no text; the specification's validator
    reads numbers and dates as text, and refuses a list or a mapping there.

Bad:
    description: 2024-05-01

Good:
    description: "Notes on the release of 2024-05-01. Use when …"

Source: Agent Skills specification, frontmatter fields, and its validator; quick_validate.py of the skill-creator in
anthropics/skills; the skills loader of openai/codex (SkillFrontmatter).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Client, Hit, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill

_DROPPED = ("name ", "description ")


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each field; an error where clients drop the skill for it."""
    for problem in skill.problems_of("field_type"):
        severity = Severity.ERROR if problem.message.startswith(_DROPPED) else Severity.WARNING
        refused_by = _compatibility_refused_by(skill) if problem.message.startswith("compatibility ") else None
        yield Hit(span=problem.span, message=problem.message, severity=severity, refused_by=refused_by)


def _compatibility_refused_by(skill: Skill) -> tuple[Client, ...]:
    nested = isinstance(skill.frontmatter.values.get("compatibility"), dict | list)
    return (Client.SPEC, Client.CLAUDE_UPLOAD) if nested else (Client.CLAUDE_UPLOAD,)


RULE = Rule(
    id="FIELD_TYPE",
    severity=Severity.ERROR,
    summary="a frontmatter field of the wrong type",
    fix="give the field the type that is named; quotes make it text",
    find=find,
    blocks_badge=True,
)
