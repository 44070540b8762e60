"""The body could not be parsed as Markdown.

Why:
    The parser ran out of stack or memory, which no ordinary document makes it do. What it holds is not scored.

Bad:
    Thousands of brackets inside one another.

Good:
    Text.

Source: Decision of this project.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="MARKDOWN_UNPARSED",
    severity=Severity.ERROR,
    summary="the body could not be parsed",
    fix="take the construct apart that nests so deeply",
    find=reported("markdown_unparsed"),
    blocks_badge=True,
)
