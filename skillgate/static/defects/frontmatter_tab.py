"""A tab stands between a frontmatter key and its value.

Why:
    YAML allows it there and forbids it as indentation, and readers differ in where they draw the line: one client reads
    the skill, another drops it. skillgate reads the tab as a blank.

Bad:
    description:<tab>Fill PDF forms.

Good:
    description: Fill PDF forms.

Source: YAML 1.2 section 6.1; libyaml and PyYAML's own scanner disagree.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="FRONTMATTER_TAB",
    severity=Severity.WARNING,
    summary="a tab stands between a frontmatter key and its value",
    fix="replace the tab by one blank",
    find=reported("frontmatter_tab"),
)
