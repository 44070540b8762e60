"""A comment that means to suppress a finding, and does not.

Why:
    A suppression without a reason cannot be judged by whoever reads the change, and one that is misspelt protects
    nothing while it seems to. Neither sets anything aside.

Bad:
    <!-- skillgate: ignore BROKEN_LINK -->

Good:
    <!-- skillgate: ignore BROKEN_LINK until 2027-06-30: the page is written by the release -->

Source: practice of linters that ask for a reason (golangci-lint's nolintlint, ESLint's require-description).
"""

from __future__ import annotations

from skillgate.model.finding import Rule, Severity
from skillgate.static.signals import reported

RULE = Rule(
    id="SUPPRESSION_INVALID",
    severity=Severity.WARNING,
    summary="a suppression comment that suppresses nothing",
    fix="name the rules and give a reason after a colon, or remove the comment",
    find=reported("suppression_invalid"),
    group="suppression",
)
