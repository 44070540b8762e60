"""What the tests of hooks work with: the project as a hook repository, repositories of skills, the two runners."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from packaging.requirements import Requirement

if TYPE_CHECKING:
    from collections.abc import Iterable

PROJECT = Path(__file__).parents[2]
TAG = "v9.9.9"
RUNNERS = ("pre-commit", "prek")
# What a hook's environment needs: to build the project, and to run it.
WHEELS = ("hatchling", "PyYAML", "markdown-it-py")

GOOD = """\
---
name: {name}
description: Sorts the files of a folder by kind and by date. Use when the user wants a folder tidied or photos sorted.
---
# Sorting

Read the folder, group the files by their suffix and their month, and move each group into a folder of its own. Ask
before a file is overwritten. Say at the end how many files went where, and which could not be moved and why.
"""
BAD = GOOD + "\nSee [the kinds](references/kinds.md).\n"


class Done(NamedTuple):
    """How a command ended."""

    code: int
    said: str


def tool(name: str) -> str | None:
    """Find a runner beside this interpreter or on PATH."""
    own = str(Path(sys.executable).parent)
    return shutil.which(name, path=os.pathsep.join([own, os.environ.get("PATH", "")]))


def has_wheels() -> bool:
    """Whether there is something to install hooks from without a network."""
    try:
        return bool(os.environ.get("SKILLGATE_WHEELHOUSE")) or all(map(distribution, WHEELS))
    except PackageNotFoundError:
        return False


def wheelhouse(folder: Path) -> Path:
    """Return a folder of wheels: the one that the environment names, else the installed packages, packed again."""
    if named := os.environ.get("SKILLGATE_WHEELHOUSE"):
        return Path(named)
    folder.mkdir(parents=True)
    for package in _with_requirements(WHEELS).values():
        (tag, *_) = re.findall(r"^Tag: (\S+)$", package.read_text("WHEEL") or "", flags=re.MULTILINE)
        wheel = folder / f"{re.sub(r'[-_.]+', '_', package.metadata['Name'])}-{package.version}-{tag}.whl"
        with zipfile.ZipFile(wheel, "w") as file:
            for path in package.files or ():
                if ".." not in path.parts and path.suffix != ".pyc":
                    file.write(str(path.locate()), path.as_posix())
    return folder


def _with_requirements(names: Iterable[str]) -> dict[str, Distribution]:
    """Return installed packages and all that they require here, by name."""
    found: dict[str, Distribution] = {}
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found[name] = distribution(name)
            needs = map(Requirement, found[name].requires or ())
            left += [need.name for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    return found


def can_unshare() -> bool:
    """Tell whether a process without any network can be started here."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-n", "true"], capture_output=True, check=False).returncode == 0


class Workshop:
    """A hook repository and the runners' own homes, shared by many repositories of skills."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hooks = folder / "hook repository"
        wheels = str(wheelhouse(folder / "wheels"))
        self._environ = {
            **{key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PRE_COMMIT"))},
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
            "HOME": str(folder / "home"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "PRE_COMMIT_HOME": str(folder / "pre-commit home"),
            "PREK_HOME": str(folder / "prek home"),
            "GIT_CONFIG_GLOBAL": str(folder / "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": wheels,
            "PIP_CONFIG_FILE": os.devnull,
            "UV_OFFLINE": "1",
            "UV_NO_INDEX": "1",
            "UV_FIND_LINKS": wheels,
            "UV_CACHE_DIR": str(folder / "uv cache"),
            "PYTHONDONTWRITEBYTECODE": "",
        }
        (folder / "home").mkdir(parents=True)
        text = (
            "[user]\n\tname = T\n\temail = t@example.invalid\n[init]\n\tdefaultBranch = main\n[safe]\n\tdirectory = *\n"
        )
        (folder / "gitconfig").write_text(text, encoding="utf-8")
        self._publish()

    def run(self, *argv: str, cwd: Path, offline: bool = False) -> Done:
        """Run a program; ``offline`` without any network, loopback included."""
        wrapped = ["unshare", "-n", *argv] if offline else list(argv)
        done = subprocess.run(
            wrapped, cwd=cwd, env=self._environ, capture_output=True, check=False, stdin=subprocess.DEVNULL
        )
        return Done(done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace"))

    def git(self, *argv: str, cwd: Path) -> str:
        """Run git, which has to succeed."""
        done = self.run("git", *argv, cwd=cwd)
        assert done.code == 0, done.said
        return done.said

    def repository(self, name: str, *hooks: str, args: str = "") -> Path:
        """Make a repository of skills that uses hooks of the published project."""
        folder = self.folder / name
        folder.mkdir()
        self.git("init", "-q", cwd=folder)
        lines = [f"      - id: {hook}\n{args}" for hook in hooks]
        config = f"repos:\n  - repo: file://{self.hooks}\n    rev: {TAG}\n    hooks:\n{''.join(lines)}"
        (folder / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
        return folder

    def all_files(self, runner: str, folder: Path, *, offline: bool = False) -> Done:
        """Stage everything and run the hooks over it."""
        self.git("add", "-A", cwd=folder)
        return self.run(runner, "run", "--all-files", "--verbose", "--color", "never", cwd=folder, offline=offline)

    def _publish(self) -> None:
        """Commit the project as it stands, uncommitted files included, and tag it."""
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=PROJECT, capture_output=True, check=True
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            source, target = PROJECT / name, self.hooks / name
            if source.is_file() and not name.startswith(("tests/", "benchmarks/")):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)
        self.git("init", "-q", cwd=self.hooks)
        self.git("add", "-A", cwd=self.hooks)
        self.git("commit", "-qm", "Project", cwd=self.hooks)
        self.git("tag", TAG, cwd=self.hooks)


def write(folder: Path, place: str, text: str = GOOD, **files: str) -> Path:
    """Write a skill; the directory's name becomes its name where the text asks for it."""
    directory = folder / place
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "SKILL.md").write_text(text.format(name=directory.name), encoding="utf-8")
    for name, content in files.items():
        path = directory / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".md").write_text(content, encoding="utf-8")
    return directory
