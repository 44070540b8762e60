"""A repository as `actions/checkout` leaves it for a pull request: a merge commit whose first parent is the base."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

REPOSITORY, NUMBER = "octo-org/skills", 7
GOOD = """\
---
name: {name}
description: >-
  Sorts the files of a folder by kind and by date. Use when the user wants a folder tidied, photos sorted by month, or
  downloads put away.
---
# Sorting files

## Steps

1. Read the folder's names and dates; ask which folder is meant when none was named.
2. Group the files by suffix and month, and show the plan as a table before anything moves.
3. Move each group into a folder of its own; never overwrite a file, add a number to its name.

## Output

Say how many files went where, which stayed, and why. When the folder cannot be read, say so and stop.

```text
photos/2024-05: 12 moved, 1 stayed (open in another program)
```

## Troubleshooting

- A file is locked: leave it and name it at the end.
- Two files have one name: keep both, the newer one gets a number.
- The disk is full: stop, and say what was moved so far.
"""
OTHER = """\
---
name: {name}
description: Draws a bar chart of a table's columns. Use when a CSV or a spreadsheet has to become a picture.
---
# Drawing charts

Load the table, ask which column is the axis and which are the bars, and say what you will draw. Save the picture beside
the table and show it. A column of text cannot be a bar: say which one it is and ask for another.
"""
BROKEN = GOOD + "\nSee [the kinds](references/kinds.md).\n"
POOR = "---\nname: {name}\ndescription: Files.\n---\n# Files\n\nDo it.\n"


def skill(name: str, text: str = GOOD) -> dict[str, str]:
    """Give the files of a skill below ``skills/``."""
    return {f"skills/{name}/SKILL.md": text.format(name=name)}


class Change:
    """A pull request from one set of files to another."""

    def __init__(self, folder: Path, base: Mapping[str, str], head: Mapping[str, str], *, fork: str = "") -> None:
        """Commit the base, the head on a branch of its own, and their merge, which stays checked out.

        Args:
            folder: the workspace, empty or not there yet.
            base: the base's files, text by path.
            head: what the head writes over them; a file that is ``""`` there is deleted.
            fork: the repository that the head comes from; ``""`` for the base's own.
        """
        self.folder = folder
        self._fork = fork
        folder.mkdir(parents=True, exist_ok=True)
        self._git("init", "--quiet", "--initial-branch", "main")
        self.base = self._commit("Base", base)
        self._git("checkout", "--quiet", "-b", "topic")
        self.head = self._commit("Head", head)
        self._git("checkout", "--quiet", "--detach", self.base)
        self._git("merge", "--quiet", "--no-ff", "-m", "Merge", self.head)
        self.merge = self._git("rev-parse", "HEAD")

    def payload(self) -> dict[str, Any]:
        """Give the event as GitHub sends it, as far as anybody reads it."""
        target = {"full_name": REPOSITORY, "owner": {"login": REPOSITORY.split("/")[0]}, "name": "skills"}
        source = self._fork or REPOSITORY
        head = {"full_name": source, "owner": {"login": source.split("/")[0]}, "fork": bool(self._fork)}
        return {
            "action": "synchronize",
            "number": NUMBER,
            "repository": {**target, "default_branch": "main", "html_url": f"https://github.com/{REPOSITORY}"},
            "pull_request": {
                "number": NUMBER,
                "draft": False,
                "head": {"sha": self.head, "ref": "topic", "repo": head},
                "base": {"sha": self.base, "ref": "main", "repo": target},
            },
        }

    def _commit(self, message: str, files: Mapping[str, str]) -> str:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8") if text else path.unlink()
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "-m", message)
        return self._git("rev-parse", "HEAD")

    def _git(self, *argv: str) -> str:
        environ = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        who = {"GIT_AUTHOR_NAME": "T", "GIT_AUTHOR_EMAIL": "t@example.invalid"}
        who |= {key.replace("AUTHOR", "COMMITTER"): value for key, value in who.items()}
        done = subprocess.run(
            ["git", *argv],
            cwd=self.folder,
            env={**environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()
