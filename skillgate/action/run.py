"""Evaluate the checkout or join reports of earlier jobs, compare with the base, and decide."""

from __future__ import annotations

import dataclasses
import os
import re
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillgate import settings
from skillgate.action.base import BaseSkills, difference, evaluate_base, policies_of, read_of_base, strict_selections
from skillgate.action.context import RunContext, find_skills, load_context, requested_paths
from skillgate.action.gate_changes import corpus_changes, gate_changes, with_base_corpus
from skillgate.action.outcome import (
    BENCHMARK,
    Results,
    digests,
    new_record,
    store_target,
    with_budget,
    with_digests,
    with_failure,
    with_scores,
    write_results,
)
from skillgate.action.request import ActionSession, require_untracked
from skillgate.config import config_digest
from skillgate.errors import UsageError
from skillgate.evaluation import pipeline
from skillgate.evaluation.baseline import across_change
from skillgate.evaluation.changed import touched
from skillgate.evaluation.request import (
    EvaluateRequest,
    ModelOptions,
    Scope,
    chosen_depth,
    read_whole,
    require_able,
    require_bounds,
    selections,
    wants_optional,
)
from skillgate.evaluation.run import assessing_first, house_rules, in_shard, reported
from skillgate.format import printable
from skillgate.llm import require_packages
from skillgate.model.report import Report, SkillResult, Verdict
from skillgate.model.score import Depth, Outcome
from skillgate.model.single_report import SingleReport
from skillgate.report.joining import decided
from skillgate.report.json import read, render
from skillgate.scoring.gate import sampled_layers
from skillgate.skill.find import read as read_skill
from skillgate.skill.git import changes, differing, one_reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from skillgate.action.github import Event
    from skillgate.action.request import ActionRequest
    from skillgate.evaluation.sampled import Sampling
    from skillgate.model.documents import ActionRun, Diff
    from skillgate.model.finding import Assessment
    from skillgate.model.skill import SkillRoot
    from skillgate.skill.find import Discovery

JUDGES = 3
"""How many judge a skill by default: one misses seven of ten drops by 7.5 points."""
_EVALS = re.compile(r"(?:^|(?P<folder>.*?)/)evals/", re.DOTALL)
_MOST = 3  # listed directories
_CHANGES = "input reports: reports of earlier jobs are only accepted for the workflow's own commit, not in"
_COMPARABLE = "depth", "scoring_version", "models"
_BUDGETS = (settings.MAX_COST_USD.key, settings.MAX_CALLS.key)  # a reason from a budget names one of them


def evaluate(request: ActionRequest, event: Event, session: ActionSession) -> Results:
    """Evaluate skills, gates on recorded invocations and a benchmark, as the inputs say.

    Raises:
        UsageError: an input, the configuration or the checkout is not usable.
        IncompleteError: the requested depth cannot run, or Git fails.
    """
    with one_reader():  # ends before any program of a benchmark starts
        context = load_context(request, event, session.cwd)
        session = session.with_config(context.config)
        depth = chosen_depth(context.config)
        require_bounds(context.config, depth, also=(BENCHMARK,) if request.benchmark.is_wanted else ())
        _require_current_prompts(context, depth)
        store = None if request.store is None else store_target(context.checkout, request.store)
        gates = _gates(context, session)
        policy_changes: tuple[str, ...] = ()
        if context.is_change:
            policy_changes = (*gate_changes(context), *corpus_changes(context, session.environ))
        skills = find_skills(context)
        for notice in (*context.notes, *skills.notices):
            session.note(notice)
        # Rules and their code are policy: in a change, both are those of the base.
        outside = context.checkout.top if context.is_change else ""
        house = house_rules(context.config, context.read_policy_file, outside=outside)
        assessor = pipeline.Assessor(optional=wants_optional(context.config), house=house, remember=True)
        criteria = pipeline.Criteria(policies_of(context, session, {}, depth), selections(context.config))
        run = dataclasses.replace(new_record(context, event), policy_changes=policy_changes)
        with _sampled(context, session, depth) as sampling:
            evaluator = pipeline.Evaluator(
                assessor.assess, assessor.across, criteria, sampled=None if sampling is None else sampling.layers
            )
            fit = None if sampling is None else _fit(context, depth, sampling)
            results, base = _scored(context, run, session, skills, evaluator, depth, fit)
            if sampling is not None:
                spent = sampling.models.setup.spent()
                results = results._replace(run=with_budget(results.run, results.report, spent))
    results = _with_notices(results, session)  # including notes from closing the models
    for failure in () if house is None else house.failures:
        # Whatever on-unmeasured says: the rule is a gate that did not run.
        results = results._replace(run=with_failure(results.run, failure))
    # Gates come before a benchmark, whose programs must not find anything that decides.
    results = gates(results, None if base is None else base.results)
    if request.benchmark.is_wanted:
        from skillgate.action.benchmark import with_benchmark  # most runs have none

        results = with_benchmark(results, context, session)
    elif request.benchmark.names:
        session.note(f"input {request.benchmark.names[0]} has no effect without the input benchmark")
        results = _with_notices(results, session)
    problem = None if store is None else write_results(results, store, context.base.head, session)
    return results if problem is None else results._replace(run=with_failure(results.run, problem))


def _with_notices(results: Results, session: ActionSession) -> Results:
    return results._replace(run=dataclasses.replace(results.run, notices=session.notes))


@contextmanager
def _sampled(context: RunContext, session: ActionSession, depth: Depth) -> Iterator[Sampling | None]:
    """Yield the connected models; None at depth quick."""
    if depth is Depth.QUICK:
        yield None
        return
    require_able(context.config, depth)
    require_packages()
    folder = context.request.cache_dir
    if folder is not None:  # answers in a change cannot be trusted
        require_untracked(context.checkout, folder, f"input {settings.CACHE_DIR.key}: {folder}")
    from skillgate.evaluation.sampled import sampling  # imports the judge

    options = ModelOptions(default_judges=JUDGES if depth is Depth.STANDARD else 1)
    with with_base_corpus(context, session) as config, sampling(config, options, session, depth) as one:
        yield one


def _fit(context: RunContext, depth: Depth, sampling: Sampling) -> Callable[[Callable[[], object]], bool] | None:
    """Return what fits the number of judges to the budget; None if it may not change.

    It is not changed if the configuration sets it, if sessions cost most, in a shard, and against a report: the other
    shards and the report have the same number.
    """
    is_fixed = context.config.get(settings.JUDGES) is not None or depth is not Depth.STANDARD
    is_paired = context.request.shard is not None or (context.compared.value or "").endswith(".json")
    return None if is_fixed or is_paired else sampling.fit


def _require_current_prompts(context: RunContext, depth: Depth) -> None:
    """Refuse to measure a skill on prompts that the base branch has replaced.

    Both sides of a change are measured on the prompts that it began with. Prompts are policy too, and a newer set at
    the tip would change what the skill is compared with.
    """
    base = context.base
    if depth is Depth.QUICK or base.commit is None or base.tip is None or base.tip == base.commit:
        return
    matches = filter(None, map(_EVALS.match, differing(context.checkout.top, base.commit, base.tip)))
    folders = sorted({match["folder"] or "" for match in matches})
    if context.changed_only and folders:
        paths = [f"/{path}" for path in changes(context.checkout.top, base.commit, committed=True)]
        folders = [one for one in folders if any(path.startswith(f"/{one}/".replace("//", "/")) for path in paths)]
    if folders:
        named = ", ".join(f"{printable(one)[:80] or '.'}/evals" for one in folders[:_MOST])
        more = f" and {len(folders) - _MOST} more" if len(folders) > _MOST else ""
        raise UsageError(
            f"the base branch has changed {named}{more} since this change began, so the skill would be measured on"
            " old prompts; update the branch"
        )


def _gates(
    context: RunContext, session: ActionSession
) -> Callable[[Results, Mapping[str, SkillResult] | None], Results]:
    """Find the gates on recorded invocations, and return a function that checks them."""
    if not (context.request.invocations or context.request.gate):
        return lambda results, _: results
    from skillgate.action.invocations import answer_gates, gate_request  # most runs have none

    gates = gate_request(context, session)
    if gates is None:
        return lambda results, _: results
    return lambda results, base: answer_gates(results, gates, context, session, base)


def _scored(
    context: RunContext,
    run: ActionRun,
    session: ActionSession,
    skills: Discovery,
    evaluator: pipeline.Evaluator,
    depth: Depth,
    fit: Callable[[Callable[[], object]], bool] | None,
) -> tuple[Results, BaseSkills | None]:
    """Evaluate head and base, and compare them; ``fit`` is called with a rehearsal of that before any model is."""
    before, base = evaluate_base(context, skills, session, assessing_first(evaluator, skills.roots))
    if base is not None:
        criteria = evaluator.criteria._replace(
            policy=policies_of(context, session, base.moved, depth),
            selection=strict_selections(context.config, base.moved),
            honoured=base.waivers,
        )
        evaluator = evaluator._replace(criteria=criteria)
    since = context.base.commit or context.compared.commit
    touches = touched(skills.roots, since, session, committed=True) if context.changed_only else None
    narrowed = in_shard(context.request.shard, skills.roots, touches)
    if fit is not None:
        plain = evaluator._replace(criteria=pipeline.Criteria())  # the base's comments are counted once, by the run
        if fit(lambda: pipeline.evaluate(map(read_skill, skills.roots), plain, touched=narrowed, baseline=before)):
            evaluator = _with_strict_drops(evaluator)
    touching: set[str] = set()

    def recorded(root: SkillRoot, facts: Assessment | None) -> bool:
        is_touched = narrowed is None or narrowed(root, facts)
        if is_touched:
            touching.add(str(root.path))
        return is_touched

    evaluated = _measured(context, session, skills, evaluator, before, recorded if narrowed else None, depth)
    report = evaluated.report
    gone = before.gone if before else ()
    if not skills.roots and skills.complete and not gone and not context.request.benchmark.is_wanted:
        raise UsageError(
            f"no skill found in {', '.join(requested_paths(context))}: a skill is a directory with a SKILL.md"
        )
    # Compared with another commit than the base, they may have been removed long ago.
    removed = len(gone) if context.base.commit in (None, context.compared.commit) else 0
    paths = [result.skill.path for result in report.results]
    extras = tuple(path for path in paths if narrowed is not None and path not in touching)
    changed = None
    if before is not None:
        then = before if evaluated.baseline is None else before._replace(results=evaluated.baseline)
        changed = difference(context, report, then, extras, evaluator.criteria.policy, evaluated.across)
    for sentence in () if base is None else base.waivers.outdated():
        session.note(sentence)
    run = dataclasses.replace(
        run,
        policy_changes=(*run.policy_changes, *(() if base is None else base.waivers.refused())),
        notices=session.notes,
        touched=len(touching) + removed if context.changed_only else None,
        beside=extras,
    )
    run = with_scores(run, report, changed, context, complete=skills.complete)
    return Results(run, report, changed, config_digest=report.config_digest), base


def _with_strict_drops(evaluator: pipeline.Evaluator) -> pipeline.Evaluator:
    """Let an undecided drop fail: else a change could add skills until one judge is left, who sees no drop."""
    policy = evaluator.criteria.policy
    return evaluator._replace(
        criteria=evaluator.criteria._replace(policy=lambda path: policy(path)._replace(undecided_drops_fail=True))
    )


def _measured(
    context: RunContext,
    session: ActionSession,
    skills: Discovery,
    evaluator: pipeline.Evaluator,
    baseline: pipeline.Baseline | None,
    touches: pipeline.Touched | None,
    depth: Depth,
) -> pipeline.Evaluated:
    """Evaluate the head, and complete its report."""
    shard = context.request.shard
    request = EvaluateRequest(
        context.config,
        Scope(tuple(requested_paths(context)), changed=context.changed_only, shard=shard),
        merge_sarif=context.request.merge_sarif,
        use_cache=False,
    )
    files = digests(skills.roots, depth, session.cwd)
    evaluated = reported(
        request,
        skills,
        evaluator,
        session,
        touched=touches,
        baseline=baseline,
        read_known=context.read_policy_file,
        read_sarif=read_of_base(context),
    )
    report = with_digests(evaluated.report, files, digests(skills.roots, depth, session.cwd) if files else {})
    report = report._replace(
        config_digest=config_digest(context.config),
        shard=None if shard is None else "{}/{}".format(*shard),
        across=None if baseline is None else across_change(report, baseline, evaluated.across),
    )
    return evaluated._replace(report=report)


def merge_reports(request: ActionRequest, event: Event, session: ActionSession) -> Results:
    """Join the reports of earlier jobs of this run, compare them with another report, and decide.

    The reports are trusted, as those of this workflow's jobs on a trusted commit; in a pull request they are not, and
    are refused. Gates of skills are those of the earlier jobs; only the regression is decided here.

    Raises:
        UsageError: the event is a change, or a report is not usable.
    """
    if event.is_change:
        raise UsageError(f"{_CHANGES} {event.name}")
    context = load_context(request, event, session.cwd)
    session = session.with_config(context.config)
    require_bounds(context.config, chosen_depth(context.config))
    for notice in context.notes:
        session.note(notice)
    gates = _gates(context, session)
    report = _joined(context, session)
    diff = _compared(context, report, session)
    if diff is not None:
        report = _with_regressions(report, diff)
    run = dataclasses.replace(new_record(context, event), notices=session.notes)
    run = with_scores(run, report, diff, context, complete=True)
    reasons = {one.reason for result in report.results for one in sampled_layers(result) if one.reason}
    short = sorted(reason for reason in reasons if any(limit in reason for limit in _BUDGETS))
    run = with_budget(run, report, "; ".join(short[:3]) or None)
    return gates(Results(run, report, diff, config_digest=config_digest(context.config)), None)


def _joined(context: RunContext, session: ActionSession) -> Report:
    """Read the reports: one over all skills unchanged, or all shards of one run, joined."""
    from skillgate.evaluation.compare import joined

    names = [_inside(context, name, "reports") for name in context.request.reports]
    if len(names) == 1:
        alone = _read(names[0], session.cwd, "the report")
        if alone.shard is None:
            return alone
    return joined(names, None, lambda depth: policies_of(context, session, {}, depth), session)[0]


def _compared(context: RunContext, report: Report, session: ActionSession) -> Diff | None:
    """Compare with the report of the input ``baseline``; None without one, or if scores are not comparable."""
    from skillgate.evaluation.compare import DiffRequest, diff_files

    name = context.compared.value
    if name is None:
        return None
    if not name.endswith(".json"):
        raise UsageError("input baseline: reports can only be compared with a report; use report:PATH or none")
    name = _inside(context, name, "baseline")
    before = _read(name, session.cwd, "the baseline")
    other = [key for key in _COMPARABLE if getattr(before, key) != getattr(report, key)]
    if other:
        session.note(f"not compared with {name}: it has a different {' and '.join(other).replace('_', ' ')}")
        return None
    with tempfile.TemporaryDirectory(prefix="skillgate-report-") as folder:
        place = os.path.join(folder, "report.json")  # noqa: PTH118
        with open(place, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(render(report))
        gated = "regression" in (context.config.get(settings.FAIL_ON) or ())
        return diff_files(DiffRequest(a=name, b=place, label_a=name, label_b="this run", gated=gated), session)


def _with_regressions(report: Report, diff: Diff) -> Report:
    """Add the outcome of the regression gate to each skill that has one."""
    if diff.gate.passed is None and not diff.gate.outcomes:
        return report
    outcomes = {one.after.path: one.regression for one in diff.skills if one.after and one.regression}
    results = []
    for result in report.results:
        outcome = outcomes.get(result.skill.path)
        if outcome is not None:
            fails = outcome.verdict is Outcome.FAIL or result.gate.passed is False
            # Shards that were compared with the same report already have this outcome for their own skills.
            others = tuple(one for one in result.gate.outcomes if one.gate != outcome.gate)
            gate = Verdict(False if fails else result.gate.passed, (*others, outcome))
            result = result._replace(gate=gate)
        results.append(result)
    return decided(report._replace(results=tuple(results)))


def _read(name: str, workspace: str, what: str) -> Report:
    """Read a report over several skills."""
    document = read(read_whole(os.path.join(workspace, name), name, what), source=name)  # noqa: PTH118
    if isinstance(document, SingleReport):
        raise UsageError(f"{name} is about one skill; expected a report of the Action")
    if not isinstance(document, Report):
        raise UsageError(f"{name} is not a score report")
    return document


def _inside(context: RunContext, name: str, declared: str) -> str:
    place = context.checkout.inside(name, f"input {declared}: {name!r}")
    return os.path.relpath(place, context.checkout.workspace)
