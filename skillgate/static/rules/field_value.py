"""A Claude Code field with an unknown value.

Why:
    effort, context and shell accept only a few values. Claude Code ignores any other value without a message: the skill
    runs in the main conversation instead of a fork, or with another effort than its author chose.

Bad:
    context: subagent

Good:
    context: fork

Source: Claude Code documentation, skills, frontmatter reference (as of 2026-11).
"""

from skillgate.model.finding import Client, Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule
from skillgate.static.text import excerpt

VALUES = {"effort": ("low", "medium", "high", "xhigh", "max"), "context": ("fork",), "shell": ("bash", "powershell")}


def find(skill: Skill) -> Hits:
    """Yield one hit for each field with another value; empty ones are ignored."""
    head = skill.frontmatter
    for key, known in VALUES.items():
        value = head.values.get(key)
        if value is None or (isinstance(value, str) and value.strip().lower() in (*known, "")):
            continue
        shown = excerpt(value) if isinstance(value, str) else str(value)[:20]
        message = f"{key} is {shown!r}; Claude Code accepts only {', '.join(known)}"
        yield Hit(Span(head.line(key)), message, fix=f"use {' or '.join(known)}, or remove the field")


RULE = rule(
    find,
    Severity.WARNING,
    "spec",
    fix="use one of the listed values, or remove the field",
    about=(Client.CLAUDE_CODE,),
)
