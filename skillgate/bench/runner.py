"""Runs skills against tasks: several at once, each within its time, tried again where infrastructure failed.

Results come in the order run, skill, task, whatever the order in which they end.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.ports import MAX_WORDS, Call, Reply, UnscoredError
from skillgate.model.bench_result import EVALUATORS, Attempt, ErrorKind, Output, Status, TaskResult
from skillgate.model.executable import AdapterType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skillgate.bench.ports import Adapter, Scorer
    from skillgate.model.benchmark import Task
    from skillgate.model.executable import Runnable

MOST_WAIT_S = 30.0  # between two tries
_TICK_S = 0.1  # in which Ctrl-C is heard
LIMIT = 16_384  # bytes of an answer, written as JSON, that a report holds


class Item(NamedTuple):
    """One task for one skill in one run; ``order`` is its place among the results."""

    order: int
    skill: Runnable
    task: Task
    run: int


class Job(NamedTuple):
    """What is to be run.

    Attributes:
        items: in their order.
        adapters: by the skill's key.
        scorers: by the task's id.
        scorer_names: by the task's id, for the results.
        added: what the benchmark's server adds to a task's input, where it is not there.
        timeout_s: of a skill (by key) where its task names none.
        retries: of a skill, by key.
        most_at_once: of a skill, by key; None for no limit of its own.
        concurrency: how many items at once.
        retry_delay_s: before the first further try.
        stop: ends the run.
        clock: seconds, for latencies.
    """

    items: Sequence[Item]
    adapters: Mapping[str, Adapter]
    scorers: Mapping[str, Scorer]
    scorer_names: Mapping[str, str]
    added: Mapping[str, Any]
    timeout_s: Mapping[str, float]
    retries: Mapping[str, int]
    most_at_once: Mapping[str, int | None]
    concurrency: int
    retry_delay_s: float
    stop: threading.Event
    clock: Callable[[], float] = time.perf_counter


def run(job: Job, done: Callable[[TaskResult], None]) -> tuple[TaskResult, ...]:
    """Run every item.

    Args:
        job: what is to be run.
        done: is told of each result as it comes, on the caller's thread.

    Returns:
        One result for each item, in the items' order. Where the run was stopped, the rest is skipped and says so.
    """
    queue = _Queue(job)
    found: dict[int, TaskResult] = {}
    with ThreadPoolExecutor(_crew_size(job), thread_name_prefix="bench") as crew:
        working = [crew.submit(queue.work) for _ in range(_crew_size(job))]
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


def _crew_size(job: Job) -> int:
    return max(1, min(job.concurrency, len(job.items)))


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
            result = _skipped(item, self._job, ErrorKind.STOPPED, "the run ended before its turn")
            if not self._job.stop.is_set():
                result = _evaluated(item, self._job)
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


def _evaluated(item: Item, job: Job) -> TaskResult:
    """Run one item, with further tries where infrastructure failed."""
    attempts: list[Attempt] = []
    key = item.skill.key
    while True:
        reply, latency_ms = _tried(item, job)
        left = job.retries.get(key, 0) - len(attempts)
        if reply.kind is None or not reply.retryable or left <= 0 or job.stop.is_set():
            return _result(item, job, reply, latency_ms, tuple(attempts))
        wait_s = min(MOST_WAIT_S, max(job.retry_delay_s * (len(attempts) + 1), reply.retry_after_s or 0.0))
        attempts.append(
            Attempt(
                error_kind=reply.kind, error=reply.error[:MAX_WORDS], latency_ms=latency_ms, waited_ms=wait_s * 1000
            )
        )
        job.stop.wait(wait_s)


def _tried(item: Item, job: Job) -> tuple[Reply, float]:
    task = item.task
    timeout_s = task.timeout_ms / 1000 if task.timeout_ms else job.timeout_s[item.skill.key]
    data = {**job.added, **task.input_data}
    if "checkType" in data and "skillDir" not in data:
        # A program runs in its directory, which may be a copy; anything else is told where the files lie.
        is_program = item.skill.spec.adapter_type is AdapterType.SUBPROCESS
        data["skillDir"] = "." if is_program else item.skill.root
    call = Call(task=task, data=data, timeout_s=timeout_s, run=item.run)
    began = job.clock()
    reply = _sound(job.adapters[item.skill.key].invoke(call))
    latency_ms = (job.clock() - began) * 1000 if reply.latency_ms is None else reply.latency_ms
    return reply, timeout_s * 1000 if reply.kind is ErrorKind.TIMEOUT else latency_ms


def _sound(reply: Reply) -> Reply:
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
        status=Status.ERROR,
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
        timed_out = reply.kind is ErrorKind.TIMEOUT
        return _with(base, status=Status.TIMEOUT if timed_out else Status.ERROR)
    try:
        scored = job.scorers[task.id].score(reply.output)
    except UnscoredError as error:
        skipped = _skipped(item, job, error.kind, str(error), attempts)
        return _with(skipped, output=base.output, latency_ms=base.latency_ms, usage=reply.usage)
    status = Status.PASS if scored.passed else Status.FAIL
    return _with(
        base,
        status=status,
        score=scored.score,
        reason=scored.reason[:MAX_WORDS] or None,
        scorer_type=job.scorer_names[task.id],
    )


def _with(result: TaskResult, **changes: Any) -> TaskResult:  # noqa: ANN401 - fields of the result
    from dataclasses import replace

    return replace(result, **changes)


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
    return Output(
        value=data[:LIMIT].decode("utf-8", "ignore"),
        size_bytes=len(data),
        truncated=True,
        sha256=hashlib.sha256(data).hexdigest(),
    )
