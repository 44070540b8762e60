"""Other processes that judge: the same entries in the same order, whatever becomes of the processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skillgate.evaluation.workers import WORTH_BYTES, Job, LostError, WorkerPool, pays, processors
from tests.skills import filler, run_python, write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator

SEVERAL = pytest.mark.skipif(processors() < 2, reason="there is one processor")
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals are others here")

# What every script begins with: the sources, their jobs, and what judging them here gives.
HEAD = """
import sys, time
from skillgate.evaluation import assess
from skillgate.evaluation import workers
from skillgate.cache import Cache
from skillgate.evaluation.pipeline import Assessor
from skillgate.skill.find import discover
from skillgate.skill.find import read
clock = time.perf_counter_ns

def found():
    return [read(root) for root in discover([sys.argv[1]]).roots]

def here():
    return [assess.entry(source, clock) for source in found()]

def seen(facts):
    return [(one.name, one.claims, one.texts(), one.detail()) for one in facts]

def main():
"""
FOOT = """
if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def skills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Skills whose entries are more than pipes hold, so that no process is done before it is asked."""
    folder = tmp_path_factory.mktemp("catalogue") / "skills"
    for number in range(30):
        body = f"# Skill {number}\n\n{filler(700 + number, start=number)}\nSee [it](references/a.md).\n"
        write_skill(folder, f"skill-{number}", body=body, files={"references/a.md": filler(number)})
    return folder


def script(body: str, skills: Path, cwd: Path, *options: str) -> str:
    """Run a script in a process of its own, as a file, so that processes can be started anew from it."""
    path = cwd / "script.py"
    path.write_text(HEAD + "".join(f"    {line}\n" for line in body.strip().split("\n")) + FOOT, encoding="utf-8")
    argv = [sys.executable, "-W", "error", *options, str(path), str(skills)]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(argv, cwd=cwd, env=environ, capture_output=True, encoding="utf-8", timeout=120, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout.strip()


@pytest.mark.parametrize("method", ["spawn", pytest.param("fork", marks=POSIX)])
def test_the_entries_are_those_made_here_in_the_same_order(skills: Path, tmp_path: Path, method: str) -> None:
    code = f"print(list(workers.entries(workers.jobs_of(found()), method={method!r})) == here(), len(here()))"
    assert script(code, skills, tmp_path) == "True 30"


@POSIX
def test_the_processes_share_the_work(skills: Path, tmp_path: Path) -> None:
    code = """
import multiprocessing
count = set()
for text in workers.entries(workers.jobs_of(found())):
    count.add(len(multiprocessing.active_children()))
print(max(count) == min(workers.processors(), workers.MOST), multiprocessing.active_children())
"""
    assert script(code, skills, tmp_path) == "True []"


@POSIX
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_where_a_process_dies_nothing_is_lost(skills: Path, tmp_path: Path, method: str) -> None:
    code = f"""
import multiprocessing
entries = workers.entries(workers.jobs_of(found()), method={method!r})
given = [next(entries)]
for child in multiprocessing.active_children():
    child.kill()
try:
    given += entries
except workers.LostError:
    print("lost", 0 < len(given) < 30, given == here()[:len(given)], multiprocessing.active_children())
"""
    assert script(code, skills, tmp_path) == "lost True True []"


@POSIX
@SEVERAL
def test_what_dead_processes_left_is_judged_here(skills: Path, tmp_path: Path) -> None:
    code = """
import multiprocessing
facts = Assessor(Cache(sys.argv[1] + "/../cache", now=time.time), clock=clock).assess(found())
first = next(facts)
children = multiprocessing.active_children()
for child in children:
    child.kill()
print(len(children) > 1, seen([first, *facts]) == seen(map(lambda one: assess.assess(one, clock), found())))
kept = Assessor(Cache(sys.argv[1] + "/../cache", now=time.time), clock=clock)
print(len(list(kept.assess(found()))), kept.reused)
"""
    assert script(code, skills, tmp_path) == "True True\n30 30"


@POSIX
@SEVERAL
def test_where_no_process_can_be_started_all_is_judged_here(skills: Path, tmp_path: Path) -> None:
    code = """
import os, resource
there = found()
import multiprocessing.connection, multiprocessing.popen_fork
free = os.dup(0)
os.close(free)
resource.setrlimit(resource.RLIMIT_NOFILE, (free + 3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
try:
    list(workers.entries(workers.jobs_of(there)))
except workers.LostError as error:
    print(error)
print(len(list(Assessor(None, clock=clock).assess(there))), multiprocessing.active_children())
"""
    assert script(code, skills, tmp_path) == "[Errno 24] Too many open files\n30 []"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="a process cannot be kept to one processor here")
def test_on_one_processor_no_other_process_is_started(skills: Path, tmp_path: Path) -> None:
    code = """
import os
os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
print(len(list(Assessor(None, clock=clock).assess(found()))), "multiprocessing" in sys.modules)
"""
    assert script(code, skills, tmp_path) == "30 False"


def job(size: int) -> Job:
    return Job("/", "a", "SKILL.md", "a", None, b"x" * size, size, 0)


def test_little_work_is_not_worth_a_process() -> None:
    assert not pays([])
    assert not pays([job(WORTH_BYTES)])
    assert not pays([job(WORTH_BYTES // 2 - 1)] * 2)
    assert pays([job(WORTH_BYTES // 2)] * 2) is (processors() > 1)


def test_the_files_of_a_commit_stay_in_this_process(skills: Path, tmp_path: Path) -> None:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(["git", *identity, *words], cwd=skills, check=True, capture_output=True)
    code = """
from skillgate.skill.find import discover_commit
there = [read(root) for root in discover_commit("HEAD", "./", cwd=sys.argv[1]).roots]
print(len(list(Assessor(None, clock=clock).assess(there))), "multiprocessing" in sys.modules, workers.jobs_of(there))
"""
    assert script(code, skills, tmp_path) == "30 False []"


# The real command line; each fork is announced on stderr, so that a signal meets it at work.
INTERRUPTED = """
import os, signal, sys
from skillgate.cli.main import entry
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is born deaf to it
sys.addaudithook(lambda event, _: os.write(2, b"fork\\n") if event == "os.fork" else None)
sys.argv = ["skillgate", "check", "--no-cache", sys.argv[1]]
entry()
"""


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="processes are started anew here")
@SEVERAL
@pytest.mark.parametrize(
    ("number", "to_all", "code"),
    [
        (signal.SIGTERM, False, 143),
        (signal.SIGTERM, True, 143),
        (signal.SIGINT, False, 130),
        (signal.SIGINT, True, 130),
        (getattr(signal, "SIGKILL", 9), False, -9),
    ],
)
def test_a_signal_ends_the_run_and_leaves_no_process(
    skills: Path, number: signal.Signals, code: int, *, to_all: bool
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(skills)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        start_new_session=True,
    ) as running:
        assert running.stderr is not None
        assert [running.stderr.readline() for _ in range(2)] == [b"fork\n"] * 2
        os.kill(-running.pid if to_all else running.pid, number)
        out, err = running.communicate(timeout=60)  # ends when the last process that could write has ended
        assert (running.returncode, out) == (code, b"")
        assert b"Traceback" not in err
        assert b"Exception" not in err


@SEVERAL
def test_output_begun_before_the_processes_is_written_once(skills: Path, tmp_path: Path) -> None:
    code = """
import sys
from skillgate.cli.main import main
sys.stdout.write("begun\\n")
if __name__ == "__main__":
    print(main(["check", "--no-cache", sys.argv[1]]) in (0, 1))
"""
    done = run_python(code, skills, cwd=tmp_path)
    assert done.stdout.count("begun\n") == 1
    assert done.stdout.endswith("True\n")


def doubled(job: int) -> str:
    """What the crew below does: some answers are longer than a pipe holds."""
    if job < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return str(2 * job) * (30_000 if job % 7 == 0 else 1)


@POSIX
def test_a_crew_answers_jobs_in_their_order() -> None:
    with WorkerPool(doubled, 3) as crew:
        assert list(crew.results(iter(range(100)))) == [doubled(job) for job in range(100)]
        assert list(crew.results([])) == []


@POSIX
def test_a_crew_takes_jobs_only_as_they_are_needed() -> None:
    taken: list[int] = []

    def jobs() -> Iterator[int]:
        for job in range(1, 1_000):
            taken.append(job)
            yield job

    with WorkerPool(doubled, 2) as crew:
        results = crew.results(jobs())
        assert next(results) == "2"
        assert taken == [1, 2, 3, 4, 5]  # two in hand and two waiting for each, and the one whose place is free


@POSIX
def test_a_crew_that_lost_a_process_says_so_and_leaves_none() -> None:
    with pytest.raises(LostError), WorkerPool(doubled, 2) as crew:
        list(crew.results([1, 2, -1, 3, 4, 5, 6, 7]))
    assert multiprocessing.active_children() == []
