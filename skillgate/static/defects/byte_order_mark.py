"""The file begins with a byte order mark.

Why:
    Readers that compare the first line with --- do not find it behind the mark and take the file for one without
    frontmatter: the specification's validator, the check before an upload, and Codex refuse the skill. skillgate reads
    on.

Bad:
    EF BB BF before the first ---.

Good:
    The same file without those three bytes.

Source: behaviour of skills-ref, of quick_validate.py of the skill-creator in anthropics/skills, and of the skills
loader of openai/codex (extract_frontmatter).
"""

from __future__ import annotations

from skillgate.model.finding import Client, Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="BYTE_ORDER_MARK",
    severity=Severity.WARNING,
    summary="the file begins with a byte order mark",
    fix="save the file as UTF-8 without a byte order mark",
    find=reported("byte_order_mark"),
    refused_by=(Client.SPEC, Client.CLAUDE_UPLOAD, Client.CODEX),
)
