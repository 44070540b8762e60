"""Several processes for what several processors can do sooner: by :mod:`multiprocessing`.

What is handed over and back is plain: bytes, text, and tuples of such. One pipe to each process, and neither threads
nor semaphores: a process may be started from here at any time, and where a system forbids semaphores.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

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
"""Bytes of main files from which on two processes are faster: half of the parsing outweighs starting them."""
MOST = 8


class LostError(Exception):
    """The processes did not return all that was wanted of them."""


class Job(NamedTuple):
    """A skill to judge, as a process can take it: the tree's root on disk, and the fields of its root and source."""

    top: str
    directory: str
    file_name: str
    name: str
    plugin: str | None
    data: bytes
    size: int
    siblings: int
    optional: bool = True


class _Worker(NamedTuple):
    """A process, the end of the pipe to it, and the places of the jobs that it has still to answer, the last first."""

    process: BaseProcess
    pipe: Connection
    places: list[int]


def jobs_of(sources: Sequence[SkillSource], *, optional: bool = True) -> list[Job]:
    """Write sources down for other processes; empty where not all of their files are on disk."""
    jobs = []
    for root, data, size, siblings in sources:
        if not isinstance(root.tree, DiskTree):
            return []
        place = (root.tree.root, root.directory, root.file_name, root.name, root.plugin)
        jobs.append(Job(*place, data, size, siblings, optional))
    return jobs


def processors() -> int:
    """Return how many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def pays(jobs: Sequence[Job]) -> bool:
    """Whether several processes would be faster for these jobs."""
    return len(jobs) > 1 and processors() > 1 and sum(len(job.data) for job in jobs) >= WORTH_BYTES


def entries(jobs: Sequence[Job], *, method: Method = METHOD) -> Iterator[str]:
    """Judge at least one skill in several processes; yield an entry for each, in their order.

    However the run ends, also by a signal while an entry is made use of, no process is left when the generator is.

    Raises:
        LostError: the system has no means for it, or a process died; what was yielded until then is good.
    """
    workers: list[_Worker] = []
    try:
        with _signals_held():
            _start(workers, _shares(jobs, min(processors(), MOST, len(jobs))), method)
        for worker in workers:
            worker.pipe.send([jobs[place] for place in reversed(worker.places)])
        yield from _in_order(workers, len(jobs))
    except (ImportError, NotImplementedError, OSError, EOFError) as error:
        raise LostError(str(error)) from error  # none can be started here; or it was killed for want of memory
    finally:
        _end(workers)


def _end(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        worker.pipe.close()
        worker.process.kill()
    for worker in workers:
        worker.process.join()


def _shares(jobs: Sequence[Job], count: int) -> list[list[int]]:
    """Part the jobs, by their places, so that all processes have about as many bytes; each share the last first."""
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
    """Start a process for each share; without ``work`` it answers the jobs at the share's places."""
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
        there.close()  # the process has its own: when it dies, the pipe ends


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let signals wait: what a handler raises while this process forks, Python reports and forgets."""
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
    """Processes that do the same work on one job after another, as long as the ``with`` block lasts.

    They are started as the block begins, so that what is opened in it is not theirs.
    """

    def __init__(self, work: Callable[[Any], Any], count: int) -> None:
        """Take what is done with a job, and how many processes do it; the work never raises."""
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
        """End the processes, whatever they are at."""
        _end(self._workers)

    def results(self, jobs: Iterable[Any]) -> Iterator[Any]:
        """Yield what comes of each job, in their order; jobs are taken as they are needed.

        A job should be small: while one is written to a process, that process may be writing what came of another.

        Raises:
            LostError: a process died.
        """
        sent = received = 0
        ahead = 2 * self._count  # one to do and one to begin with at once
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
    """Do every job that comes, until the pipe ends."""
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
    """Answer every job: what a process of its own does."""
    _detach(inherited)
    trees: dict[str, DiskTree] = {}
    with open(os.devnull, "w", encoding="utf-8") as sys.stderr:  # noqa: PTH123 - what fails here fails there too
        from skillgate.evaluation.assess import entry
        from skillgate.model.skill import SkillRoot, SkillSource

        for job in pipe.recv():
            if job.top not in trees:
                trees[job.top] = DiskTree(job.top)
            place = (job.directory, job.file_name, job.name, PurePosixPath(job.directory), job.plugin)
            source = SkillSource(SkillRoot(trees[job.top], *place), job.data, job.size, job.siblings)
            pipe.send(entry(source, time.perf_counter_ns, optional=job.optional))


def _detach(inherited: Sequence[Connection]) -> None:
    """Begin a process of its own.

    Its copies of the other ends are closed: when the process that began it dies, it is to notice and to end too.
    """
    import signal

    for end in inherited:
        end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all; the one that began them ends them
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
