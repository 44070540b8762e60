"""A file or an entry that nothing reads.

It looks like a test and tests nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.evals.rule import EvalHit, EvalRule, Subject
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(subject: Subject) -> Iterator[EvalHit]:
    """Report what reading met."""
    for one in subject.evals.unread:
        yield EvalHit(one.file, one.line, one.message, one.severity)


RULE = EvalRule(
    id="UNREAD",
    severity=Severity.ERROR,
    summary="a file or an entry that nothing reads",
    fix="give it one of the forms of docs/how-to/eval-sets.md, or keep it outside evals/",
    find=find,
)
