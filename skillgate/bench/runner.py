"""Run skills on tasks: concurrently, within time limits, with retries after infrastructure failures.

Results are in the order run, skill, task.

:func:`rerun` reruns apparently broken tasks on both sides, to distinguish broken from flaky tasks. A task that passed
in every run of the base and failed in every run of the head is rerun until each side has three runs. It is broken if
all three passed before and none passes now. An unchanged flaky task looks like that at most once in 64 times, but
among many tasks that happens often. So skills known to be flaky (a task passed in some runs of a side, but not in all)
need six runs per side, which an unchanged task survives at most once in 4,096 times. A side stops as soon as a rerun
decides against it.
"""

from __future__ import annotations

import enum
import json
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate.bench.answers import bounded_output
from skillgate.bench.ports import MAX_WORDS, Call, Reply, UnscoredError
from skillgate.bench.request import shard_of
from skillgate.bench.steps import Carried, has_steps, walk
from skillgate.errors import SkillgateError
from skillgate.llm.flow import Queued, WorkerPool
from skillgate.model.bench import EVALUATORS, Attempt, ErrorKind, Rerun, RerunOutcome, Status, TaskResult
from skillgate.model.benchmark import ERROR, OWN_ADAPTER, AdapterType
from skillgate.model.exchange import Answer, Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillgate.bench.ports import Adapter, Checks, Scorer
    from skillgate.model.bench import BenchReport, CompletionReport, Output
    from skillgate.model.benchmark import Loaded, Runnable, Task
    from skillgate.model.exchange import Steps

T = TypeVar("T")
MOST_WAIT_S = 30.0  # between attempts
_TICK_S = 0.1  # how often Ctrl-C is checked
_ANSWER_TICK_S = 0.05  # how often the end of the run is checked while a model answers
ENOUGH = 3
ENOUGH_IF_FLAKY = 6
_REASON = 300  # characters


class Item(NamedTuple):
    """One task of one skill in one run; ``order`` is its position in the results."""

    order: int
    skill: Runnable
    task: Task
    run: int


class Job(NamedTuple):
    """Everything that a run needs."""

    items: Sequence[Item]
    adapters: Mapping[str, Adapter]  # by skill key
    scorers: Mapping[str, Scorer]  # by task id
    scorer_names: Mapping[str, str]  # by task id
    added: Mapping[str, Any]  # the benchmark server's addition to task input
    timeout_s: Mapping[str, float]  # by skill key, unless the task has its own
    retries: Mapping[str, int]  # by skill key
    most_at_once: Mapping[str, int | None]  # by skill key; None for no own limit
    concurrency: int  # items at once
    retry_delay_s: float  # before the first retry
    stop: threading.Event  # set to end the run
    clock: Callable[[], float] = time.perf_counter  # for latencies
    checks: Mapping[str, Checks] = MappingProxyType({})  # of the steps of tasks that have some, by task id


def items_of(
    skills: Sequence[Runnable], loaded: Loaded, *, runs: int, shard: tuple[int, int] | None = None
) -> tuple[Item, ...]:
    """Return all items in the order run, skill, task.

    A digest of skill and task assigns all runs of a task to one shard.
    """
    pairs = [
        (skill, task)
        for skill in skills
        for task in loaded.benchmark.tasks
        if shard is None or shard_of(skill.key, task.id, shard[1]) == shard[0]
    ]
    items = [(skill, task, number) for number in range(1, runs + 1) for skill, task in pairs]
    return tuple(Item(order, *item) for order, item in enumerate(items))


def run(job: Job, done: Callable[[TaskResult], None]) -> tuple[TaskResult, ...]:
    """Run every item.

    Args:
        job: What to run.
        done: Called with each result as it arrives, on the caller's thread.

    Returns:
        One result per item, in order. If the run was stopped, the remaining results are skipped.
    """
    queue = _Queue(job)
    found: dict[int, TaskResult] = {}
    workers = max(1, min(job.concurrency, len(job.items)))
    with ThreadPoolExecutor(workers, thread_name_prefix="bench") as pool:
        working = [pool.submit(queue.work) for _ in range(workers)]
        try:
            while len(found) < len(job.items):
                for order, result in queue.taken():
                    found[order] = result
                    done(result)
                for worker in working:
                    if worker.done():
                        worker.result()  # re-raises a bug
        finally:
            job.stop.set()  # after an interruption, this ends the calls
    return tuple(found[item.order] for item in job.items)


class _Queue:
    """Waiting items and finished results."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._waiting = deque(job.items)
        self._busy: Counter[str] = Counter()
        self._results: deque[tuple[int, TaskResult]] = deque()
        self._changed = threading.Condition()

    def taken(self) -> list[tuple[int, TaskResult]]:
        with self._changed:
            if not self._results:
                self._changed.wait(_TICK_S)
            found = list(self._results)
            self._results.clear()
            return found

    def work(self) -> None:
        """Work until no item is left."""
        while (item := self._next()) is not None:
            if self._job.stop.is_set():
                result = _skipped(item, self._job, ErrorKind.STOPPED, "the run ended before its turn")
            else:
                result = _evaluate(item, self._job)
            with self._changed:
                self._busy[item.skill.key] -= 1
                self._results.append((item.order, result))
                self._changed.notify_all()

    def _next(self) -> Item | None:
        with self._changed:
            while self._waiting:
                for index, item in enumerate(self._waiting):
                    most = self._job.most_at_once.get(item.skill.key)
                    if most is None or self._busy[item.skill.key] < most:
                        del self._waiting[index]
                        self._busy[item.skill.key] += 1
                        return item
                self._changed.wait(_TICK_S)
            return None


def _evaluate(item: Item, job: Job) -> TaskResult:
    """Run one item, with retries after infrastructure failures."""
    attempts: list[Attempt] = []
    while True:
        carried = _attempt(item, job)
        reply, latency_ms = carried.reply, carried.latency_ms
        left = job.retries.get(item.skill.key, 0) - len(attempts)
        is_final = bool(carried.failure) or not reply.retryable or _is_expected(item, job, reply)
        if reply.kind is None or is_final or left <= 0 or job.stop.is_set():
            return _result(item, job, carried, tuple(attempts))
        wait_s = min(MOST_WAIT_S, max(job.retry_delay_s * (len(attempts) + 1), reply.retry_after_s or 0.0))
        error = reply.error[:MAX_WORDS]
        attempts.append(Attempt(error_kind=reply.kind, error=error, latency_ms=latency_ms, waited_ms=wait_s * 1000))
        job.stop.wait(wait_s)


def _is_expected(item: Item, job: Job, reply: Reply) -> bool:
    """Whether a task expects this refusal."""
    is_refusal = reply.refusal is not None and job.scorer_names[item.task.id] == ERROR
    return is_refusal and job.scorers[item.task.id].score(reply.refusal).passed


def _attempt(item: Item, job: Job) -> Carried:
    """Make the call or the calls of one attempt."""
    task = item.task
    timeout_s = task.timeout_ms / 1000 if task.timeout_ms else job.timeout_s[item.skill.key]
    adapter = job.adapters[item.skill.key]
    data = {**job.added, **task.input_data}
    call = Call(task, data, timeout_s, item.run, task.tool, job.scorer_names[task.id] == ERROR, task.request)
    if has_steps(task):
        try:
            carried = walk(call._replace(data=job.added), adapter, job.checks[task.id], job.clock)
        except UnscoredError as error:
            return Carried(Reply(kind=error.kind, error=str(error), answered=False), 0.0)
        reply = _require_finite(carried.reply)
        is_late = reply.kind is ErrorKind.TIMEOUT
        return carried._replace(reply=reply, latency_ms=timeout_s * 1000 if is_late else carried.latency_ms)
    if "checkType" in data and "skillDir" not in data:
        # A program runs in the directory, which may be a copy; other skills get its path.
        is_program = item.skill.spec.adapter_type in (AdapterType.SUBPROCESS, *OWN_ADAPTER)
        data["skillDir"] = "." if is_program else item.skill.root
    began = job.clock()
    reply = _require_finite(adapter.invoke(call))
    latency_ms = (job.clock() - began) * 1000 if reply.latency_ms is None else reply.latency_ms
    return Carried(reply, timeout_s * 1000 if reply.kind is ErrorKind.TIMEOUT else latency_ms)


def _require_finite(reply: Reply) -> Reply:
    """Refuse an answer that a report cannot contain: JSON readers turn 1e999 into an infinity."""
    if not reply.answered:
        return reply
    try:
        json.dumps(reply.output, allow_nan=False)
    except (ValueError, RecursionError):
        words = "its answer contains a number that is not finite, such as 1e999, or is nested too deeply"
        return reply._replace(output=None, kind=ErrorKind.PROTOCOL, error=words, retryable=True, answered=False)
    return reply


def _result(item: Item, job: Job, carried: Carried, attempts: tuple[Attempt, ...]) -> TaskResult:
    reply = carried.reply
    if reply.kind in EVALUATORS:
        return _skipped(item, job, reply.kind, reply.error, attempts)
    task = item.task
    base = TaskResult(
        task_id=task.id,
        skill_id=item.skill.key,
        run=item.run,
        status=Status.TIMEOUT if reply.kind is ErrorKind.TIMEOUT else Status.ERROR,
        score=0.0,
        latency_ms=round(carried.latency_ms, 3) if reply.timed and reply.kind is not ErrorKind.SPAWN else None,
        attempts=attempts,
        usage=reply.usage,
        weight=task.weight,
        tags=task.tags,
        golden=task.golden,
        output=_output(task, carried),
        error=reply.error[:MAX_WORDS] or None,
        error_kind=reply.kind,
    )
    scored_output = reply.output
    if carried.failure:
        score = carried.passed / (carried.checks + 1)
        failed = replace(base, status=Status.FAIL, score=score, reason=_noted(carried, carried.failure))
        return replace(failed, scorer_type=job.scorer_names[task.id], error=None, error_kind=None)
    if reply.kind is not None:
        if reply.refusal is None or job.scorer_names[task.id] != ERROR:
            return base
        scored_output, base = reply.refusal, replace(base, error=None, error_kind=None)
    try:
        scored = job.scorers[task.id].score(scored_output)
    except UnscoredError as error:
        skipped = _skipped(item, job, error.kind, str(error), attempts)
        return replace(skipped, output=base.output, latency_ms=base.latency_ms, usage=reply.usage)
    return replace(
        base,
        status=Status.PASS if scored.passed else Status.FAIL,
        score=(carried.passed + scored.score) / (carried.checks + 1),
        reason=_noted(carried, scored.reason),
        scorer_type=job.scorer_names[task.id],
    )


def _output(task: Task, carried: Carried) -> Output | None:
    """Return the answer for the report; of a task with steps, what each of them answered."""
    if task.steps:
        return bounded_output(list(carried.shown))
    return bounded_output(carried.reply.output) if carried.reply.answered else None


def _noted(carried: Carried, reason: str) -> str | None:
    """Return a reason with what went wrong in the teardown."""
    return "; ".join(filter(None, (reason, carried.note)))[:MAX_WORDS] or None


def _skipped(item: Item, job: Job, kind: ErrorKind | None, why: str, attempts: tuple[Attempt, ...] = ()) -> TaskResult:
    return TaskResult(
        task_id=item.task.id,
        skill_id=item.skill.key,
        run=item.run,
        status=Status.SKIPPED,
        score=None,
        latency_ms=None,
        scorer_type=job.scorer_names[item.task.id],
        error=why[:MAX_WORDS],
        error_kind=kind,
        attempts=attempts,
        weight=item.task.weight,
        tags=item.task.tags,
        golden=item.task.golden,
    )


class LateError(Exception):
    """A model did not answer in time. A pending answer may still arrive, and is charged."""


class RunEndedError(Exception):
    """The run ended before a model answered."""


class _Asker(NamedTuple):
    ask: Callable[[Request], Answer]


def carry_out(
    steps: Steps[T], ask: Callable[[Request], Answer], *, timeout_s: float | None, stop: threading.Event
) -> T:
    """Send the requests of ``steps`` one after the other.

    Args:
        steps: Yields single requests.
        ask: Answers a request; called on another thread, so that it cannot block this one.
        timeout_s: In total; None for no limit.
        stop: Set to end early.

    Raises:
        LateError: The time is over.
        RunEndedError: ``stop`` is set.
    """
    until = None if timeout_s is None else time.monotonic() + timeout_s
    crew: WorkerPool[None] = WorkerPool(_Asker(ask))
    try:
        request = next(steps)
        while True:
            if not isinstance(request, Request):
                message = "expected single requests"
                raise TypeError(message)
            crew.send(Queued(0, 0, request, None))
            while (found := crew.take(_ANSWER_TICK_S)) is None:
                if stop.is_set():
                    raise RunEndedError
                if until is not None and time.monotonic() >= until:
                    raise LateError
            outcome = found[1]
            if outcome.error is not None:
                raise outcome.error
            request = steps.send(outcome.value)
    except StopIteration as ended:
        result: T = ended.value
        return result
    finally:
        crew.dismiss()
        steps.close()


class Side(enum.Enum):
    """The version of the skills to run."""

    BASE = "base"
    HEAD = "head"


class Wanted(NamedTuple):
    """A rerun of a task; ``run`` continues the numbers of earlier runs."""

    skill: str
    task: str
    run: int


Reruns = Mapping[tuple[str, str], Sequence[Rerun]]  # by skill and benchmark
Run = Callable[[Side, Sequence[Wanted]], "Sequence[TaskResult]"]  # a missing result means unmeasured


@dataclass(slots=True, kw_only=True)
class _Candidate:
    """A task that passed every run of the base and failed every run of the head so far."""

    skill: str
    benchmark: str
    task: str
    runs: dict[Side, int]  # measured first runs per side
    last: int  # highest run number
    reruns: dict[Side, list[bool]] = field(default_factory=lambda: {Side.BASE: [], Side.HEAD: []})
    reason: str | None = None  # why it was not measured

    @property
    def is_flaky(self) -> bool:
        return not all(self.reruns[Side.BASE]) or any(self.reruns[Side.HEAD])

    def total(self, side: Side) -> int:
        return self.runs[side] + len(self.reruns[side])

    def lacks_runs(self, side: Side, flaky: Iterable[str]) -> bool:
        """Whether a side needs another run; ``flaky`` are skills known to be flaky."""
        enough = ENOUGH_IF_FLAKY if self.skill in flaky else ENOUGH
        return self.reason is None and not self.is_flaky and self.total(side) < enough

    def result(self) -> Rerun:
        outcome = RerunOutcome.FLAKY
        if not self.is_flaky:
            enough = min(self.total(side) for side in Side) >= ENOUGH
            outcome = RerunOutcome.BROKEN if enough else RerunOutcome.UNMEASURED
        base, head = self.reruns[Side.BASE], self.reruns[Side.HEAD]
        return Rerun(
            task_id=self.task,
            outcome=outcome,
            a_passed=sum(base),
            a_total=len(base),
            b_passed=sum(head),
            b_total=len(head),
            reason=self.reason,
        )


def rerun(before: BenchReport, after: BenchReport, run: Run) -> Reruns:
    """Rerun the tasks that passed before and fail now.

    Args:
        before: Report of the base.
        after: Report of the head; skills are paired by key and benchmark.
        run: Runs tasks; if it raises :class:`SkillgateError`, the tasks are unmeasured.

    Returns:
        The outcome of each such task, including those that already had enough runs.
    """
    base = {(one.skill_id, one.benchmark_id): one for one in before.reports}
    head = {(one.skill_id, one.benchmark_id): one for one in after.reports}
    keys = [key for key in head if key in base]
    candidates = [one for key in keys for one in _candidates(key, base[key], head[key])]
    flaky = {key[0] for key in keys if _is_flaky(base[key]) or _is_flaky(head[key])}
    while waiting := [one for one in candidates if any(one.lacks_runs(side, flaky) for side in Side)]:
        for side in Side:
            _rerun_side([one for one in waiting if one.lacks_runs(side, flaky)], side, run)
        flaky |= {one.skill for one in waiting if one.is_flaky}
    found: dict[tuple[str, str], list[Rerun]] = {key: [] for key in keys}
    for one in candidates:
        found[one.skill, one.benchmark].append(one.result())
    return found


def _rerun_side(candidates: Sequence[_Candidate], side: Side, run: Run) -> None:
    """Run each task once more on one side, and record the result."""
    if not candidates:
        return
    try:
        results = run(side, [Wanted(one.skill, one.task, one.last + len(one.reruns[side]) + 1) for one in candidates])
    except SkillgateError as error:
        for one in candidates:
            one.reason = str(error).splitlines()[0][:_REASON]
        return
    found = {(result.skill_id, result.task_id): result for result in results}
    for one in candidates:
        result = found.get((one.skill, one.task))
        if result is None or result.status is Status.SKIPPED:
            one.reason = ((result.error if result else None) or "it was skipped")[:_REASON]
        else:
            one.reruns[side].append(result.status is Status.PASS)


def _candidates(key: tuple[str, str], before: CompletionReport, after: CompletionReport) -> Iterator[_Candidate]:
    a, b = _passes(before), _passes(after)
    last = max((result.run for one in (before, after) for result in one.task_results), default=0)
    for task, runs in a.items():
        if task in b and all(runs) and not any(b[task]):
            counts = {Side.BASE: len(runs), Side.HEAD: len(b[task])}
            yield _Candidate(skill=key[0], benchmark=key[1], task=task, runs=counts, last=last)


def _is_flaky(report: CompletionReport) -> bool:
    return any(0 < sum(runs) < len(runs) for runs in _passes(report).values())


def _passes(report: CompletionReport) -> dict[str, list[bool]]:
    """Return which measured runs of each task passed."""
    found: dict[str, list[bool]] = {}
    for result in report.task_results:
        if result.status is not Status.SKIPPED:
            found.setdefault(result.task_id, []).append(result.status is Status.PASS)
    return found
