"""Two files of the skill have names that differ in letter case alone.

Why:
    On Linux SKILL.md and skill.md are two files. A checkout on macOS or Windows keeps one of them, and which one is a
    matter of chance: the skill that was checked is then not the skill that is used.

Bad:
    my-skill/SKILL.md and my-skill/skill.md

Good:
    my-skill/SKILL.md

Source: git documentation, core.ignoreCase; decision of this project.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="FILE_NAME_CLASH",
    severity=Severity.WARNING,
    summary="two files whose names differ in letter case alone",
    fix="keep one of the files, or rename one",
    find=reported("file_name_clash"),
)
