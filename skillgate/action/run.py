"""Evaluate what is checked out, compare it with its base, and decide."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

from skillgate.action.base.corpus import corpus_changes
from skillgate.action.base.files import read_of_base
from skillgate.action.base.gate_changes import gate_changes
from skillgate.action.base.policies import policies_of, strict_selections
from skillgate.action.certificates import digests, with_digests
from skillgate.action.comparison import difference, evaluate_base
from skillgate.action.context import load_context
from skillgate.action.discovery import find_skills, requested_paths
from skillgate.action.models import require_current_prompts, sampled
from skillgate.action.outcome import BENCHMARK, Results, new_record, with_budget, with_failure, with_scores
from skillgate.config import config_digest
from skillgate.errors import UsageError
from skillgate.evaluation import pipeline
from skillgate.evaluation.baseline.loading import across_change
from skillgate.evaluation.changed import touched
from skillgate.evaluation.depth import chosen_depth
from skillgate.evaluation.findings import selections, wants_optional
from skillgate.evaluation.keeper import Keeper
from skillgate.evaluation.policies import require_bounds
from skillgate.evaluation.reporting import reported
from skillgate.evaluation.request import EvaluateRequest, Scope
from skillgate.evaluation.run import in_shard

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.action.comparison import BaseSkills
    from skillgate.action.context import RunContext
    from skillgate.action.github.event import Event
    from skillgate.action.invocations.gates import GateRequest
    from skillgate.action.request import ActionRequest
    from skillgate.action.session import ActionSession
    from skillgate.model.assessment import Assessment
    from skillgate.model.run import ActionRun
    from skillgate.model.score import Depth
    from skillgate.model.skill import SkillRoot
    from skillgate.skill.discover import Discovery
    from skillgate.store.target import Target

    Touched = Callable[[SkillRoot, Assessment | None], bool]


def evaluate(request: ActionRequest, event: Event, session: ActionSession) -> Results:
    """Evaluate skills, gates on recorded invocations and a benchmark, as far as the inputs ask for them.

    Raises:
        UsageError: an input, the configuration or the checkout does not do.
        IncompleteError: the depth asked for cannot run, or git fails.
    """
    context = load_context(request, event, session.cwd)
    session = session.with_config(context.config)
    depth = chosen_depth(context.config)
    require_bounds(context.config, depth, also=(BENCHMARK,) if request.benchmark.is_wanted else ())
    require_current_prompts(context, depth)
    store, gates = _store(context), wanted_gates(context, session)
    changes: tuple[str, ...] = ()
    if context.is_change:
        changes = (*gate_changes(context), *corpus_changes(context, session.environ))
    found = find_skills(context)
    for notice in (*context.notes, *found.notices):
        session.note(notice)
    keeper = Keeper(None, clock=time.perf_counter_ns, optional=wants_optional(context.config))
    with sampled(context, session, depth) as (layers, models):
        evaluator = pipeline.Evaluator(
            pipeline.Assessor(keeper.assess, keeper.across),
            pipeline.Criteria(policies_of(context, session, {}, depth), selections(context.config)),
            sampled=layers,
        )
        results, base = _scored(context, new_record(context, event), session, found, evaluator, depth, changes)
        if models is not None:
            results = results._replace(run=with_budget(results.run, results.report, models.setup.spent()))
    results = _with_notices(results, session)  # also what the models' end brought
    # Gates go before a benchmark, whose programs must find nothing that decides.
    results = with_gates(results, gates, context, session, base)
    results = _with_benchmark(results, context, session)
    return results if store is None else _stored(results, store, context, session)


def _scored(
    context: RunContext,
    run: ActionRun,
    session: ActionSession,
    found: Discovery,
    evaluator: pipeline.Evaluator,
    depth: Depth,
    changes: tuple[str, ...],
) -> tuple[Results, BaseSkills | None]:
    """Evaluate head and base, and compare them."""
    before, base = evaluate_base(context, found, session, evaluator)
    if base is not None:
        criteria = evaluator.criteria._replace(
            policy=policies_of(context, session, base.moved, depth),
            selection=strict_selections(context.config, base.moved),
            honoured=base.waivers,
        )
        evaluator = evaluator._replace(criteria=criteria)
    touching: set[str] = set()
    narrowed = in_shard(context.request.shard, found.roots, _touched(context, found, session))
    touches = None if narrowed is None else _recording(narrowed, touching)
    evaluated = _measured(context, session, found, evaluator, before, touches, depth)
    report = evaluated.report
    gone = before.gone if before else ()
    if not found.roots and found.complete and not gone and not context.request.benchmark.is_wanted:
        raise UsageError(
            f"no skill found in {', '.join(requested_paths(context))}: a skill is a directory with a SKILL.md"
        )
    removed = len(gone) if context.base.commit in (None, context.compared.commit) else 0  # else it may be long ago
    beside = tuple(
        result.skill.path for result in report.results if narrowed is not None and result.skill.path not in touching
    )
    changed = None
    if before is not None:
        then = before if evaluated.baseline is None else before._replace(results=evaluated.baseline)
        changed = difference(context, report, then, beside, evaluator.criteria.policy, evaluated.across)
    if base is not None:
        changes = (*changes, *base.waivers.refused())
        for sentence in base.waivers.outdated():
            session.note(sentence)
    run = dataclasses.replace(
        run,
        policy_changes=changes,
        notices=session.notes,
        touched=len(touching) + removed if context.changed_only else None,
        beside=beside,
    )
    run = with_scores(run, report, changed, context, complete=found.complete)
    return Results(run, report, changed, config_digest=report.config_digest), base


def _measured(
    context: RunContext,
    session: ActionSession,
    found: Discovery,
    evaluator: pipeline.Evaluator,
    baseline: pipeline.Baseline | None,
    touches: Touched | None,
    depth: Depth,
) -> pipeline.Evaluated:
    """Evaluate the head; its report says what it is of."""
    shard = context.request.shard
    request = EvaluateRequest(
        context.config,
        Scope(tuple(requested_paths(context)), changed=context.changed_only, shard=shard),
        merge_sarif=context.request.merge_sarif,
        use_cache=False,
    )
    files = digests(found.roots, depth, session.cwd)
    evaluated = reported(
        request,
        found,
        evaluator,
        session,
        touched=touches,
        baseline=baseline,
        read_known=context.read_policy_file,
        read_sarif=read_of_base(context),
    )
    report = with_digests(evaluated.report, files, digests(found.roots, depth, session.cwd) if files else {})
    across = None if baseline is None else across_change(report, baseline, evaluated.across)
    return evaluated._replace(
        report=report._replace(
            config_digest=config_digest(context.config),
            shard=None if shard is None else "{}/{}".format(*shard),
            across=across,
        )
    )


def _recording(touches: Touched, paths: set[str]) -> Touched:
    """Return a test that puts the shown paths of what it says yes to into ``paths``."""

    def recorded(root: SkillRoot, facts: Assessment | None) -> bool:
        is_touched = touches(root, facts)
        if is_touched:
            paths.add(str(root.path))
        return is_touched

    return recorded


def _touched(context: RunContext, found: Discovery, session: ActionSession) -> Touched | None:
    """Return the test of whether the change touches a skill; None where all are asked about."""
    if not context.changed_only:
        return None
    return touched(found.roots, context.base.commit or context.compared.commit, session, committed=True)


def wanted_gates(context: RunContext, session: ActionSession) -> GateRequest | None:
    """Return the gates on recorded invocations that the inputs ask for; None without any.

    Raises:
        UsageError: they cannot be answered.
        IncompleteError: git fails.
    """
    if not (context.request.invocations or context.request.gate):
        return None
    from skillgate.action.invocations.gates import gate_request  # most runs ask for none

    return gate_request(context, session)


def with_gates(
    results: Results,
    gates: GateRequest | None,
    context: RunContext,
    session: ActionSession,
    base: BaseSkills | None = None,
) -> Results:
    """Answer the gates on recorded invocations."""
    if gates is None:
        return results
    from skillgate.action.invocations.gates import answer_gates

    return answer_gates(results, gates, context, session, None if base is None else base.results)


def _with_benchmark(results: Results, context: RunContext, session: ActionSession) -> Results:
    """Run the benchmark, where the inputs ask for one."""
    request = context.request.benchmark
    if request.is_wanted:
        from skillgate.action.benchmarks.running import with_benchmark  # most runs have none

        return with_benchmark(results, context, session)
    if request.names:
        session.note(f"input {request.names[0]} does nothing without the input benchmark")
    return _with_notices(results, session)


def _store(context: RunContext) -> Target | None:
    """Return the store that results go to; None without one.

    Raises:
        UsageError: it cannot be used.
    """
    if context.request.store is None:
        return None
    from skillgate.action.storing import store_target  # most runs store nothing

    return store_target(context.checkout, context.request.store)


def _stored(results: Results, store: Target, context: RunContext, session: ActionSession) -> Results:
    """Write the results to the store; a run that cannot does not pass."""
    from skillgate.action.storing import write_results

    problem = write_results(results, store, context.base.head, session)
    return results if problem is None else results._replace(run=with_failure(results.run, problem))


def _with_notices(results: Results, session: ActionSession) -> Results:
    return results._replace(run=dataclasses.replace(results.run, notices=session.notes))
