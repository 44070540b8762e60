"""The file holds a NUL byte.

Why:
    A NUL byte ends the text for some readers and is replaced by others, so nobody can say what the skill tells a model.

Bad:
    A file cut out of a binary, or saved as UTF-16 without its mark.

Good:
    A plain text file.

Source: YAML 1.2 section 5.1 and CommonMark section 2.3 exclude the character.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="NUL_BYTE",
    severity=Severity.ERROR,
    summary="the file holds a NUL byte",
    fix="remove the NUL bytes; a text file has none",
    find=reported("nul_byte"),
    blocks_badge=True,
)
