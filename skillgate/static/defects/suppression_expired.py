"""A suppression comment whose last day is over, and whose finding is still there.

Why:
    An end is a promise: until then the finding is known and somebody sees to it. After that day the comment sets
    nothing aside any more, so that the finding returns, and this says where it was promised. A comment holds on its
    last day. What has an end and covers no finding any more is only said to be unused.

Bad:
    <!-- skillgate: ignore BROKEN_LINK until 2025-06-30: the page is written by the release -->

Good:
    The page is there, and the comment is gone.

Source: practice of audit tools whose exceptions have an end (cargo-audit, Trivy's ignore file).
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

# One problem for each rule of each comment with an end; which of them are over shows on the day.
RULE = Rule(
    id="SUPPRESSION_EXPIRED",
    severity=Severity.WARNING,
    summary="a suppression comment whose last day is over",
    fix="mend what it covers and remove it, or give it a new end and the reason for that",
    find=reported("suppression_expired"),
    group="suppression",
)
