"""Run one task on one skill: what ``task`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.checking import check_benchmark
from skillgate.bench.evaluation.plan import planned, require_leave
from skillgate.bench.evaluation.running import evaluated
from skillgate.bench.ports import Scored
from skillgate.bench.reading.catalog import digest_of
from skillgate.errors import CodecError, UsageError
from skillgate.model.bench_result import Status
from skillgate.model.benchmark import Benchmark, Loaded
from skillgate.model.codec import decode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.bench.evaluation.plan import Plan
    from skillgate.bench.ports import Scorer
    from skillgate.bench.request import EvalRequest
    from skillgate.model.bench_result import TaskResult
    from skillgate.model.executable import Runnable
    from skillgate.session import Session

_ID = "task"


class Expectation(NamedTuple):
    """What is expected of an answer.

    Attributes:
        option: that says it, without its dashes.
        output: as the ``expectedOutput`` of a benchmark's file.
        directory: that paths in it are relative to.
    """

    option: str
    output: Mapping[str, Any]
    directory: str


class TaskRequest(NamedTuple):
    """The request of one task.

    Attributes:
        input: of the skill.
        expected: None where any answer will do.
        evaluation: how it is run; it names one skill.
    """

    input: Mapping[str, Any]
    expected: Expectation | None
    evaluation: EvalRequest


class Answered(NamedTuple):
    """The result of one task.

    Attributes:
        result: of its run.
        skill: that was run.
        models: that were asked.
        is_scored: whether anything was expected.
    """

    result: TaskResult
    skill: Runnable
    models: tuple[str, ...]
    is_scored: bool

    @property
    def status(self) -> str:
        """``answered`` where nothing was expected and there is an answer, else the result's."""
        is_answer = not self.is_scored and self.result.status is Status.PASS
        return "answered" if is_answer else self.result.status.value


def run_task(request: TaskRequest, session: Session) -> Answered:
    """Run the task.

    Raises:
        UsageError: something is not valid; nothing was run.
    """
    evaluation, is_scored = request.evaluation, request.expected is not None
    plan = planned(evaluation, session, _benchmark(request, session))
    try:
        _require_one(plan, evaluation.skills[0])
        require_leave(plan)
    except UsageError:
        plan.closing.close()
        raise
    if not is_scored:
        scorers: dict[str, Scorer] = {_ID: _AnyAnswer()}
        plan = plan._replace(scorers=scorers, scorer_names={_ID: ""})
    report = evaluated(plan, evaluation, session)
    (result,) = report.reports[0].task_results
    return Answered(result, plan.skills[0], plan.model_names, is_scored)


class _AnyAnswer:
    """Pass every answer."""

    def score(self, output: Any) -> Scored:  # noqa: ANN401, ARG002 - as every scorer
        """Take any answer."""
        return Scored(1.0, passed=True, reason="")


def _benchmark(request: TaskRequest, session: Session) -> Loaded:
    """Return the benchmark of the one task.

    Raises:
        UsageError: the input or what is expected is not valid.
    """
    expected = request.expected or Expectation("", {"type": "exact", "value": None}, session.cwd)
    task = {"id": _ID, "inputData": request.input, "expectedOutput": expected.output}
    data = {"id": _ID, "name": "One task", "version": "0.0.0", "tasks": [task]}
    try:
        benchmark = decode(Benchmark, data)
    except CodecError as error:
        raise UsageError(str(error)) from None
    problems = list(check_benchmark(benchmark))
    if problems:
        place = f"--{expected.option}: " if expected.option else ""
        raise UsageError("\n".join(place + problem for problem in problems))
    return Loaded(benchmark=benchmark, origin="the command line", folder=expected.directory, digest=digest_of(data))


def _require_one(plan: Plan, word: str) -> None:
    if len(plan.skills) != 1:
        names = ", ".join(skill.shown for skill in plan.skills[:5])
        raise UsageError(f"--skill {word} leads to {len(plan.skills)} skills ({names}); name one of them")
