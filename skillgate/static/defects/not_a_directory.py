"""`references`, `assets` or `scripts` is there and is no directory.

Why:
    Links into it cannot resolve, and clients that bundle the three directories leave it out.

Bad:
    my-skill/references  (a file)

Good:
    my-skill/references/guide.md

Source: Agent Skills specification, directory layout.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="NOT_A_DIRECTORY",
    severity=Severity.WARNING,
    summary="references, assets or scripts is not a directory",
    fix="make it a directory and put the file into it",
    find=reported("not_a_directory"),
)
