"""The same prompt stands twice.

It counts as two cases and tells as much as one: intervals come out narrower than they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.evals.rule import EvalHit, EvalRule, Subject
from skillgate.evals.wording import folded, quoted
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from skillgate.model.evals import TaskCase, TriggerCase


def find(subject: Subject) -> Iterator[EvalHit]:
    """Compare prompts by their words; a task with other files, or a prompt with the other label, is another case."""
    yield from _repeats([((folded(case.prompt), case.should_trigger), case) for case in subject.evals.triggers])
    yield from _repeats([((folded(case.prompt), *sorted(case.attached)), case) for case in subject.evals.tasks])


def _repeats(keyed: list[tuple[Hashable, TriggerCase | TaskCase]]) -> Iterator[EvalHit]:
    first: dict[Hashable, TriggerCase | TaskCase] = {}
    for key, case in keyed:
        known = first.setdefault(key, case)
        if known is not case:
            yield EvalHit(
                case.file, case.line, f"{quoted(case.prompt)} stands in {known.file} on line {known.line} already"
            )


RULE = EvalRule(
    id="DUPLICATE_PROMPT",
    severity=Severity.WARNING,
    summary="the same prompt stands twice",
    fix="remove it, or change the situation that it is about",
    find=find,
)
