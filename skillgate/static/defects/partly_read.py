"""Only part of the file is read.

Why:
    Beyond 20,000 lines, a million characters or 65,536 characters in one line nothing is read as Markdown, and neither
    is what would keep a parser busy for minutes, such as tens of thousands of quotes or brackets. No published skill
    comes near. A score that rests on half a document is worth little, so there is no badge.

Bad:
    A SKILL.md with a minified script, or a whole data set, on one line.

Good:
    A SKILL.md that links `assets/data.json`.

Source: Decision of this project; the bounds are ten times what the largest of 649 published documents needs.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="PARTLY_READ",
    severity=Severity.ERROR,
    summary="only part of the file is read",
    fix="move data and generated text to files of their own, and link them",
    find=reported("partly_read"),
    blocks_badge=True,
)
