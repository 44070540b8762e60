"""What to do next, and how many points each piece of it would bring: computed from the evidence, never guessed.

Each missing point carries the key of the advice that would earn it. All that one piece of advice would mend is taken
together, the composite is computed anew, and the difference is its gain. Order: gain ÷ effort, largest first. Where the
frontmatter could not be read, its repair stands before all others, with the gain of what it seems to have been meant
to say. Else the description of a skill that sessions hardly load stands there: nothing else matters as long as nobody
loads it.

Source: PluginEval method, table "Which Dimension to Improve First" and the tips per dimension, in our words.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.report import Advice
from skillgate.model.score import Dimension, Grade, LayerName
from skillgate.scoring.composite import blend, composite
from skillgate.scoring.weights import EFFORT, WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.model.assessment import Repair
    from skillgate.model.score import Measured
    from skillgate.model.simulating import Loads


LEAST_GAIN = 0.05  # points; less is not worth a line


class Remedy(NamedTuple):
    """One piece of advice: what to do, which dimension it is about, and its effort by the method's table."""

    action: str
    dimension: Dimension
    effort: str


REMEDIES: dict[str, Remedy] = {
    "trigger": Remedy(
        "say when to use it: “Use when …” with three or more situations, one of them “when …ing”; test it on five"
        " prompts that should load the skill and five that should not",
        Dimension.TRIGGERING_ACCURACY,
        "low",
    ),
    "situations": Remedy(
        "name three or more situations in the trigger clause, one of them “when …ing”; test it on five prompts that"
        " should load the skill and five that should not",
        Dimension.TRIGGERING_ACCURACY,
        "low",
    ),
    "describe": Remedy(
        "describe in 100 characters or more what the skill does and when to use it",
        Dimension.TRIGGERING_ACCURACY,
        "low",
    ),
    "proactive": Remedy(
        "if it should load without being asked, say “Use proactively …”", Dimension.TRIGGERING_ACCURACY, "medium"
    ),
    "automatic": Remedy(
        "if it should always be used in some case, say “Always use … when”", Dimension.TRIGGERING_ACCURACY, "medium"
    ),
    "name": Remedy(
        "give the skill the name of its directory, in lower-case letters, digits and hyphens",
        Dimension.TRIGGERING_ACCURACY,
        "very low",
    ),
    "body": Remedy(
        "write the instructions: the steps to take, in sentences", Dimension.ORCHESTRATION_FITNESS, "medium"
    ),
    "output": Remedy(
        "add an Output format section that shows what the result looks like", Dimension.ORCHESTRATION_FITNESS, "medium"
    ),
    "returns": Remedy(
        "say what it returns, and what it returns when it cannot complete the task",
        Dimension.ORCHESTRATION_FITNESS,
        "low",
    ),
    "input": Remedy(
        "add an Input section: what it needs, which parameters it takes", Dimension.ORCHESTRATION_FITNESS, "low"
    ),
    "orchestrates": Remedy(
        "describe the work itself, and leave starting other agents to whoever loads the skill",
        Dimension.ORCHESTRATION_FITNESS,
        "medium",
    ),
    "code": Remedy(
        "show it in code: five tagged blocks in three languages, say command, input and output",
        Dimension.STRUCTURAL_COMPLETENESS,
        "low",
    ),
    "longer": Remedy(
        "write out what is missing, or name a shorter kind in metadata.category",
        Dimension.SCOPE_CALIBRATION,
        "medium",
    ),
    "shorter": Remedy(
        "split it, or move what is only sometimes needed to references/ and link it",
        Dimension.PROGRESSIVE_DISCLOSURE,
        "low",
    ),
    "references": Remedy(
        "put detail that is only sometimes needed into references/ and link it", Dimension.PROGRESSIVE_DISCLOSURE, "low"
    ),
    "assets": Remedy("put templates and samples into assets/ and link them", Dimension.PROGRESSIVE_DISCLOSURE, "low"),
    "sections": Remedy(
        "divide it into sections under ## headings, each with something in it",
        Dimension.STRUCTURAL_COMPLETENESS,
        "very low",
    ),
    "examples": Remedy(
        "add an Examples section with an input and the output it should give",
        Dimension.STRUCTURAL_COMPLETENESS,
        "low",
    ),
    "troubleshooting": Remedy(
        "add a Troubleshooting section with three or more failure modes and what to do in each",
        Dimension.STRUCTURAL_COMPLETENESS,
        "low",
    ),
    "table": Remedy("put what is compared or looked up into a table", Dimension.STRUCTURAL_COMPLETENESS, "very low"),
    "decision": Remedy(
        "add a decision aid: a When to use section, or a table of options",
        Dimension.STRUCTURAL_COMPLETENESS,
        "very low",
    ),
    "directives": Remedy(
        "keep MUST, NEVER and ALWAYS for safety and correctness; give the reason for the rest",
        Dimension.TOKEN_EFFICIENCY,
        "low",
    ),
    "repeats": Remedy("say each thing once: remove the repeated lines", Dimension.TOKEN_EFFICIENCY, "low"),
    "related": Remedy(
        "add a Related section that links the skills that take over before or after",
        Dimension.ECOSYSTEM_COHERENCE,
        "very low",
    ),
    "related-links": Remedy(
        "link the skills beside it that take over before or after, up to four",
        Dimension.ECOSYSTEM_COHERENCE,
        "very low",
    ),
    "tags": Remedy("give each code block a language tag", Dimension.CODE_TEMPLATE_QUALITY, "very low"),
    "syntax": Remedy("mend the code blocks that do not parse", Dimension.CODE_TEMPLATE_QUALITY, "very low"),
    "orphans": Remedy(
        "create the files that are linked in references/, or drop the links", Dimension.PROGRESSIVE_DISCLOSURE, "low"
    ),
    "dead-refs": Remedy("correct the links to other skills, or drop them", Dimension.ECOSYSTEM_COHERENCE, "very low"),
}


class Standing(NamedTuple):
    """Where a skill stands: what advice is computed from.

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


def advise(standing: Standing) -> tuple[Advice, ...]:
    """List every piece of advice that gains at least 0.05 points, the most gain for the effort first.

    The repair of an unreadable frontmatter comes before that, whatever it gains; else, where sessions hardly load the
    skill, its description does.
    """
    keys = {item.advice for measured in standing.measured.values() for item in measured.evidence if item.advice}
    keys |= {key for key, _ in standing.anti_patterns if key}
    now = {dimension: blend(dimension, scores) for dimension, scores in standing.layers.items()}
    before = composite(now, len(standing.anti_patterns)) or 0.0
    found = (_advice(key, standing, now, before) for key in sorted(keys))
    rest = sorted((advice for advice in found if advice.gain >= LEAST_GAIN), key=_order)
    return (*_first(standing, now, before), *rest)


def _first(standing: Standing, now: Mapping[Dimension, float | None], before: float) -> Iterator[Advice]:
    """Advise what comes before all else: a repair, without which nothing is known of a description; else that."""
    if standing.repair is not None:
        yield _repaired(standing.repair, standing, now, before)
    else:
        yield from _description(standing, now, before)


def _description(standing: Standing, now: Mapping[Dimension, float | None], before: float) -> Iterator[Advice]:
    """Advise another description where few sessions load the skill; where none completed, nothing tells of it.

    The gain is what the sessions measured already and what is held back until enough of them load the skill. How well
    the skill would do in the others nobody knows, and that they load it raises triggering further.
    """
    loads = standing.loads
    if loads is None or not loads.few or not loads.completed:
        return
    raised = {
        dimension: blend(dimension, {**standing.layers[dimension], LayerName.MONTECARLO: share})
        for dimension, share in standing.loaded.items()
    }
    after = composite({**now, **raised}, len(standing.anti_patterns)) or 0.0
    yield Advice(
        action=f"rewrite the description so that it says when to load the skill: it was {loads.words} meant for it",
        dimension=Dimension.TRIGGERING_ACCURACY,
        gain=round(max(0.0, after - before), 2),
        effort="low",
        before=_rounded(now[Dimension.TRIGGERING_ACCURACY]),
        after=None,
    )


def _repaired(repair: Repair, standing: Standing, now: Mapping[Dimension, float | None], before: float) -> Advice:
    raised = {
        key: blend(key, {**standing.layers[key], LayerName.STATIC: score})
        for key, score in repair.scores
        if score is not None and key in standing.layers
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
    )


def _advice(key: str, standing: Standing, now: Mapping[Dimension, float | None], before: float) -> Advice:
    remedy = REMEDIES[key]
    raised = _raised(key, standing)
    removes = sum(1 for mended, _ in standing.anti_patterns if mended == key)
    after = composite({**now, **raised}, len(standing.anti_patterns) - removes) or 0.0
    main = _main(remedy.dimension, now, raised)
    return Advice(
        action=_action(key, remedy, standing),
        dimension=main,
        gain=round(after - before, 2),
        effort=remedy.effort,
        before=_rounded(now[main]) if main else None,
        after=_rounded(raised[main]) if main else None,
        line=_line(key, standing),
        removes=removes,
    )


def _raised(key: str, standing: Standing) -> dict[Dimension, float | None]:
    """Give the dimensions that following a piece of advice moves, as they would be."""
    raised = {}
    for dimension, measured in standing.measured.items():
        missing = sum(item.possible - item.points for item in measured.evidence if item.advice == key)
        if missing and measured.score is not None:
            static = min(1.0, measured.score + missing)
            raised[dimension] = blend(dimension, {**standing.layers[dimension], LayerName.STATIC: static})
    code = standing.measured.get(Dimension.CODE_TEMPLATE_QUALITY)
    if key == "code" and code is not None and code.score is None:  # the first blocks make it measurable
        scores = {**standing.layers[Dimension.CODE_TEMPLATE_QUALITY], LayerName.STATIC: 1.0}
        raised[Dimension.CODE_TEMPLATE_QUALITY] = blend(Dimension.CODE_TEMPLATE_QUALITY, scores)
    return raised


def _main(
    preferred: Dimension, now: Mapping[Dimension, float | None], raised: Mapping[Dimension, float | None]
) -> Dimension | None:
    """Pick the dimension that moves the composite most; None when none moves."""
    moves = {key: WEIGHTS[key] * ((score or 0.0) - (now[key] or 0.0)) for key, score in raised.items()}
    best = max(moves, key=lambda key: (moves[key], key is preferred), default=preferred)
    return best if moves.get(best, 0.0) > 0 else None


def _action(key: str, remedy: Remedy, standing: Standing) -> str:
    if key not in ("longer", "shorter"):
        return remedy.action
    scope = standing.measured.get(Dimension.SCOPE_CALIBRATION)
    size = scope.evidence[0].text if scope and scope.evidence else ""
    action = f"{size}: {remedy.action}" if size else remedy.action
    if key == "longer" and standing.neighbour:
        action += f", or merge it with {standing.neighbour}, which describes nearly the same"
    return action


def _line(key: str, standing: Standing) -> int | None:
    lines = [line for mended, line in standing.anti_patterns if mended == key]
    lines += [
        item.line
        for measured in standing.measured.values()
        for item in measured.evidence
        if item.advice == key and item.line is not None
    ]
    return min(lines, default=None)


def _order(advice: Advice) -> tuple[float, str, int, str]:
    """Sort by gain for the effort; ties by the lowest grade with the highest weight."""
    grade = Grade.of(advice.before).value if advice.before is not None else "A"
    weight = WEIGHTS[advice.dimension] if advice.dimension else 0
    return -advice.gain / EFFORT[advice.effort], _worst_first(grade), -weight, advice.action


def _worst_first(grade: str) -> str:
    return chr(ord("Z") - ord(grade))


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, 4)


def most_valuable(advice: Iterable[Advice], count: int = 3) -> tuple[Advice, ...]:
    """Pick what to do first."""
    return tuple(advice)[:count]
