"""A field of Claude Code has a value that it does not know.

Why:
    effort, context and shell take a few words each. Any other one is passed over without a message: the skill runs in
    the main conversation though it should run in a fork, or at another effort than its author chose.

Bad:
    context: subagent

Good:
    context: fork

Source: Claude Code documentation, skills, frontmatter reference (as of 2026-11).
"""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.model.finding import Client, Hit, Rule, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static.text import excerpt

VALUES = {"effort": ("low", "medium", "high", "xhigh", "max"), "context": ("fork",), "shell": ("bash", "powershell")}


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each field with another value; an empty one is left alone."""
    head = skill.frontmatter
    for key, known in VALUES.items():
        value = head.values.get(key)
        if value is None or (isinstance(value, str) and value.strip().lower() in (*known, "")):
            continue
        shown = excerpt(value) if isinstance(value, str) else str(value)[:20]
        message = f"{key} is {shown!r}; Claude Code knows {', '.join(known)}"
        yield Hit(Span(head.line(key)), message, fix=f"write {' or '.join(known)}, or remove it")


RULE = Rule(
    id="FIELD_VALUE",
    severity=Severity.WARNING,
    summary="a field of Claude Code with a value that it does not know",
    fix="write one of the values that are named, or remove the field",
    find=find,
    group="spec",
    about=(Client.CLAUDE_CODE,),
)
