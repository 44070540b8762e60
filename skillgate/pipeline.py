"""The line from sources to a report: parse, layers, blend, composite, gate. Nothing here touches the world."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.report import (
    Composite,
    DimensionScore,
    PluginScore,
    Report,
    SkillName,
    SkillResult,
    StaticLayer,
    SubCheckScore,
    Summary,
    Tool,
    Verdict,
)
from skillgate.model.score import Badge, Depth, Dimension, Grade, LayerName
from skillgate.model.skill import Skill, Unreadable
from skillgate.scoring import advice, badge, composite
from skillgate.scoring.gate import Policy, judge, together
from skillgate.scoring.weights import BLEND, WEIGHTS
from skillgate.skill.parse import parse
from skillgate.static import layer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import PurePosixPath

    from skillgate.model.score import Evidence
    from skillgate.model.skill import SkillRoot, SkillSource
    from skillgate.static.layer import StaticResult

QUICK = "not measured at quick depth"
SIMILAR = 0.6  # of a description's own BM25 score: nearer than that, two skills say nearly the same


def _no_policy(_: PurePosixPath) -> Policy:
    return Policy()


class Context(NamedTuple):
    """What an evaluation is given besides its sources.

    Attributes:
        version: the tool's version, for the report.
        clock: monotonic nanoseconds.
        config_digest: of the effective configuration.
        policy: the gate for a skill, by its shown path.
        baseline: results to compare with, by shown path; None when no baseline was asked for.
        progress: told after each skill how many are done.
    """

    version: str
    clock: Callable[[], int]
    config_digest: str = ""
    policy: Callable[[PurePosixPath], Policy] = _no_policy
    baseline: Mapping[str, SkillResult] | None = None
    progress: Callable[[int], None] | None = None


class _Judged(NamedTuple):
    """A skill on its way to a result: what advice needs is kept until every skill is known."""

    root: SkillRoot
    skill: Skill
    static: StaticResult
    duration_ms: int


def evaluate(sources: Iterable[SkillSource | Unreadable], context: Context) -> Report:
    """Evaluate skills at quick depth; one that cannot be read is reported, and stops none of the others."""
    read: list[_Judged | Unreadable] = []
    for source in sources:
        read.append(source if isinstance(source, Unreadable) else _judge(source, context))
        if context.progress is not None:
            context.progress(len(read))
    neighbours = _neighbours([item for item in read if isinstance(item, _Judged)])
    results = []
    for item in read:
        result = _unread(item) if isinstance(item, Unreadable) else _result(item, neighbours)
        results.append(_gated(result, item.root, context))
    return Report(
        depth=Depth.QUICK,
        coverage=min((result.coverage for result in results if result.composite.score is not None), default=None),
        config_digest=context.config_digest,
        tool=Tool(version=context.version),
        results=tuple(results),
        summary=summarise(results),
        gate=Verdict(passed=_passed(results)),
    )


def summarise(results: Sequence[SkillResult]) -> Summary:
    """Sum many results up; a plugin's figure is the mean of its skills, with no second penalty."""
    scores = [result.composite.score for result in results if result.composite.score is not None]
    evaluated = sum(1 for result in results if result.evaluated)
    badges: dict[str, int] = {badge.value: 0 for badge in Badge} | {"none": 0}
    findings = {"error": 0, "warning": 0, "info": 0}
    for result in results:
        if result.evaluated:
            badges[result.composite.badge.value if result.composite.badge else "none"] += 1
        for finding in result.findings:
            findings[finding.severity.value] += 1
    return Summary(
        skills=len(results),
        evaluated=evaluated,
        not_evaluated=len(results) - evaluated,
        by_badge=badges,
        mean=_mean(scores),
        median=_median(scores),
        lowest=min(scores, default=None),
        findings=findings,
        plugins=_plugins(results),
    )


def _passed(results: Sequence[SkillResult]) -> bool | None:
    """Combine the gates: a run in which a skill could not be read has failed, or has not been decided."""
    passed = together(result.gate for result in results)
    return None if passed and not all(result.evaluated for result in results) else passed


def _mean(scores: Sequence[float]) -> float | None:
    return round(sum(scores) / len(scores), 2) if scores else None


def _median(scores: Sequence[float]) -> float | None:
    """Give the median; the standard library's would bring fractions and decimals into every start."""
    ranked = sorted(scores)
    middle = len(ranked) // 2
    return _mean(ranked[middle : middle + 1] if len(ranked) % 2 else ranked[middle - 1 : middle + 1])


def _plugins(results: Sequence[SkillResult]) -> tuple[PluginScore, ...]:
    members: dict[str, list[SkillResult]] = {}
    for result in results:
        if result.plugin is not None:
            members.setdefault(result.plugin, []).append(result)
    plugins = []
    for path, skills in sorted(members.items()):
        scores = [skill.composite.score for skill in skills if skill.composite.score is not None]
        plugins.append(PluginScore(path=path, skills=len(skills), mean=_mean(scores)))
    return tuple(plugins)


def _judge(source: SkillSource, context: Context) -> _Judged:
    started = context.clock()
    skill = parse(source)
    static = layer.run(skill)
    return _Judged(source.root, skill, static, (context.clock() - started) // 1_000_000)


def _gated(result: SkillResult, root: SkillRoot, context: Context) -> SkillResult:
    policy = context.policy(root.path)
    compared = context.baseline is not None
    before = context.baseline.get(result.skill.path) if context.baseline is not None else None
    return result._replace(gate=judge(result, policy, before, compared=compared))


def _plugin(root: SkillRoot) -> str | None:
    """Show the plugin of a skill as the skill itself is shown: its path less what lies below the plugin."""
    if root.plugin is None:
        return None
    below = [part for part in root.directory[len(root.plugin) :].split("/") if part]
    parts = [part for part in str(root.path).split("/") if part != "."]
    if parts[len(parts) - len(below) :] == below or not parts:
        kept = parts[: len(parts) - len(below)] if parts else [".."] * len(below)
        return ("/" if str(root.path).startswith("/") else "") + "/".join(part for part in kept if part) or "."
    return root.plugin or "."


def _name(root: SkillRoot, name: str = "") -> SkillName:
    return SkillName(name=name or root.name, path=str(root.path))


def _unread(item: Unreadable) -> SkillResult:
    reason = f"not evaluated: {item.reason}"
    return SkillResult(
        composite=Composite(score=None, badge=None, reason=reason, badge_reason=reason),
        dimensions={},
        layers=(),
        skill=_name(item.root),
        plugin=_plugin(item.root),
        evaluated=False,
    )


def _result(item: _Judged, neighbours: Mapping[str, str]) -> SkillResult:
    skill, static = item.skill, item.static
    layers = _layers(static)
    dimensions = {
        dimension: _dimension(dimension, static, layers[dimension], skill.unscored) for dimension in Dimension
    }
    measured = {dimension: score.score for dimension, score in dimensions.items()}
    score = composite.composite(measured, len(static.anti_patterns))
    earned, held_back = badge.award(score, None, withheld=static.no_badge)
    standing = advice.Standing(
        measured=static.dimensions,
        layers=layers,
        anti_patterns=layer.penalised(static.findings),
        neighbour=neighbours.get(str(item.root.path)),
    )
    return SkillResult(
        composite=Composite(
            score=score,
            badge=earned,
            reason=skill.unscored,
            badge_reason=held_back,
            penalty=composite.penalty(len(static.anti_patterns)),
            dimensions=dimensions,
        ),
        dimensions=dimensions,
        layers=(_static_layer(item),),
        skill=_name(item.root, skill.frontmatter.text("name")),
        findings=static.findings,
        advice=() if score is None else advice.advise(standing),
        coverage=composite.coverage(measured),
        plugin=_plugin(item.root),
    )


def _layers(static: StaticResult) -> dict[Dimension, dict[LayerName, float | None]]:
    return {
        dimension: {LayerName.STATIC: static.dimensions[dimension].score if dimension in static.dimensions else None}
        for dimension in Dimension
    }


def _dimension(
    dimension: Dimension, static: StaticResult, scores: Mapping[LayerName, float | None], unscored: str | None
) -> DimensionScore:
    value = composite.blend(dimension, scores)
    weight = WEIGHTS[dimension] / 100
    if value is None:
        measure = static.dimensions.get(dimension)
        own = measure.reason if measure is not None and BLEND[dimension][LayerName.STATIC] else None
        return DimensionScore(score=None, grade=None, weight=weight, reason=unscored or own or QUICK)
    rounded = round(value, 4)
    return DimensionScore(score=rounded, grade=Grade.of(rounded), weight=weight)


def _static_layer(item: _Judged) -> StaticLayer:
    static = item.static
    checks = dict(layer.subchecks())
    return StaticLayer(
        duration_ms=item.duration_ms,
        anti_patterns=static.anti_patterns,
        score=None if static.layer_score is None else round(static.layer_score, 4),
        sub_checks={
            name: SubCheckScore(
                score=None if measured.score is None else round(measured.score, 4),
                dimension=checks[name].dimension,
                reason=measured.reason,
                evidence=tuple(_rounded(evidence) for evidence in measured.evidence),
            )
            for name, measured in static.scores.items()
        },
    )


def _rounded(evidence: Evidence) -> Evidence:
    return evidence._replace(points=round(evidence.points, 4), possible=round(evidence.possible, 4))


def _neighbours(judged: Sequence[_Judged]) -> dict[str, str]:
    """Find, for each skill that is too short for its kind, the skill that describes nearly the same."""
    if len(judged) < 2:
        return {}
    from skillgate.skill.similarity import Index  # one skill alone has no neighbours and does not pay for it

    texts = {str(item.root.path): _listing(item) for item in judged}
    short = [str(item.root.path) for item in judged if _is_short(item.static)]
    index = Index(tuple(texts.items()))
    found = {}
    for key in short:
        matches = index.rank(texts[key], limit=2)
        own = next((match.score for match in matches if match.key == key), 0.0)
        other = next((match for match in matches if match.key != key), None)
        if other is not None and own and other.score >= SIMILAR * own:
            found[key] = other.key
    return found


def _listing(item: _Judged) -> str:
    """Give what a client lists of a skill: its name and description."""
    head = item.skill.frontmatter
    return f"{head.text('name') or item.root.name} {head.text('description')}"


def _is_short(static: StaticResult) -> bool:
    scope = static.dimensions.get(Dimension.SCOPE_CALIBRATION)
    return scope is not None and any(evidence.advice == "longer" for evidence in scope.evidence)
