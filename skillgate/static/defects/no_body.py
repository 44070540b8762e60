"""There are no instructions below the frontmatter.

Why:
    A model that loads the skill learns nothing that its description did not say. Only the frontmatter can earn points,
    and there is no badge.

Bad:
    name and description, and nothing after the second --- line.

Good:
    The same, followed by the steps to take.

Source: Agent Skills specification, section on the body.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="NO_BODY",
    severity=Severity.ERROR,
    summary="no instructions below the frontmatter",
    fix="write the instructions that the description promises",
    find=reported("no_body"),
    blocks_badge=True,
)
