"""A placeholder or command that only one client replaces.

Why:
    Claude Code replaces `$ARGUMENTS`, `${CLAUDE_SKILL_DIR}` and a command after an exclamation mark before a model
    reads the skill. Other clients pass them to the model unchanged. Each one is reported once. Opt-in: select
    `portability`.

Bad:
    Review the file $ARGUMENTS.

Good:
    Review the file that the user names.

Source: Claude Code documentation, skills, available string substitutions and dynamic context.
"""

import re

from skillgate.model.finding import Hit, Severity
from skillgate.model.skill import Skill, Span
from skillgate.static import Hits, rule

_FILLED = r"(?<!\\)(?:\$ARGUMENTS(?:\[\d+\])?|\$\{CLAUDE_[A-Z_]+\})|(?<!\S)!`[^`\n]+`|^```!"


def find(skill: Skill) -> Hits:
    """Yield one hit for each in the body of the main file, at its first place."""
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
                yield Hit(Span(row, match.start() + 1), f"only Claude Code replaces {shown}")


RULE = rule(find, Severity.WARNING, "portability", fix="say in words what the model must use or run", optional=True)
