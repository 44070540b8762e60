"""A pull request for tests: a repository with a base, a change to it, and GitHub's own merge of both checked out."""

from __future__ import annotations

import io
import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skillgate.cli.main import main
from tests.cli.running import commit, git
from tests.github.runner_protocol import outputs
from tests.skills import DESCRIPTION, rich_body

if TYPE_CHECKING:
    from collections.abc import Mapping

LINK = "\nSee [the columns](references/columns.md).\n"
DEAD_LINK = "\nSee [the rows](references/rows.md).\n"
WAIVED = "<!-- skillgate: ignore ORPHAN_REFERENCE: written by the release -->"


def skill(name: str, *, description: str = DESCRIPTION, body: str = "") -> dict[str, str]:
    """Give the files of a skill that has no error and a badge; ``body`` is added at its end."""
    text = f"---\nname: {name}\ndescription: {description}\n---\n{rich_body()}{LINK}{body}"
    return {f"skills/{name}/SKILL.md": text, f"skills/{name}/references/columns.md": "# Columns\n\nWhat each is.\n"}


@dataclass(kw_only=True)
class Ran:
    """What a run of the Action gave."""

    code: int
    log: str
    err: str
    outputs: dict[str, str]
    summary: str
    folder: Path

    def document(self, name: str) -> Any:
        """Read a document of the report directory."""
        return json.loads((self.folder / "skillgate-report" / name).read_text(encoding="utf-8"))

    @property
    def run(self) -> Any:
        """The record of the run."""
        return self.document("run.json")


@dataclass(kw_only=True)
class PullRequest:
    """A repository with ``origin``: write files, then :meth:`change` or :meth:`merged`.

    Attributes:
        folder: the working tree.
        event: the payload, once there is a change.
        sha: GitHub's merge of it.
        name: the event's.
        repository: where the workflow runs.
        environ: further variables of the step.
    """

    folder: Path
    event: dict[str, Any] = field(default_factory=dict)
    name: str = "pull_request"
    repository: str = "octo-org/skills"
    environ: dict[str, str] = field(default_factory=dict)
    sha: str = ""

    def write(self, files: Mapping[str, str | None]) -> None:
        """Write files; None removes a file or a directory."""
        for path, text in files.items():
            place = self.folder / path
            if text is None:
                shutil.rmtree(place) if place.is_dir() else place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")

    def base(self, files: Mapping[str, str | None]) -> str:
        """Commit the base on ``main``."""
        self.write(files)
        return commit(self.folder)

    def change(self, files: Mapping[str, str | None], *, merge: bool = True) -> None:
        """Commit a change on a branch, and check out GitHub's merge of it, or the branch itself."""
        base = git(self.folder, "rev-parse", "HEAD")
        git(self.folder, "checkout", "-q", "-b", "change")
        self.write(files)
        head = commit(self.folder)
        side = {"sha": head, "ref": "change", "repo": {"full_name": self.repository}}
        self.event = {
            "pull_request": {
                "number": 7,
                "head": side,
                "base": {"sha": base, "ref": "main", "repo": {"full_name": self.repository}},
            }
        }
        if merge:
            git(self.folder, "checkout", "-q", "--detach", base)
            git(self.folder, "merge", "-q", "--no-ff", "--no-edit", head)
            self.sha = git(self.folder, "rev-parse", "HEAD")

    def run(self, **inputs: str) -> Ran:
        """Run the Action as the runner would; inputs by name, with ``_`` for ``-``. It comments nowhere by default."""
        files = self.folder.parent / "runner"
        files.mkdir(exist_ok=True)
        names = ("output", "summary")
        for name in names:
            (files / name).write_text("", encoding="utf-8")
        (files / "event.json").write_text(json.dumps(self.event), encoding="utf-8")
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(files),
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": self.name,
            "GITHUB_EVENT_PATH": str(files / "event.json"),
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_RUN_ID": "12",
            "GITHUB_SHA": self.sha,
            "GITHUB_WORKSPACE": str(self.folder),
            "GITHUB_OUTPUT": str(files / "output"),
            "GITHUB_STEP_SUMMARY": str(files / "summary"),
            "INPUT_COMMENT": "never",
        }
        environ |= self.environ
        environ |= {f"INPUT_{name.replace('_', '-').upper()}": value for name, value in inputs.items()}
        out, err = io.StringIO(), io.StringIO()
        code = main(["action"], stdout=out, stderr=err, environ=environ, cwd=str(self.folder))
        output, summary = ((files / name).read_bytes().decode() for name in names)
        return Ran(
            code=code,
            log=out.getvalue(),
            err=err.getvalue(),
            outputs=outputs(output),
            summary=summary,
            folder=self.folder,
        )
