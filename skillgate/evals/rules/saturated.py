"""Every recorded run passes, so that the set cannot show a difference.

Where a case passes with the skill and without it, it says nothing of the skill; where all cases pass always, a better
skill looks like this one. What passes never is no better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.evals.rule import EvalHit, EvalRule, Subject
from skillgate.evals.wording import quoted
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.evals import Recorded

_SHOWN = 5
LEAST = 3
"""Cases from which on that all of them pass is no chance: our choice."""


def find(subject: Subject) -> Iterator[EvalHit]:
    """Look at each file of results by itself."""
    for file in dict.fromkeys(one.file for one in subject.evals.recorded):
        yield from _file([one for one in subject.evals.recorded if one.file == file])


def _file(records: Sequence[Recorded]) -> Iterator[EvalHit]:
    cases: dict[str, list[Recorded]] = {}
    for one in records:
        cases.setdefault(one.case, []).append(one)
    both = {case: several for case, several in cases.items() if len(several) > 1}
    for met, words in ((True, "passes"), (False, "fails")):
        same = [case for case, several in both.items() if all(_always(one, met=met) for one in several)]
        if same:
            first = both[same[0]][0]
            which = f"all {len(both)} cases" if len(same) == len(both) else f"{len(same)} of {len(both)} cases"
            names = ", ".join(quoted(case) for case in same[:_SHOWN]) + ("…" if len(same) > _SHOWN else "")
            verb = words.removesuffix("es") if words == "passes" else "fail"
            message = f"{which} {verb} in every run of both arms, and tell nothing of the skill: {names}"
            severity = Severity.WARNING if len(same) == len(both) else Severity.INFO
            yield EvalHit(first.file, first.line, message, severity)
    if not both and len(cases) >= LEAST and all(_always(one, met=True) for one in records):
        first = records[0]
        message = f"all {len(cases)} cases pass in every run: a better skill would look the same"
        yield EvalHit(first.file, first.line, message, Severity.INFO)


def _always(one: Recorded, *, met: bool) -> bool:
    return one.passed == (one.runs if met else 0)


RULE = EvalRule(
    id="SATURATED",
    severity=Severity.WARNING,
    summary="every recorded run passes, so that the set cannot show a difference",
    fix="add cases that a model without the skill fails, and harder ones that the skill does not always pass",
    find=find,
)
