"""A key stands twice in the frontmatter.

Why:
    Some YAML readers keep the last value, some the first, and strict ones refuse the file, so the same skill means
    different things to different clients. Scoring uses the last.

Bad:
    description: old text, and further down description: new text.

Good:
    One description.

Source: YAML 1.2 section 3.2.1.3: keys are unique.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="DUPLICATE_KEY",
    severity=Severity.ERROR,
    summary="a frontmatter key stands twice",
    fix="keep one of the two",
    find=reported("duplicate_key"),
    blocks_badge=True,
)
