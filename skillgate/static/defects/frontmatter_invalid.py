"""The frontmatter is not a YAML mapping.

Why:
    What does not parse is not read, and clients drop the skill. The usual cause is a colon followed by a space in an
    unquoted description. Documents made to exhaust a parser (deep nesting, thousands of nodes, many aliases, merge
    keys) are refused too.

Bad:
    description: Use when: the user asks

Good:
    description: "Use when: the user asks"

Source: YAML 1.2; Agent Skills specification, section on frontmatter.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="FRONTMATTER_INVALID",
    severity=Severity.ERROR,
    summary="the frontmatter is not a YAML mapping",
    fix="correct the YAML; text with a colon or a # wants quotes or a > block",
    find=reported("frontmatter_invalid"),
    blocks_badge=True,
)
