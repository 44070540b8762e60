"""The frontmatter is larger than 64 KiB.

Why:
    The frontmatter of every installed skill is loaded all the time. At this size it is not read at all.

Bad:
    A frontmatter with the whole manual as a block scalar.

Good:
    name, description and a few keys.

Source: Decision of this project; clients list about 1,500 characters of it.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="FRONTMATTER_TOO_LARGE",
    severity=Severity.ERROR,
    summary="the frontmatter is larger than 64 KiB",
    fix="keep name, description and a few keys; move the rest below or to references/",
    find=reported("frontmatter_too_large"),
    blocks_badge=True,
)
