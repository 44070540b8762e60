"""Even if every case passed, the set could not show the rate that is asked for.

The lower end of the exact 95 % interval of n passes out of n is 0.025 to the power of 1/n (C. J. Clopper and
E. S. Pearson, Biometrika 26 (4), 1934; with all passed the beta quantile has this closed form). A case is a prompt:
running it again tells of chance in the model, not of other prompts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from skillgate.evals.read import LEAST, usable
from skillgate.evals.rule import THRESHOLD, EvalHit, EvalRule, Subject
from skillgate.evals.wording import folded
from skillgate.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.evals import TaskCase, TriggerCase

_TAIL = 0.025  # of a 95 % interval, on each side


def lower_bound(passed: int) -> float:
    """Give the lower end of the exact 95 % interval where all of so many cases passed; 0 for none."""
    return float(_TAIL ** (1 / passed)) if passed else 0.0


def needed(threshold: float) -> int:
    """Give the least number of cases whose lower bound reaches a threshold, above 0 and below 1, if all pass."""
    count = max(1, math.floor(math.log(_TAIL) / math.log(threshold)) - 1)
    while lower_bound(count) < threshold:
        count += 1
    return count


def find(subject: Subject) -> Iterator[EvalHit]:
    """Count the cases of each kind."""
    triggers = subject.evals.triggers
    by_label = {label: [case for case in triggers if case.should_trigger is label] for label in (True, False)}
    unused = f"; below {LEAST} of each label score generates prompts of its own instead"
    unused = unused if triggers and usable(triggers) is None else ""
    yield from _group(by_label[True], "prompts that should trigger", subject.threshold, unused)
    yield from _group(by_label[False], "prompts that should not trigger", subject.threshold, unused)
    yield from _group(subject.evals.tasks, "tasks", subject.threshold, "")


def _group(cases: Sequence[TriggerCase | TaskCase], what: str, asked: float | None, unused: str) -> Iterator[EvalHit]:
    threshold = THRESHOLD if asked is None else asked
    count, least = _distinct(cases), needed(threshold)
    if not cases or count >= least:
        return
    message = (
        f"{count} {what if count != 1 else what.replace('s ', ' ', 1).removesuffix('s')}: if all pass, the 95 %"
        f" interval still reaches down to {lower_bound(count):.2f}; to show {threshold:g} it takes {least}{unused}"
    )
    severity = Severity.WARNING if asked is None else Severity.ERROR
    yield EvalHit(cases[0].file, cases[0].line, message, severity, f"write {least - count} more {what}")


def _distinct(cases: Sequence[TriggerCase | TaskCase]) -> int:
    return len({folded(case.prompt) for case in cases})


RULE = EvalRule(
    id="TOO_SMALL",
    severity=Severity.WARNING,
    summary="even if every case passed, the set could not show the rate that is asked for",
    fix="write more cases, each another situation",
    find=find,
)
