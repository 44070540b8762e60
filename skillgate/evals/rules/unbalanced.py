"""One label has far more prompts than the other.

The trigger score is class-balanced: the label with few prompts weighs as much as the one with many, and each of its
prompts moves the score by a multiple.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.evals.rule import EvalHit, EvalRule, Subject
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

RATIO = 3
"""How many times as many prompts one label may have: our choice."""


def find(subject: Subject) -> Iterator[EvalHit]:
    """Compare the labels; a set without near misses is told by another rule."""
    should, should_not = (
        [case for case in subject.evals.triggers if case.should_trigger is label] for label in (True, False)
    )
    if should_not and not should:
        first = should_not[0]
        message = f"none of the {len(should_not)} prompts should trigger: a skill that is never loaded passes them all"
        yield EvalHit(first.file, first.line, message, Severity.ERROR)
    elif should and should_not:
        few, many = sorted((should, should_not), key=len)
        if len(many) > RATIO * len(few):
            message = (
                f"{len(should)} prompts that should trigger stand beside {len(should_not)} that should not: one of the"
                f" fewer moves the score as much as {len(many) / len(few):.1f} of the others"
            )
            yield EvalHit(few[0].file, few[0].line, message)


RULE = EvalRule(
    id="UNBALANCED",
    severity=Severity.WARNING,
    summary="one label has far more prompts than the other",
    fix="write about as many prompts that should trigger as prompts that should not",
    find=find,
)
