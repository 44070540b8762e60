"""Lift in the form of skill-creator's ``benchmark.json``, so that its viewer and what else reads it shows it.

The form has no value for what was not measured, so that is left out and reported in the notes. The viewer writes some
fields into its page as they are. What the author of a skill wrote goes only where it is escaped, and without the
characters that could end an attribute or a script.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from skillgate.format import printable
from skillgate.model.layers import COMPLETED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from skillgate.model.layers import Arm, Estimate, Lift, LiftTask
    from skillgate.model.report import SkillResult

    _Json = dict[str, Any]

WITH, WITHOUT = "with_skill", "without_skill"
_HARMLESS = str.maketrans({"<": "‹", ">": "›", '"': "”"})
_DIGITS = 4
_MOST_UNSUPPORTED = 20  # graders that notes name one by one


def benchmark(result: SkillResult, *, timestamp: datetime) -> bytes:
    """Write one skill's lift as UTF-8 JSON.

    ``run_summary`` is over the tasks that have a score in both arms, as the lift is; its ``stddev`` is over tasks, of
    the sample. Times and tokens of an arm are in it where all of these tasks have them.

    Args:
        result: with a lift; without one the document holds no runs, and a note.
        timestamp: when the report was made, aware of its zone.
    """
    lift = result.lift
    tasks = () if lift is None else lift.tasks
    document = {
        "metadata": {
            "skill_name": _text(result.skill.name),
            "executor_model": "" if lift is None else _text(lift.model),
            "analyzer_model": "" if lift is None else _text(lift.grader),
            "timestamp": timestamp.isoformat(timespec="seconds"),
            "evals_run": list(range(1, len(tasks) + 1)),
            "runs_per_configuration": 1,
        },
        "runs": [run for number, task in enumerate(tasks, start=1) for run in _runs(number, task)],
        "run_summary": _summary(lift),
        "notes": list(_notes(lift)),
    }
    return (json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _runs(number: int, task: LiftTask) -> Iterator[_Json]:
    for configuration, arm in ((WITH, task.with_skill), (WITHOUT, task.without_skill)):
        if arm.score is not None:
            yield {
                "eval_id": number,
                "eval_name": _text(task.id) or str(number),
                "configuration": configuration,
                "run_number": 1,
                "result": _result(arm, arm.score),
                "expectations": [
                    {"text": _text(one.text), "passed": one.passed, "evidence": _text(one.evidence)}
                    for one in arm.expectations
                    if one.passed is not None
                ],
                "notes": list(_remarks(arm)),
            }


def _result(arm: Arm, score: float) -> _Json:
    """Give an arm's numbers; the calls of tools are not counted in a report, so they are in no run."""
    decided = [one.passed for one in arm.expectations if one.passed is not None]
    found: _Json = {
        "pass_rate": round(score, _DIGITS),
        "passed": sum(decided),
        "failed": len(decided) - sum(decided),
        "total": len(decided),
        "errors": int(arm.outcome != COMPLETED),
    }
    times = {} if arm.duration_s is None else {"time_seconds": round(arm.duration_s, 3)}
    return {**found, **times} if arm.tokens is None else {**found, **times, "tokens": arm.tokens}


def _remarks(arm: Arm) -> Iterator[str]:
    if arm.outcome != COMPLETED:
        yield _text(f"No answer: {arm.reason or arm.outcome}")
    elif not arm.expectations:
        yield "The task has no expectations: pass_rate is the grade of the answer, from 0 to 1."
    for one in arm.expectations:
        if one.passed is None:
            yield _text(f"Not graded, so it counts neither way: {one.text}")


def _summary(lift: Lift | None) -> _Json:
    pairs = [] if lift is None else [task for task in lift.tasks if _is_paired(task)]
    one, two = _arm([task.with_skill for task in pairs]), _arm([task.without_skill for task in pairs])
    forms = (("pass_rate", "+.2f"), ("time_seconds", "+.1f"), ("tokens", "+.0f"))
    delta = {key: format(one[key]["mean"] - two[key]["mean"], form) for key, form in forms if key in one and key in two}
    return {WITH: one, WITHOUT: two, "delta": delta}


def _is_paired(task: LiftTask) -> bool:
    return task.with_skill.score is not None and task.without_skill.score is not None


def _arm(arms: Sequence[Arm]) -> _Json:
    if not arms:
        return {}
    found = {"pass_rate": _spread([arm.score or 0.0 for arm in arms])}
    times = [arm.duration_s for arm in arms if arm.duration_s is not None]
    if len(times) == len(arms):
        found["time_seconds"] = _spread(times)
    tokens = [float(arm.tokens) for arm in arms if arm.tokens is not None]
    return {**found, "tokens": _spread(tokens)} if len(tokens) == len(arms) else found


def _spread(values: Sequence[float]) -> _Json:
    mean = math.fsum(values) / len(values)
    square = math.fsum((value - mean) ** 2 for value in values)
    numbers = {
        "mean": mean,
        "stddev": math.sqrt(square / (len(values) - 1)) if len(values) > 1 else 0.0,
        "min": min(values),
        "max": max(values),
    }
    return {name: round(value, _DIGITS) for name, value in numbers.items()}


def _notes(lift: Lift | None) -> Iterator[str]:
    if lift is None:
        yield "Lift was not measured."
        return
    if not lift.live:
        yield f"The answers were made up or recorded (provider {_text(lift.provider)}): they say nothing of a model."
    yield _text(_estimate(lift.lift))
    if lift.p is not None:
        yield f"Exchange test over tasks, two-sided: p = {lift.p:.3g}."
    compared = lift.wins + lift.losses + lift.draws
    if compared:
        biased = sum(task.position_bias for task in lift.tasks)
        yield (
            f"Blind comparisons in both orders: {lift.wins} for the skill, {lift.losses} against it, {lift.draws}"
            f" neither ({biased} since the orders disagree)."
        )
    if lift.source == "generated":
        yield "The tasks and what is expected of their answers were written by a model."
    if lift.tasks:
        yield "Times include waiting for a turn among parallel requests; answers kept from earlier runs take 0 seconds."
    yield from _left_out(lift)


def _estimate(found: Estimate) -> str:
    if found.value is None:
        return f"There is no lift: {found.reason or 'it was not measured'}."
    interval = "" if found.ci_low is None else f", 95 % interval {found.ci_low:+.3f} to {found.ci_high:+.3f}"
    return f"Mean paired difference over {found.n} tasks: {found.value:+.3f}{interval}."


def _left_out(lift: Lift) -> Iterator[str]:
    for number, task in enumerate(lift.tasks, start=1):
        for name, arm in (("with", task.with_skill), ("without", task.without_skill)):
            if arm.score is None:
                why = arm.reason or arm.outcome
                yield _text(f"Task {number} {name} the skill was not measured, and is in no mean: {why}.")
    for one in lift.unsupported[:_MOST_UNSUPPORTED]:
        yield _text(f"Not done here: {one}.")
    if len(lift.unsupported) > _MOST_UNSUPPORTED:
        yield f"Not done here: {len(lift.unsupported) - _MOST_UNSUPPORTED} more."


def _text(text: str) -> str:
    return printable(text).translate(_HARMLESS)
