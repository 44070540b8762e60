"""Where Python has no fcntl, pwd, resource, termios and no fork, as on Windows, everyday commands work all the same.

What such a system lacks is taken away before anything is imported. The rest of it (paths, encodings, processes) is that
of the system at hand: this shows that nothing is needed, not that Windows was used.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

ROOT = Path(__file__).parents[1]
GOOD, BAD = "examples/skills/csv-quality-report", "examples/skills/spreadsheet-import"
MISSING = ("fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "spwd", "crypt", "syslog")
WITHOUT = """\
import os, signal, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in {missing}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in {missing}:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Absent())
for name in ("fork", "forkpty", "killpg", "setsid", "chown", "lchown", "fchown", "fchmod", "mkfifo", "posix_fadvise",
             "sched_getaffinity", "nice", "O_NOFOLLOW", "O_DIRECTORY", "wait3", "wait4", "pread"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("pthread_sigmask", "sigwait", "SIGHUP", "SIGALRM", "setitimer", "alarm", "SIGPIPE", "SIGUSR1"):
    if hasattr(signal, name):
        delattr(signal, name)
sys.argv = ["skillgate", *sys.argv[1:]]
from skillgate.cli.main import entry
sys.exit(entry())
""".replace("{missing}", repr(MISSING))


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """A repository with the three examples, committed."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for argv in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=T", "-c", "user.email=t@e.invalid", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *argv], cwd=tmp_path, check=True)
    return tmp_path


def ran(folder: Path, *argv: str) -> Ran:
    """Run a command without what is missing."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *argv], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def hooks() -> list[list[str]]:
    """Return the command of each published hook."""
    published = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    return [hook["entry"].split()[1:] + hook.get("args", []) for hook in published]


@pytest.mark.parametrize(
    ("argv", "code", "said"),
    [
        (("check", "."), 1, "ORPHAN_REFERENCE"),
        (("check", GOOD), 0, "No findings"),
        (("check", "--diff", "."), 1, ""),
        (("check", "--changed", "--since", "HEAD", "."), 0, ""),
        (("score", "."), 0, "95.81"),
        (("score", GOOD, "--output-file", "page.html", "--output-file", "found.sarif"), 0, "95.81"),
        (("score", ".", "--baseline", "HEAD"), 0, ""),
        (("compare", BAD, GOOD), 0, "points more than A"),
        (("compare", f"HEAD:{GOOD}", GOOD), 0, "Both score the same"),
        (("explain", "BROKEN_LINK"), 0, "BROKEN_LINK"),
        (("config", "list"), 0, "threshold"),
        (("evals", "lint", GOOD), 0, ""),
        (("score", "--depth", "standard", "--provider", "scripted", GOOD), 0, "scripted"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_an_everyday_command_works(skills: Path, argv: tuple[str, ...], code: int, said: str) -> None:
    done = ran(skills, *argv)
    assert done.code == code, done.out[-2000:] + done.err[-2000:]
    assert said in done.out
    assert "bug" not in done.err


def test_reports_are_compared(skills: Path) -> None:
    for name, path in (("before.json", BAD), ("after.json", GOOD)):
        assert ran(skills, "score", path, "--output-file", name).code == 0
    done = ran(skills, "report", "diff", "before.json", "after.json")
    assert done.code == 0, done.err
    assert "95.81" in done.out


@pytest.mark.parametrize("argv", hooks(), ids=" ".join)
def test_a_hook_works(skills: Path, argv: list[str]) -> None:
    """As pre-commit calls it: its command and arguments, then the files of the commit."""
    files = [] if argv[0] != "check" or "." in argv else [f"{GOOD}/SKILL.md"]
    done = ran(skills, *argv, *files)
    assert done.code in (0, 1), done.out[-2000:] + done.err[-2000:]
    assert "Traceback" not in done.err


def test_what_is_missing_is_really_missing(tmp_path: Path) -> None:
    code = WITHOUT.partition("sys.argv =")[0] + (
        f"for name in {MISSING!r}:\n    try: __import__(name)\n    except ModuleNotFoundError: print(name)\n"
        "print(hasattr(os, 'fork'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [*MISSING, "False"]
