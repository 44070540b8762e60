"""Evaluation at a depth that asks models: connects, evaluates beside the baseline, says what it could not do."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.config import config_digest
from skillgate.evaluation import pipeline
from skillgate.evaluation.deepen import SampledLayers
from skillgate.evaluation.deepening import Deepener
from skillgate.evaluation.models.connecting import Models
from skillgate.evaluation.models.spending import Estimator
from skillgate.evaluation.reporting import compared
from skillgate.model.digest import digest
from skillgate.model.judging import JudgeLayer
from skillgate.model.score import Depth
from skillgate.model.simulating import MonteCarloLayer, RankingLayer
from skillgate.model.skill import SkillSource
from skillgate.registry import PROVIDERS
from skillgate.scoring.regression import sampled_layers
from skillgate.skill.read import read

_MOST_REASONS = 5
_DONE = {JudgeLayer: "judged", MonteCarloLayer: "simulated", RankingLayer: "ranked"}

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillgate.config import Config
    from skillgate.evaluation.models.spending import DryRun
    from skillgate.evaluation.pipeline import Touched
    from skillgate.evaluation.request import CompareRequest, EvaluateRequest, ModelOptions
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.skill import Unreadable
    from skillgate.session import Session
    from skillgate.skill.discover import Discovery


def compared_deeper(
    request: EvaluateRequest,
    discovery: Discovery,
    evaluator: pipeline.Evaluator,
    session: Session,
    *,
    depth: Depth,
    touched: Touched | None,
) -> tuple[Report, DryRun | None, Callable[[], None]]:
    """Evaluate with the sampled layers; or, in a dry run, only estimate what they would ask.

    Returns:
        The report; the estimate where that was all that was wanted; and what is called once the report is
        written, from when on the run need not be gone on from.

    Raises:
        UsageError: an option does not fit another, or a file cannot be read.
        IncompleteError: a package is missing.
        KeyboardInterrupt: the user wants no more.
    """
    run = "" if request.models.dry_run else _name(request, discovery, depth, session)
    with _judging(request.config, request.models, session, depth, run) as (measure, models):
        sampled = SampledLayers(depth, measure, models.names, models.judged_as)
        report = compared(request, discovery, evaluator._replace(sampled=sampled), session, touched=touched)
    if isinstance(measure, Estimator):
        return report, measure.result(), models.finish
    for sentence in unanswered(report.results):
        session.note(sentence)
    resumed = None if models.journal is None else models.journal.resumed
    return report._replace(resumed=resumed), None, models.finish


def _name(request: EvaluateRequest, discovery: Discovery, depth: Depth, session: Session) -> str:
    """Name a run by what it asks about and how: the same command on the same skills is the same run."""
    config, scope, options = request.config, request.scope, request.models
    if depth not in (Depth.DEEP, Depth.CERTIFY) and not PROVIDERS.flag(config.get(settings.PROVIDER), "BATCHES"):
        return ""
    sources = [read(root) for root in discovery.roots]
    contents = [digest(one.data) if isinstance(one, SkillSource) else "" for one in sources]
    said = (session.cwd, depth.value, config_digest(config), scope.shard)
    # One that asks everything anew takes nothing from a run that did not.
    asked = (options.lift, options.calibration, scope.changed, scope.since, options.refresh, not options.keep_answers)
    paths = [str(root.path) for root in discovery.roots]
    return digest(repr((said, asked, paths, contents)).encode("utf-8", "surrogatepass"))


def both_sides(
    sources: Sequence[SkillSource | Unreadable],
    request: CompareRequest,
    session: Session,
    *,
    depth: Depth,
) -> tuple[tuple[SkillResult, SkillResult], tuple[str, ...], DryRun | None]:
    """Evaluate two skills; where both bear one name, the second on the prompts of the first.

    Returns:
        Both results, the models, and the estimate where that was all that was wanted.

    Raises:
        UsageError: an option does not fit another, or a file cannot be read.
        IncompleteError: a package is missing.
    """
    with _judging(request.config, request.models, session, depth) as (measure, models):
        evaluator = pipeline.Evaluator(sampled=SampledLayers(depth, measure, models.names, models.judged_as))
        a = pipeline.evaluate(sources[:1], evaluator).report.results[0]
        # The baseline gives the prompts alone; a drop is judged where both sides are known.
        named_alike = sources[1].root.name == sources[0].root.name
        baseline = pipeline.Baseline({str(sources[1].root.path): a}) if named_alike else None
        b = pipeline.evaluate(sources[1:], evaluator, baseline=baseline).report.results[0]
    if isinstance(measure, Estimator):
        return (a, b), models.names, measure.result()
    for sentence in unanswered((a, b)):
        session.note(sentence)
    return (a, b), models.names, None


@contextmanager
def _judging(
    config: Config, options: ModelOptions, session: Session, depth: Depth, run: str = ""
) -> Iterator[tuple[Deepener | Estimator, Models]]:
    models = Models(config, session, options, session.environ, depth, run=run)
    is_through = False
    try:
        if options.dry_run:
            yield Estimator(models.setup), models
        else:
            yield Deepener(models.setup, session, calibration=options.calibration), models
        is_through = True
    finally:
        if not is_through:
            models.leave()
        failure = models.close()
        if failure is not None:
            session.note(failure)


def unanswered(results: Iterable[SkillResult]) -> Iterator[str]:
    """Say once for each cause how many skills have no score for it."""
    reasons = Counter(
        f"{'not' if result.composite.score is None else 'not wholly'} {_DONE[type(layer)]}: {layer.reason}"
        for result in results
        for layer in sampled_layers(result)
        if layer.reason
    )
    reasons.update(
        f"without the lift that was asked for: {result.lift.reason}"
        for result in results
        if result.lift is not None and result.lift.reason
    )
    for reason, count in reasons.most_common(_MOST_REASONS):
        yield f"{count} skill{'s' * (count != 1)} {reason}"
    if len(reasons) > _MOST_REASONS:
        yield f"and {len(reasons) - _MOST_REASONS} more reasons; the report has them all"
