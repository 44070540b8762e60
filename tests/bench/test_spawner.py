"""Programs of skills: what they are given, what ends them, and what is left of them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skillgate.bench.isolation.processes import FIRST_USER, family
from skillgate.bench.isolation.spawner import ProcessSpawner
from skillgate.bench.ports import Limits
from skillgate.errors import IncompleteError
from skillgate.model.bench import ErrorKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillgate.bench.ports import Ended

linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="/proc is not there")


@pytest.fixture
def spawner() -> Iterator[ProcessSpawner]:
    made = ProcessSpawner(path=os.environ["PATH"], stop=threading.Event())
    yield made
    made.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "skill"
    folder.mkdir()
    return folder


def ran(spawner: ProcessSpawner, root: Path, code: str, stdin: bytes = b"", **limits: float | int | None) -> Ended:
    (root / "skill.py").write_text(code, encoding="utf-8")
    bounds = Limits(**{"timeout_s": 20.0, **limits})  # type: ignore[arg-type]
    return spawner.run(["python3", "skill.py"], root=str(root), stdin=stdin, env={"A": "b"}, limits=bounds, copy=False)


def test_a_program_gets_its_input_and_gives_its_output(spawner: ProcessSpawner, root: Path) -> None:
    ended = ran(spawner, root, "import sys; print(sys.stdin.read()[::-1]); sys.stderr.write('e'); sys.exit(3)", b"abc")
    assert (ended.stdout.strip(), ended.stderr, ended.returncode, ended.kind) == (b"cba", b"e", 3, None)


def test_a_program_sees_no_variable_of_ours(
    spawner: ProcessSpawner, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    names = ran(spawner, root, "import os; print(*sorted(os.environ))").stdout.decode().split()
    given = {"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "A", "SKILLGATE"}
    assert given <= set(names)
    shells = {"PWD", "OLDPWD", "SHLVL", "_"}  # what a shell that sets its limits may add
    pythons = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "LC_CTYPE", "__CF_USER_TEXT_ENCODING"}
    assert set(names) <= given | pythons | shells


def test_what_one_call_destroys_is_there_for_the_next(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of the same user can remove the directory in which homes are made."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "temporary"
        place.mkdir()
        Path(folder).chmod(0o755)
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        made = ProcessSpawner(path=os.environ["PATH"], stop=threading.Event())
        try:
            shutil.rmtree(next(place.iterdir()))
            assert ran(made, root, "print(1)").stdout.strip() == b"1"
            shutil.rmtree(place)
            place.write_text("in the way", encoding="utf-8")
            ended = ran(made, root, "print(1)")
            assert ended.kind is ErrorKind.NOT_STARTED
            assert "cannot make a directory for a call" in ended.problem
        finally:
            made.close()


def test_its_home_is_empty_its_own_and_gone_afterwards(spawner: ProcessSpawner, root: Path) -> None:
    code = "import os; h = os.environ['HOME']; print(h, os.listdir(h)); open(h + '/x', 'w').write('y')"
    home, listing = ran(spawner, root, code).stdout.decode().split()
    assert listing == "[]"
    assert home != str(Path.home())
    assert not Path(home).exists()


@linux
def test_no_open_file_is_handed_down(spawner: ProcessSpawner, root: Path) -> None:
    with (root / "held").open("w") as held:
        os.set_inheritable(held.fileno(), True)
        code = "import os; print(len([n for n in os.listdir('/proc/self/fd')]))"
        assert ran(spawner, root, code).stdout.strip() == b"4"  # three streams and the listing itself


def test_a_program_that_hangs_is_ended_at_its_time(spawner: ProcessSpawner, root: Path) -> None:
    began = time.monotonic()
    ended = ran(spawner, root, "import time; time.sleep(60)", timeout_s=1.0)
    assert ended.kind is ErrorKind.TIMEOUT
    assert 0.9 < time.monotonic() - began < 120


def test_a_program_that_ignores_being_asked_is_ended_too(spawner: ProcessSpawner, root: Path) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)"
    assert ran(spawner, root, code, timeout_s=1.0).kind is ErrorKind.TIMEOUT


def test_what_left_the_session_and_holds_the_output_delays_nothing(spawner: ProcessSpawner, root: Path) -> None:
    code = (
        "import subprocess, sys\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(30)'], start_new_session=True)\n"
        "print('done')"
    )
    began = time.monotonic()
    ended = ran(spawner, root, code)
    assert (ended.kind, ended.stdout.strip()) == (None, b"done")
    assert time.monotonic() - began < 120


def test_more_output_than_allowed_ends_it(spawner: ProcessSpawner, root: Path) -> None:
    code = "import sys\nfor _ in range(1024): sys.stdout.write('x' * (1 << 20))"
    ended = ran(spawner, root, code, stdout_bytes=1 << 20)
    assert ended.kind is ErrorKind.OUTPUT_LIMIT
    assert len(ended.stdout) == 1 << 20


def test_only_the_end_of_stderr_is_kept(spawner: ProcessSpawner, root: Path) -> None:
    ended = ran(spawner, root, "import sys; sys.stderr.write('x' * 5_000_000 + 'end')", stderr_bytes=1000)
    assert (len(ended.stderr), ended.stderr[-3:]) == (1000, b"end")


def test_input_that_nobody_reads_is_no_error(spawner: ProcessSpawner, root: Path) -> None:
    ended = ran(spawner, root, "print('early')", b"x" * 500_000)
    assert (ended.kind, ended.stdout.strip(), ended.returncode) == (None, b"early", 0)


@linux
def test_too_much_memory_ends_it(spawner: ProcessSpawner, root: Path) -> None:
    code = "import time; held = b'x' * (200 << 20); time.sleep(30)"
    assert ran(spawner, root, code, memory_bytes=100 << 20).kind is ErrorKind.MEMORY_LIMIT


@linux
def test_too_many_processes_end_it_and_none_is_left(spawner: ProcessSpawner, root: Path) -> None:
    code = "import os, time\nfor _ in range(40):\n    if not os.fork(): time.sleep(60)\ntime.sleep(60)"
    ended = ran(spawner, root, code, processes=20)
    assert ended.kind is ErrorKind.PROCESS_LIMIT
    marked = [pid for pid in Path("/proc").iterdir() if pid.name.isdigit() and _runs_in(pid, root)]
    assert not marked


def _runs_in(pid: Path, root: Path) -> bool:
    try:
        return (pid / "cwd").readlink() == root
    except OSError:
        return False


def test_a_program_that_is_not_there_is_told(spawner: ProcessSpawner, root: Path) -> None:
    for program in ("no-such-program", "./no-such-file"):
        ended = spawner.run([program], root=str(root), stdin=b"", env={}, limits=Limits(timeout_s=5), copy=False)
        assert ended.kind is ErrorKind.SPAWN
        assert program in ended.problem


def test_what_is_no_program_is_told_and_read_by_no_shell(spawner: ProcessSpawner, root: Path) -> None:
    (root / "text").write_text("echo read", encoding="utf-8")
    for mode, words in ((0o644, "not executable"), (0o755, "does not name an interpreter")):
        (root / "text").chmod(mode)
        made = root.with_name(f"skill-{mode}")
        shutil.copytree(root, made)
        ended = spawner.run(["./text"], root=str(made), stdin=b"", env={}, limits=Limits(timeout_s=5), copy=False)
        assert (ended.kind, words in ended.problem) == (ErrorKind.SPAWN, True), ended


def test_no_shell_reads_an_argument(spawner: ProcessSpawner, root: Path) -> None:
    (root / "my skill.py").write_text("import sys; print(sys.argv[1:])", encoding="utf-8")
    argv = ["python3", "my skill.py", "$(touch x); `id`", "0.5"]
    ended = spawner.run(argv, root=str(root), stdin=b"", env={}, limits=Limits(timeout_s=20), copy=False)
    assert ended.stdout.decode().strip() == str(argv[2:])
    assert not (root / "x").exists()


def test_a_copy_keeps_what_a_program_writes_out_of_its_directory(spawner: ProcessSpawner, root: Path) -> None:
    (root / "skill.py").write_text("open('state', 'a').write('x'); print(open('state').read())", encoding="utf-8")
    for _ in range(2):
        ended = spawner.run(
            ["python3", "skill.py"], root=str(root), stdin=b"", env={}, limits=Limits(timeout_s=20), copy=True
        )
        assert ended.stdout.strip() == b"x"
    assert not (root / "state").exists()


def test_the_end_of_the_run_ends_a_call(root: Path) -> None:
    stop = threading.Event()
    spawner = ProcessSpawner(path=os.environ["PATH"], stop=stop)
    threading.Timer(0.5, stop.set).start()
    began = time.monotonic()
    assert ran(spawner, root, "import time; time.sleep(60)").kind is ErrorKind.STOPPED
    assert time.monotonic() - began < 120
    spawner.close()


def test_programs_that_are_no_python(spawner: ProcessSpawner, root: Path) -> None:
    limits = Limits(timeout_s=20)
    told = spawner.run(
        ["sh", "-c", "echo $0 $A", "x"], root=str(root), stdin=b"", env={"A": "b"}, limits=limits, copy=False
    )
    assert told.stdout == b"x b\n"
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    told = spawner.run(["node", "-e", "console.log(6*7)"], root=str(root), stdin=b"", env={}, limits=limits, copy=False)
    assert told.stdout == b"42\n"


def test_calls_at_once_do_not_meet(spawner: ProcessSpawner, root: Path) -> None:
    (root / "skill.py").write_text("import os, time; time.sleep(0.3); print(os.getuid())", encoding="utf-8")
    found: list[bytes] = []

    def call() -> None:
        limits = Limits(timeout_s=20)
        found.append(
            spawner.run(["python3", "skill.py"], root=str(root), stdin=b"", env={}, limits=limits, copy=False).stdout
        )

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(found)
    assert len(found) == 4
    assert len(set(found)) == (4 if os.geteuid() == 0 else 1)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can run calls as other users")
@linux
def test_as_root_a_program_reads_neither_environments_nor_private_files(
    spawner: ProcessSpawner, root: Path, tmp_path: Path
) -> None:
    private = tmp_path / "token"
    private.write_text("secret", encoding="utf-8")
    private.chmod(0o600)
    code = (
        "import os\n"
        "def tried(path):\n"
        "    try: return bool(open(path, 'rb').read())\n"
        "    except OSError: return False\n"
        f"print(tried('/proc/{os.getpid()}/environ'), tried({str(private)!r}), os.getgroups())"
    )
    assert ran(spawner, root, code).stdout.decode().split(maxsplit=2) == ["False", "False", "[]\n"]
    assert "the environment of other processes" in spawner.isolated


@linux
def test_a_family_is_found_by_session_and_descent() -> None:
    members = family(os.getsid(0), None)
    assert all(memory >= 0 for memory in members.values())
    assert os.getpid() not in members


@linux
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can run calls as other users")
def test_nothing_is_run_as_root_for_want_of_another_user() -> None:
    """Anybody can take the names by which runs claim their users."""
    held = []
    try:
        for block in range(16):
            name = socket.socket(socket.AF_UNIX)
            with suppress(OSError):  # another run has it
                name.bind(f"\0skillgate-users-{block}")
            held.append(name)
        with pytest.raises(IncompleteError, match="no user ids are left"):
            ProcessSpawner(path=os.environ["PATH"], stop=threading.Event())
    finally:
        for name in held:
            name.close()


@linux
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can run calls as other users")
def test_processes_that_have_ended_take_no_users_from_the_next_run() -> None:
    """An init that is slow to take note of ended processes would leave no users to run calls as."""
    ended = [subprocess.Popen(["true"], user=FIRST_USER + 256 * block) for block in range(16)]
    try:
        for child in ended:
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # ended, and left as it is
        ProcessSpawner(path=os.environ["PATH"], stop=threading.Event()).close()
    finally:
        for child in ended:
            child.wait()


@linux
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can run calls as other users")
def test_two_runs_at_once_share_no_user() -> None:
    one, other = (ProcessSpawner(path=os.environ["PATH"], stop=threading.Event()) for _ in range(2))
    try:
        users = []
        for spawner in (one, other):
            found = spawner.run(["id", "-u"], root="/", stdin=b"", env={}, limits=Limits(timeout_s=20.0), copy=False)
            users.append(int(found.stdout))
        assert abs(users[0] - users[1]) >= 256
    finally:
        one.close()
        other.close()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can run calls as other users")
def test_an_interpreter_that_only_root_reaches_is_named(spawner: ProcessSpawner, root: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir(mode=0o700)
    shutil.copyfile("/bin/sh", hidden / "own")
    (hidden / "own").chmod(0o755)
    for folder in (root, root.parent, *root.parents):
        if str(folder).startswith(str(tmp_path)):
            folder.chmod(0o755)
    script = root / "run"
    script.write_text(f"#!{hidden / 'own'}\necho fine\n", encoding="utf-8")
    script.chmod(0o755)
    ended = spawner.run(["./run"], root=str(root), stdin=b"", env={}, limits=Limits(timeout_s=20.0), copy=False)
    assert ended.kind is ErrorKind.NOT_STARTED
    assert ended.problem.startswith(f"{hidden / 'own'} (the interpreter of ./run) is behind {tmp_path.root}")
    assert "(mode 0700)" in ended.problem


@linux
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can run calls as other users")
def test_a_fork_bomb_keeps_no_later_call_from_its_processes(spawner: ProcessSpawner, root: Path) -> None:
    limits = Limits(timeout_s=20.0)

    def call(code: str) -> Ended:
        return spawner.run(["python3", "-c", code], root=str(root), stdin=b"", env={}, limits=limits, copy=False)

    for _ in range(3):
        bomb = call("import os\nwhile True:\n    os.fork()\n")
        assert bomb.kind in (ErrorKind.PROCESS_LIMIT, ErrorKind.MEMORY_LIMIT), bomb.problem
        after = call("import os\nprint(os.fork() >= 0)")
        assert (after.kind, after.returncode) == (None, 0), after.stderr
