"""From what layer 1 knows of a skill to its result: dimensions, composite, badge, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from skillgate.model.layers import MEASURED_BY, Estimate, JudgeLayer, Lift, Loads, MonteCarloLayer, RankingLayer, Usage
from skillgate.model.layers import Assessment as JudgedScore
from skillgate.model.report import (
    Advice,
    Composite,
    DimensionScore,
    Layer,
    PublicPercentile,
    SkillName,
    SkillResult,
    StaticLayer,
    SubCheckScore,
)
from skillgate.model.score import Badge, Dimension, Evidence, Grade, LayerName, Measured
from skillgate.named_tuple import NamedTuple
from skillgate.scoring.composite import (
    BLEND,
    EFFORT,
    MIN_COVERAGE,
    WEIGHTS,
    award,
    blend,
    composite,
    coverage,
    layer_scores,
    penalty,
)

if TYPE_CHECKING:
    from skillgate.model.finding import Assessment, Claim, Repair
    from skillgate.scoring.selection import Settled

QUICK = "not measured at quick depth"
NO_RANKING = "no ranking at this depth"


class Deeper(NamedTuple):
    """What the sampled layers give of one skill.

    Attributes:
        layers: for the report.
        scores: what the judge measured, by dimension; a dimension that is not in it was not asked about.
        simulated: what the simulations measured, by dimension, where they measured it.
        failure: why there can be no score at this depth; None where all was measured.
        usage: what was asked for it.
        claims: what the report must warn of.
        no_badge: why there can be no badge whatever the score, else None.
    """

    layers: tuple[Layer, ...] = ()
    scores: Mapping[Dimension, JudgedScore] = MappingProxyType({})
    failure: str | None = None
    usage: Usage = Usage()
    claims: tuple[Claim, ...] = ()
    no_badge: str | None = None
    simulated: Mapping[Dimension, Estimate] = MappingProxyType({})
    lift: Lift | None = None


def result(
    facts: Assessment,
    settled: Settled,
    *,
    skill: SkillName,
    plugin: str | None,
    neighbour: str | None,
    detail: bool,
    deeper: Deeper | None = None,
) -> SkillResult:
    """Return the result of one skill, without its gate.

    ``neighbour`` is the skill that describes nearly the same, for the advice; ``detail`` says whether evidence and
    advice are wanted; ``deeper`` is None at quick depth.
    """
    layers = _by_layer(facts, deeper)
    dimensions: Mapping[Dimension, DimensionScore]
    dimensions = {dimension: _dimension(dimension, facts, layers[dimension], deeper) for dimension in Dimension}
    measured = {dimension: score.score for dimension, score in dimensions.items()}
    covered = coverage(measured)
    unscored = facts.unscored or (deeper.failure if deeper else None) or _uncovered(covered, dimensions)
    score = None if unscored else composite(measured, len(facts.anti_patterns))
    ranked = _ranking(deeper)
    elo = None if ranked is None or ranked.elo is None else round(ranked.elo.rating, 2)
    earned, held_back = award(score, elo, withheld=facts.no_badge or _why_unearned(deeper))
    low, high, ci_reason, dimensions = _intervals(facts, deeper if score is not None else None, dimensions)
    return SkillResult(
        composite=Composite(
            score=score,
            badge=earned,
            elo=elo,
            elo_reason=_without_elo(ranked),
            ci_low=low,
            ci_high=high,
            reason=unscored,
            badge_reason=held_back,
            penalty=penalty(len(facts.anti_patterns)),
            dimensions=dimensions,
            ci_reason=ci_reason,
        ),
        dimensions=dimensions,
        layers=(
            _static_layer(facts, detail=detail or deeper is not None),
            *(_rated(layer, score) for layer in (deeper.layers if deeper else ())),
        ),
        skill=skill,
        findings=settled.findings,
        advice=_advice_on(facts, layers, neighbour, deeper) if detail and score is not None else (),
        coverage=covered,
        usage=deeper.usage if deeper else Usage(),
        plugin=plugin,
        suppressed=settled.suppressed,
        lift=deeper.lift if deeper else None,
        quality_estimate=facts.estimate,
        public_percentile=_percentile(score) if detail and deeper is None and score is not None else None,
    )


def _uncovered(covered: float, dimensions: Mapping[Dimension, DimensionScore]) -> str | None:
    """Say why there is no composite where too little was measured, None where enough was."""
    if covered >= MIN_COVERAGE:
        return None
    reasons = [score.reason for score in dimensions.values() if score.reason not in (None, QUICK)]
    why = f": {reasons[0]}" if reasons else ""
    return f"{covered:.0%} of the weight is measured (minimum {MIN_COVERAGE:.0%}){why}"


def _percentile(score: float) -> PublicPercentile:
    """Return where a composite is among those of public skills."""
    from bisect import bisect_right

    from skillgate.scoring.public import PERCENTILES, SKILLS

    return PublicPercentile(float(min(100, bisect_right(PERCENTILES, score))), SKILLS)


def _by_layer(facts: Assessment, deeper: Deeper | None) -> dict[Dimension, dict[LayerName, float | None]]:
    """Return what each layer says of each dimension."""
    layers = layer_scores({name: score for name, (score, _) in facts.measured.items()})
    if deeper is not None:
        for dimension, judged in deeper.scores.items():
            layers[dimension][LayerName.JUDGE] = judged.score
        for dimension, estimate in deeper.simulated.items():
            layers[dimension][LayerName.MONTECARLO] = estimate.value
    return layers


def _ranking(deeper: Deeper | None) -> RankingLayer | None:
    layers = deeper.layers if deeper else ()
    return next((layer for layer in layers if isinstance(layer, RankingLayer)), None)


def _without_elo(ranked: RankingLayer | None) -> str | None:
    """Say why there is no Elo, None where there is one."""
    if ranked is None:
        return NO_RANKING
    return None if ranked.elo is not None else ranked.reason or NO_RANKING


def _rated(layer: Layer, score: float | None) -> Layer:
    """Say of a rating whether it decides the badge that the composite would earn, and may as well lie beyond it."""
    if not isinstance(layer, RankingLayer) or layer.bradley_terry is None:
        return layer
    sought = Badge.from_scores(score, None)
    rating = layer.bradley_terry
    straddles = sought is not None and rating.ci_low < sought.elo <= rating.ci_high
    return layer._replace(provisional=straddles or layer.unrated > 0)


def _why_unearned(deeper: Deeper | None) -> str | None:
    """Say why sampled scores earn no badge: no model has read the skill, or not all of it; None where one has."""
    if deeper is not None and deeper.no_badge is not None:
        return deeper.no_badge
    layers = deeper.layers if deeper else ()
    if all(layer.live for layer in layers if not isinstance(layer, StaticLayer)):
        return None
    return "the judge's answers are scripted or replayed"


def _intervals(
    facts: Assessment, deeper: Deeper | None, dimensions: Mapping[Dimension, DimensionScore]
) -> tuple[float | None, float | None, str | None, Mapping[Dimension, DimensionScore]]:
    """Return the composite's interval, or why there is none; and the dimensions with theirs."""
    if deeper is None:
        return None, None, None, dimensions

    from skillgate.scoring import sampled  # brings in numpy: only where something was sampled

    static = {name: score for name, (score, _) in facts.measured.items()}
    if deeper.simulated:
        joint = sampled.intervals(static, deeper.layers, len(facts.anti_patterns))
        found, reason = joint.composite, joint.reason
        dimensions = {name: _bounded(score, joint.dimensions.get(name)) for name, score in dimensions.items()}
    else:
        layer = next((layer for layer in deeper.layers if isinstance(layer, JudgeLayer)), None)
        if layer is None:
            return None, None, deeper.failure, dimensions
        found, reason = sampled.composite_interval(static, layer, len(facts.anti_patterns))
    if found is None:
        return None, None, reason, dimensions
    return round(found[0], 2), round(found[1], 2), None, dimensions


def _bounded(score: DimensionScore, ends: tuple[float, float] | str | None) -> DimensionScore:
    """Return a dimension the interval of the joint draws, or the reason why it has none."""
    if score.score is None or ends is None:
        return score
    if isinstance(ends, str):
        return score._replace(ci_low=None, ci_high=None, ci_reason=ends)
    low, high = (round(end, 4) for end in ends)
    return score._replace(ci_low=min(low, score.score), ci_high=max(high, score.score), ci_reason=None)


def _advice_on(
    facts: Assessment,
    layers: dict[Dimension, dict[LayerName, float | None]],
    neighbour: str | None,
    deeper: Deeper | None,
) -> tuple[Advice, ...]:

    known = facts.detail()
    sampled = deeper.layers if deeper is not None else ()
    sessions = next((layer for layer in sampled if isinstance(layer, MonteCarloLayer)), None)
    standing = Evaluated(
        measured={dimension: measured for _, dimension, measured in known.scores},
        layers=layers,
        anti_patterns=known.penalised,
        neighbour=neighbour,
        loads=None if sessions is None else sessions.loads,
        loaded={} if sessions is None else _loaded_measures(sessions),
        repair=known.repair,
    )
    return advise(standing)


def _loaded_measures(layer: MonteCarloLayer) -> dict[Dimension, float]:
    """Return what sessions measured of each dimension, without the load factor; the rest is left out."""
    found = {dimension: layer.measures[name].value for dimension, name in MEASURED_BY.items() if name in layer.measures}
    failure = layer.measures.get("failure_rate")
    if failure is not None and failure.value is not None:
        found[Dimension.ROBUSTNESS] = 1 - failure.value
    return {dimension: value for dimension, value in found.items() if value is not None}


def _dimension(
    dimension: Dimension, facts: Assessment, scores: Mapping[LayerName, float | None], deeper: Deeper | None
) -> DimensionScore:
    weight = WEIGHTS[dimension] / 100
    judged = deeper.scores.get(dimension) if deeper else None
    if deeper is not None and facts.unscored is None and (judged.score if judged else judged) is None:
        # A layer that was asked and did not answer: what is left of the blend would be another number by its name.
        missing = judged.reason if judged else None if deeper.scores else deeper.failure
        if missing is not None:
            return DimensionScore(score=None, grade=None, weight=weight, reason=missing)
    unsimulated = _unsimulated(deeper) if facts.unscored is None else None
    if unsimulated is not None and BLEND[dimension][LayerName.MONTECARLO]:
        return DimensionScore(score=None, grade=None, weight=weight, reason=unsimulated)
    value = blend(dimension, scores)
    if value is None:
        _, reason = facts.measured.get(dimension, (None, None))
        own = reason if BLEND[dimension][LayerName.STATIC] else None
        return DimensionScore(score=None, grade=None, weight=weight, reason=facts.unscored or own or QUICK)
    rounded = round(value, 4)
    low = high = ci_reason = None
    if judged is not None:
        low, high, ci_reason = judged.ci_low, judged.ci_high, judged.ci_reason
        if low is not None and high is not None:
            low, high = (round(blend(dimension, {**scores, LayerName.JUDGE: end}) or 0.0, 4) for end in (low, high))
    return DimensionScore(
        score=rounded, grade=Grade.of(rounded), ci_low=low, ci_high=high, weight=weight, ci_reason=ci_reason
    )


def _unsimulated(deeper: Deeper | None) -> str | None:
    """Say why sessions say nothing where some were asked for, None where they do, or none were."""
    if deeper is None or deeper.simulated or not any(isinstance(layer, MonteCarloLayer) for layer in deeper.layers):
        return None
    return deeper.failure


def _static_layer(facts: Assessment, *, detail: bool) -> StaticLayer:
    if not detail:
        return StaticLayer(facts.duration_ms, facts.anti_patterns, recoverable=facts.recoverable)
    known = facts.detail()
    return StaticLayer(
        duration_ms=facts.duration_ms,
        anti_patterns=facts.anti_patterns,
        score=None if known.layer_score is None else round(known.layer_score, 4),
        sub_checks={
            name: SubCheckScore(
                score=None if measured.score is None else round(measured.score, 4),
                dimension=dimension,
                reason=measured.reason,
                evidence=tuple(_rounded_evidence(evidence) for evidence in measured.evidence),
            )
            for name, dimension, measured in known.scores
        },
        recoverable=facts.recoverable,
    )


def _rounded_evidence(evidence: Evidence) -> Evidence:
    return evidence._replace(points=round(evidence.points, 4), possible=round(evidence.possible, 4))


# -- Advice: what to do next, and how many points each piece of it would bring, computed from the evidence
#
# Each missing point carries the key of the advice that would earn it. All that one piece of advice would fix is taken
# together, the composite is computed again, and the difference is its gain. Order: what fixes an error first, then by
# points gained. Where the frontmatter could not be read, its repair comes before all others, with the gain of what it
# seems to have been meant to say. Else the description of a skill that sessions hardly load does: nothing else matters
# until it is loaded. No advice asks for more text as such: what a band of sizes costs is evidence, a fact.
#
# Source: PluginEval method, table "Which Dimension to Improve First" and the tips per dimension, in our words.

LEAST_GAIN = 0.05  # points; less is not worth a line


class Remedy(NamedTuple):
    """One piece of advice: what to do, which dimension it is about, and its effort by the method's table."""

    action: str
    dimension: Dimension
    effort: str


_ACTIONS: dict[tuple[Dimension, str], dict[str, str]] = {
    (Dimension.TRIGGERING_ACCURACY, "low"): {
        "trigger": (
            "say when to use it: “Use when …” and the situations; test it on five prompts that should load the skill"
            " and five that should not"
        ),
        "situations": (
            "name the situations in the trigger clause, one of them “when …ing”; test it on five prompts that should"
            " load the skill and five that should not"
        ),
        "describe": "describe what the skill does and when to use it",
        "objects": "name in the description what the instructions are about: files, tools, formats, commands",
        "vague": "replace the words of the description that fit every skill by what this one does",
    },
    (Dimension.TRIGGERING_ACCURACY, "medium"): {
        "proactive": "if it should load without being asked, say “Use proactively …”",
        "automatic": "if it should always be used in some case, say “Always use … when”",
    },
    (Dimension.TRIGGERING_ACCURACY, "very low"): {
        "name": "give the skill the name of its directory, in lower-case letters, digits and hyphens",
        "boundary": "say when not to use it, and what to use instead",
    },
    (Dimension.ORCHESTRATION_FITNESS, "medium"): {
        "body": "write the instructions: the steps to take, in sentences",
        "instructions": "say what to do about what, and when: name files, commands, values, conditions",
        "failures": "say what to do when something fails or is missing",
        "reasons": "give the reason for rules that a model could doubt",
        "sentences": "turn fragments into sentences that say what to do, or drop them",
        "output": "show what the result looks like",
        "orchestrates": "describe the work itself, and leave it to the caller of the skill to start other agents",
    },
    (Dimension.ORCHESTRATION_FITNESS, "low"): {
        "returns": "say what it returns, and what it returns when it cannot complete the task",
        "input": "say what it works from: files, arguments, defaults",
    },
    (Dimension.STRUCTURAL_COMPLETENESS, "low"): {
        "code": "show the commands to run, with their input and output",
        "examples": "show one input with the output it should give, under Examples",
        "troubleshooting": "collect what goes wrong and what to do in each case under Troubleshooting",
    },
    (Dimension.PROGRESSIVE_DISCLOSURE, "low"): {
        "shorter": "split it, or move what is only sometimes needed to references/ and link it",
        "references": "move detail that is only sometimes needed to references/ and link it",
        "orphans": "create the files that are linked in references/, or drop the links",
    },
    (Dimension.STRUCTURAL_COMPLETENESS, "very low"): {
        "sections": "divide it into sections under ## headings",
        "table": "put what is compared or looked up into a table",
        "decision": "say how to decide between the options",
    },
    (Dimension.TOKEN_EFFICIENCY, "low"): {
        "directives": "keep MUST, NEVER and ALWAYS for safety and correctness; give the reason for the rest",
        "repeats": "say each thing once: remove the repeated lines",
        "carrying": "drop what a model knows anyway; say what is specific to this skill",
        "stock": "drop words that fit every skill, such as “comprehensive” and “best practices”",
        "filler": "remove the filler",
    },
    (Dimension.ECOSYSTEM_COHERENCE, "very low"): {
        "related": "say which skill, agent or reference takes over, and when",
        "related-links": "link the skills next to it that take over before or after, up to four",
        "dead-refs": "correct the links to other skills, or drop them",
    },
    (Dimension.CODE_TEMPLATE_QUALITY, "very low"): {
        "tags": "give each code block a language tag",
        "syntax": "fix the code blocks that do not parse",
        "introduced": "say before each code block what it is for and what its names mean",
    },
}
"""What to do by key, for the dimension that it is about and its effort by the method's table."""
REMEDIES = {
    key: Remedy(action, dimension, effort)
    for (dimension, effort), actions in _ACTIONS.items()
    for key, action in actions.items()
}


class Evaluated(NamedTuple):
    """What advice is computed from.

    Attributes:
        measured: the static layer's measures by dimension.
        layers: every layer's score of every dimension.
        anti_patterns: the advice key and the line of each anti-pattern finding.
        neighbour: the skill that describes nearly the same, as shown to people, None when there is none.
        loads: how many simulated sessions loaded the skill, None where none were simulated.
        loaded: by dimension, what those sessions measured, before it is multiplied by the load factor.
        repair: what repairs a frontmatter that could not be read, None where it could.
    """

    measured: Mapping[Dimension, Measured]
    layers: Mapping[Dimension, Mapping[LayerName, float | None]]
    anti_patterns: Sequence[tuple[str | None, int]]
    neighbour: str | None = None
    loads: Loads | None = None
    loaded: Mapping[Dimension, float] = MappingProxyType({})
    repair: Repair | None = None


def advise(evaluated: Evaluated) -> tuple[Advice, ...]:
    """List every piece of advice that gains at least 0.05 points: what fixes errors first, then by points gained.

    The repair of an unreadable frontmatter comes before that, whatever it gains; else, where sessions hardly load the
    skill, its description does.
    """
    keys = {item.advice for measured in evaluated.measured.values() for item in measured.evidence if item.advice}
    keys |= {key for key, _ in evaluated.anti_patterns if key}
    now = {dimension: blend(dimension, scores) for dimension, scores in evaluated.layers.items()}
    before = composite(now, len(evaluated.anti_patterns)) or 0.0
    found = {key: _advice(key, evaluated, now, before) for key in sorted(keys)}
    found = {key: advice for key, advice in found.items() if advice.gain >= LEAST_GAIN}
    rest = sorted(found, key=lambda key: (key not in _ERRORS, _order(found[key])))
    return (*_first(evaluated, now, before), *(found[key] for key in rest))


def _first(evaluated: Evaluated, now: Mapping[Dimension, float | None], before: float) -> Iterator[Advice]:
    """Advise what comes before all else: a repair, without which nothing is known of a description; else that."""
    if evaluated.repair is not None:
        yield _repaired(evaluated.repair, evaluated, now, before)
    else:
        yield from _description(evaluated, now, before)


def _description(evaluated: Evaluated, now: Mapping[Dimension, float | None], before: float) -> Iterator[Advice]:
    """Advise another description if few sessions load the skill; yield nothing if none completed.

    The gain is what the sessions measured already and what is held back until enough of them load the skill. How well
    the skill would do in the others is unknown. If they load it, triggering rises further.
    """
    loads = evaluated.loads
    if loads is None or not loads.few or not loads.completed:
        return
    raised = {
        dimension: blend(dimension, {**evaluated.layers[dimension], LayerName.MONTECARLO: share})
        for dimension, share in evaluated.loaded.items()
    }
    after = composite({**now, **raised}, len(evaluated.anti_patterns)) or 0.0
    yield Advice(
        action=f"rewrite the description so that it says when to load the skill: it was {loads.words} meant for it",
        dimension=Dimension.TRIGGERING_ACCURACY,
        gain=round(max(0.0, after - before), 2),
        effort="low",
        before=_rounded(now[Dimension.TRIGGERING_ACCURACY]),
        after=None,
        gain_per_hour=round(max(0.0, after - before) / EFFORT["low"], 2),
    )


def _repaired(repair: Repair, evaluated: Evaluated, now: Mapping[Dimension, float | None], before: float) -> Advice:
    raised = {
        key: blend(key, {**evaluated.layers[key], LayerName.STATIC: score})
        for key, score in repair.scores
        if score is not None and key in evaluated.layers
    }
    main = _main(Dimension.TRIGGERING_ACCURACY, now, raised)
    return Advice(
        action=repair.action,
        dimension=main,
        gain=round((composite({**now, **raised}, repair.anti_patterns) or 0.0) - before, 2),
        effort="very low",
        before=_rounded(now[main]) if main else None,
        after=_rounded(raised[main]) if main else None,
        line=repair.line,
        rule=repair.rule,
        gain_per_hour=round(
            ((composite({**now, **raised}, repair.anti_patterns) or 0.0) - before) / EFFORT["very low"], 2
        ),
    )


def _advice(key: str, evaluated: Evaluated, now: Mapping[Dimension, float | None], before: float) -> Advice:
    remedy = REMEDIES[key]
    raised = _raised(key, evaluated)
    removes = sum(1 for mended, _ in evaluated.anti_patterns if mended == key)
    after = composite({**now, **raised}, len(evaluated.anti_patterns) - removes) or 0.0
    main = _main(remedy.dimension, now, raised)
    return Advice(
        action=_action(key, remedy, evaluated),
        dimension=main,
        gain=round(after - before, 2),
        effort=remedy.effort,
        before=_rounded(now[main]) if main else None,
        after=_rounded(raised[main]) if main else None,
        line=_line(key, evaluated),
        removes=removes,
        gain_per_hour=round((after - before) / EFFORT[remedy.effort], 2),
    )


def _raised(key: str, evaluated: Evaluated) -> dict[Dimension, float | None]:
    """Return the dimensions that following a piece of advice moves, as they would be."""
    raised = {}
    for dimension, measured in evaluated.measured.items():
        missing = sum(item.possible - item.points for item in measured.evidence if item.advice == key)
        if missing and measured.score is not None:
            static = min(1.0, measured.score + missing)
            raised[dimension] = blend(dimension, {**evaluated.layers[dimension], LayerName.STATIC: static})
    code = evaluated.measured.get(Dimension.CODE_TEMPLATE_QUALITY)
    if key == "code" and code is not None and code.score is None:  # the first blocks make it measurable
        scores = {**evaluated.layers[Dimension.CODE_TEMPLATE_QUALITY], LayerName.STATIC: 1.0}
        raised[Dimension.CODE_TEMPLATE_QUALITY] = blend(Dimension.CODE_TEMPLATE_QUALITY, scores)
    return raised


def _main(
    preferred: Dimension, now: Mapping[Dimension, float | None], raised: Mapping[Dimension, float | None]
) -> Dimension | None:
    """Pick the dimension that moves the composite most; None when none moves."""
    moves = {key: WEIGHTS[key] * ((score or 0.0) - (now[key] or 0.0)) for key, score in raised.items()}
    best = max(moves, key=lambda key: (moves[key], key is preferred), default=preferred)
    return best if moves.get(best, 0.0) > 0 else None


def _action(key: str, remedy: Remedy, evaluated: Evaluated) -> str:
    action = remedy.action
    if key == "shorter":
        size = evaluated.measured.get(Dimension.PROGRESSIVE_DISCLOSURE)
        action = f"{size.evidence[0].text}: {action}" if size and size.evidence else action
    quoted = next((text for text in _texts(key, evaluated) if "“" in text), None)
    if key in _QUOTING and quoted:
        action = f"{action}: {quoted[quoted.index('“') :]}"
    if key in ("instructions", "sentences", "body") and evaluated.neighbour:
        action += f", or merge it with {evaluated.neighbour}, which describes nearly the same"
    return action


_QUOTING = frozenset(("failures", "reasons"))
_ERRORS = frozenset(("orphans", "dead-refs"))  # what these fix are findings of severity error


def _texts(key: str, evaluated: Evaluated) -> Iterator[str]:
    return (item.text for measured in evaluated.measured.values() for item in measured.evidence if item.advice == key)


def _line(key: str, evaluated: Evaluated) -> int | None:
    lines = [line for mended, line in evaluated.anti_patterns if mended == key]
    lines += [
        item.line
        for measured in evaluated.measured.values()
        for item in measured.evidence
        if item.advice == key and item.line is not None
    ]
    return min(lines, default=None)


def _order(advice: Advice) -> tuple[float, str, int, str]:
    """Sort by points gained; ties by the lowest grade with the highest weight."""
    grade = Grade.of(advice.before).value if advice.before is not None else "A"
    weight = WEIGHTS[advice.dimension] if advice.dimension else 0
    return -advice.gain, _worst_first(grade), -weight, advice.action


def _worst_first(grade: str) -> str:
    return chr(ord("Z") - ord(grade))


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


def most_valuable(advice: Iterable[Advice], count: int = 3) -> tuple[Advice, ...]:
    """Pick what to do first."""
    return tuple(advice)[:count]
