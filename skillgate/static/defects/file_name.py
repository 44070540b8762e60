"""The file is not called SKILL.md, in this letter case.

Why:
    On Linux skill.md and SKILL.md are different names, and clients look for the second: Codex and the check before an
    upload find no skill. The specification's validator takes skill.md too.

Bad:
    my-skill/skill.md

Good:
    my-skill/SKILL.md

Source: Agent Skills specification, directory layout; quick_validate.py of the skill-creator in anthropics/skills; the
skills loader of openai/codex (SKILLS_FILENAME).
"""

from __future__ import annotations

from skillgate.model.finding import Client, Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="FILE_NAME",
    severity=Severity.WARNING,
    summary="the file is not called SKILL.md",
    fix="rename the file to SKILL.md",
    find=reported("file_name"),
    refused_by=(Client.CLAUDE_UPLOAD, Client.CODEX),
)
