"""The file has no frontmatter.

Why:
    Clients read name and description from the frontmatter and drop a skill without one. It must begin on the very first
    line; a rule further down is not it.

Bad:
    # Fill PDF forms  (as the first line)

Good:
    ---, name, description, --- and then the heading.

Source: Agent Skills specification, section on frontmatter.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="FRONTMATTER_MISSING",
    severity=Severity.ERROR,
    summary="the file does not begin with a --- line",
    fix="begin the file with --- lines that hold name and description",
    find=reported("frontmatter_missing"),
    blocks_badge=True,
)
