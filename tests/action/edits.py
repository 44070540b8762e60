"""Two states of a public skill collection: 40 skills as they are, and a script of edits with what each has to show."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING, NamedTuple

from tests.action.prose import PROSE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Change = Callable[[Path], None]

COLLECTIONS = ("getsentry-skills", "obra-superpowers")
SCRIPT = "import sys\n\nprint(sys.argv[1])\n"
POLICY = "max-drop: 3\n"
NEW_POLICY = "max-drop: 40\nignore: [ORPHAN_REFERENCE]\n"
POLICY_CHANGES = (
    "ignore: not set → ORPHAN_REFERENCE",
    "max-drop: 3 → 40",
    "the comment at skills/requesting-code-review/SKILL.md:50 that suppresses SUBSTITUTION_HAZARD: the example is read"
    " and never run",
)
"""What the change does to its own gate."""

NEW = """\
---
name: sort-slides
description: Sorts the slides of a deck by how often they were shown. Use when a deck has grown over years.
---

# Sort slides

Ask which meetings count, then sort the slides by how often each was shown there and list those that never were.
"""


class Place(NamedTuple):
    """Where a finding stands: its rule, its file below the skill, and words that its line holds."""

    rule: str
    file: str
    words: str


class Edit(NamedTuple):
    """One edit and what has to be said of it.

    Attributes:
        kind: of edit, in words.
        path: the skill's directory afterwards; of a removed one before.
        change: makes the edit in the directory of skills.
        state: of the skill.
        new, fixed: findings that come and go.
        before: its directory before, where that was another one.
        fails: the gates that it fails.
        sign: how the score moves: -1, 0 or 1; None where there is no pair of scores.
    """

    kind: str
    path: str
    change: Change
    state: str = "changed"
    new: tuple[Place, ...] = ()
    fixed: tuple[Place, ...] = ()
    before: str = ""
    fails: tuple[str, ...] = ()
    sign: int | None = 0


def collect(corpus: Path, skills: Path) -> None:
    """Copy the skills; one of them gets a script, since the collections were kept without theirs."""
    for name in COLLECTIONS:
        for skill in (corpus / name / "skills").iterdir():
            shutil.copytree(skill, skills / skill.name)
    script = skills / "skill-scanner" / "scripts" / "scan_skill.py"
    script.parent.mkdir()
    script.write_text(SCRIPT, encoding="utf-8")


def replaced(path: str, old: str, new: str) -> Change:
    """Put one text, which is there once, in the place of another."""

    def change(skills: Path) -> None:
        text = (skills / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, (path, old)
        (skills / path).write_text(text.replace(old, new), encoding="utf-8")

    return change


def added(path: str, text: str) -> Change:
    """Add a text at a file's end."""

    def change(skills: Path) -> None:
        before = (skills / path).read_text(encoding="utf-8")
        (skills / path).write_text(f"{before.rstrip()}\n{text}", encoding="utf-8")

    return change


def moved(old: str, new: str, *more: Change) -> Change:
    """Move a directory, then change it further."""

    def change(skills: Path) -> None:
        (skills / new).parent.mkdir(exist_ok=True)
        (skills / old).rename(skills / new)
        for each in more:
            each(skills)

    return change


def removed(path: str) -> Change:
    """Remove a file or a directory."""

    def change(skills: Path) -> None:
        shutil.rmtree(skills / path) if (skills / path).is_dir() else (skills / path).unlink()

    return change


def written(path: str, text: str) -> Change:
    """Write a new file."""

    def change(skills: Path) -> None:
        (skills / path).parent.mkdir()
        (skills / path).write_text(text, encoding="utf-8")

    return change


def cut(path: str, heading: str) -> Change:
    """Remove a section with its heading."""

    def change(skills: Path) -> None:
        text = (skills / path).read_text(encoding="utf-8")
        found = re.search(rf"(?ms)^{re.escape(heading)}$.*?(?=^## |\Z)", text)
        assert found is not None
        (skills / path).write_text(text.replace(found[0], ""), encoding="utf-8")

    return change


def spaced(path: str) -> Change:
    """Change white space alone: one more empty line above each section."""

    def change(skills: Path) -> None:
        text = (skills / path).read_text(encoding="utf-8")
        (skills / path).write_text(text.replace("\n\n## ", "\n\n\n## "), encoding="utf-8")

    return change


def described_as(skill: str, other: str) -> Change:
    """Give a skill the description of another."""

    def change(skills: Path) -> None:
        lines = [(skills / name / "SKILL.md").read_text(encoding="utf-8").split("\n") for name in (skill, other)]
        ours, theirs = (next(line for line in text if line.startswith("description:")) for text in lines)
        replaced(f"{skill}/SKILL.md", ours, theirs)(skills)

    return change


EDITS = (
    Edit(
        "a paragraph of good prose added",
        "dispatching-parallel-agents",
        added("dispatching-parallel-agents/SKILL.md", f"\n{PROSE[0]}\n"),
        sign=1,
    ),
    Edit(
        "the trigger clause removed",
        "find-bugs",
        replaced(
            "find-bugs/SKILL.md",
            " Use when asked to review changes, find bugs, security review, or audit code on the current branch.",
            "",
        ),
        new=(Place("MISSING_TRIGGER", "find-bugs/SKILL.md", "description:"),),
        fails=("regression",),
        sign=-1,
    ),
    Edit(
        "a dead link added",
        "code-review",
        added("code-review/SKILL.md", "\nThe cases that are left are in [the notes](references/no-such-notes.md).\n"),
        new=(Place("ORPHAN_REFERENCE", "code-review/SKILL.md", "no-such-notes.md"),),
        fails=("new-error",),  # the sentence itself adds some of what the penalty takes: less than max-drop is lost
        sign=-1,
    ),
    Edit(
        "a linked file removed",
        "test-driven-development",
        removed("test-driven-development/writing-good-tests.md"),
        new=(Place("BROKEN_LINK", "test-driven-development/SKILL.md", "(writing-good-tests.md)"),),
    ),
    Edit(
        "a dead link added in a reference",
        "gha-security-review",
        added("gha-security-review/references/pwn-request.md", "\nSee [the forks](forks-in-detail.md).\n"),
        new=(Place("BROKEN_LINK", "gha-security-review/references/pwn-request.md", "forks-in-detail.md"),),
        fails=("new-error",),
    ),
    Edit(
        "the directory renamed",
        "simplify-code",
        moved("code-simplifier", "simplify-code"),
        before="code-simplifier",
        new=(Place("NAME_MISMATCH", "simplify-code/SKILL.md", "name: code-simplifier"),),
        sign=-1,
    ),
    Edit(
        "moved and edited",
        "backend/django-perf-review",
        moved(
            "django-perf-review",
            "backend/django-perf-review",
            added("backend/django-perf-review/SKILL.md", f"\n{PROSE[1]}\n"),
        ),
        before="django-perf-review",
        sign=1,  # one more statement of what to do when, and more of the words carry something
    ),
    Edit(
        "moved alone",
        "backend/gh-review-requests",
        moved("gh-review-requests", "backend/gh-review-requests"),
        before="gh-review-requests",
        state="unchanged",
    ),
    Edit("removed", "sred-work-summary", removed("sred-work-summary"), state="removed", sign=None),
    Edit("new", "sort-slides", written("sort-slides/SKILL.md", NEW), state="new", sign=None, fails=("new-score",)),
    Edit(
        "a section removed",
        "receiving-code-review",
        cut("receiving-code-review/SKILL.md", "## Acknowledging Correct Feedback"),
        fails=("regression",),  # no finding: what it said to do, when and why is missed
        sign=-1,
    ),
    Edit(
        "a code block left open",
        "using-git-worktrees",
        added("using-git-worktrees/SKILL.md", "\nThen look around:\n\n```bash\ngit worktree list\n"),
        new=(Place("UNCLOSED_FENCE", "using-git-worktrees/SKILL.md", "```bash"),),
        fails=("new-error",),
        sign=-1,  # one more code block that no sentence introduces, and a line that names nothing
    ),
    Edit(
        "the frontmatter broken",
        "pr-writer",
        replaced("pr-writer/SKILL.md", "name: pr-writer", "name: [pr-writer"),
        new=(Place("FRONTMATTER_INVALID", "pr-writer/SKILL.md", "description:"),),  # there a bracket is missed
        fails=("new-error", "regression"),
        sign=-1,
    ),
    Edit("two descriptions made equal", "executing-plans", described_as("executing-plans", "writing-plans"), sign=1),
    Edit(
        "a script changed",
        "skill-scanner",
        replaced("skill-scanner/scripts/scan_skill.py", "argv[1]", "argv[1:]"),
        state="unchanged",
    ),
    Edit(
        "white space changed",
        "verification-before-completion",
        spaced("verification-before-completion/SKILL.md"),
        state="unchanged",
    ),
    Edit(
        "a suppression comment added",
        "requesting-code-review",
        replaced(
            "requesting-code-review/SKILL.md",
            "## Example\n\n",
            "## Example\n\n<!-- skillgate: ignore SUBSTITUTION_HAZARD: the example is read and never run -->\n",
        ),
        state="unchanged",
    ),
    Edit(
        "a trigger clause added",
        "sred-project-organizer",
        replaced(
            "sred-project-organizer/SKILL.md", "format for submission.", "format. Use when preparing an SRED claim."
        ),
        fixed=(Place("MISSING_TRIGGER", "sred-project-organizer/SKILL.md", "description:"),),
        sign=1,
    ),
)

ACROSS = {
    "new": Place("INDISTINCT", "writing-plans/SKILL.md", "description:"),
}
"""What skills that no edit touches have in common, or no longer, with one that does."""
