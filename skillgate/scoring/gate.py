"""The gate: rules over named measurements, each answered pass, fail, inconclusive or unmeasured, with its reason.

One gate for scores, comparisons, benchmarks and invocations. The point estimate decides; where an interval straddles
the bound, the reason says *inconclusive* too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from skillgate.model.finding import Finding, Severity
from skillgate.model.layers import COMPLETED, FAILED, NOT_RUN, DropTest, JudgeLayer, MonteCarloLayer, RankingLayer
from skillgate.model.report import Composite, GateOutcome, Layer, SkillResult, Verdict
from skillgate.model.score import Badge, Outcome
from skillgate.named_tuple import NamedTuple
from skillgate.scoring.composite import MAX_DROP, award

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
        fail_on: which gates fail the run: ``error``, ``new-error``, ``warning``, ``threshold``, ``new-score``,
            ``badge``, ``dimension``, ``regression``, ``unmeasured``, ``budget``; empty for none.
        threshold: the least composite, 0–100.
        min_new_score: the minimum composite of a skill without a baseline, where others have one; 0 for none.
        min_badge: the least badge.
        min_dimension: the least score, in [0, 1], by dimension name.
        max_drop: how many points the composite may fall below the baseline's.
        on_inconclusive: what a bound does that lies inside a measurement's interval: ``point`` (the point estimate
            decides), ``pass``, ``warn`` (it passes, and says so) or ``fail``.
        lenient: whether what could not be judged, for no reason that its text can have brought about, fails no gate.
        min_activation: minimum share of simulated sessions that load the skill where they should.
        max_failure_rate: maximum share of simulated sessions that may fail.
        undecided_drops_fail: whether a drop that may be chance fails where ``on_inconclusive`` is ``point``.
    """

    fail_on: frozenset[str] = frozenset()
    threshold: float | None = None
    min_new_score: float | None = None
    min_badge: Badge | None = None
    min_dimension: Mapping[str, float] = {}
    max_drop: float = MAX_DROP
    on_inconclusive: str = "point"
    lenient: bool = False
    min_activation: float | None = None
    max_failure_rate: float | None = None
    undecided_drops_fail: bool = False


def strictest(policies: Sequence[Policy]) -> Policy:
    """Combine policies into one that demands all that any of them does; at least one."""
    bounds: dict[str, float] = {}
    for policy in policies:
        for name, bound in policy.min_dimension.items():
            bounds[name] = max(bound, bounds.get(name, bound))
    of_new = [policy.min_new_score for policy in policies if policy.min_new_score is not None]
    badges = [policy.min_badge for policy in policies if policy.min_badge is not None]
    return Policy(
        fail_on=frozenset().union(*(policy.fail_on for policy in policies)),
        threshold=max((policy.threshold for policy in policies if policy.threshold is not None), default=None),
        min_new_score=max(of_new, default=None),
        min_badge=min(badges, key=rank, default=None),
        min_dimension=bounds,
        max_drop=min(policy.max_drop for policy in policies),
        on_inconclusive=max((policy.on_inconclusive for policy in policies), key=_STRICTNESS.index),
        lenient=all(policy.lenient for policy in policies),
        undecided_drops_fail=any(policy.undecided_drops_fail for policy in policies),
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
        return GateOutcome(gate, Outcome.UNMEASURED, f"{name} was not measured: {reason}")
    straddles = low is not None and high is not None and low < bound <= high
    doubt = f" (inconclusive: {low:g} to {high:g})" if straddles else ""
    shown = f"{name} {value:.{digits}f}"
    if straddles and on_inconclusive != "point":
        warning = "; warning: it passes undecided" if on_inconclusive == "warn" else ""
        verdict = Outcome.INCONCLUSIVE if on_inconclusive == "fail" else Outcome.PASS
        return GateOutcome(gate, verdict, f"{shown} against {bound:g}{doubt}{warning}")
    if value >= bound:
        return GateOutcome(gate, Outcome.PASS, f"{shown} reaches {bound:g}{doubt}")
    return GateOutcome(gate, Outcome.FAIL, f"{shown} is below {bound:g}{doubt}")


def at_most(measurement: Measurement, bound: float, *, gate: str, digits: int = 2) -> GateOutcome:
    """Ask that a measurement not exceed a bound; the point estimate decides."""
    name, value, _, _, reason = measurement
    if value is None:
        return GateOutcome(gate, Outcome.UNMEASURED, f"{name} was not measured: {reason}")
    if value <= bound:
        return GateOutcome(gate, Outcome.PASS, f"{name} {value:.{digits}f} is within {bound:g}")
    return GateOutcome(gate, Outcome.FAIL, f"{name} {value:.{digits}f} is above {bound:g}")


def judge(
    result: SkillResult,
    policy: Policy,
    baseline: SkillResult | None = None,
    *,
    compared: bool = False,
    came: Sequence[Finding] | None = None,
    drop: DropTest | None = None,
    spent: str | None = None,
) -> Verdict:
    """Answer every gate of a policy for one skill.

    ``compared`` says whether a baseline was requested at all, ``came`` which findings the baseline does not have (None
    without a baseline: all), ``drop`` what the paired test says where both scores were sampled, and ``spent`` how the
    budget ended the run early.

    Returns:
        A verdict: ``passed`` is None if no gate was requested, False if a gate in ``fail_on`` failed or could not
        be measured. Skills that were not evaluated are the caller's exit code 3; their gates are unmeasured.
    """
    outcomes = tuple(_answers(result, policy, baseline, drop, compared=compared))
    if "new-error" in policy.fail_on:
        outcomes = (_new_errors(result, came), *outcomes)
    if "budget" in policy.fail_on:
        verdict = Outcome.PASS if spent is None else Outcome.FAIL
        outcomes += (GateOutcome("budget", verdict, spent or "the budget was enough"),)
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
    """Answer for findings about files that belong to no skill: errors and warnings, as far as the policy lists them.

    They come from other tools, which saw no baseline: each error is new.
    """
    counts = Counter(finding.severity.value for finding in findings)
    if "new-error" in policy.fail_on:
        policy = policy._replace(fail_on=policy.fail_on | {"error"})
    severities = (severity for severity in ("error", "warning") if severity in policy.fail_on)
    outcomes = tuple(_severity(severity, counts[severity], " outside the skills") for severity in severities)
    passed = all(outcome.verdict is Outcome.PASS for outcome in outcomes) if outcomes else None
    return Verdict(passed=passed, outcomes=outcomes)


def together(verdicts: Iterable[Verdict]) -> bool | None:
    """Combine the verdicts of many skills: False when one failed, None when nothing was asked."""
    answers = [verdict.passed for verdict in verdicts if verdict.passed is not None]
    return all(answers) if answers else None


def _is_excused(result: SkillResult) -> bool:
    """Whether no judge could answer, for no reason that the skill's text can have brought about."""
    layers = [layer for layer in sampled_layers(result) if layer.reason]
    return bool(layers) and not any(layer.silenced for layer in layers)


def _answers(
    result: SkillResult, policy: Policy, baseline: SkillResult | None, drop: DropTest | None, *, compared: bool
) -> Iterator[GateOutcome]:
    composite = result.composite
    counts = Counter(finding.severity.value for finding in result.findings)
    yield from (_severity(name, counts[name]) for name in ("error", "warning") if name in policy.fail_on)
    if policy.threshold is not None:
        score = Measurement("score", composite.score, composite.ci_low, composite.ci_high, composite.reason)
        yield at_least(score, policy.threshold, gate="threshold", on_inconclusive=policy.on_inconclusive)
    if policy.min_new_score and compared and baseline is None:
        yield _of_new(composite, policy.min_new_score)
    if policy.min_activation is not None or policy.max_failure_rate is not None:
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
        yield GateOutcome("regression", Outcome.PASS, "no baseline: the skill is new")
    elif baseline is not None:
        undecided = policy.on_inconclusive
        if undecided == "point" and policy.undecided_drops_fail:
            undecided = "fail"
        yield regression("it", baseline, result, policy.max_drop, drop=drop, on_inconclusive=undecided)
    if "unmeasured" in policy.fail_on:
        yield _measured(result)


def _severity(severity: str, count: int, where: str = "") -> GateOutcome:
    verdict = Outcome.FAIL if count else Outcome.PASS
    return GateOutcome(severity, verdict, f"{count} {severity}{'s' * (count != 1)}{where}")


def _new_errors(result: SkillResult, came: Sequence[Finding] | None) -> GateOutcome:
    """Count the errors that the baseline does not have."""
    errors = [one for one in result.findings if one.severity is Severity.ERROR]
    new = errors if came is None else [one for one in came if one.severity is Severity.ERROR]
    old = len(errors) - len(new)
    rest = f"; {old} existed before" if old else ""
    verdict = Outcome.FAIL if new else Outcome.PASS
    return GateOutcome("new-error", verdict, f"{len(new)} new error{'s' * (len(new) != 1)}{rest}")


def _of_new(composite: Composite, least: float) -> GateOutcome:
    """Ask that a new skill reach a score; ``0`` asks nothing."""
    if composite.score is None:
        return GateOutcome("new-score", Outcome.UNMEASURED, f"the new skill has no score: {composite.reason}")
    passes = composite.score >= least
    words = "reaches" if passes else "is below"
    reason = f"score {composite.score:.2f} of the new skill {words} {least:g} (min-new-score)"
    return GateOutcome("new-score", Outcome.PASS if passes else Outcome.FAIL, reason)


def _badge(result: SkillResult, least: Badge) -> GateOutcome:
    composite = result.composite
    if composite.score is None:
        reason = f"the badge was not measured: {composite.reason}"
        return GateOutcome("badge", Outcome.UNMEASURED, reason)
    has = composite.badge.value if composite.badge else "no badge"
    if rank(composite.badge) <= rank(least):
        return GateOutcome("badge", Outcome.PASS, f"{has} reaches {least.value}")
    if (composite.badge_reason or "").startswith(UNRANKED):
        reason = f"the badge was not measured: {composite.badge_reason}"
        return GateOutcome("badge", Outcome.UNMEASURED, reason)
    why = _short_of(composite, least)
    reason = f"has {has}, {least.value} is asked for" + (f": {why}" if why else "")
    return GateOutcome("badge", Outcome.FAIL, reason)


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
        return GateOutcome("unmeasured", Outcome.UNMEASURED, reason)
    partly = next((layer.reason for layer in sampled_layers(result) if layer.reason), None)
    reason = f"there is a score, though {partly}" if partly else "everything this depth measures was measured"
    return GateOutcome("unmeasured", Outcome.PASS, reason)


# -- Regression: whether a skill kept its badge and its points, as far as sampled scores can tell

NOT_RANKED = "not ranked"
UNRANKED = f"no badge: {NOT_RANKED}"  # how the reason begins where matches that were asked for gave no rating
BORDERLINE = 0.5  # points: a static score that falls by less loses its badge with a warning
BORDERING = "warning"  # how the reason of such a loss begins
REAL = 0.05  # the chance, over all skills of a run, of calling a drop real where nothing changed


def sampled_layers(result: SkillResult) -> tuple[JudgeLayer | MonteCarloLayer | RankingLayer, ...]:
    """Return the layers that asked a model; a ranking without a corpus is not one of them."""
    return tuple(
        layer
        for layer in result.layers
        if isinstance(layer, JudgeLayer | MonteCarloLayer)
        or (isinstance(layer, RankingLayer) and (layer.played or layer.elo is not None))
    )


def regression(
    name: str,
    before: SkillResult,
    after: SkillResult,
    max_drop: float,
    *,
    drop: DropTest | None = None,
    on_inconclusive: str = "point",
) -> GateOutcome:
    """Ask that a skill keep its badge and lose at most ``max_drop`` points, on two decimals.

    A drop between sampled scores counts where the paired test says that it is real, or where what was not sampled
    fell that far alone. Scores that cannot be compared are inconclusive, however they lie.
    """
    was, now = before.composite, after.composite
    for side, result in (("its baseline", before), ("it", after)):
        ended = next((layer.stopped_early for layer in result.layers if isinstance(layer, MonteCarloLayer)), None)
        if ended is not None:
            reason = f"{name} cannot be compared: the sessions of {side} were stopped early: {ended}"
            return GateOutcome("regression", Outcome.UNMEASURED, reason)
        if result.composite.score is None and _unjudged(result):
            reason = f"{name} cannot be compared: {side} was not measured: {result.composite.reason}"
            return GateOutcome("regression", Outcome.UNMEASURED, reason)
    if was.score is None:
        return GateOutcome("regression", Outcome.PASS, f"{name} had no score before: {was.reason}")
    if now.score is None:
        return GateOutcome("regression", Outcome.FAIL, f"{name} lost its score: {now.reason}")
    moved = f"{was.score:.2f} → {now.score:.2f}"
    if drop is not None and drop.reason is not None:
        reason = f"inconclusive: {name} went {moved}, and the two are not comparable: {drop.reason}"
        passes = on_inconclusive in ("pass", "warn")
        return GateOutcome("regression", Outcome.PASS if passes else Outcome.INCONCLUSIVE, reason)
    fell = round(was.score - now.score, 2)
    lost_badge = rank(now.badge) > rank(was.badge)
    if lost_badge and (now.badge_reason or "").startswith(UNRANKED):
        reason = f"{name} cannot be compared: its badge was not measured: {now.badge_reason}"
        return GateOutcome("regression", Outcome.UNMEASURED, reason)
    if drop is not None and (lost_badge or fell > max_drop) and not _surely_lost(before, after, drop):
        chance = _chance(name, drop, moved, max_drop)
        if chance is not None:
            fails = on_inconclusive == "fail"
            return GateOutcome("regression", Outcome.INCONCLUSIVE if fails else Outcome.PASS, chance)
    if lost_badge:
        return _lost_badge(name, was, moved, warns=drop is None and 0 < fell < min(BORDERLINE, max_drop))
    if fell > max_drop:
        reason = f"{name} dropped {fell:.2f} points ({moved}; allowed: {max_drop:g})"
        return GateOutcome("regression", Outcome.FAIL, reason)
    return GateOutcome("regression", Outcome.PASS, f"{moved}, allowed drop {max_drop:g}")


def _lost_badge(name: str, was: Composite, moved: str, *, warns: bool) -> GateOutcome:
    """Fail a skill that lost its badge; or only warn, where a static score fell by next to nothing."""
    lost = f"{name} lost its badge {was.badge.value if was.badge else ''} ({moved})"
    if warns:
        reason = f"{BORDERING}: {lost} by less than {BORDERLINE:g} points"
        return GateOutcome("regression", Outcome.PASS, reason)
    return GateOutcome("regression", Outcome.FAIL, lost)


def _chance(name: str, drop: DropTest, moved: str, max_drop: float) -> str | None:
    """Say why a drop is not known to be real; None where it is."""
    if drop.certain is not None and drop.certain > max_drop:
        return None  # what is not sampled fell that far by itself
    if drop.p is not None and drop.p <= REAL:
        return None  # a lost badge needs no more points than that
    least = drop.smallest_detectable
    seen = "" if least is None else f"; the least drop it would see is {least:.1f}"
    chance = "" if drop.p is None else f" (p = {drop.p:.2f}{seen})"
    return f"inconclusive: {name} went {moved}, which the paired test does not distinguish from chance{chance}"


def _surely_lost(before: SkillResult, after: SkillResult, drop: DropTest) -> bool:
    """Whether a badge is lost whatever chance did: withheld, or by the fall of what was not sampled alone."""
    was, now = before.composite, after.composite
    if rank(now.badge) <= rank(was.badge):
        return False
    if (now.badge_reason or "").startswith("no badge: "):
        return True
    left = None if was.score is None or drop.certain is None else round(was.score - drop.certain, 2)
    return left is not None and rank(Badge.from_scores(left, was.elo)) > rank(was.badge)


def _unjudged(result: SkillResult) -> bool:
    return any(layer.reason for layer in sampled_layers(result))


def rank(badge: Badge | None) -> int:
    """Rank badges: Platinum 0, none last."""
    order = (*Badge, None)
    return order.index(badge)


# -- Which sampled scores really fell: the paired test of every skill that has a baseline, corrected for all of them


def sampled_drops(
    pairs: Sequence[tuple[SkillResult | None, SkillResult]], max_drops: Sequence[float] | None = None
) -> tuple[DropTest | None, ...]:
    """Test each skill's drop, where it has a baseline and both were sampled.

    Holm's correction counts only the skills with an answer that differs. Unchanged skills were not tested, so any
    number of them does not hide the fall of another.

    Pairs are the baseline, None without one, and what is there now; ``max_drops`` are the points that each may lose.
    """
    if all(before is None for before, _ in pairs):
        return tuple(None for _ in pairs)
    from skillgate.scoring.paired import paired  # brings in numpy: only where something was sampled
    from skillgate.stats.resampling import holm

    allowed = [MAX_DROP] * len(pairs) if max_drops is None else max_drops
    tests = [
        None if before is None else paired(before, after, max_drop=most)
        for (before, after), most in zip(pairs, allowed, strict=True)
    ]
    counted = {
        index: test.p
        for index, ((before, after), test) in enumerate(zip(pairs, tests, strict=True))
        if test is not None
        and test.p is not None
        and before is not None
        and _model_answers(before) != _model_answers(after)
    }
    corrected = dict(zip(counted, holm(list(counted.values())), strict=True))
    return tuple(
        None if test is None else DropTest(*test)._replace(p=corrected.get(index), p_alone=counted.get(index))
        for index, test in enumerate(tests)
    )


def _model_answers(result: SkillResult) -> tuple[object, ...]:
    """Return all that judges and sessions answered about a skill, as far as scores rest on it."""
    judged = [
        (
            [(name, item.ratings, item.score) for name, item in layer.assessments.items()],
            None if layer.triggering is None else layer.triggering.prompts,
        )
        for layer in result.layers
        if isinstance(layer, JudgeLayer)
    ]
    simulated = [layer.runs for layer in result.layers if isinstance(layer, MonteCarloLayer)]
    return judged, simulated


# -- Simulated sessions: how often the skill must be loaded, and how often a session may fail
#
# A verdict is a function of counts alone, so that a run may end as soon as no count can change it any more.

GATE = "threshold"  # the word in ``fail-on`` that lets both fail a run


def loads_enough(loaded: int, measured: int, bound: float, on_inconclusive: str = "point") -> Outcome:
    """Answer whether enough sessions loaded the skill.

    ``measured`` sessions, at least one, had a prompt for it; ``bound`` is the minimum share, in [0, 1].
    ``on_inconclusive`` is as in :class:`Policy`; the interval is Clopper and Pearson's.
    """
    if on_inconclusive != "point" and _straddled(loaded, measured, bound) is not None:
        return Outcome.INCONCLUSIVE if on_inconclusive == "fail" else Outcome.PASS
    return Outcome.PASS if loaded / measured >= bound else Outcome.FAIL


def fails_seldom(failed: int, measured: int, bound: float, on_inconclusive: str = "point") -> Outcome:
    """Answer whether few enough sessions failed; as :func:`loads_enough`, with the largest share."""
    if on_inconclusive != "point" and _straddled(measured - failed, measured, 1 - bound) is not None:
        return Outcome.INCONCLUSIVE if on_inconclusive == "fail" else Outcome.PASS
    return Outcome.PASS if failed / measured <= bound else Outcome.FAIL


def session_gates(
    layers: Sequence[Layer], min_activation: float | None, max_failure_rate: float | None, on_inconclusive: str
) -> Iterator[GateOutcome]:
    """Answer the requested gates for a skill with simulated sessions; yield nothing for one without."""
    layer = next((layer for layer in layers if isinstance(layer, MonteCarloLayer)), None)
    if layer is None:
        return
    should = [run for run in layer.runs if run.should_trigger]
    if min_activation is not None:
        measured = [run for run in should if run.outcome in (COMPLETED, FAILED)]
        loaded = sum(run.activated is True for run in measured)
        of = len(measured) + sum(run.outcome == NOT_RUN for run in should)
        verdict = loads_enough(loaded, of, min_activation, on_inconclusive) if measured else None
        words = f"the skill was loaded in {loaded} of {len(measured)} sessions meant for it"
        words += f"; {min_activation:g} is asked for"
        ends = _straddled(loaded, of, min_activation) if measured else None
        yield _session_outcome(layer, "activation_rate", verdict, words + _doubt(layer, ends, on_inconclusive))
    if max_failure_rate is not None:
        ended = [run for run in layer.runs if run.outcome in (COMPLETED, FAILED)]
        failed = sum(run.outcome == FAILED for run in ended)
        of = len(ended) + sum(run.outcome == NOT_RUN for run in layer.runs)
        verdict = fails_seldom(failed, of, max_failure_rate, on_inconclusive) if ended else None
        ends = _straddled(of - failed, of, 1 - max_failure_rate) if ended else None
        mirrored = None if ends is None else (1 - ends[1], 1 - ends[0])
        words = f"{failed} of {len(ended)} sessions failed; {max_failure_rate:g} is allowed"
        yield _session_outcome(layer, "failure_rate", verdict, words + _doubt(layer, mirrored, on_inconclusive))


def _session_outcome(layer: MonteCarloLayer, measure: str, verdict: Outcome | None, words: str) -> GateOutcome:
    """Return an outcome; where a run ended early, any continuation has the verdict of all that is left failing it."""
    estimate = layer.measures.get(measure)
    lost = layer.stopped_early is None and estimate is not None and estimate.value is None
    if verdict is None or lost:
        why = layer.reason or (estimate.reason if estimate else None) or "no session ended"
        return GateOutcome(GATE, Outcome.UNMEASURED, f"the sessions were not measured: {why}")
    return GateOutcome(GATE, verdict, words)


def _doubt(layer: MonteCarloLayer, ends: tuple[float, float] | None, on_inconclusive: str) -> str:
    """Say that the run ended early, or that the bound lies inside the interval."""
    if layer.stopped_early is not None:
        return f" (stopped early: {layer.stopped_early})"
    if ends is None:
        return ""
    warning = "; warning: it passes undecided" if on_inconclusive == "warn" else ""
    return f" (inconclusive: {ends[0]:.2f} to {ends[1]:.2f}){warning}"


def _straddled(count: int, of: int, bound: float) -> tuple[float, float] | None:
    """Return the interval of a share where the bound lies inside of it."""
    from skillgate.stats.intervals import clopper_pearson  # numpy and scipy: loaded where sessions were simulated

    low, high = clopper_pearson(count, of)
    return (low, high) if low < bound <= high else None
