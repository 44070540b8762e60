"""The file holds neither frontmatter nor instructions.

Why:
    An empty file is no bad skill, it is none. It gets no score at all.

Bad:
    A SKILL.md of zero bytes.

Good:
    A frontmatter with name and description, then the instructions.

Source: Agent Skills specification.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="EMPTY_FILE",
    severity=Severity.ERROR,
    summary="neither frontmatter nor instructions",
    fix="write a frontmatter with name and description, then the instructions",
    find=reported("empty_file"),
    blocks_badge=True,
)
