"""The gate: rules over named measurements, each answered pass, fail, inconclusive or unmeasured, with its reason.

One gate for scores, comparisons, benchmarks and invocations. The point estimate decides; where an interval straddles
the bound, the word *inconclusive* stands beside it in the reason.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.report import GateOutcome, Verdict
from skillgate.model.score import Badge, Outcome
from skillgate.scoring.badge import award
from skillgate.scoring.regression import UNRANKED, rank, regression, sampled_layers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.model.finding import Finding
    from skillgate.model.judging import DropTest
    from skillgate.model.report import Composite, SkillResult

MAX_DROP = 2.0  # points a score may fall before it is called a regression
_STRICTNESS = ("pass", "warn", "point", "fail")  # of what a policy does where a bound lies inside an interval


class Measurement(NamedTuple):
    """A named number, perhaps with an interval; a value of None was not measured, and ``reason`` says why."""

    name: str
    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    reason: str | None = None


class Policy(NamedTuple):
    """What is asked of one skill.

    Attributes:
        fail_on: which gates fail the run: ``error``, ``warning``, ``threshold``, ``badge``, ``dimension``,
            ``regression``, ``unmeasured``, ``budget``; empty for none.
        threshold: the least composite, 0–100.
        min_badge: the least badge.
        min_dimension: the least score, in [0, 1], by dimension name.
        max_drop: how many points the composite may fall below the baseline's.
        on_inconclusive: what a bound does that lies inside a measurement's interval: ``point`` (the point estimate
            decides), ``pass``, ``warn`` (it passes, and says so) or ``fail``.
        lenient: whether what could not be judged, for no reason that its text can have brought about, fails no gate.
        min_activation: the least share of simulated sessions that load the skill where they should.
        max_failure_rate: the largest share of simulated sessions that may fail.
    """

    fail_on: frozenset[str] = frozenset()
    threshold: float | None = None
    min_badge: Badge | None = None
    min_dimension: Mapping[str, float] = {}
    max_drop: float = MAX_DROP
    on_inconclusive: str = "point"
    lenient: bool = False
    min_activation: float | None = None
    max_failure_rate: float | None = None


def strictest(policies: Sequence[Policy]) -> Policy:
    """Give what asks for all that any of several policies does; at least one."""
    bounds: dict[str, float] = {}
    for policy in policies:
        for name, bound in policy.min_dimension.items():
            bounds[name] = max(bound, bounds.get(name, bound))
    badges = [policy.min_badge for policy in policies if policy.min_badge is not None]
    return Policy(
        fail_on=frozenset().union(*(policy.fail_on for policy in policies)),
        threshold=max((policy.threshold for policy in policies if policy.threshold is not None), default=None),
        min_badge=min(badges, key=rank, default=None),
        min_dimension=bounds,
        max_drop=min(policy.max_drop for policy in policies),
        on_inconclusive=max((policy.on_inconclusive for policy in policies), key=_STRICTNESS.index),
        lenient=all(policy.lenient for policy in policies),
        min_activation=max((p.min_activation for p in policies if p.min_activation is not None), default=None),
        max_failure_rate=min((p.max_failure_rate for p in policies if p.max_failure_rate is not None), default=None),
    )


def at_least(
    measurement: Measurement, bound: float, *, gate: str, digits: int = 2, on_inconclusive: str = "point"
) -> GateOutcome:
    """Ask that a measurement reach a bound; the reason shows it with so many decimals.

    Where its interval straddles the bound, ``on_inconclusive`` decides as in :class:`Policy`.
    """
    name, value, low, high, reason = measurement
    if value is None:
        return GateOutcome(gate=gate, verdict=Outcome.UNMEASURED, reason=f"{name} was not measured: {reason}")
    straddles = low is not None and high is not None and low < bound <= high
    beside = f" (inconclusive: {low:g} to {high:g})" if straddles else ""
    shown = f"{name} {value:.{digits}f}"
    if straddles and on_inconclusive != "point":
        passes = on_inconclusive != "fail"
        said = f"{shown} against {bound:g}{beside}" + (
            "; warning: it passes undecided" if on_inconclusive == "warn" else ""
        )
        return GateOutcome(gate=gate, verdict=Outcome.PASS if passes else Outcome.INCONCLUSIVE, reason=said)
    if value >= bound:
        return GateOutcome(gate=gate, verdict=Outcome.PASS, reason=f"{shown} reaches {bound:g}{beside}")
    return GateOutcome(gate=gate, verdict=Outcome.FAIL, reason=f"{shown} is below {bound:g}{beside}")


def at_most(measurement: Measurement, bound: float, *, gate: str, digits: int = 2) -> GateOutcome:
    """Ask that a measurement not exceed a bound; the point estimate decides."""
    name, value, _, _, reason = measurement
    if value is None:
        return GateOutcome(gate=gate, verdict=Outcome.UNMEASURED, reason=f"{name} was not measured: {reason}")
    if value <= bound:
        return GateOutcome(gate=gate, verdict=Outcome.PASS, reason=f"{name} {value:.{digits}f} is within {bound:g}")
    return GateOutcome(gate=gate, verdict=Outcome.FAIL, reason=f"{name} {value:.{digits}f} is above {bound:g}")


def judge(
    result: SkillResult,
    policy: Policy,
    baseline: SkillResult | None = None,
    *,
    compared: bool = False,
    drop: DropTest | None = None,
    spent: str | None = None,
) -> Verdict:
    """Answer every gate of a policy for one skill.

    Args:
        result: the skill's scores and findings.
        policy: what is asked.
        baseline: the same skill before, None where there is none.
        compared: whether a baseline was asked for at all.
        drop: what the paired test says, where both scores were sampled.
        spent: how the budget ended the run early, None where it did not.

    Returns:
        A verdict whose ``passed`` is None when nothing was asked, False when a gate in ``fail_on`` failed or could not
        be measured. Skills that were not evaluated are the caller's exit code 3; their gates are unmeasured.
    """
    outcomes = tuple(_outcomes(result, policy, baseline, drop, compared=compared))
    if "budget" in policy.fail_on:
        outcomes += (_within_budget(spent),)
    if not policy.fail_on:
        return Verdict(passed=None, outcomes=outcomes)
    binding = [outcome for outcome in outcomes if outcome.gate in policy.fail_on]
    if policy.lenient and (_is_excused(result) or (baseline is not None and _is_excused(baseline))):
        binding = [outcome for outcome in binding if outcome.verdict is not Outcome.UNMEASURED]
    if not binding:
        return Verdict(passed=None, outcomes=outcomes)
    if not result.evaluated and "unmeasured" not in policy.fail_on:
        return Verdict(passed=None, outcomes=outcomes)
    return Verdict(passed=all(outcome.verdict is Outcome.PASS for outcome in binding), outcomes=outcomes)


def judge_outside(findings: Iterable[Finding], policy: Policy) -> Verdict:
    """Answer for findings about files that belong to no skill: errors and warnings, as far as the policy lists them."""
    counts = Counter(finding.severity.value for finding in findings)
    outcomes = tuple(
        GateOutcome(
            gate=severity,
            verdict=Outcome.FAIL if counts[severity] else Outcome.PASS,
            reason=f"{counts[severity]} {severity}{'s' * (counts[severity] != 1)} outside the skills",
        )
        for severity in ("error", "warning")
        if severity in policy.fail_on
    )
    passed = all(outcome.verdict is Outcome.PASS for outcome in outcomes) if outcomes else None
    return Verdict(passed=passed, outcomes=outcomes)


def together(verdicts: Iterable[Verdict]) -> bool | None:
    """Combine the verdicts of many skills: False when one failed, None when nothing was asked."""
    asked = [verdict.passed for verdict in verdicts if verdict.passed is not None]
    return all(asked) if asked else None


def _is_excused(result: SkillResult) -> bool:
    """Tell a skill that nobody could judge from one whose text may have kept its judge from answering."""
    layers = [layer for layer in sampled_layers(result) if layer.reason]
    return bool(layers) and not any(layer.silenced for layer in layers)


def _within_budget(spent: str | None) -> GateOutcome:
    if spent is None:
        return GateOutcome(gate="budget", verdict=Outcome.PASS, reason="the budget was enough")
    return GateOutcome(gate="budget", verdict=Outcome.FAIL, reason=spent)


def _outcomes(
    result: SkillResult, policy: Policy, baseline: SkillResult | None, drop: DropTest | None, *, compared: bool
) -> Iterator[GateOutcome]:
    composite = result.composite
    yield from (_severity(result, severity) for severity in ("error", "warning") if severity in policy.fail_on)
    if policy.threshold is not None:
        score = Measurement("score", composite.score, composite.ci_low, composite.ci_high, composite.reason)
        yield at_least(score, policy.threshold, gate="threshold", on_inconclusive=policy.on_inconclusive)
    if policy.min_activation is not None or policy.max_failure_rate is not None:
        from skillgate.scoring.session_gates import session_gates  # few runs simulate sessions

        yield from session_gates(result.layers, policy.min_activation, policy.max_failure_rate, policy.on_inconclusive)
    if policy.min_badge is not None:
        yield _badge(result, policy.min_badge)
    for name, bound in policy.min_dimension.items():
        found = next((item for key, item in result.dimensions.items() if key.value == name), None)
        measured = Measurement(name, None, reason=composite.reason or "not evaluated")
        if found is not None:
            measured = Measurement(name, found.score, found.ci_low, found.ci_high, found.reason)
        yield at_least(measured, bound, gate="dimension", digits=4, on_inconclusive=policy.on_inconclusive)
    if compared and baseline is None:
        yield GateOutcome(gate="regression", verdict=Outcome.PASS, reason="no baseline: the skill is new")
    elif baseline is not None:
        yield regression("it", baseline, result, policy.max_drop, drop=drop, on_inconclusive=policy.on_inconclusive)
    if "unmeasured" in policy.fail_on:
        yield _measured(result)


def _severity(result: SkillResult, severity: str) -> GateOutcome:
    count = sum(1 for finding in result.findings if finding.severity.value == severity)
    verdict = Outcome.FAIL if count else Outcome.PASS
    return GateOutcome(gate=severity, verdict=verdict, reason=f"{count} {severity}{'s' * (count != 1)}")


def _badge(result: SkillResult, least: Badge) -> GateOutcome:
    composite = result.composite
    if composite.score is None:
        reason = f"the badge was not measured: {composite.reason}"
        return GateOutcome(gate="badge", verdict=Outcome.UNMEASURED, reason=reason)
    has = composite.badge.value if composite.badge else "no badge"
    if rank(composite.badge) <= rank(least):
        return GateOutcome(gate="badge", verdict=Outcome.PASS, reason=f"{has} reaches {least.value}")
    if (composite.badge_reason or "").startswith(UNRANKED):
        reason = f"the badge was not measured: {composite.badge_reason}"
        return GateOutcome(gate="badge", verdict=Outcome.UNMEASURED, reason=reason)
    why = _short_of(composite, least)
    reason = f"has {has}, {least.value} is asked for" + (f": {why}" if why else "")
    return GateOutcome(gate="badge", verdict=Outcome.FAIL, reason=reason)


def _short_of(composite: Composite, least: Badge) -> str:
    """Say what a badge needs: points or a rating, or what holds every badge back whatever the points."""
    score, elo, reason = composite.score, composite.elo, composite.badge_reason or ""
    if reason != award(score, elo, withheld=None)[1]:
        return reason.removeprefix("no badge: ")
    if score is not None and score < least.composite:
        return f"{least.composite - score:.2f} more points"
    return f"it needs an Elo of {least.elo:g}, and has {elo:g}" if elo is not None else reason


def _measured(result: SkillResult) -> GateOutcome:
    if result.composite.score is None:
        reason = f"there is no score: {result.composite.reason}"
        return GateOutcome(gate="unmeasured", verdict=Outcome.UNMEASURED, reason=reason)
    partly = next((layer.reason for layer in sampled_layers(result) if layer.reason), None)
    reason = f"there is a score, though {partly}" if partly else "everything this depth measures was measured"
    return GateOutcome(gate="unmeasured", verdict=Outcome.PASS, reason=reason)
