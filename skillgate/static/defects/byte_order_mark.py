"""The file begins with a byte order mark.

Why:
    Readers that compare the first line with --- do not find it behind the mark and take the file for one without
    frontmatter. skillgate reads on; the reference validator of the specification does not.

Bad:
    EF BB BF before the first ---.

Good:
    The same file without those three bytes.

Source: Agent Skills specification; behaviour of skills-ref.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="BYTE_ORDER_MARK",
    severity=Severity.WARNING,
    summary="the file begins with a byte order mark",
    fix="save the file as UTF-8 without a byte order mark",
    find=reported("byte_order_mark"),
)
