"""The sandbox: what is in it, what it refuses to do without, and the one server that is reached from it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.isolation.spawner import ProcessSpawner
from skillgate.bench.ports import Limits
from skillgate.errors import UsageError
from skillgate.model.bench import ErrorKind
from tests.bench.made import answering, benchmark, run, skill, task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.bench.ports import Ended

# As root calls run as other users, who cannot reach a Python below root's home.
PATHS = os.environ["PATH"] if os.geteuid() else f"{os.environ['PATH']}:/usr/local/bin:/usr/bin:/bin"


def works() -> bool:
    if shutil.which("bwrap") is None:
        return False
    user = 61_184 if os.geteuid() == 0 else None
    argv = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    return subprocess.run(argv, capture_output=True, check=False, user=user, group=user).returncode == 0


sandboxed = pytest.mark.skipif(not works(), reason="bwrap does not start here")


@pytest.fixture
def spawner() -> Iterator[ProcessSpawner]:
    made = ProcessSpawner(path=PATHS, stop=threading.Event(), sandbox="bwrap")
    yield made
    made.close()


def ran(spawner: ProcessSpawner, root: Path, code: str, env: Mapping[str, str] = {}, *, copy: bool = False) -> Ended:
    root.mkdir(exist_ok=True)
    root.chmod(0o755)
    (root / "skill.py").write_text(code, encoding="utf-8")
    return started(spawner, root, env, copy=copy)


def started(spawner: ProcessSpawner, root: Path, env: Mapping[str, str], *, copy: bool = False) -> Ended:
    limits = Limits(timeout_s=20)
    return spawner.run(["python3", "skill.py"], root=str(root), stdin=b"in", env=env, limits=limits, copy=copy)


@sandboxed
def test_a_program_runs_in_its_directory_with_its_variables_and_its_exit_code(
    spawner: ProcessSpawner, tmp_path: Path
) -> None:
    code = "import os, sys; print(sys.stdin.read(), os.environ['A'], os.path.exists('skill.py')); sys.exit(3)"
    ended = ran(spawner, tmp_path / "s", code, {"A": "b c=d"})
    assert (ended.stdout, ended.returncode, ended.kind) == (b"in b c=d True\n", 3, None)


@sandboxed
def test_a_signal_that_ends_a_program_is_told_as_without_a_sandbox(spawner: ProcessSpawner, tmp_path: Path) -> None:
    assert ran(spawner, tmp_path / "s", "import os; os.kill(os.getpid(), 9)").returncode == -9
    assert ran(spawner, tmp_path / "t", "import os; os.abort()").returncode == -6


@sandboxed
def test_it_sees_nothing_of_the_home_directories_and_no_other_process(spawner: ProcessSpawner, tmp_path: Path) -> None:
    code = (
        "import os\n"
        "homes = [os.path.join(top, name) for top in ('/root', '/home') if os.path.isdir(top)"
        " for name in os.listdir(top)]\n"
        "pids = [name for name in os.listdir('/proc') if name.isdigit()]\n"
        f"print(len(pids) < 5, os.path.exists({str(tmp_path / 'beside')!r}), os.path.exists('/etc/shadow'))\n"
        "print(os.listdir(os.environ['HOME']), os.path.isdir('.git') and os.listdir('.git'), homes)"
    )
    (tmp_path / "beside").write_text("x")
    (tmp_path / "s/.git").mkdir(parents=True)
    (tmp_path / "s/.git/config").write_text("token")
    lines = ran(spawner, tmp_path / "s", code).stdout.decode().splitlines()
    assert lines[0] == "True False False"
    assert lines[1].startswith(("[] []", "[] False"))


@sandboxed
def test_only_a_copy_of_its_directory_can_be_written(spawner: ProcessSpawner, tmp_path: Path) -> None:
    code = (
        "try: open('x', 'w'); print('written')\n"
        "except OSError as error: print(error.strerror)\n"
        "open('/tmp/y', 'w').write('z')"
    )
    assert ran(spawner, tmp_path / "s", code).stdout == b"Read-only file system\n"
    assert ran(spawner, tmp_path / "s", code, copy=True).stdout == b"written\n"
    assert not (tmp_path / "s/x").exists()


@sandboxed
def test_a_variable_for_the_loader_has_no_effect_outside(spawner: ProcessSpawner, tmp_path: Path) -> None:
    ended = ran(spawner, tmp_path / "s", "import os; print(os.environ['LD_PRELOAD'])", {"LD_PRELOAD": "/nowhere.so"})
    assert ended.stdout == b"/nowhere.so\n"
    assert ended.stderr.count(b"cannot be preloaded") == 1  # python alone complains, bubblewrap does not


@sandboxed
def test_what_a_program_starts_ends_with_it(spawner: ProcessSpawner, tmp_path: Path) -> None:
    mark = f"left-{os.getpid()}-{id(spawner)}"
    code = (
        "import subprocess, sys\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)', '{mark}'], start_new_session=True)\n"
        "print('done')"
    )
    assert ran(spawner, tmp_path / "s", code).stdout == b"done\n"
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.parent.exists()]
    assert not [line for line in lines if mark.encode() in line and b"time.sleep" in line]


@sandboxed
@pytest.mark.skipif(os.geteuid() == 0, reason="calls run as a user who cannot reach the environment of this test")
def test_an_interpreter_outside_of_the_system_is_there_where_path_names_it(tmp_path: Path) -> None:
    check_interpreter(Path(sys.executable).parent, tmp_path)


@sandboxed
def test_a_virtual_environment_is_there_where_path_names_it(tmp_path: Path) -> None:
    python = shutil.which("python3", path="/usr/local/bin:/usr/bin")
    if python is None:
        pytest.skip("there is no python3 of the system")
    place = Path(f"/var/tmp/venv-{os.getpid()}")  # not below tmp_path, which other users cannot enter
    try:
        subprocess.run([python, "-m", "venv", "--without-pip", str(place)], check=True, capture_output=True)
        check_interpreter(place / "bin", tmp_path)
    except subprocess.CalledProcessError:
        pytest.skip("this Python makes no virtual environments")
    finally:
        shutil.rmtree(place, ignore_errors=True)


def check_interpreter(folder: Path, tmp_path: Path) -> None:
    spawner = ProcessSpawner(path=f"{folder}:/usr/bin:/bin", stop=threading.Event(), sandbox="bwrap")
    try:
        ended = ran(spawner, tmp_path / "s", "import sys, json; print(sys.prefix)")
        assert ended.stdout.decode().strip() == str(folder.parent), ended
    finally:
        spawner.close()


class Answering(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[::-1])

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def servers() -> Iterator[list[int]]:
    """Two servers, and their ports."""
    made = [ThreadingHTTPServer(("127.0.0.1", 0), Answering) for _ in range(2)]
    for server in made:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield [server.server_port for server in made]
    for server in made:
        server.shutdown()
        server.server_close()


ASKING = """\
import os, urllib.request, urllib.error
def ask(url):
    body = b"0123456789" * 100_000
    try: return urllib.request.urlopen(url, body, timeout=120).read() == body[::-1]
    except OSError as error: return type(error).__name__
print([ask(os.environ["SKILLGATE_CORPUS_URL"]) for _ in range(3)], ask(os.environ["OTHER_URL"]))
"""


@sandboxed
def test_the_served_server_is_reached_and_no_other(spawner: ProcessSpawner, tmp_path: Path, servers: list[int]) -> None:
    served = {"SKILLGATE_CORPUS_URL": f"http://127.0.0.1:{servers[0]}/x", "SKILLGATE_WORD": "no URL"}
    spawner.reach(served)
    ended = ran(spawner, tmp_path / "s", ASKING, {"OTHER_URL": f"http://127.0.0.1:{servers[1]}", **served})
    assert ended.stdout == b"[True, True, True] URLError\n", ended
    assert ran(spawner, tmp_path / "t", "raise SystemExit(3)").returncode == 3
    assert ran(spawner, tmp_path / "u", "import os; os.kill(os.getpid(), 9)").returncode == -9


@sandboxed
def test_calls_at_once_reach_the_server(spawner: ProcessSpawner, tmp_path: Path, servers: list[int]) -> None:
    served = {"SKILLGATE_CORPUS_URL": f"http://localhost:{servers[0]}"}
    spawner.reach(served)
    root = tmp_path / "s"
    root.mkdir(0o755)
    (root / "skill.py").write_text(ASKING, encoding="utf-8")  # once: a call must not find it half written
    found: list[Ended] = []

    def call() -> None:
        found.append(started(spawner, root, {"OTHER_URL": "http://127.0.0.1:1", **served}))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [ended.stdout for ended in found] == [b"[True, True, True] URLError\n"] * 4, found


def false_bwrap(folder: Path) -> str:
    """A PATH on which bwrap is a program that fails as bwrap does."""
    for place in (folder, *folder.parents):
        if os.geteuid() == 0 and place != Path("/"):
            place.chmod(place.stat().st_mode | 0o055)
    (folder / "bwrap").write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    (folder / "bwrap").chmod(0o755)
    return f"{folder}:{PATHS}"


def test_a_sandbox_that_cannot_start_is_told_before_anything_runs(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("data['n']"))
    benchmark(tmp_path / "b.json", task())
    path = false_bwrap(tmp_path)
    words = ("eval", "--skills", "s", "--benchmark", "./b.json", "--json")
    done = run(tmp_path, *words, "--sandbox", "bwrap", PATH=path)
    assert (done.code, done.out) == (2, "")
    assert "bwrap: No permissions to create new namespace" in done.err
    assert not (tmp_path / "reports").exists()
    done = run(tmp_path, *words, "--sandbox", "auto", PATH=path)
    assert done.code == 0
    assert "not isolated: bwrap cannot start: bwrap: No permissions" in done.err
    assert done.json["run"]["sandbox"] == "none"
    assert "the network" not in done.json["run"]["isolated"]


def test_a_sandbox_that_is_not_installed_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="bwrap is not installed"):
        ProcessSpawner(path=str(tmp_path), stop=threading.Event(), sandbox="bwrap")
    spawner = ProcessSpawner(path=str(tmp_path), stop=threading.Event(), sandbox="auto")
    assert (spawner.sandbox, "not isolated: bwrap is not installed" in spawner.notice) == ("none", True)
    spawner.close()


@sandboxed
def test_a_report_says_that_a_sandbox_was_in_force(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("data['n']"))
    benchmark(tmp_path / "b.json", task())
    (tmp_path / ".skillgate.yaml").write_text("{}")
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--sandbox", "auto", PATH=PATHS)
    assert done.code == 0, done.err
    assert done.json["run"]["sandbox"] == "bwrap"
    assert "the network" in done.json["run"]["isolated"]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="memory is bounded on Linux alone")
@pytest.mark.parametrize(
    ("option", "own", "kind"),
    [("100", None, "memory_limit"), ("100", 4096, "memory_limit"), ("1000", 100, "memory_limit"), ("1000", None, None)],
)
def test_the_lower_limit_of_memory_holds(tmp_path: Path, option: str, own: int | None, kind: str | None) -> None:
    code = "held = b'x' * (200 << 20)\n__import__('time').sleep(1.5)\n" + answering("data['n']")
    skill(tmp_path / "s", code, config={} if own is None else {"memoryMb": own})
    benchmark(tmp_path / "b.json", task())
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--memory", option)
    (result,) = done.json["reports"][0]["taskResults"]
    assert result["errorKind"] == kind


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--memory", "8"), "a whole number from 16"),
        (("--memory", "1G"), "a whole number"),
        (("--sandbox", "docker"), "none, bwrap, auto"),
    ],
)
def test_what_is_not_valid_is_refused(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    skill(tmp_path / "s")
    done = run(tmp_path, "eval", "--skills", "s", *words)
    assert (done.code, told in done.err) == (2, True), done.err


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="files are bounded on Linux alone")
def test_what_fills_the_disk_is_ended_and_removed(tmp_path: Path) -> None:
    spawner = ProcessSpawner(path=PATHS, stop=threading.Event())
    (tmp_path / "skill.py").write_text(
        "import os, time\nprint(os.environ['HOME'], flush=True)\n"
        "open(os.environ['HOME'] + '/x', 'wb').write(b'x' * (20 << 20))\ntime.sleep(30)"
    )
    limits = Limits(timeout_s=20, disk_bytes=10 << 20)
    ended = spawner.run(["python3", "skill.py"], root=str(tmp_path), stdin=b"", env={}, limits=limits, copy=False)
    spawner.close()
    assert ended.kind is ErrorKind.DISK_LIMIT
    assert not Path(ended.stdout.decode().strip()).exists()


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="only Linux bounds from outside")
def test_a_program_has_the_kernels_limits(tmp_path: Path) -> None:
    spawner = ProcessSpawner(path=PATHS, stop=threading.Event())
    code = (
        "import json, resource, time\ntime.sleep(0.2)\n"
        "print(json.dumps([resource.getrlimit(kind) for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE,"
        " resource.RLIMIT_NOFILE)]), open('/proc/self/oom_score_adj').read())"
    )
    (tmp_path / "skill.py").write_text(code)
    limits = Limits(timeout_s=20)
    ended = spawner.run(["python3", "skill.py"], root=str(tmp_path), stdin=b"", env={}, limits=limits, copy=False)
    spawner.close()
    rows, _, score = ended.stdout.decode().rpartition("] ")
    core, size, files = json.loads(rows + "]")
    assert (core, size, score.strip()) == ([0, 0], [1 << 30, 1 << 30], "1000")
    assert files[1] <= 1024
