"""Runs skills against tasks: several at once, each within its time, retried where infrastructure failed.

Results come in the order run, skill, task, whatever the order in which they end.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate.bench.ports import MAX_WORDS, Call, Reply, UnscoredError
from skillgate.bench.request import shard_of
from skillgate.llm.flow import Queued, WorkerPool
from skillgate.model.bench import EVALUATORS, Attempt, ErrorKind, Output, Status, TaskResult
from skillgate.model.benchmark import AdapterType
from skillgate.model.exchange import Answer, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skillgate.bench.ports import Adapter, Scorer
    from skillgate.model.benchmark import Loaded, Runnable, Task
    from skillgate.model.exchange import Steps

T = TypeVar("T")
MOST_WAIT_S = 30.0  # between two attempts
_TICK_S = 0.1  # in which Ctrl-C is noticed
_ANSWER_TICK_S = 0.05  # in which the end of the run is noticed while a model answers
LIMIT = 16_384  # bytes of an answer, written as JSON, that a report holds


class Item(NamedTuple):
    """One task for one skill in one run; ``order`` is its place among the results."""

    order: int
    skill: Runnable
    task: Task
    run: int


class Job(NamedTuple):
    """What is to be run."""

    items: Sequence[Item]
    adapters: Mapping[str, Adapter]  # by the skill's key
    scorers: Mapping[str, Scorer]  # by the task's id
    scorer_names: Mapping[str, str]  # likewise
    added: Mapping[str, Any]  # what the benchmark's server adds to a task's input, where it is not there
    timeout_s: Mapping[str, float]  # by the skill's key, where the task names none
    retries: Mapping[str, int]  # by the skill's key
    most_at_once: Mapping[str, int | None]  # likewise; None for no limit of its own
    concurrency: int  # items at once
    retry_delay_s: float  # before the first retry
    stop: threading.Event  # ends the run
    clock: Callable[[], float] = time.perf_counter  # for latencies


def items_of(
    skills: Sequence[Runnable], loaded: Loaded, *, runs: int, shard: tuple[int, int] | None = None
) -> tuple[Item, ...]:
    """Return every task of every skill in every run, in the order run, skill, task.

    A shard holds all runs of the tasks that a digest of skill and task deals it.
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
        job: what is to be run.
        done: gets each result as it comes, on the caller's thread.

    Returns:
        One result for each item, in the items' order. Where the run was stopped, the rest is skipped and says so.
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
                        worker.result()  # raises what a bug in it raised
        finally:
            job.stop.set()  # where it was interrupted, the calls end now
    return tuple(found[item.order] for item in job.items)


class _Queue:
    """The items that wait, and the results that are there."""

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
        """Work until nothing is left."""
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
    """Run one item, with retries where infrastructure failed."""
    attempts: list[Attempt] = []
    while True:
        reply, latency_ms = _attempt(item, job)
        left = job.retries.get(item.skill.key, 0) - len(attempts)
        if reply.kind is None or not reply.retryable or left <= 0 or job.stop.is_set():
            return _result(item, job, reply, latency_ms, tuple(attempts))
        wait_s = min(MOST_WAIT_S, max(job.retry_delay_s * (len(attempts) + 1), reply.retry_after_s or 0.0))
        error = reply.error[:MAX_WORDS]
        attempts.append(Attempt(error_kind=reply.kind, error=error, latency_ms=latency_ms, waited_ms=wait_s * 1000))
        job.stop.wait(wait_s)


def _attempt(item: Item, job: Job) -> tuple[Reply, float]:
    """Return the reply of one call, and its latency in ms."""
    task = item.task
    timeout_s = task.timeout_ms / 1000 if task.timeout_ms else job.timeout_s[item.skill.key]
    data = {**job.added, **task.input_data}
    if "checkType" in data and "skillDir" not in data:
        # A program runs in its directory, which may be a copy; anything else gets the path of the files.
        is_program = item.skill.spec.adapter_type is AdapterType.SUBPROCESS
        data["skillDir"] = "." if is_program else item.skill.root
    began = job.clock()
    reply = _require_finite(job.adapters[item.skill.key].invoke(Call(task, data, timeout_s, item.run)))
    latency_ms = (job.clock() - began) * 1000 if reply.latency_ms is None else reply.latency_ms
    return reply, timeout_s * 1000 if reply.kind is ErrorKind.TIMEOUT else latency_ms


def _require_finite(reply: Reply) -> Reply:
    """Refuse an answer that a report could not hold: readers of JSON make an infinity of 1e999."""
    if not reply.answered:
        return reply
    try:
        json.dumps(reply.output, allow_nan=False)
    except (ValueError, RecursionError):
        words = "its answer holds a number that is not finite, such as 1e999, or is nested too deeply"
        return reply._replace(output=None, kind=ErrorKind.PROTOCOL, error=words, retryable=True, answered=False)
    return reply


def _result(item: Item, job: Job, reply: Reply, latency_ms: float, attempts: tuple[Attempt, ...]) -> TaskResult:
    if reply.kind in EVALUATORS:
        return _skipped(item, job, reply.kind, reply.error, attempts)
    task = item.task
    base = TaskResult(
        task_id=task.id,
        skill_id=item.skill.key,
        run=item.run,
        status=Status.TIMEOUT if reply.kind is ErrorKind.TIMEOUT else Status.ERROR,
        score=0.0,
        latency_ms=round(latency_ms, 3) if reply.timed and reply.kind is not ErrorKind.SPAWN else None,
        attempts=attempts,
        usage=reply.usage,
        weight=task.weight,
        tags=task.tags,
        golden=task.golden,
        output=bounded_output(reply.output) if reply.answered else None,
        error=reply.error[:MAX_WORDS] or None,
        error_kind=reply.kind,
    )
    if reply.kind is not None:
        return base
    try:
        scored = job.scorers[task.id].score(reply.output)
    except UnscoredError as error:
        skipped = _skipped(item, job, error.kind, str(error), attempts)
        return replace(skipped, output=base.output, latency_ms=base.latency_ms, usage=reply.usage)
    return replace(
        base,
        status=Status.PASS if scored.passed else Status.FAIL,
        score=scored.score,
        reason=scored.reason[:MAX_WORDS] or None,
        scorer_type=job.scorer_names[task.id],
    )


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


def bounded_output(value: Any) -> Output:  # noqa: ANN401 - any JSON
    """Return an answer as a report holds it: all of a small one, else its beginning, its size and its digest."""
    data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    if len(data) <= LIMIT:
        return Output(value=value, size_bytes=len(data))
    start, sha256 = data[:LIMIT].decode("utf-8", "ignore"), hashlib.sha256(data).hexdigest()
    return Output(value=start, size_bytes=len(data), truncated=True, sha256=sha256)


class LateError(Exception):
    """A model did not answer in time. An answer that is on its way may still come, and is paid for."""


class RunEndedError(Exception):
    """The run ended before a model answered."""


class _Asker(NamedTuple):
    ask: Callable[[Request], Answer]


def carry_out(
    steps: Steps[T], ask: Callable[[Request], Answer], *, timeout_s: float | None, stop: threading.Event
) -> T:
    """Run what asks a model, one request after the other, to its end.

    Args:
        steps: yields requests, never several together.
        ask: answers one; called on another thread, so that one that takes for ever blocks nothing.
        timeout_s: for all of it; None for no limit.
        stop: ends it.

    Raises:
        LateError: the time is over.
        RunEndedError: ``stop`` is set.
    """
    until = None if timeout_s is None else time.monotonic() + timeout_s
    crew: WorkerPool[None] = WorkerPool(_Asker(ask))
    try:
        request = next(steps)
        while True:
            if not isinstance(request, Request):
                message = "requests come one by one here"
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
