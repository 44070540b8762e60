"""Decide gates for a skill, from all of its observations (R22 to R26)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED
from skillgate.invocations.figures import DAY_S, Improvement, Tally, by_skill, figures, rated, seconds, time_of
from skillgate.invocations.trends import start
from skillgate.model.codec import encode
from skillgate.model.invocation import GateCheck
from skillgate.model.invocation_gate import TRIGGER
from skillgate.model.report import GateOutcome, Verdict
from skillgate.model.score import Outcome
from skillgate.scoring.gate import Measurement, at_least, at_most

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from skillgate.model.invocation import Observation, SkillFigures
    from skillgate.model.invocation_gate import Gate

_MOST_DIGITS = 9  # figures have no more
_OUTCOMES = {
    "passed": Outcome.PASS,
    "clear": Outcome.PASS,
    "failed": Outcome.FAIL,
    "triggered": Outcome.FAIL,
    "insufficient_data": Outcome.INCONCLUSIVE,
}
_RATES = {"max_error_rate": "error_rate", "max_unrecovered_rate": "unrecovered_rate", "min_coverage": "coverage"}


class _Facts(NamedTuple):
    """What the bounds of a gate are compared with."""

    stats: SkillFigures
    age_days: int | None
    improved: datetime | None
    window: str


def check(gate: Gate, observations: Iterable[Observation], *, skill: str, now: datetime, days: int | None) -> GateCheck:
    """Decide one gate for one skill.

    Args:
        gate: its bounds.
        observations: all of the skill's in the order of time: the days since an improvement are over all of them.
        skill: its name; it may have no observations.
        now: where the window ends, UTC.
        days: how far the figures reach back; None for all there is.
    """
    parts = (part for _, own in by_skill(observations) for part in own)
    return _checks((gate,), parts, skill=skill, now=now, days=days)[0]


def check_each(
    gates: Sequence[Gate], observations: Iterable[Observation], *, now: datetime, days: int | None
) -> Iterator[GateCheck]:
    """Decide gates for every skill of some observations, ordered by skill and time, in one pass; as :func:`check`."""
    for skill, parts in by_skill(observations):
        yield from _checks(gates, parts, skill=skill, now=now, days=days)


def exit_code(checks: Iterable[GateCheck]) -> int:
    """Return 1 where a requirement failed or a trigger went off, else 3 where one could not be decided, else 0.

    A trigger with too few invocations has not gone off; that is no failure and no gap.
    """
    statuses = {one.status for one in checks}
    if statuses & {"failed", "triggered"}:
        return EXIT_GATE_FAILED
    return EXIT_INCOMPLETE if statuses & {"no_data", "unmeasured"} else EXIT_PASSED


def verdict(checks: Sequence[GateCheck]) -> Verdict:
    """Return what gates say together; ``passed`` is None where there is no gate or not all were decided."""
    outcomes = tuple(
        GateOutcome(
            gate=one.gate,
            verdict=_OUTCOMES.get(one.status, Outcome.UNMEASURED),
            reason=f"{one.skill}: {'; '.join(one.failures) or one.status}",
        )
        for one in checks
    )
    code = exit_code(checks)
    passed = None if not checks or code == EXIT_INCOMPLETE else code == EXIT_PASSED
    return Verdict(passed=passed, outcomes=outcomes)


def gate_json(found: GateCheck) -> dict[str, Any]:
    """Return a check as an object: the keys of the rubric's own result, and ours."""
    document: dict[str, Any] = encode(found)
    return document


def _checks(
    gates: Sequence[Gate], parts: Iterable[Sequence[Observation]], *, skill: str, now: datetime, days: int | None
) -> tuple[GateCheck, ...]:
    tally = Tally(skill, since=start(now, days), boundary=seconds(now))
    improvement = Improvement()
    for part in parts:
        tally.add(part)
        improvement.add(rated(part))
    day = improvement.day
    facts = _Facts(
        stats=figures(tally),
        age_days=None if day is None else max(0, seconds(now) // DAY_S - day),
        improved=None if day is None else time_of(day * DAY_S),
        window="so far" if days is None else f"in the last {days} days",
    )
    return tuple(_trigger(gate, facts) if gate.kind == TRIGGER else _requirement(gate, facts) for gate in gates)


def _requirement(gate: Gate, facts: _Facts) -> GateCheck:
    if not facts.stats.recorded:
        return _check(gate, facts, "no_data", None, (f"no invocation was recorded {facts.window}",))
    outcomes = [_outcome(gate, facts, name, bound) for name, bound in gate.bounds.items()]
    missed = [one.reason for one in outcomes if one.verdict is Outcome.FAIL]
    unmeasured = [one.reason for one in outcomes if one.verdict is Outcome.UNMEASURED]
    if missed:
        return _check(gate, facts, "failed", False, (*missed, *unmeasured))
    if unmeasured:
        return _check(gate, facts, "unmeasured", None, tuple(unmeasured))
    return _check(gate, facts, "passed", True, ())


def _trigger(gate: Gate, facts: _Facts) -> GateCheck:
    few = at_least(_measured(facts, "min_invocations"), gate.min_invocations or 1, gate=gate.name, digits=0)
    if few.verdict is not Outcome.PASS:
        return _check(gate, facts, "insufficient_data", None, (few.reason,))
    outcomes = [_outcome(gate, facts, name, bound) for name, bound in gate.bounds.items()]
    holds = [one.reason for one in outcomes if one.verdict is Outcome.PASS]
    if len(holds) == len(outcomes):
        return _check(gate, facts, "triggered", False, tuple(holds))
    return _check(gate, facts, "clear", True, tuple(one.reason for one in outcomes if one.verdict is not Outcome.PASS))


def _outcome(gate: Gate, facts: _Facts, name: str, bound: float) -> GateOutcome:
    """Compare one figure with its bound; an age is a condition of a trigger and a limit of a requirement."""
    measured = _measured(facts, name)
    least = name.startswith("min_") or (gate.kind == TRIGGER and name == "max_age_without_improvement")
    digits = _digits(measured.value, bound, name)
    return (at_least if least else at_most)(measured, bound, gate=gate.name, digits=digits)


def _measured(facts: _Facts, name: str) -> Measurement:
    stats, reasons = facts.stats, facts.stats.reasons or {}
    if name == "min_invocations":
        return Measurement(f"number of rated invocations {facts.window}", float(stats.invocation_count))
    if name == "max_age_without_improvement":
        age = None if facts.age_days is None else float(facts.age_days)
        return Measurement("days without improvement", age, reason="no invocation is rated")
    if name in _RATES:
        field = _RATES[name]
        return Measurement(field.replace("_", " "), getattr(stats, field), reason=reasons.get(field))
    ends = stats.interval
    low, high = (None, None) if ends is None else (round(ends.low, 2), round(ends.high, 2))
    return Measurement("average score", stats.avg_score, low, high, reasons.get("avg_score"))


def _digits(value: float | None, bound: float, name: str) -> int:
    """Return as many decimals as keep a figure on its side of its bound: 69.9996 is not 70 (R25)."""
    if name in ("min_invocations", "max_age_without_improvement"):
        return 0
    digits = 2 if name.endswith("score") else 4

    def side(value: float) -> tuple[bool, bool]:
        return value >= bound, value <= bound

    while value is not None and digits < _MOST_DIGITS and side(round(value, digits)) != side(value):
        digits += 1
    return digits


def _check(gate: Gate, facts: _Facts, status: str, passed: bool | None, failures: tuple[str, ...]) -> GateCheck:
    return GateCheck(
        skill=facts.stats.skill,
        gate=gate.name,
        kind=gate.kind,
        description=gate.description,
        status=status,
        passed=passed,
        failures=failures,
        stats=facts.stats,
        days_since_improvement=facts.age_days,
        last_improved_at=facts.improved,
    )
