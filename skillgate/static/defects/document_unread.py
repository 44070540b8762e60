"""A document of the skill that is not read.

Why:
    A reference that is not UTF-8, holds a NUL byte or is larger than a megabyte reaches a model garbled, cut or not at
    all. It was not checked either: what else is wrong in it is not known. Nor is what comes after 300 documents or
    eight megabytes of them, or in a directory without permission to read it: a link into it is not called dead.

Bad:
    references/dialects.md saved as Latin-1

Good:
    references/dialects.md saved as UTF-8

Source: skillgate's limits; Agent Skills specification, files are UTF-8 Markdown.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="DOCUMENT_UNREAD",
    severity=Severity.WARNING,
    summary="a document of the skill that is not read",
    fix="save it as UTF-8 text that may be read, split it, or move what is data out of the Markdown",
    find=reported("document_unread"),
)
