"""The file has Windows or old Macintosh line ends.

Why:
    CommonMark allows them, but scripts that compare lines do not, and every line of a diff changes when an editor mends
    them.

Bad:
    Lines that end with CR LF, or with CR alone.

Good:
    Lines that end with LF.

Source: CommonMark section 2.1.
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="LINE_ENDS",
    severity=Severity.INFO,
    summary="line ends other than a line feed",
    fix="convert the line ends to LF, for instance with a .gitattributes line",
    find=reported("line_ends"),
)
