"""The file is not UTF-8, so there is no text to read.

Why:
    Every client reads SKILL.md as UTF-8 and drops or garbles anything else. Nothing is scored: a number for text that
    nobody can read would be invented.

Bad:
    A file saved as Latin-1 or UTF-16.

Good:
    The same text saved as UTF-8.

Source: Agent Skills specification (files are UTF-8 text).
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="NOT_UTF8",
    severity=Severity.ERROR,
    summary="the file is not UTF-8",
    fix="save the file as UTF-8",
    find=reported("not_utf8"),
    blocks_badge=True,
)
