"""Run a benchmark on the skills that a change touches and on their base, with the tasks of the base."""
# ruff: noqa: PTH101, PTH110, PTH112, PTH114, PTH116, PTH117, PTH118, PTH119, PTH120

from __future__ import annotations

import dataclasses
import os
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, settings
from skillgate.action import outcome
from skillgate.action.benchmark_skills import Sides, head_skills, pair_sides, place_of, top_of, touched
from skillgate.action.request import ActionSession, inside
from skillgate.bench.documents import BENCHMARK_JSON, narrowed
from skillgate.bench.evaluate import evaluated, results_of
from skillgate.bench.plan import Plan, benchmark_of, files_of_benchmark, planned
from skillgate.bench.request import BenchPolicy, EvalRequest, Execution, Output, Permissions, TaskChoice
from skillgate.bench.runner import Item, Reruns, Side, Wanted, rerun
from skillgate.bench.skills import Skills
from skillgate.errors import UsageError
from skillgate.evaluation.request import ModelOptions
from skillgate.format import printable
from skillgate.model.benchmark import AdapterType, Runnable
from skillgate.skill.git import changes, check_out
from skillgate.store.results import StoreChoice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.action.context import RunContext
    from skillgate.action.outcome import Results
    from skillgate.llm.prices import Spent
    from skillgate.model.bench import BenchDiff, BenchReport, TaskResult
    from skillgate.model.benchmark import Loaded
    from skillgate.model.documents import ActionRun


_RUNNERS = ("/github/runner_temp", "/github/home", "/github/file_commands", "/github/workflow")
"""The runner's own directories in a container: temporary files, settings of steps, commands, the event."""


_FOREIGN = (AdapterType.SUBPROCESS, AdapterType.MCP, AdapterType.HTTP)
_MAIN = ("skill.json", "adapter.config.json", "SKILL.md")
_NO_EXEC = (
    "a benchmark starts programs from the repository, in a pull request those of its author; give the job no"
    f" secrets, and set {settings.ALLOW_EXEC.key}: true"
)


@contextmanager
def private(top: str, session: ActionSession) -> Iterator[None]:
    """Hide the repository's ``.git`` and the runner's directories from the users that programs of skills run as.

    A checkout with ``persist-credentials`` leaves a token that every user can read, in Git's configuration or (newer
    versions) in a file of the runner's temporary directory. The permissions are restored at the end.
    """
    switches = hasattr(os, "geteuid") and os.geteuid() == 0  # else the programs run as this user
    with ExitStack() as closed:
        for folder in _folders(top, session.environ.get("RUNNER_TEMP", "")) if switches else ():
            before = os.stat(folder).st_mode & 0o7777
            try:
                os.chmod(folder, before & 0o700)
            except OSError as error:
                session.note(f"cannot hide {folder} from the programs of skills: {error.strerror}")
                continue
            closed.callback(_put_back, folder, before)
        yield


def _folders(top: str, temporary: str) -> Iterator[str]:
    """Yield the existing directories, except those that programs must pass through."""
    needed = [os.path.realpath(place) for place in (top, tempfile.gettempdir())]
    for folder in dict.fromkeys((os.path.join(top, ".git"), temporary, *_RUNNERS)):
        if not os.path.isabs(folder) or not os.path.isdir(folder) or os.path.islink(folder):
            continue
        real = os.path.realpath(folder)
        if not any(place == real or place.startswith(os.path.join(real, "")) for place in needed):
            yield folder


def _put_back(folder: str, mode: int) -> None:
    with suppress(OSError):
        os.chmod(folder, mode)


class SharedBudget:
    """The model cost of a run: scores, base, head and reruns of the benchmark share the limits."""

    def __init__(self, spent: Spent) -> None:
        """Start with the cost of the scores."""
        self._spent = spent

    def open(self, plan: Plan) -> Plan:
        """Limit a plan to the remaining budget; run it before opening the next one."""
        if plan.models is not None:
            plan.models.carry(self._spent)
        return plan

    def close(self, plan: Plan) -> None:
        """Record what a plan has spent."""
        if plan.models is not None:
            self._spent = plan.models.spent

    @property
    def usd(self) -> float:
        """The known cost, in US dollars."""
        return self._spent.usd


def rerun_broken(
    before: BenchReport,
    after: BenchReport,
    skills: Mapping[Side, Sequence[Runnable]],
    loaded: Loaded,
    request: EvalRequest,
    session: ActionSession,
    budget: SharedBudget,
) -> Reruns:
    """Run the tasks again that passed in ``before`` and fail in ``after``.

    Args:
        before: the report of the base.
        after: the report of the head.
        skills: those of each side; a skill of the base has the key of the head's.
        loaded: the benchmark.
        request: how to run it.
        session: the run.
        budget: the shared budget.
    """

    def run(side: Side, wanted: Sequence[Wanted]) -> tuple[TaskResult, ...]:
        keys = {one.skill for one in wanted}
        chosen = Skills(tuple(skill for skill in skills[side] if skill.key in keys), ())
        some = narrowed(loaded, {one.task for one in wanted}, ())
        plan = budget.open(planned(request, session, some, chosen))
        try:
            return results_of(plan._replace(items=_items(plan, wanted)), request, session, [])
        finally:
            budget.close(plan)
            plan.closing.close()

    spent = budget.usd
    found = rerun(before, after, run)
    if budget.usd > spent:
        session.note(f"benchmark: running tasks again cost ${budget.usd - spent:.4f}")
    return found


def _items(plan: Plan, wanted: Sequence[Wanted]) -> tuple[Item, ...]:
    skills = {skill.key: skill for skill in plan.skills}
    tasks = {task.id: task for task in plan.loaded.benchmark.tasks}
    known = [one for one in wanted if one.skill in skills]
    return tuple(Item(order, skills[one.skill], tasks[one.task], one.run) for order, one in enumerate(known))


class BenchmarkResult(NamedTuple):
    """The results of a benchmark; directories are relative to the repository's top."""

    report: BenchReport | None  # the head's; None if nothing ran
    diff: BenchDiff | None  # the differences from the base
    lost: tuple[str, ...] = ()  # sentences on the base's skills that the change removes only from the benchmark
    touched: tuple[str, ...] | None = None  # directories of touched or removed skills; None if all run
    changed: tuple[str, ...] = ()  # changes of the benchmark itself, at most one sentence


def with_benchmark(results: Results, context: RunContext, session: ActionSession) -> Results:
    """Run the benchmark of the inputs, and include it in the decision.

    Raises:
        UsageError: an input, a skill or the benchmark is not usable.
        IncompleteError: Git fails.
    """
    from skillgate.llm.prices import Spent

    usage = results.report.usage
    cost = usage.cost_usd or 0.0
    found = run_benchmark(context, session, Spent(calls=usage.calls, usd=cost, counted=cost))
    run = dataclasses.replace(results.run, notices=session.notes)
    if found is None:
        return results._replace(run=run)
    run = dataclasses.replace(run, policy_changes=(*run.policy_changes, *found.changed))
    run = _with_counts(run, results, found, context)
    run = outcome.with_benchmark(run, found.report, found.diff, context, found.lost)
    return results._replace(run=run, bench=found.report, bench_diff=found.diff)


def run_benchmark(context: RunContext, session: ActionSession, spent: Spent) -> BenchmarkResult | None:
    """Run the benchmark on the head's skills, and on the base's if these differ.

    Tasks and their scorers are read from the tip of the base branch; besides the head they run on the commit that the
    change is compared with. If only touched skills are gated, unchanged ones do not run. Tasks that passed in the base
    and fail in the head run again on both sides. ``spent`` is the model cost so far.

    Returns:
        None if the change adds the benchmark.

    Raises:
        UsageError: an input, a skill or the benchmark is not usable.
        IncompleteError: Git fails.
    """
    request = _request(context, session)
    with _base_tree(context) as tree, ExitStack() as closing, private(context.checkout.top, session):
        there = None if tree is None else _directory_in(context, tree)
        policy = closing.enter_context(_tip_tree(context, tree))
        skills = _head_skills(
            context, request, [_directory_in(context, one) for one in (tree, policy) if one is not None]
        )
        loaded = _benchmark(context, request, session, policy)
        if loaded is None:
            return None
        changed = _changed(context, loaded, policy)
        both = _paired(context, request, skills, tree, policy)
        for note in (*_only_at_tip(context, request, there), *both.notes, *both.removed):
            session.note(f"benchmark: {note}")
        skills, places = both.now, None
        if context.changed_only and tree is not None:
            skills = skills._replace(found=touched(context, both, tree))
            top = top_of(context.checkout)
            places = (*(place_of(skill, top) for skill in skills.found), *both.gone)
        if not skills.found:
            session.note("benchmark: the change touches no skill that it could run")
            return BenchmarkResult(None, None, both.lost, places, changed)
        plan = planned(request, session, loaded, skills)  # report problems before anything runs
        budget = SharedBudget(spent)
        earlier = [both.earlier[one.key] for one in skills.found if one.key in both.earlier]
        before = _run_base(earlier, request, session, loaded, plan, budget)
        report = evaluated(budget.open(plan), request, session)
        budget.close(plan)
        diff = None
        if before is not None:
            runnable = {Side.BASE: earlier, Side.HEAD: skills.found}
            reruns = rerun_broken(before, report, runnable, loaded, request, session, budget)
            diff = _difference(before, report, reruns, context)
        return BenchmarkResult(report, diff, both.lost, places, changed)


def _with_counts(run: ActionRun, results: Results, found: BenchmarkResult, context: RunContext) -> ActionRun:
    """Add the touched skills of the benchmark to the scored ones, counting each directory once."""
    benchmarked = len(found.report.reports) if found.report else 0
    if found.touched is None or run.touched is None:
        return dataclasses.replace(run, benchmarked=benchmarked)
    scored = {result.skill.path for result in results.report.results if result.skill.path not in run.beside}
    scored |= {change.path for change in results.diff.skills if change.after is None} if results.diff else set()
    top, workspace = os.path.realpath(context.checkout.top), os.path.realpath(context.checkout.workspace)
    known = {os.path.realpath(os.path.join(workspace, path)) for path in scored}
    more = {os.path.realpath(os.path.join(top, path)) for path in found.touched} - known
    return dataclasses.replace(run, benchmarked=benchmarked, touched=run.touched + len(more))


def _paired(context: RunContext, request: EvalRequest, skills: Skills, tree: str | None, policy: str | None) -> Sides:
    """Pair the skills with those of the base, in ``tree``; the tip, in ``policy``, limits their tries too."""
    if tree is None:
        return Sides(skills, {})
    if policy is not None and policy != tree:
        skills = pair_sides(context, request, skills, tree=policy, there=_directory_in(context, policy)).now
    return pair_sides(context, request, skills, tree=tree, there=_directory_in(context, tree))


def _changed(context: RunContext, loaded: Loaded, policy: str | None) -> tuple[str, ...]:
    """Return at most one sentence on what a change does to the benchmark's own files."""
    if context.base.commit is None or policy is None:
        return ()
    own = {os.path.relpath(os.path.normpath(path), policy).replace(os.sep, "/") for path in files_of_benchmark(loaded)}
    found = sorted(own & changes(context.checkout.top, context.base.commit, committed=True).keys())
    if not found:
        return ()
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return (f"benchmark {printable(loaded.benchmark.id)}: {printable(found[0])}{more} changed",)


def _run_base(
    skills: Sequence[Runnable],
    request: EvalRequest,
    session: ActionSession,
    loaded: Loaded,
    head: Plan,
    budget: SharedBudget,
) -> BenchReport | None:
    """Run the base's skills before those of the change can interfere; None if there is none.

    A broken skill is noted and left out: the change may fix it.
    """
    fine: list[Runnable] = []
    report = None
    with ExitStack() as failing:
        failing.callback(head.closing.close)  # else its own run closes it
        for skill in skills:
            try:
                planned(request, session, loaded, Skills((skill,), ())).closing.close()
                fine.append(skill)
            except UsageError as error:
                session.note(
                    "benchmark: a skill of the base cannot run and is left out of the baseline:"
                    f" {str(error).splitlines()[0]}"
                )
        if fine:
            plan = budget.open(planned(request, session, loaded, Skills(tuple(fine), ())))
            report = evaluated(plan, request, session)
            budget.close(plan)
        failing.pop_all()
    return report


def _request(context: RunContext, session: ActionSession) -> EvalRequest:
    """Return the request of the inputs; the Action writes its own files."""
    wanted = context.request.benchmark
    options = {
        settings.BENCHMARK.key: wanted.benchmark,
        settings.RUNS.key: wanted.runs,
        settings.MIN_COMPLETION.key: wanted.min_completion,
    }
    config = session.config.with_options({key: value for key, value in options.items() if value is not None})
    choice = TaskChoice.configured(config, file=wanted.tasks)
    return EvalRequest(
        skills=wanted.skills or context.request.paths or (".",),
        config=config,
        tasks=choice,
        execution=Execution.configured(config),
        permissions=Permissions.configured(config, env=wanted.allow_env, programs=wanted.allow_exec, guarded=True),
        output=Output.configured(config, formats=()),
        models=ModelOptions(),
        store=StoreChoice(),
        policy=BenchPolicy.configured(config),
        answers=tuple(_answers(context, choice)),
    )


def _answers(context: RunContext, tasks: TaskChoice) -> Iterator[str]:
    """Yield the checked-out places with expected answers, wherever the benchmark is read from."""
    here = context.checkout.directory
    for word in (tasks.file, tasks.benchmark):
        if word is not None:
            yield from (os.path.join(here, word, BENCHMARK_JSON), *filter(os.path.isfile, [os.path.join(here, word)]))
    for path in (context.request.report_dir, context.request.store):
        if path and "://" not in path:
            yield from (os.path.join(here, path), os.path.join(context.checkout.workspace, path))


def _only_at_tip(context: RunContext, request: EvalRequest, there: str | None) -> Iterator[str]:
    """Yield sentences on paths that only the tip of the base branch has, not the checkout or the start of the change.

    Paths that exist nowhere have been refused before.
    """
    for path in request.skills:
        places = [os.path.join(one, path) for one in (context.checkout.directory, there) if one is not None]
        if not any(map(os.path.lexists, places)):
            yield f"{path} is only in the base branch and does not run; update the branch"


def _head_skills(context: RunContext, request: EvalRequest, there: Sequence[str]) -> Skills:
    """Read the checked-out skills; ``there`` are the directories of the base: its start and its tip."""
    problems = []
    for path in request.skills:
        place = context.checkout.inside(path, f"input skills: {path!r}")
        problems += list(_leading_out(place, context))
    if problems:
        raise UsageError("\n".join(problems))
    skills = head_skills(context, request, there=there)
    if not request.permissions.programs and any(
        one.spec.adapter_type.value in ("subprocess", "mcp", "http") for one in skills.found
    ):
        raise UsageError(_NO_EXEC)
    return skills


def _leading_out(place: str, context: RunContext) -> Iterator[str]:
    """Yield sentences on skill files that are links out of the repository, which must not be read."""
    top = os.path.realpath(context.checkout.top)
    folders = os.walk(place) if os.path.isdir(place) else [(os.path.dirname(place), [], [os.path.basename(place)])]
    for folder, _, names in folders:
        for name in {*_MAIN, os.path.basename(place)} & set(names):
            real = os.path.realpath(os.path.join(folder, name))
            if not real.startswith(os.path.join(top, "")):
                shown = os.path.relpath(os.path.join(folder, name), context.checkout.directory)
                yield f"{shown} is a link out of the repository"


@contextmanager
def _base_tree(context: RunContext) -> Iterator[str | None]:
    """Yield a directory with the files of the compared commit; None without one."""
    commit = context.base.commit or context.compared.commit
    if commit is None:
        yield None
        return
    with _checked_out(context, commit) as folder:
        yield folder


@contextmanager
def _tip_tree(context: RunContext, tree: str | None) -> Iterator[str | None]:
    """Yield a directory with the files of the base branch's tip; None without a base."""
    if context.base.commit is None or context.base.tip == context.base.commit:
        yield tree
        return
    with _checked_out(context, context.base.tip or context.base.commit) as folder:
        yield folder


@contextmanager
def _checked_out(context: RunContext, commit: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="skillgate-base-") as folder:
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            # Programs run as other users, and may need files outside of their directory, as in the workspace.
            os.chmod(folder, 0o755)  # noqa: S103
        check_out(context.checkout.top, commit, folder)
        yield folder


def _directory_in(context: RunContext, tree: str) -> str:
    """Return the directory in the base that corresponds to the run's own."""
    return os.path.normpath(os.path.join(tree, os.path.relpath(context.checkout.directory, top_of(context.checkout))))


def _benchmark(context: RunContext, request: EvalRequest, session: ActionSession, tree: str | None) -> Loaded | None:
    """Read the benchmark, for a change from its base; None if only the change has it."""
    word = request.tasks.file or request.tasks.benchmark
    is_path = request.tasks.file is not None or "/" in word or word.endswith(".json")
    here = context.checkout.directory
    if is_path:
        place = context.checkout.inside(word, f"input benchmark: {word!r}")
        word = os.path.join(".", os.path.relpath(place, here))
    tasks = request.tasks
    tasks = tasks._replace(benchmark=word) if tasks.file is None else tasks._replace(file=word)
    if context.base.commit is None or tree is None:
        return benchmark_of(request._replace(tasks=tasks), session, cwd=here)
    cwd = _directory_in(context, tree)
    if is_path:
        there = inside(tree, os.path.join(cwd, word), f"input benchmark: {word!r}")
        if not os.path.exists(there) and os.path.exists(os.path.join(here, word)):
            if context.files.is_removed(os.path.normpath(os.path.join(here, word))):
                raise UsageError(f"the benchmark {word[2:]} is no longer in the base branch; update the branch")
            session.note(f"the benchmark {word[2:]} is new in this change; it runs after the merge")
            return None
    own = tasks.benchmarks_dir
    if own is not None:
        below = os.path.relpath(os.path.join(context.checkout.directory, own), top_of(context.checkout))
        tasks = tasks._replace(benchmarks_dir=None if below.startswith("..") else os.path.join(tree, below))
    return benchmark_of(request._replace(tasks=tasks), session, cwd=cwd)


def _difference(before: BenchReport, after: BenchReport, reruns: Reruns, context: RunContext) -> BenchDiff:
    from skillgate.bench.diff import diff  # imports numpy: where there is a base
    from skillgate.bench.request import DiffPolicy

    label = (context.base.commit or context.compared.commit or "base")[:12]
    return diff(
        before,
        after,
        label_a=label,
        label_b=context.base.head[:12] or "here",
        version=__version__,
        policy=DiffPolicy(),
        reruns=reruns,
    )
