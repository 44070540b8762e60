"""The frontmatter has no closing line.

Why:
    Without the second --- line a reader cannot tell keys from instructions, and clients drop the skill.

Bad:
    ---, name: x, description: y, and then a heading.

Good:
    The same with a --- line before the heading.

Source: Agent Skills specification, section on frontmatter.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="FRONTMATTER_UNCLOSED",
    severity=Severity.ERROR,
    summary="the frontmatter has no closing --- line",
    fix="add a --- line after the last key",
    find=reported("frontmatter_unclosed"),
    blocks_badge=True,
)
