"""The file is larger than 5 MB.

Why:
    Five megabytes are about two million tokens: no client loads them, and no reader can judge them.

Bad:
    A SKILL.md with a dataset pasted into it.

Good:
    A SKILL.md that links `assets/data.csv`.

Source: Decision of this project.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="FILE_TOO_LARGE",
    severity=Severity.ERROR,
    summary="the file is larger than 5 MB",
    fix="move data and references to files of their own",
    find=reported("file_too_large"),
    blocks_badge=True,
)
