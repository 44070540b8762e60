"""What the tests of commands share: the command line run in this process, and git with an identity of its own."""

from __future__ import annotations

import io
import json
import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")


class Done(NamedTuple):
    """What a run of the command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document on stdout."""
        return json.loads(self.out)

    @property
    def ids(self) -> list[str]:
        """The id of each finding of a JSON document."""
        return [finding["id"] for finding in self.json["findings"]]

    @property
    def suppressed(self) -> list[tuple[str, str]]:
        """Id and cause of each finding of a JSON document that was set aside."""
        return [(item["finding"]["id"], item["by"]) for item in self.json["suppressed"]]


def run(cwd: Path, *words: str, **variables: str) -> Done:
    """Run the command line in a directory, without the user's configuration and with the test session's cache."""
    out, err = io.StringIO(), io.StringIO()
    environ = {"HOME": str(cwd / "home"), "XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"], **variables}
    code = main(words, stdout=out, stderr=err, environ=environ, cwd=str(cwd))
    return Done(code, out.getvalue(), err.getvalue())


def git(folder: Path, *words: str) -> str:
    """Run git, which has to succeed; give what it printed."""
    done = subprocess.run(["git", *IDENTITY, *words], cwd=folder, check=True, capture_output=True, encoding="utf-8")
    return done.stdout.strip()


def commit(folder: Path) -> str:
    """Commit all that is there, in a repository made where there is none; give the commit's name."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "more")
    return git(folder, "rev-parse", "HEAD")


@contextmanager
def unsearchable(folder: Path) -> Iterator[None]:
    """Have a directory below ``folder`` whose path is longer than a path may be, which cannot be searched."""
    here = os.getcwd()  # noqa: PTH109
    try:
        os.chdir(folder)
        for _ in range(1200):
            os.mkdir("deep")  # noqa: PTH102
            os.chdir("deep")
    finally:
        os.chdir(here)
    yield
    subprocess.run(["rm", "-rf", str(folder / "deep")], check=True)  # Python's own removal would recurse
