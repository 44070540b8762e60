"""Evaluate the skills that a request names: find, read, measure, compare, gate."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from skillgate.cache import Cache, directory
from skillgate.config import config_digest
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluation.depth import chosen_depth, require_able, require_no_models, require_sessions, static_depth
from skillgate.evaluation.findings import selections, wants_optional
from skillgate.evaluation.keeper import Keeper
from skillgate.evaluation.pipeline import Assessor, Criteria, Evaluator
from skillgate.evaluation.policies import policies, require_bounds
from skillgate.evaluation.reporting import compared
from skillgate.model.score import Depth
from skillgate.model.simulating import MonteCarloLayer
from skillgate.scoring.regression import sampled_layers
from skillgate.skill.discover import discover

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import PurePosixPath

    from skillgate.evaluation.models.spending import DryRun
    from skillgate.evaluation.request import EvaluateRequest, Scope
    from skillgate.model.assessment import Assessment
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.skill import SkillRoot
    from skillgate.scoring.gate import Policy
    from skillgate.session import Session
    from skillgate.skill.discover import Discovery

    Touched = Callable[[SkillRoot, Assessment | None], bool]

_MANY = 100  # skills before progress is worth a line


def _nothing() -> None:
    """There is nothing to go on from."""


class Evaluation(NamedTuple):
    """What came of a request.

    Attributes:
        report: the report.
        single: whether it is of one path that is itself a skill.
        seconds: how long it took.
        complete: whether all of the paths could be searched.
        estimate: what asking models would take, where that was all that was wanted.
        finish: to be called once the report is written, so that a run that is cut short before can be gone on from.
    """

    report: Report
    single: bool
    seconds: float
    complete: bool = True
    estimate: DryRun | None = None
    finish: Callable[[], None] = _nothing


def evaluate(
    request: EvaluateRequest, session: Session, *, policy: Callable[[PurePosixPath], Policy] | None = None
) -> Evaluation:
    """Find, read and evaluate skills.

    Args:
        request: what to evaluate, and how.
        session: the run.
        policy: the gate of each skill, by its shown path; None for what the configuration says.

    Raises:
        UsageError: a path or an option is not valid, or no skill was found.
        IncompleteError: the depth asked for cannot run.
        KeyboardInterrupt: the user wants no more.
    """
    started = time.perf_counter()
    config, scope = request.config, request.scope
    depth = static_depth(config) if request.command == "check" else chosen_depth(config)
    require_bounds(config, depth)
    if request.write_known_findings is not None:
        from skillgate.evaluation.known import require_writable  # few runs write known findings

        require_writable(request.write_known_findings, request, session)
    discovery = find(scope, session)
    for notice in discovery.notices:
        session.note(notice)
    folder = directory(session.environ) if request.use_cache else ""
    keeper = Keeper(
        Cache(folder, now=time.time) if folder else None,
        clock=time.perf_counter_ns,
        optional=wants_optional(config),
        use_processes=request.use_processes,
    )
    evaluator = Evaluator(
        assessor=Assessor(keeper.assess, keeper.across),
        criteria=Criteria(
            policy=policy or policies(config, command=request.command, note=session.note, depth=depth),
            selection=selections(config),
        ),
        detail=request.command != "check",
        progress=_progress(len(discovery.roots), session),
    )
    touched = in_shard(scope.shard, discovery.roots, touching(scope, discovery.roots, session))
    report, estimate, finish = _measured(request, discovery, evaluator, session, depth=depth, touched=touched)
    keeper.close()
    if keeper.failure is not None:
        session.note(keeper.failure)
    if request.digest:
        report = report._replace(config_digest=config_digest(config))
    if scope.shard is not None:
        report = report._replace(shard="{}/{}".format(*scope.shard))
    single = discovery.single and len(report.results) == 1
    return Evaluation(report, single, time.perf_counter() - started, discovery.complete, estimate, finish)


def _measured(
    request: EvaluateRequest,
    discovery: Discovery,
    evaluator: Evaluator,
    session: Session,
    *,
    depth: Depth,
    touched: Touched | None,
) -> tuple[Report, DryRun | None, Callable[[], None]]:
    """Evaluate at the depth that is asked for.

    Returns:
        Report, estimate and what finishes the run, as :class:`Evaluation` has them.
    """
    config, options = request.config, request.models
    if depth is Depth.QUICK:
        require_no_models(config, options)
        return compared(request, discovery, evaluator, session, touched=touched), None, _nothing
    require_sessions(config, options, depth)
    require_able(config, depth, replay=options.replay is not None)
    if options.benchmark_json is not None:
        from skillgate.evaluation.lifting import require_benchmark  # few runs write one

        require_benchmark(options.benchmark_json, options, session, discovery.roots)
    from skillgate.llm.extras import require_packages

    require_packages()
    from skillgate.evaluation.standard import compared_deeper  # brings in the judge

    return compared_deeper(request, discovery, evaluator, session, depth=depth, touched=touched)


def find(scope: Scope, session: Session) -> Discovery:
    """Find skills. Where not all could be searched, there may be some that nobody saw.

    Raises:
        UsageError: a path is not valid, or no skill was found.
    """
    discovery = discover(scope.paths, cwd=session.cwd)
    if not discovery.roots and discovery.complete and scope.paths and not scope.allow_empty and not scope.changed:
        where = ", ".join(scope.paths)
        raise UsageError(
            f"no skill found in {where}: a skill is a directory with a SKILL.md (--allow-empty accepts none)"
        )
    return discovery


def touching(scope: Scope, roots: Sequence[SkillRoot], session: Session) -> Touched | None:
    """Return the test of whether a change touches a skill; None where the run is about no change.

    Raises:
        UsageError: a skill is in no repository, or there is no such revision.
        IncompleteError: git is missing or fails.
    """
    if scope.since is not None and not scope.changed:
        raise UsageError("--since says what --changed compares with; give --changed too")
    if not scope.changed:
        return None
    from skillgate.evaluation.changed import touched  # starts git

    return touched(roots, scope.since, session)


def in_shard(shard: tuple[int, int] | None, roots: Sequence[SkillRoot], touched: Touched | None) -> Touched | None:
    """Narrow a test to one shard of the skills, where one is asked for."""
    if shard is None:
        return touched
    from skillgate.model.shard import dealt  # few runs are split

    part, of = shard
    own = {root.path for root in roots if dealt(str(root.path), of) == part}
    return lambda root, facts: root.path in own and (touched is None or touched(root, facts))


def exit_code(evaluation: Evaluation) -> int:
    """Return 1 for a failed gate, 3 where a skill or a directory could not be read or judged, else 0."""
    if evaluation.report.gate.passed is False:
        return EXIT_GATE_FAILED
    report = evaluation.report
    whole = evaluation.complete and not report.summary.not_evaluated and not any(map(is_unjudged, report.results))
    return EXIT_PASSED if whole else EXIT_INCOMPLETE


def is_unjudged(result: SkillResult) -> bool:
    """Whether a sampled layer was asked about a skill and did not wholly measure it."""
    layers = sampled_layers(result)
    if any(layer.reason is not None for layer in layers) or (
        result.lift is not None and result.lift.reason is not None
    ):
        return True
    ended_early = any(isinstance(layer, MonteCarloLayer) and layer.stopped_early is not None for layer in layers)
    return bool(layers) and result.composite.score is None and not ended_early


def _progress(total: int, session: Session) -> Callable[[int], None] | None:
    """Count on stderr while many skills are evaluated, where somebody is looking."""
    if total < _MANY or session.quiet or not session.stderr.isatty():
        return None

    def show(done: int) -> None:
        if done % 25 == 0 or done == total:
            session.show_progress(f"\r{done} of {total} skills" if done < total else "\r" + " " * 40 + "\r")

    return show
