"""A clone of the project that can be released: its changelog has a section for the version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from skillgate import __version__

ROOT = Path(__file__).parents[2]


class Clone(NamedTuple):
    """A clone of the working tree, with a section for this version in its changelog."""

    folder: Path

    def git(self, *argv: str) -> str:
        who = ("-c", "user.name=T", "-c", "user.email=t@example.invalid")
        done = subprocess.run(["git", *who, *argv], cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout

    def step(self, *argv: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, ".ci/release.py", *argv], cwd=self.folder, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


def clone_into(folder: Path, repository: str = "") -> Clone:
    """Commit the working tree, uncommitted files included, in a repository of its own.

    ``repository``: whose Action the reusable workflows run, as the pull request before a release makes them; ``""`` to
    leave them as they are.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, check=True
    )
    made = Clone(folder)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "benchmarks/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    log = made.text("CHANGELOG.md").replace("## [Unreleased]", f"## [{__version__}] - 2026-12-01\n\nFirst of all.", 1)
    (folder / "CHANGELOG.md").write_text(log + "\n## [0.0.1]\n\nOlder.\n", encoding="utf-8")
    made.git("init", "-q", "-b", "main")
    if repository:
        assert made.step("pin", __version__, repository) == (0, "")
    made.git("add", "-A")
    made.git("commit", "-qm", "Project")
    return made
