"""An evaluation puts the user's variables out of reach before it starts anything, and is the same program as before."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.architecture.source import ROOT
from tests.bench.made import answering, benchmark, skill, task

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux shows environments")

STARTER = "from skillgate.cli.main import entry; entry()"
CLEAN = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
CLEAN["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))


def started(
    cwd: Path, *words: str, program: tuple[str, ...] = ("-c", STARTER), **environ: str
) -> subprocess.Popen[bytes]:
    argv = [sys.executable, *program, "eval", "--skills", "s", "--benchmark", "./b.json", *words]
    return subprocess.Popen(
        argv, cwd=cwd, env={**CLEAN, **environ}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.PIPE
    )


def waited(child: subprocess.Popen[bytes]) -> bytes:
    """The environment of a process that has started its first program."""
    deadline = time.monotonic() + 30
    while not any(Path(f"/proc/{child.pid}/task").glob("*/children")) or not children(child.pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return Path(f"/proc/{child.pid}/environ").read_bytes()


def children(pid: int) -> str:
    return "".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    skill(tmp_path / "s", "import time; time.sleep(60)")
    benchmark(tmp_path / "b.json", task())
    return tmp_path


@pytest.mark.skipif(os.geteuid() != 0, reason="its environment is closed to its own user")
def test_the_process_that_was_started_holds_no_secret_in_its_environment(slow: Path) -> None:
    child = started(slow, DATABASE_URL="postgres://u:hidden@h/d", XDG_CACHE_HOME="/c", NO_COLOR="1")
    found = waited(child)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)
    assert b"hidden" not in found
    assert b"XDG_CACHE_HOME=/c" in found
    assert child.returncode == 143


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_the_process_is_closed_to_its_own_user(slow: Path) -> None:
    child = started(slow, DATABASE_URL="postgres://u:hidden@h/d")
    with pytest.raises(PermissionError):
        waited(child)
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=60)


@pytest.mark.parametrize("program", [("-c", STARTER), ("-m", "skillgate")])
def test_variables_arrive_where_they_are_asked_for(tmp_path: Path, program: tuple[str, ...]) -> None:
    skill(tmp_path / "s", answering("len(__import__('os').environ['SKILL_KEY'])"), config={"passEnv": ["SKILL_KEY"]})
    benchmark(tmp_path / "b.json", task(expectedOutput={"value": 10}))
    child = started(tmp_path, "--min-completion", "1", program=program, SKILL_KEY="ä=\n hidden", OTHER="x" * 100_000)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    assert b"hidden" not in out + err


@pytest.mark.parametrize("handed", ["", "99", "-1", "1", "x"])
def test_a_variable_that_promises_a_file_that_is_not_there_ends_nothing(tmp_path: Path, handed: str) -> None:
    skill(tmp_path / "s", answering("data['n']"))
    benchmark(tmp_path / "b.json", task())
    child = started(tmp_path, "--min-completion", "1", SKILLGATE_HANDED=handed, TOKEN="t")
    _, err = child.communicate(timeout=60)
    assert child.returncode == 0, err


def test_exit_codes_and_streams_are_those_of_one_process(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("0"))
    benchmark(tmp_path / "b.json", task())
    for words, code in ((("--exit-on-fail",), 1), (("--runs", "0"), 2), ((), 0)):
        child = started(tmp_path, "--json", *words, TOKEN="t")
        pid = child.pid
        out, _ = child.communicate(timeout=60)
        assert (child.pid, child.returncode) == (pid, code)
        assert code == 2 or json.loads(out)["kind"] == "bench"


def test_the_report_says_what_was_in_force(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("data['n']"))
    benchmark(tmp_path / "b.json", task())
    child = started(tmp_path, "--json", TOKEN="t")
    out, err = child.communicate(timeout=60)
    assert child.returncode == 0, err
    isolated = json.loads(out)["run"]["isolated"]
    assert "rights of set-user-id programs" in isolated
    own = "the environment of other processes"
    alone = "the environment and memory of this process (not of the shell or runner that started it)"
    assert (own in isolated, alone in isolated) == ((True, False) if os.geteuid() == 0 else (False, True))


def test_what_does_not_start_programs_does_not_start_again() -> None:
    code = "import os, sys; sys.argv[1:] = ['rules']\nfrom skillgate.cli.main import entry\nentry()"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code], env={**CLEAN, "TOKEN": "t"}, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"seclusion" not in done.stderr
