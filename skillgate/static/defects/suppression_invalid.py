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

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each comment."""
    for problem in skill.problems_of("suppression_invalid"):
        yield Hit(span=problem.span, message=problem.message, file=problem.file)


RULE = Rule(
    id="SUPPRESSION_INVALID",
    severity=Severity.WARNING,
    summary="a suppression comment that suppresses nothing",
    fix="name the rules and give a reason after a colon, or remove the comment",
    find=find,
    group="suppression",
)
