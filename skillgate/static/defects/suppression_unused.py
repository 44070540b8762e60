"""A suppression comment that sets nothing aside.

Why:
    What it was written for is mended or has moved away, or its rule is misspelt. It hides the next finding of that
    kind in the same place, which nobody has looked at. Comments for rules across skills are not held to this, since a
    run over one skill does not see what they are about, nor are those for opt-in rules, which not every run asks.

Bad:
    <!-- skillgate: ignore BROKEN_LINK: the page is written by the release -->
    See [the page](references/page.md), which is there by now.

Good:
    See [the page](references/page.md).

Source: practice of linters that report unused suppressions (Ruff's RUF100, ESLint's report-unused-disable-directives).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.model.finding import Hit, Rule, Severity
from skillgate.registry import Room
from skillgate.static.optional import OPTIONAL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.skill import Skill


def find(skill: Skill) -> Iterator[Hit]:
    """Yield one hit for each rule of each comment; which of them set nothing aside shows beside the findings."""
    elsewhere = {name.upper() for name in (*Room("skillgate.static.across").names(), *OPTIONAL)}  # not always asked
    for problem in skill.problems_of("suppression_unused"):
        if problem.message.partition(" ")[0] not in elsewhere:
            yield Hit(span=problem.span, message=problem.message, file=problem.file)


RULE = Rule(
    id="SUPPRESSION_UNUSED",
    severity=Severity.INFO,
    summary="a suppression comment that sets nothing aside",
    fix="take the rule out of the comment, or remove the comment",
    find=find,
    group="suppression",
)
