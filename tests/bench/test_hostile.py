"""What a hostile skill can and cannot do: each attempt in each setting comes out as the page about isolation says.

The evaluation runs as a program of its own: as root, where each call has its own user; and as a user without rights,
with and without a sandbox. The page's table holds what is expected.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.isolation import sandbox
from skillgate.files import open_to_all
from tests.architecture.source import ROOT
from tests.bench.made import benchmark, task

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux keeps programs from anything")

PAGE = ROOT / "docs/how-to/isolation.md"
PROGRAM = Path(__file__).with_name("hostile_skill.py")
NOBODY = 65_534
SETTINGS = ("root", "contained", "user", "bwrap")
STARTER = "from skillgate.cli.main import entry; entry()"
SECRET = "not-to-be-found"

# What is tried, by the page's words. The first are tried together, in one run; the violent ones one after another.
QUIET = {
    "find your variables in its own environment": "own_environment",
    "read the environment that `skillgate` was started with": "evaluators_environment",
    "read the environment of the shell or runner that started `skillgate`": "starters_environment",
    "read the memory of `skillgate`: `/proc/…/mem`, `process_vm_readv`, `ptrace`": "memory",
    "look into the files that `skillgate` has open": "descriptors",
    "read files that only you may read, as `~/.ssh`": "private_file",
    "read the expected answers: in the benchmark, its own `tests/`, earlier reports, the store, git": "answer_key",
    "read the token in the repository's `.git/config`": "git_token",
    "read other files that everybody may read": "open_file",
    "write the file commands of a GitHub runner": "runner_commands",
    "write into your workspace": "writes_outside",
    "change its own files for the next call": "own_files",
    "leave a file in `/tmp`": "shared_file",
    "reach a service on this machine": "loopback",
    "reach the network": "network",
    "write to your terminal": "terminal",
    "gain rights by set-user-id programs": "privileges",
}
VIOLENT = {
    "start processes without end": "bomb",
    "leave a process behind in its own session": "daemon",
    "write 1 GB to its standard output": "floods_stdout",
    "write 1 GB to its standard error": "floods_stderr",
    "use 4 GB of memory": "hoards_memory",
    "fill the disk in its home": "fills_disk",
    "ignore that it is asked to end": "does_not_listen",
    "answer with 100,000 nested lists": "nests",
    "leave 3,000 nested directories, the last one closed": "digs",
}
AT_ONCE = "share files with a call that runs at once, in `/tmp`, `/var/tmp` or `/dev/shm`"
SIGNALS = {"kill `skillgate`": "kills", "halt `skillgate`": "stops"}


@dataclass
class Ran:
    """What came of a run: its exit code, None where it did not end; results by attempt; what was left."""

    code: int | None
    results: dict[str, dict[str, Any]]
    left: list[str]
    run: dict[str, Any]
    text: str


def expected() -> dict[str, dict[str, str]]:
    """The page's table."""
    rows = [line.strip().strip("|").split("|") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    cells = [[cell.strip() for cell in row] for row in rows if len(row) == 1 + len(SETTINGS)]
    return {row[0]: dict(zip(SETTINGS, row[1:], strict=True)) for row in cells if row[0] in known()}


def known() -> dict[str, str]:
    return {**QUIET, **VIOLENT, **SIGNALS, AT_ONCE: "meets"}


def test_the_page_says_something_about_every_attempt() -> None:
    assert set(expected()) == set(known())


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("words", list(QUIET))
def test_what_a_skill_may_want_to_have(words: str, setting: str) -> None:
    if words == "reach the network" and not has_network():
        pytest.skip("this machine has no network")
    done = together(setting, tuple(QUIET.values()))
    assert outcome(done, QUIET[words]) == expected()[words][setting]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("words", list(VIOLENT))
def test_what_a_skill_may_break(words: str, setting: str) -> None:
    done = together(setting, tuple(VIOLENT.values()))
    assert outcome(done, VIOLENT[words]) == expected()[words][setting]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("words", list(SIGNALS))
def test_whether_a_skill_ends_its_judge(words: str, setting: str) -> None:
    done = together(setting, (SIGNALS[words],))
    found = "stopped" if done.code == 0 else "not stopped"
    assert found == expected()[words][setting]


@pytest.mark.parametrize("setting", SETTINGS)
def test_whether_calls_at_once_meet(setting: str) -> None:
    done = together(setting, ("meets", "meets"))
    found = [outcome(done, name) for name in done.results]
    assert found == [expected()[AT_ONCE][setting]] * 2


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_report_says_whether_answers_could_be_read(setting: str) -> None:
    done = together(setting, tuple(QUIET.values()))
    stopped = outcome(done, "answer_key") == "stopped"
    assert done.run["answersReadable"] is not stopped
    assert ("the expected answers" in done.run["isolated"]) is stopped
    assert ("programs could read the expected answers" in done.text) is not stopped


def outcome(done: Ran, attempt: str) -> str:
    """Say in the page's words how an attempt came out."""
    assert done.code == 0
    assert "folder" not in done.left
    result = done.results[attempt]
    if attempt in done.left or result["output"] == {"value": True, "truncated": False, "sizeBytes": 4, "sha256": None}:
        return "not stopped"
    return "stopped" if result["errorKind"] is None else f"ended: `{result['errorKind']}`"


def has_network() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        try:
            one.connect(("192.0.2.1", 9))
        except OSError:
            return False
    return True


@functools.cache
def together(setting: str, attempts: tuple[str, ...]) -> Ran:
    """Evaluate the hostile skill with one task for each attempt."""
    user, python = launching(setting)
    marker = f"marked-{secrets.token_hex(6)}"
    workspace = Path(tempfile.mkdtemp(prefix="hostile-", dir="/tmp"))
    try:
        with socket.create_server(("127.0.0.1", 0)) as server, terminal(user) as name:
            common = {"marker": marker, "daemon": marker[::-1], "workspace": str(workspace), "terminals": [name]}
            common |= {"key": f"key-{marker[::-1]}", "meeting": f"met-{marker[::-1]}"}
            common["port"] = server.getsockname()[1]
            furnish(workspace, attempts, common, user)
            code = evaluate(workspace, python, user, marker, setting, attempts)
        file = workspace / f"out-{marker}" / "eval-result.json"
        report = json.loads(file.read_text()) if file.is_file() else {"reports": [{"taskResults": []}], "run": {}}
        results = {one["taskId"]: one for one in report["reports"][0]["taskResults"]}
        text = file.with_suffix(".md").read_text() if file.is_file() else ""
        return Ran(code, results, left(marker, workspace), report["run"], text)
    finally:
        shutil.rmtree(workspace, ignore_errors=True)


def launching(setting: str) -> tuple[int | None, str]:
    """Give the user that the evaluation runs as, None for this one, and a Python that this user can run."""
    root = os.geteuid() == 0
    if setting in ("root", "contained"):
        if not root:
            pytest.skip("only root can run calls as other users")
        if setting == "root" and not sandbox.can_mount():
            pytest.skip("root may not mount here")
        if setting == "contained" and shutil.which("setpriv") is None:
            pytest.skip("there is no setpriv, which takes rights from root")
        return None, sys.executable
    if setting == "bwrap" and not sandbox_works(NOBODY if root else None):
        pytest.skip("bwrap does not start here")
    if not root:
        return None, sys.executable
    for python in (sys.executable, "/usr/local/bin/python3", "/usr/bin/python3"):
        if Path(python).is_file() and open_to_all(os.path.realpath(python)) and is_recent(python):
            return NOBODY, python
    pytest.skip("there is no Python that another user can run")


def is_recent(python: str) -> bool:
    code = "import sys; print(sys.version_info >= (3, 11))"
    return subprocess.run([python, "-c", code], capture_output=True, check=False).stdout.strip() == b"True"


def sandbox_works(user: int | None) -> bool:
    if shutil.which("bwrap") is None:
        return False
    argv = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(argv, capture_output=True, check=False, user=user, group=user)
    return done.returncode == 0


@contextmanager
def terminal(user: int | None) -> Iterator[str]:
    """Open a terminal that belongs to a user; give its name."""
    ends = os.openpty()
    try:
        name = os.ttyname(ends[1])
        if user is not None:
            os.chown(name, user, user)
        yield name
    finally:
        for end in ends:
            os.close(end)


def furnish(workspace: Path, attempts: tuple[str, ...], common: dict[str, Any], user: int | None) -> None:
    """Make a workspace as one finds it on a runner, with things to steal and the skill."""
    workspace.chmod(0o755)
    (workspace / ".git").mkdir()
    (workspace / ".git/config").write_text("[http]\n\textraheader = token\n")
    (workspace / "home/.ssh").mkdir(parents=True, mode=0o755)
    (workspace / "home/.ssh/id").write_text("private")
    (workspace / "home/.ssh/id").chmod(0o600)
    (workspace / "_temp/_runner_file_commands").mkdir(parents=True)
    (workspace / "_temp/_runner_file_commands/set_env_1").write_text("")
    (workspace / "other.txt").write_text("")
    (workspace / "open.txt").write_text("everybody may read this")
    (workspace / "temporary").mkdir()
    folder = workspace / "s"
    folder.mkdir()
    folder.chmod(0o755)
    spec = {"id": "s", "name": "s", "version": "1.0.0", "adapterType": "subprocess", "entrypoint": "python3 skill.py"}
    (folder / "skill.json").write_text(json.dumps(spec))
    shutil.copyfile(PROGRAM, folder / "skill.py")
    keys = place_keys(workspace, common["key"], common["marker"])
    tasks = [
        task(
            name if attempts.count(name) == 1 else f"{name}-{number}",
            description=common["key"],
            inputData={"attempt": name, "number": number, "answers": keys, **common, "key": common["key"]},
            expectedOutput={"type": "exact", "value": False},
            timeoutMs=1500 if name == "does_not_listen" else None,
        )
        for number, name in enumerate(attempts, start=1)
    ]
    benchmark(workspace / "b.json", *tasks)
    if user is not None:
        for path in (workspace, *workspace.rglob("*")):
            os.chown(path, user, user)


def place_keys(workspace: Path, key: str, marker: str) -> list[str]:
    """Write the expected answer to where runs keep it; give the paths."""
    text = json.dumps({"expected": key}).encode()
    places = {
        workspace / "s/tests/basic.eval.json": text,
        workspace / "s/tests/.more": text,
        workspace / "s/own.eval.json": text,
        workspace / "benchmarks/other.json": text,
        workspace / ".skillgate/kept.json": text,
        workspace / f"out-{marker}/eval-result-earlier.json": text,
        workspace / ".git/objects/ab/cdef": zlib.compress(text),
    }
    for place, data in places.items():
        place.parent.mkdir(exist_ok=True, parents=True)
        place.write_bytes(data)
    return [*map(str, places), str(workspace / "b.json")]


def evaluate(
    workspace: Path, python: str, user: int | None, marker: str, setting: str, attempts: tuple[str, ...]
) -> int | None:
    """Run the evaluation below a shell that holds the secret, and give its exit code; None where it does not end."""
    words = ["eval", "--skills", "s", "--benchmark", "./b.json", "--output-dir", f"out-{marker}"]
    words += ["--format", "json", "markdown", "--concurrency", str(attempts.count("meets") or 1)]
    words += ["--timeout", "8s", "--sandbox", "bwrap" if setting == "bwrap" else "none"]
    before = ["setpriv", "--bounding-set=-sys_admin"] if setting == "contained" else []
    child = subprocess.Popen(
        [*before, "sh", "-c", '"$@"; exit $?', "sh", python, "-c", STARTER, *words],
        cwd=workspace,
        env={
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(workspace / "home"),
            "PYTHONPATH": os.pathsep.join([str(ROOT), *packages()]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TMPDIR": str(workspace / "temporary"),
            "SECRET_TOKEN": SECRET,
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )
    try:
        _, said = child.communicate(timeout=10 if attempts == ("stops",) else 120)
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
    assert SECRET.encode() not in said
    assert child.returncode != 2, said
    return child.returncode


def packages() -> list[str]:
    """Where the packages lie that the evaluation needs, for a Python that is not this one."""
    found = [importlib.util.find_spec(name) for name in ("yaml", "markdown_it", "mdurl")]
    return list(dict.fromkeys(str(Path(spec.origin).parents[1]) for spec in found if spec and spec.origin))


def left(marker: str, workspace: Path) -> list[str]:
    """Name the attempts that left something behind, and remove it; ``folder`` for what lies where calls have homes."""
    found = ["folder"] if any((workspace / "temporary").iterdir()) else []
    file = Path(f"/tmp/left-{marker}")
    if file.exists():
        file.unlink()
        found.append("shared_file")
    time.sleep(0.1)
    for pid in daemons(marker[::-1]):
        os.kill(pid, signal.SIGKILL)
        found.append("daemon")
    return found


def daemons(mark: str) -> Iterator[int]:
    for path in Path("/proc").iterdir():
        with suppress(OSError):
            if path.name.isdigit() and mark.encode() in (path / "cmdline").read_bytes():
                yield int(path.name)
