"""Benchmarks in the Action: the skills that a change touches and their base, on tasks as the base has them."""
# ruff: noqa: PTH101, PTH110, PTH112, PTH118, PTH119, PTH120

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, settings
from skillgate.action.benchmarks.private import private
from skillgate.action.benchmarks.reruns import Purse, rerun_broken
from skillgate.action.benchmarks.sides import Sides, place_of, sides, skills_here, top_of, touched
from skillgate.action.paths import inside
from skillgate.bench.evaluation.answers import files_of_benchmark
from skillgate.bench.evaluation.plan import benchmark_of, planned
from skillgate.bench.evaluation.running import evaluated
from skillgate.bench.reading.catalog import BENCHMARK_JSON
from skillgate.bench.reading.loading import Skills
from skillgate.bench.request import EvalRequest, Execution, Output, Permissions, TaskChoice
from skillgate.bench.results.gating import BenchPolicy
from skillgate.bench.results.rerunning import Side
from skillgate.errors import UsageError
from skillgate.evaluate.request import ModelOptions
from skillgate.model.executable import AdapterType
from skillgate.model.text import printable
from skillgate.skill.checkout import check_out
from skillgate.skill.git import changes
from skillgate.store.results import StoreChoice

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.action.context import Stand
    from skillgate.action.listening import Listening
    from skillgate.bench.evaluation.plan import Plan
    from skillgate.bench.results.rerunning import Reruns
    from skillgate.llm.ledger import Spent
    from skillgate.model.bench import BenchReport
    from skillgate.model.bench_diff import BenchDiff
    from skillgate.model.benchmark import Loaded
    from skillgate.model.executable import Runnable

_FOREIGN = (AdapterType.SUBPROCESS, AdapterType.MCP, AdapterType.HTTP)
_MAIN = ("skill.json", "adapter.config.json", "SKILL.md")
_NO_EXEC = (
    "a benchmark starts programs that the repository holds, in a pull request those of whoever wrote it: give the job"
    " no secrets, and set allow-exec: true"
)


class Benched(NamedTuple):
    """What came of benchmarks.

    Attributes:
        report: the head's; None where nothing was run.
        diff: what differs from the base; None without one.
        lost: in words, the base's skills that the change takes from the benchmark and not from the repository.
        touched: the directories of skills of the benchmark that the change touches or removes, relative to the
            repository's top; None where all skills are run.
        changed: what the change does to the benchmark itself, in at most one sentence; it holds after the merge.
    """

    report: BenchReport | None
    diff: BenchDiff | None
    lost: tuple[str, ...] = ()
    touched: tuple[str, ...] | None = None
    changed: tuple[str, ...] = ()


def benched(stand: Stand, session: Listening, spent: Spent) -> Benched | None:
    """Run the benchmark that the inputs name: on the head's skills, and on the base's where these differ.

    Tasks, and scorers that they name, are read from the tip of the base branch; what they are run on beside the head is
    what the change is compared with. Where only skills that a change touches are gated, those whose files are the
    base's are not run. Tasks that passed in the base and fail in the head are run again on both sides. ``spent`` is
    what models have cost so far.

    Returns:
        None where the benchmark comes with the change.

    Raises:
        UsageError: an input, a skill or the benchmark does not do.
        IncompleteError: git fails.
    """
    request = _request(stand, session)
    with _base(stand) as tree, ExitStack() as closing, private(stand.top, session):
        there = None if tree is None else _there(stand, tree)
        policy = closing.enter_context(_policy(stand, tree))
        skills = _head(stand, request, [_there(stand, one) for one in (tree, policy) if one is not None])
        loaded = _benchmark(stand, request, session, policy)
        if loaded is None:
            return None
        changed = _changed(stand, loaded, policy)
        both = _both(stand, request, skills, tree, policy)
        for told in (*_missing(stand, request, there), *both.told, *both.removed):
            session.note(f"benchmark: {told}")
        skills, places = both.now, None
        if stand.changed_only and tree is not None:
            skills = skills._replace(found=touched(stand, both, tree))
            top = top_of(stand)
            places = (*(place_of(skill, top) for skill in skills.found), *both.gone)
        if not skills.found:
            session.note("benchmark: no skill that it could run is touched")
            return Benched(None, None, both.lost, places, changed)
        plan = planned(request, session, loaded, skills)  # what is wrong with it is told before anything is run
        purse = Purse(spent)
        earlier = [both.earlier[one.key] for one in skills.found if one.key in both.earlier]
        before = _earlier(earlier, request, session, loaded, plan, purse)
        report = evaluated(purse.open(plan), request, session)
        purse.close(plan)
        diff = None
        if before is not None:
            runnable = {Side.BASE: earlier, Side.HEAD: skills.found}
            reruns = rerun_broken(before, report, runnable, loaded, request, session, purse)
            diff = _difference(before, report, reruns, stand)
        return Benched(report, diff, both.lost, places, changed)


def _both(stand: Stand, request: EvalRequest, skills: Skills, tree: str | None, policy: str | None) -> Sides:
    """Pair the skills with those of the base, in ``tree``; their tries are bounded by the tip, in ``policy``, too."""
    if tree is None:
        return Sides(skills, {})
    if policy is not None and policy != tree:
        skills = sides(stand, request, skills, tree=policy, there=_there(stand, policy)).now
    return sides(stand, request, skills, tree=tree, there=_there(stand, tree))


def _changed(stand: Stand, loaded: Loaded, policy: str | None) -> tuple[str, ...]:
    """Say what a change does to the benchmark's own files, in at most one sentence.

    Args:
        stand: where the run stands.
        loaded: the benchmark, read from ``policy``.
        policy: a directory with the files of the base branch's tip; None without a base.

    Raises:
        IncompleteError: git fails.
    """
    if stand.base.commit is None or policy is None:
        return ()
    own = {os.path.relpath(os.path.normpath(path), policy).replace(os.sep, "/") for path in files_of_benchmark(loaded)}
    found = sorted(own & changes(stand.top, stand.base.commit, committed=True).keys())
    if not found:
        return ()
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return (f"benchmark {printable(loaded.benchmark.id)}: {printable(found[0])}{more} changed",)


def _earlier(
    skills: Sequence[Runnable], request: EvalRequest, session: Listening, loaded: Loaded, head: Plan, purse: Purse
) -> BenchReport | None:
    """Run the base's skills, before those of the change could lay hands on anything; None where there is none.

    What is wrong with one of them is told, and leaves it out: the change may be what mends it.
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
                session.note(f"benchmark: the base's cannot be run, and is no baseline: {str(error).splitlines()[0]}")
        if fine:
            plan = purse.open(planned(request, session, loaded, Skills(tuple(fine), ())))
            report = evaluated(plan, request, session)
            purse.close(plan)
        failing.pop_all()
    return report


def _request(stand: Stand, session: Listening) -> EvalRequest:
    """Return the request that the inputs make; the Action writes its own files."""
    inputs = stand.inputs
    named, tasks, env = inputs["skills"], inputs["tasks"], inputs["allow-env"]
    skills = named if named and isinstance(named, tuple) else _paths(stand)
    given = {
        settings.BENCHMARK.key: inputs["benchmark"],
        settings.RUNS.key: inputs["runs"],
        settings.MIN_COMPLETION.key: inputs["min-completion"],
    }
    config = session.config.with_options({key: value for key, value in given.items() if value is not None})
    choice = TaskChoice.configured(config, file=tasks if isinstance(tasks, str) else None)
    return EvalRequest(
        skills=tuple(skills),
        config=config,
        tasks=choice,
        execution=Execution.configured(config),
        permissions=Permissions.configured(
            config,
            env=env if isinstance(env, tuple) else (),
            programs=inputs["allow-exec"] is True,
            guarded=True,
        ),
        output=Output.configured(config, formats=()),
        models=ModelOptions(),
        store=StoreChoice(),
        policy=BenchPolicy.configured(config),
        answers=tuple(_answers(stand, choice)),
    )


def _answers(stand: Stand, tasks: TaskChoice) -> Iterator[str]:
    """Give the places with expected answers that are checked out, whatever the benchmark is read from."""
    here, inputs = stand.place.directory, stand.inputs
    for word in (tasks.file, tasks.benchmark):
        if word is not None:
            yield from (os.path.join(here, word, BENCHMARK_JSON), *filter(os.path.isfile, [os.path.join(here, word)]))
    for given in (inputs["report-dir"], inputs["store"]):
        if isinstance(given, str) and given and "://" not in given:
            yield from (os.path.join(here, given), os.path.join(stand.place.workspace, given))


def _paths(stand: Stand) -> list[str]:
    listed = stand.inputs["paths"]
    return [path for path in listed if not path.startswith("!")] if isinstance(listed, tuple) else ["."]


def _missing(stand: Stand, request: EvalRequest, there: str | None) -> Iterator[str]:
    """Say which paths are neither checked out nor where the change began, so that only the base branch's tip has them.

    Any other one that is nowhere has been refused.
    """
    for path in request.skills:
        places = [os.path.join(one, path) for one in (stand.place.directory, there) if one is not None]
        if not any(map(os.path.lexists, places)):
            yield f"{path} is in the base branch alone, and is not run; update the branch"


def _head(stand: Stand, request: EvalRequest, there: Sequence[str]) -> Skills:
    """Read the skills that are checked out; ``there`` has the directories of the base, where it began and at its tip.

    Raises:
        UsageError: there is none, one is not valid, one lies outside, or programs are not allowed.
    """
    problems = []
    for path in request.skills:
        place = inside(stand.place.workspace, os.path.join(stand.place.directory, path), f"input skills: {path!r}")
        problems += list(_leading_out(place, stand))
    if problems:
        raise UsageError("\n".join(problems))
    skills = skills_here(stand, request, there=there)
    if not request.permissions.programs and any(
        one.spec.adapter_type.value in ("subprocess", "mcp", "http") for one in skills.found
    ):
        raise UsageError(_NO_EXEC)
    return skills


def _leading_out(place: str, stand: Stand) -> Iterator[str]:
    """Say which files that describe skills are links out of the repository: nobody's file may be read through one."""
    top = os.path.realpath(stand.top)
    folders = os.walk(place) if os.path.isdir(place) else [(os.path.dirname(place), [], [os.path.basename(place)])]
    for folder, _, names in folders:
        for name in {*_MAIN, os.path.basename(place)} & set(names):
            real = os.path.realpath(os.path.join(folder, name))
            if not real.startswith(os.path.join(top, "")):
                shown = os.path.relpath(os.path.join(folder, name), stand.place.directory)
                yield f"{shown} is a link that leads out of the repository"


@contextmanager
def _base(stand: Stand) -> Iterator[str | None]:
    """Give a directory with the files of what is compared with, for as long as they are needed; None without any."""
    commit = stand.base.commit or stand.compared.commit
    if commit is None:
        yield None
        return
    with _checked_out(stand, commit) as folder:
        yield folder


@contextmanager
def _policy(stand: Stand, tree: str | None) -> Iterator[str | None]:
    """Give a directory with the files of the base branch's tip, for as long as they are needed; None without a base.

    Args:
        stand: where the run stands.
        tree: what :func:`_base` gives.
    """
    if stand.base.commit is None or stand.base.tip == stand.base.commit:
        yield tree
        return
    with _checked_out(stand, stand.base.tip or stand.base.commit) as folder:
        yield folder


@contextmanager
def _checked_out(stand: Stand, commit: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="skillgate-base-") as folder:
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            # Programs run as other users, and what they need may lie beside their directory, as in the workspace.
            os.chmod(folder, 0o755)  # noqa: S103
        check_out(stand.top, commit, folder)
        yield folder


def _there(stand: Stand, tree: str) -> str:
    """Give the directory of the base that the run's own stands for."""
    return os.path.normpath(os.path.join(tree, os.path.relpath(stand.place.directory, top_of(stand))))


def _benchmark(stand: Stand, request: EvalRequest, session: Listening, tree: str | None) -> Loaded | None:
    """Read the benchmark: of a change as its base has it; None where only the change brings it.

    Raises:
        UsageError: there is none, or it is not valid.
    """
    word = request.tasks.file or request.tasks.benchmark
    is_path = request.tasks.file is not None or "/" in word or word.endswith(".json")
    here = stand.place.directory
    if is_path:
        place = inside(stand.place.workspace, os.path.join(here, word), f"input benchmark: {word!r}")
        word = os.path.join(".", os.path.relpath(place, here))
    tasks = request.tasks
    tasks = tasks._replace(benchmark=word) if tasks.file is None else tasks._replace(file=word)
    if stand.base.commit is None or tree is None:
        return benchmark_of(request._replace(tasks=tasks), session, cwd=here)
    cwd = _there(stand, tree)
    if is_path:
        there = inside(tree, os.path.join(cwd, word), f"input benchmark: {word!r}")
        if not os.path.exists(there) and os.path.exists(os.path.join(here, word)):
            if stand.is_gone(os.path.normpath(os.path.join(here, word))):
                raise UsageError(f"the benchmark {word[2:]} is no longer in the base branch; update the branch")
            session.note(f"the benchmark {word[2:]} comes with this change; it is run after the merge")
            return None
    own = tasks.benchmarks_dir
    if own is not None:
        below = os.path.relpath(os.path.join(stand.place.directory, own), top_of(stand))
        tasks = tasks._replace(benchmarks_dir=None if below.startswith("..") else os.path.join(tree, below))
    return benchmark_of(request._replace(tasks=tasks), session, cwd=cwd)


def _difference(before: BenchReport, after: BenchReport, reruns: Reruns, stand: Stand) -> BenchDiff:
    from skillgate.bench.results.diff_limits import DiffPolicy
    from skillgate.bench.results.diffing import diff  # brings in numpy: where there is a base

    label = (stand.base.commit or stand.compared.commit or "base")[:12]
    return diff(
        before,
        after,
        label_a=label,
        label_b=stand.base.head[:12] or "here",
        version=__version__,
        policy=DiffPolicy(),
        reruns=reruns,
    )
