"""Evaluate the skills of a request: find, read, measure, compare, gate."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.cache import Cache, directory
from skillgate.config import config_digest
from skillgate.errors import EXIT_GATE_FAILED, EXIT_INCOMPLETE, EXIT_PASSED, UsageError
from skillgate.evaluation import pipeline
from skillgate.evaluation.request import (
    chosen_depth,
    policies,
    read_whole,
    require_able,
    require_bounds,
    require_fitting_options,
    selections,
    static_depth,
    wants_optional,
)
from skillgate.model.layers import MonteCarloLayer
from skillgate.model.score import Depth
from skillgate.model.skill import SkillSource
from skillgate.named_tuple import NamedTuple
from skillgate.scoring.gate import sampled_layers
from skillgate.skill.find import Discovery, discover, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import PurePosixPath

    from skillgate.config import Config
    from skillgate.console import Console
    from skillgate.evaluation.house import HouseRules
    from skillgate.evaluation.pipeline import Baseline, Evaluated, Evaluator, Touched
    from skillgate.evaluation.request import EvaluateRequest, Reading, Scope
    from skillgate.evaluation.sampled import DryRun
    from skillgate.model.finding import Assessment
    from skillgate.model.report import Report, SkillResult
    from skillgate.model.skill import SkillRoot
    from skillgate.report.known import Known
    from skillgate.scoring.gate import Policy

_MANY = 100  # skills from which on progress is shown


def _nothing() -> None:
    """Do nothing: there is no run to resume."""


class Evaluation(NamedTuple):
    """The result of a request."""

    report: Report
    single: bool  # whether it is about one path that is itself a skill
    seconds: float
    complete: bool = True  # whether all of the paths could be searched, and every house rule ran
    estimate: DryRun | None = None  # the estimate of a dry run
    finish: Callable[[], None] = _nothing  # call it once the report is written: until then the run can be resumed


def evaluate(
    request: EvaluateRequest, session: Console, *, policy: Callable[[PurePosixPath], Policy] | None = None
) -> Evaluation:
    """Find, read and evaluate skills; ``policy`` is the gate by shown path, instead of the configuration's.

    Raises:
        UsageError: a path or an option is not valid, or no skill was found.
        IncompleteError: the requested depth cannot run.
        KeyboardInterrupt: the user stopped the run.
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
    house = house_rules(config)
    folder = directory(session.environ) if request.use_cache else ""
    assessor = pipeline.Assessor(
        Cache(folder, now=time.time) if folder else None,
        optional=wants_optional(config),
        use_processes=request.use_processes,
        house=house,
        remember=config.get(settings.BASELINE) is not None,
    )
    evaluator = pipeline.Evaluator(
        assess=assessor.assess,
        across=assessor.across,
        criteria=pipeline.Criteria(
            policy=policy or policies(config, command=request.command, note=session.note, depth=depth),
            selection=selections(config),
        ),
        detail=request.command != "check",
        progress=_progress(len(discovery.roots), session),
    )
    touched = in_shard(scope.shard, discovery.roots, touching(scope, discovery.roots, session))
    report, estimate, finish = _measured(request, discovery, evaluator, session, depth, touched)
    assessor.close()
    failures = (*(() if house is None else house.failures), *filter(None, (assessor.failure,)))
    for failure in failures:
        session.note(failure)
    if request.digest:
        report = report._replace(config_digest=config_digest(config))
    if scope.shard is not None:
        report = report._replace(shard="{}/{}".format(*scope.shard))
    single = discovery.single and len(report.results) == 1
    complete = discovery.complete and not (house is not None and house.failures)
    return Evaluation(report, single, time.perf_counter() - started, complete, estimate, finish)


def house_rules(config: Config, reading: Reading = read_whole, *, outside: str = "") -> HouseRules | None:
    """Load the house rules of a configuration, as :func:`skillgate.evaluation.house.load` does; None without any.

    Raises:
        UsageError: a rule cannot be loaded.
    """
    if config.get(settings.RULES) is None:
        return None
    from skillgate.evaluation.house import load  # few configurations have any

    return load(config, reading, outside=outside)


def _measured(
    request: EvaluateRequest,
    discovery: Discovery,
    evaluator: Evaluator,
    session: Console,
    depth: Depth,
    touched: Touched | None,
) -> tuple[Report, DryRun | None, Callable[[], None]]:
    """Evaluate at a depth; return report, estimate and finish, as in :class:`Evaluation`."""
    options = request.models
    require_fitting_options(request.config, options, depth)
    if depth is Depth.QUICK:
        return compared(request, discovery, evaluator, session, touched=touched), None, _nothing
    require_able(request.config, depth, replay=options.replay is not None)
    if options.benchmark_json is not None:
        from skillgate.evaluation.sampled import require_benchmark  # few runs write one

        require_benchmark(options, session, discovery.roots)
    from skillgate.llm import require_packages

    require_packages()
    from skillgate.evaluation.sampled import run_name, sampling  # imports the judge

    name = run_name(request, discovery, depth, session)
    with sampling(request.config, options, session, depth, name) as one:
        deep = evaluator._replace(sampled=one.layers)
        report = compared(request, discovery, deep, session, touched=touched)
    estimate = one.result(report.results, session)
    if estimate is None and one.models.journal is not None:
        report = report._replace(resumed=one.models.journal.resumed)
    return report, estimate, one.models.finish


def find(scope: Scope, session: Console) -> Discovery:
    """Find skills; if not everything could be searched, some may be missing.

    Raises:
        UsageError: a path is not valid, or no skill was found.
    """
    if scope.given is not None:
        from skillgate.evaluation.standard_input import discovery_of  # few runs read standard input

        return discovery_of(scope.given, session.cwd)
    discovery = discover(scope.paths, cwd=session.cwd, excluded=scope.excluded)
    if not discovery.roots and discovery.complete and scope.paths and not scope.allow_empty and not scope.changed:
        where = ", ".join(scope.paths)
        raise UsageError(
            f"no skill found in {where}: a skill is a directory with a SKILL.md (use --allow-empty to accept none)"
        )
    return discovery


def touching(scope: Scope, roots: Sequence[SkillRoot], session: Console) -> Touched | None:
    """Return a test of whether a change touches a skill; None if the run is not about a change.

    Raises:
        UsageError: a skill is not in a repository, or there is no such revision.
        IncompleteError: Git is missing or fails.
    """
    if scope.since is not None and not scope.changed:
        raise UsageError("--since needs --changed")
    if not scope.changed:
        return None
    from skillgate.evaluation.changed import touched  # starts git

    return touched(roots, scope.since, session)


def in_shard(shard: tuple[int, int] | None, roots: Sequence[SkillRoot], touched: Touched | None) -> Touched | None:
    """Narrow a test to one shard of the skills, if there is one."""
    if shard is None:
        return touched
    from skillgate.model.skill import dealt  # few runs are split

    part, of = shard
    own = {root.path for root in roots if dealt(str(root.path), of) == part}
    return lambda root, facts: root.path in own and (touched is None or touched(root, facts))


def compared(
    request: EvaluateRequest, discovery: Discovery, evaluator: Evaluator, session: Console, *, touched: Touched | None
) -> Report:
    """Evaluate, and compare with the baseline if one is set.

    Raises:
        UsageError: a file that an option names cannot be read or written.
    """
    if request.config.get(settings.BASELINE) is None:
        return reported(request, discovery, evaluator, session, touched=touched).report
    from skillgate.evaluation.baseline import BaselineOptions, across_change, load_baseline  # most compare with nothing
    from skillgate.skill.git import one_reader

    scope, options = request.scope, BaselineOptions(excluded=request.scope.excluded)
    with one_reader():
        first = assessing_first(evaluator, discovery.roots)
        baseline = load_baseline(request.config, discovery.roots, scope.paths, session, first, options)
        result = reported(request, discovery, evaluator, session, touched=touched, baseline=baseline)
    return result.report._replace(across=across_change(result.report, baseline, result.across))


def assessing_first(evaluator: Evaluator, roots: Sequence[SkillRoot]) -> Evaluator:
    """Return an evaluator of a baseline that assesses the skills at ``roots`` before the baseline's, with progress.

    In a commit only those that differ are left to assess: one process does that, while files on disk are shared by
    several.
    """
    pending = [roots]

    def assess(sources: Sequence[SkillSource]) -> Iterable[Assessment]:
        while pending:
            readable = [one for one in map(read, pending.pop()) if isinstance(one, SkillSource)]
            for done, _ in enumerate(evaluator.assess(readable), 1):
                if evaluator.progress is not None:
                    evaluator.progress(done)
        return evaluator.assess(sources)

    return evaluator._replace(assess=assess)


def reported(
    request: EvaluateRequest,
    discovery: Discovery,
    evaluator: Evaluator,
    session: Console,
    *,
    touched: Touched | None,
    baseline: Baseline | None = None,
    read_sarif: Reading = read_whole,
    read_known: Reading = read_whole,
) -> Evaluated:
    """Evaluate, without known findings; with ``write_known_findings``, write the current ones first.

    ``read_sarif`` reads the findings of other tools, ``read_known`` the file of known findings.

    Raises:
        UsageError: a file that an option names cannot be read or written.
    """
    config, scope = request.config, request.scope
    sources = [read(root) for root in discovery.roots]
    others = None
    if request.merge_sarif:
        from skillgate.evaluation.known import OtherFindings  # most runs merge nothing

        part = "--changed" if scope.changed else "--files" if scope.of_files else ""
        others = OtherFindings(request.merge_sarif, session, part=part, reading=read_sarif)
        touched = _recording(touched, others.aside)

    def evaluated(known: Known | None) -> Evaluated:
        attach = None if others is None else others.attaching(known)
        own = evaluator._replace(criteria=evaluator.criteria._replace(known=known))
        result = pipeline.evaluate(sources, own, touched=touched, baseline=baseline, attach=attach)
        return result if others is None else result._replace(report=others.shown(result.report))

    if request.write_known_findings is None and config.get(settings.KNOWN_FINDINGS) is None:
        return evaluated(None)
    from skillgate.evaluation.known import load_known, write_known  # most runs have none

    if request.write_known_findings is not None:
        report = evaluated(None).report
        write_known(request.write_known_findings, report, request, session, complete=discovery.complete)
        config = config.with_options({settings.KNOWN_FINDINGS.key: request.write_known_findings})
    known = load_known(config, session, merges=others is not None, reading=read_known)
    result = evaluated(known)
    if known is not None and known.unmet and not scope.changed and scope.paths == (".",):
        gone = "1 known finding is" if known.unmet == 1 else f"{known.unmet} known findings are"
        session.note(f"{gone} gone; use --write-known-findings to update the file")
    return result


def _recording(touched: Touched | None, aside: set[str]) -> Touched | None:
    """Make a test add the shown paths of rejected skills to ``aside``."""
    if touched is None:
        return None

    def recorded(root: SkillRoot, facts: Assessment | None) -> bool:
        is_touched = touched(root, facts)
        if not is_touched:
            aside.add(str(root.path))
        return is_touched

    return recorded


def exit_code(evaluation: Evaluation) -> int:
    """Return 1 for a failed gate, 3 if a skill or directory could not be read or judged, else 0."""
    report = evaluation.report
    if report.gate.passed is False:
        return EXIT_GATE_FAILED
    whole = evaluation.complete and not report.summary.not_evaluated and not any(map(is_unjudged, report.results))
    return EXIT_PASSED if whole else EXIT_INCOMPLETE


def is_unjudged(result: SkillResult) -> bool:
    """Whether a sampled layer did not completely measure a skill."""
    layers = sampled_layers(result)
    parts = (*layers, *(() if result.lift is None else (result.lift,)))
    if any(part.reason is not None for part in parts):
        return True
    ended_early = any(isinstance(layer, MonteCarloLayer) and layer.stopped_early is not None for layer in layers)
    return bool(layers) and result.composite.score is None and not ended_early


def _progress(total: int, session: Console) -> Callable[[int], None] | None:
    """Return a progress counter for many skills, on a terminal."""
    if total < _MANY or session.quiet or not session.stderr.isatty():
        return None

    def show(done: int) -> None:
        if done % 25 == 0 or done == total:
            session.show_progress(f"\r{done} of {total} skills" if done < total else "\r" + " " * 40 + "\r")

    return show
