"""No prompt comes close to the skill without being meant for it.

A skill that is loaded whatever a user says passes every prompt that should trigger. Only prompts that should not can
show that, and only where they are near: what has not a word in common with the description misleads nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.evals.rule import EvalHit, EvalRule, Subject
from skillgate.model.finding import Severity
from skillgate.skill.similarity import terms

if TYPE_CHECKING:
    from collections.abc import Iterator

# Words of descriptions as such, which say nothing of what a skill is about.
_ANYWHERE = frozenset(terms("use using used user users skill skills ask asks asked help helps need needs want wants"))
_MOST = 0.5  # share of the prompts that should trigger which must share a word, for sharing to mean anything


def find(subject: Subject) -> Iterator[EvalHit]:
    """Look at the prompts that should not trigger."""
    triggers = subject.evals.triggers
    should = [case for case in triggers if case.should_trigger]
    should_not = [case for case in triggers if not case.should_trigger]
    if should and not should_not:
        first = should[0]
        message = f"all {len(should)} prompts should trigger: a skill that is always loaded passes every one of them"
        yield EvalHit(first.file, first.line, message)
        return
    topic = frozenset(terms(f"{subject.name} {subject.description}")) - _ANYWHERE
    near = sum(1 for case in should_not if not topic.isdisjoint(terms(case.prompt)))
    alike = sum(1 for case in should if not topic.isdisjoint(terms(case.prompt)))
    # Where the prompts that should trigger share no words either (another language, say), words cannot tell.
    if should_not and not near and subject.description and should and alike >= _MOST * len(should):
        first = should_not[0]
        message = (
            f"none of the {len(should_not)} prompts that should not trigger shares a word with the description, and"
            f" {alike} of the {len(should)} that should do: they are too easy to tell apart"
        )
        yield EvalHit(first.file, first.line, message, Severity.WARNING)


RULE = EvalRule(
    id="NO_NEAR_MISSES",
    severity=Severity.ERROR,
    summary="no prompt comes close to the skill without being meant for it",
    fix="add prompts in the skill's own words that another skill, or none, should answer",
    find=find,
)
