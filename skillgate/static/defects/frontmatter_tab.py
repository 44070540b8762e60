"""A tab stands between a frontmatter key and its value.

Why:
    YAML allows it there and forbids it as indentation, and readers differ in where they draw the line: one client reads
    the skill, another drops it. The specification's validator and the check before an upload refuse it. skillgate reads
    the tab as a blank.

Bad:
    description:<tab>Fill PDF forms.

Good:
    description: Fill PDF forms.

Source: YAML 1.2 section 6.1; libyaml and PyYAML's own scanner, which those two use, disagree.
"""

from __future__ import annotations

from skillgate.model.finding import Client, Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="FRONTMATTER_TAB",
    severity=Severity.WARNING,
    summary="a tab stands between a frontmatter key and its value",
    fix="replace the tab by one blank",
    find=reported("frontmatter_tab"),
    refused_by=(Client.SPEC, Client.CLAUDE_UPLOAD),
)
