"""Worker processes, by :mod:`multiprocessing`.

Only plain values are sent: bytes, text, and tuples of these. One pipe per process, no threads or semaphores: processes
can be started at any time, even if a system forbids semaphores.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from skillgate.named_tuple import NamedTuple
from skillgate.skill.tree import DiskTree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from typing import Any, Literal, Self, TypeAlias

    from skillgate.model.skill import SkillSource

    Method: TypeAlias = Literal["fork", "spawn"]

FORKED = hasattr(os, "fork") and sys.platform != "darwin"  # macOS: system libraries do not survive a fork
METHOD: Method = "fork" if FORKED else "spawn"
WORTH_BYTES = 150_000 if FORKED else 1_500_000
"""Bytes of main files from which on two processes are faster than one."""
MOST = 8


class LostError(Exception):
    """The processes did not return everything."""


class Job(NamedTuple):
    """A skill to assess in a process: the tree's root on disk, and the fields of its root and source."""

    top: str
    directory: str
    file_name: str
    name: str
    plugin: str | None
    data: bytes
    size: int
    siblings: int
    dangling: bool = False
    optional: bool = True


class _Worker(NamedTuple):
    """A process, the pipe to it, and the places of its unanswered jobs, last first."""

    process: BaseProcess
    pipe: Connection
    places: list[int]


def jobs_of(sources: Sequence[SkillSource], *, optional: bool = True) -> list[Job]:
    """Return jobs for sources; empty if not all of their files are on disk."""
    jobs = []
    for root, data, size, siblings, dangling in sources:
        if not isinstance(root.tree, DiskTree):
            return []
        place = (root.tree.root, root.directory, root.file_name, root.name, root.plugin)
        jobs.append(Job(*place, data, size, siblings, dangling, optional))
    return jobs


def processors() -> int:
    """Return how many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def pays(jobs: Sequence[Job]) -> bool:
    """Whether several processes would be faster for these jobs."""
    return len(jobs) > 1 and processors() > 1 and sum(len(job.data) for job in jobs) >= WORTH_BYTES


def entries(jobs: Sequence[Job], *, method: Method = METHOD) -> Iterator[str]:
    """Assess at least one skill in several processes; yield an entry for each, in order.

    However the run ends, even by a signal, no process is left when the generator ends.

    Raises:
        LostError: processes are not available, or one died; entries yielded before are good.
    """
    workers: list[_Worker] = []
    try:
        with _signals_held():
            _start(workers, _shares(jobs, min(processors(), MOST, len(jobs))), method)
        for worker in workers:
            worker.pipe.send([jobs[place] for place in reversed(worker.places)])
        yield from _in_order(workers, len(jobs))
    except (ImportError, NotImplementedError, OSError, EOFError) as error:
        raise LostError(str(error)) from error  # none can be started here, or one was killed (out of memory)
    finally:
        _end(workers)


def _end(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        worker.pipe.close()
        worker.process.kill()
    for worker in workers:
        worker.process.join()


def _shares(jobs: Sequence[Job], count: int) -> list[list[int]]:
    """Split the jobs, by place, into shares with about as many bytes; each share last first."""
    shares: list[list[int]] = [[] for _ in range(count)]
    loads = [0] * count
    for place in sorted(range(len(jobs)), key=lambda place: -len(jobs[place].data)):
        least = loads.index(min(loads))
        shares[least].append(place)
        loads[least] += len(jobs[place].data)
    return [sorted(share, reverse=True) for share in shares if share]


def _start(
    workers: list[_Worker], shares: Sequence[list[int]], method: Method, work: Callable[[Any], Any] | None = None
) -> None:
    """Start a process for each share; without ``work`` it answers the jobs of the share."""
    import multiprocessing

    if work is None:
        import skillgate.evaluation.assess  # noqa: F401 - loaded once, before the processes part

    made: type[BaseProcess] = multiprocessing.get_context(method).Process  # type: ignore[attr-defined]
    for share in shares:
        here, there = multiprocessing.Pipe()
        inherited = (here, *(worker.pipe for worker in workers)) if method == "fork" else ()
        target, more = (_serve, ()) if work is None else (_work, (work,))
        process = made(target=target, args=(there, inherited, *more), daemon=True)
        process.start()
        workers.append(_Worker(process, here, share))
        there.close()  # the process has its own end: when it dies, the pipe ends


@contextmanager
def _signals_held() -> Iterator[None]:
    """Block signals: Python only prints and drops what a handler raises during a fork."""
    import signal

    mask = getattr(signal, "pthread_sigmask", None)
    if mask is None:
        yield
        return
    before = mask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        mask(signal.SIG_SETMASK, before)


class WorkerPool:
    """Processes that do the same work on one job after another, within a ``with`` block.

    They start with the block, so that they do not inherit what is opened in it.
    """

    def __init__(self, work: Callable[[Any], Any], count: int) -> None:
        """Store the work on a job, which must not raise, and the number of processes."""
        self._work, self._count = work, count
        self._workers: list[_Worker] = []

    def __enter__(self) -> Self:
        """Start."""
        try:
            with _signals_held():
                _start(self._workers, [[] for _ in range(self._count)], METHOD, self._work)
        except (ImportError, NotImplementedError, OSError) as error:
            _end(self._workers)
            raise LostError(str(error)) from error
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes, even if busy."""
        _end(self._workers)

    def results(self, jobs: Iterable[Any]) -> Iterator[Any]:
        """Yield the result of each job, in order; jobs are taken as needed.

        A job should be small: while it is written to a process, that process may be writing another result.

        Raises:
            LostError: a process died.
        """
        sent = received = 0
        ahead = 2 * self._count  # one in work and one to start at once
        try:
            for job in jobs:
                if sent - received == ahead:
                    yield self._workers[received % self._count].pipe.recv()
                    received += 1
                self._workers[sent % self._count].pipe.send(job)
                sent += 1
            while received < sent:
                yield self._workers[received % self._count].pipe.recv()
                received += 1
        except (OSError, EOFError) as error:
            raise LostError(str(error)) from error


def _work(pipe: Connection, inherited: Sequence[Connection], work: Callable[[Any], Any]) -> None:
    """Do every job until the pipe ends."""
    _detach(inherited)
    with suppress(EOFError, OSError):
        while True:
            pipe.send(work(pipe.recv()))


def _in_order(workers: Sequence[_Worker], count: int) -> Iterator[str]:
    from multiprocessing.connection import wait

    ready: dict[int, str] = {}
    for place in range(count):
        while place not in ready:
            speaking = wait([worker.pipe for worker in workers if worker.places])
            for worker in workers:
                if worker.pipe in speaking:
                    ready[worker.places.pop()] = worker.pipe.recv()
        yield ready.pop(place)


def _serve(pipe: Connection, inherited: Sequence[Connection]) -> None:
    """Answer every job, in a worker process."""
    _detach(inherited)
    trees: dict[str, DiskTree] = {}
    with open(os.devnull, "w", encoding="utf-8") as sys.stderr:  # noqa: PTH123 - what fails here fails in the parent too
        from skillgate.evaluation.assess import entry
        from skillgate.model.skill import SkillRoot, SkillSource

        for job in pipe.recv():
            if job.top not in trees:
                trees[job.top] = DiskTree(job.top)
            place = (job.directory, job.file_name, job.name, PurePosixPath(job.directory), job.plugin)
            source = SkillSource(SkillRoot(trees[job.top], *place), job.data, job.size, job.siblings, job.dangling)
            pipe.send(entry(source, time.perf_counter_ns, optional=job.optional))


def _detach(inherited: Sequence[Connection]) -> None:
    """Set up a worker process.

    Close its copies of the other ends, so that it ends when its parent dies.
    """
    import signal

    for end in inherited:
        end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the parent ends them
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
