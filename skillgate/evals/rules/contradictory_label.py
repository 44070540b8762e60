"""One prompt should trigger the skill and should not.

No skill can pass both; score counts neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.evals.rule import EvalHit, EvalRule, Subject
from skillgate.evals.wording import folded, quoted
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.model.evals import TriggerCase


def find(subject: Subject) -> Iterator[EvalHit]:
    """Compare prompts by their words."""
    first: dict[str, TriggerCase] = {}
    for case in subject.evals.triggers:
        known = first.setdefault(folded(case.prompt), case)
        if known.should_trigger is not case.should_trigger:
            said, now = ("should", "should not") if known.should_trigger else ("should not", "should")
            message = f"{quoted(case.prompt)} {now} trigger here, and {said} in {known.file} on line {known.line}"
            yield EvalHit(case.file, case.line, message)


RULE = EvalRule(
    id="CONTRADICTORY_LABEL",
    severity=Severity.ERROR,
    summary="one prompt should trigger the skill and should not",
    fix="decide which it is, and remove the other",
    find=find,
)
