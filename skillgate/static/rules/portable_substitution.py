"""A placeholder or a command that one harness fills in before a model reads the skill.

Why:
    `$ARGUMENTS`, `${CLAUDE_SKILL_DIR}` and a command behind an exclamation mark are replaced by Claude Code; another
    client hands them to the model as they stand. One finding for each of them. Opt-in: select `portability`.

Bad:
    Review the file $ARGUMENTS.

Good:
    Review the file that the user names.

Source: Claude Code documentation, skills, available string substitutions and dynamic context.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.model.skill import Skill, Span

_FILLED = r"(?<!\\)(?:\$ARGUMENTS(?:\[\d+\])?|\$\{CLAUDE_[A-Z_]+\})|(?<!\S)!`[^`\n]+`|^```!"


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each in the body of the main file, where it first stands."""
    document = skill.documents[0] if skill.documents else None
    if document is None or ("$" not in document.text and "!`" not in document.text and "```!" not in document.text):
        return
    seen: set[str] = set()
    for row, line in enumerate(document.text.split("\n"), start=1):
        for match in re.finditer(_FILLED, line) if row >= document.first_line else ():
            text = match[0]
            if text not in seen:
                seen.add(text)
                shown = text if len(text) <= 60 else f"{text[:58]}…`"
                yield Hit(Span(row, match.start() + 1), f"{shown} is filled in by Claude Code alone")


RULE = Rule(
    id="PORTABLE_SUBSTITUTION",
    severity=Severity.WARNING,
    summary="a placeholder or command that one harness fills in",
    fix="say in words what the model is to take or to run",
    find=find,
    group="portability",
    optional=True,
)
