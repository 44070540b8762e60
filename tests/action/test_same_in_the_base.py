"""A skill that is the same in the base of a change is assessed once, and only then; Git is started a few times."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from skillgate.evaluation import assess, pipeline
from tests.action.pull_request import LINK, PullRequest, skill
from tests.action.test_old_branch import old_branch
from tests.cli.running import git, run

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.model.finding import Assessment
    from skillgate.model.skill import SkillSource

pytestmark = pytest.mark.skipif(
    os.name == "nt" or shutil.which("git") is None, reason="Git is counted by a shell script, and files become links"
)

COUNT = 24
NAMES = [f"skill-{number:02}" for number in range(COUNT)]
LINKS = {
    NAMES[0]: "\nSee [the neighbour's columns](../skill-01/references/columns.md).\n",
    NAMES[2]: "\nSee [what all share](references/shared.md).\n",
    NAMES[4]: "\nSee [the guide](../../docs/guide.md).\n",
}
TOUCHED = NAMES[10]
_REFERENCE = f"skills/{NAMES[20]}/references/columns.md"
Files = dict[str, str | None]


class Counted(NamedTuple):
    """How often a run assessed a skill, started Git, and what it wrote."""

    assessed: list[str]
    git: list[str]
    documents: dict[str, bytes]


@pytest.fixture
def request_of_many(tmp_path: Path) -> PullRequest:
    """Give a pull request without a change yet: 24 skills, three of which depend on files outside of them."""
    made = PullRequest(folder=tmp_path / "work")
    files: Files = {"docs/guide.md": "# Guide\n\nWhat to read first.\n", "docs/shared.md": "# Shared\n\nOne text.\n"}
    for name in NAMES:
        files |= skill(name, body=LINKS.get(name, ""))
    made.write(files)
    (made.folder / f"skills/{NAMES[2]}/references/shared.md").symlink_to("../../../docs/shared.md")
    made.base({})
    return made


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[PullRequest], Counted]:
    """Give a function that runs the Action and counts."""
    log = counting_git(tmp_path, monkeypatch)
    assessed: list[str] = []
    real = assess.assess

    def counting(source: SkillSource, *arguments: Any, **options: Any) -> Assessment:
        assessed.append(source.root.directory)
        return real(source, *arguments, **options)

    monkeypatch.setattr(assess, "assess", counting)

    def ran(made: PullRequest) -> Counted:
        assessed.clear()
        log.write_text("", encoding="utf-8")
        shutil.rmtree(made.folder / "skillgate-report", ignore_errors=True)
        done = made.run()
        assert done.code in (0, 1), done.log
        documents = {file.name: file.read_bytes() for file in (made.folder / "skillgate-report").iterdir()}
        documents["summary"] = done.summary.encode()
        documents["errors"] = done.err.encode()
        return Counted([*assessed], log.read_text(encoding="utf-8").splitlines(), documents)

    return ran


def counting_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a script before Git on PATH; return the file in which it writes one line per process."""
    log, folder, real = tmp_path / "git.log", tmp_path / "counting", shutil.which("git")
    folder.mkdir()
    script = folder / "git"
    script.write_text(f"#!/bin/sh\necho \"$$ $*\" >> '{log}'\nexec '{real}' \"$@\"\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return log


def every_skill_twice(counted: Callable[[PullRequest], Counted], made: PullRequest) -> Counted:
    """Run as if nothing were ever the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline.Assessor, "_remembered", lambda *_: None)
        return counted(made)


def twice(found: Counted) -> list[str]:
    """Return the names of the directories that were assessed more than once."""
    return sorted({place for place in found.assessed if found.assessed.count(place) > 1})


def test_one_touched_skill_is_the_only_one_assessed_again(
    request_of_many: PullRequest, counted: Callable[[PullRequest], Counted]
) -> None:
    request_of_many.change(skill(TOUCHED, body="\nKeep the newest of two rows.\n"))
    found = counted(request_of_many)
    assert twice(found) == [f"skills/{TOUCHED}"]
    assert len(found.assessed) == COUNT + 1
    assert len(found.git) <= 10, found.git
    assert sum("cat-file" in line for line in found.git) == 1
    plain = every_skill_twice(counted, request_of_many)
    # Each time that something asks: at the base, and at the head before and after it.
    assert len(plain.assessed) == 3 * COUNT
    assert found.documents == plain.documents


def test_every_git_process_has_ended_after_the_run(
    request_of_many: PullRequest, counted: Callable[[PullRequest], Counted]
) -> None:
    request_of_many.change(skill(TOUCHED, body="\nKeep the newest of two rows.\n"))
    for line in counted(request_of_many).git:
        with pytest.raises(ProcessLookupError):
            os.kill(int(line.split()[0]), 0)


def dirty(folder: Path) -> None:
    """Change a tracked file without a commit."""
    (folder / _REFERENCE).write_text("# Columns\n\nSee [more](nowhere.md).\n", encoding="utf-8")


def untracked(folder: Path) -> None:
    """Add a file that no commit has."""
    (folder / f"skills/{NAMES[20]}/references/rows.md").write_text("# Rows\n", encoding="utf-8")


def deleted(folder: Path) -> None:
    """Remove a tracked file without a commit."""
    (folder / _REFERENCE).unlink()


def hidden(folder: Path) -> None:
    """Change a file that Git was told to take for unchanged."""
    git(folder, "update-index", "--assume-unchanged", _REFERENCE)
    dirty(folder)


def ignored(folder: Path) -> None:
    """Add a file that Git ignores."""
    (folder / ".git/info/exclude").write_text("*.tmp\n", encoding="utf-8")
    (folder / f"skills/{NAMES[20]}/references/old.tmp").write_text("x\n", encoding="utf-8")


@pytest.mark.parametrize("meddle", [dirty, untracked, deleted, hidden, ignored], ids=lambda one: one.__name__)
def test_a_skill_that_the_working_tree_has_otherwise_is_assessed_on_both_sides(
    request_of_many: PullRequest, counted: Callable[[PullRequest], Counted], meddle: Callable[[Path], None]
) -> None:
    request_of_many.change(skill(TOUCHED, body="\nKeep the newest of two rows.\n"))
    meddle(request_of_many.folder)
    found = counted(request_of_many)
    assert twice(found) == [f"skills/{TOUCHED}", f"skills/{NAMES[20]}"]
    assert found.documents == every_skill_twice(counted, request_of_many).documents


def linked(folder: Path) -> None:
    """Put a link in the place of a file."""
    place = folder / _REFERENCE
    place.unlink()
    place.symlink_to("../../../docs/shared.md")


def moved(folder: Path) -> None:
    """Move a skill."""
    (folder / f"skills/{NAMES[20]}").rename(folder / "skills/elsewhere")


def recased(folder: Path) -> None:
    """Move a skill to the same name in other letters."""
    git(folder, "mv", f"skills/{NAMES[20]}", f"skills/{NAMES[20].upper()}")


def with_submodule(folder: Path) -> None:
    """Put a submodule in a skill, checked out or not."""
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},skills/{NAMES[20]}/references/vendored")
    (folder / f"skills/{NAMES[20]}/references/vendored").mkdir()


def in_a_plugin(folder: Path) -> None:
    """Make the whole repository one plugin."""
    (folder / ".claude-plugin").mkdir()
    (folder / ".claude-plugin/plugin.json").write_text('{"name": "tables"}\n', encoding="utf-8")


def target_changed(folder: Path) -> None:
    """Change what a link in a skill leads to."""
    (folder / "docs/shared.md").write_text("# Shared\n\nSee [more](nowhere.md).\n", encoding="utf-8")


def target_gone(folder: Path) -> None:
    """Remove the file outside of a skill that it names."""
    (folder / "docs/guide.md").unlink()


def neighbour_changed(folder: Path) -> None:
    """Remove a file of a skill that another one links."""
    (folder / f"skills/{NAMES[1]}/references/columns.md").unlink()


def neighbours_gone(folder: Path) -> None:
    """Leave two skills: what a skill could refer to is fewer."""
    for name in NAMES[2:]:
        shutil.rmtree(folder / f"skills/{name}")


@pytest.mark.parametrize(
    ("change", "again"),
    [
        (linked, [NAMES[20]]),
        (moved, []),  # under another path everything is new
        (recased, []),
        (with_submodule, [NAMES[20]]),
        (in_a_plugin, NAMES),
        (target_changed, [NAMES[2]]),
        (target_gone, [NAMES[4]]),
        (neighbour_changed, [NAMES[0], NAMES[1]]),
        (neighbours_gone, NAMES[:2]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_what_a_change_reaches_is_assessed_on_both_sides(
    request_of_many: PullRequest,
    counted: Callable[[PullRequest], Counted],
    change: Callable[[Path], None],
    again: list[str],
) -> None:
    git(request_of_many.folder, "checkout", "-q", "-b", "change")
    base = git(request_of_many.folder, "rev-parse", "main")
    change(request_of_many.folder)
    git(request_of_many.folder, "add", "-A")
    git(request_of_many.folder, "commit", "-q", "-m", "change")
    git(request_of_many.folder, "checkout", "-q", "main")
    side = {"ref": "change", "repo": {"full_name": request_of_many.repository}}
    head = git(request_of_many.folder, "rev-parse", "change")
    into = {"sha": base, "ref": "main", "repo": {"full_name": request_of_many.repository}}
    request_of_many.event = {"pull_request": {"number": 7, "head": {"sha": head, **side}, "base": into}}
    git(request_of_many.folder, "checkout", "-q", "--detach", "main")
    git(request_of_many.folder, "merge", "-q", "--no-ff", "--no-edit", "change")
    request_of_many.sha = git(request_of_many.folder, "rev-parse", "HEAD")
    found = counted(request_of_many)
    assert twice(found) == [f"skills/{name}" for name in again]
    assert found.documents == every_skill_twice(counted, request_of_many).documents


def test_the_start_and_the_tip_of_a_branch_are_assessed_where_they_differ(
    tmp_path: Path, counted: Callable[[PullRequest], Counted]
) -> None:
    before: Files = {}
    for name in NAMES:
        before |= skill(name)
    made = old_branch(
        tmp_path, before, skill(TOUCHED, body="\nKeep the newest.\n"), skill(NAMES[3], body="\nSort first.\n")
    )
    found = counted(made)
    # One more for the touched skill at the start, one for the other one at the tip.
    assert sorted(set(found.assessed)) == [f"skills/{name}" for name in NAMES]
    assert twice(found) == sorted(f"skills/{name}" for name in (TOUCHED, NAMES[3]))
    assert len(found.assessed) == COUNT + 2
    assert len(found.git) <= 12, found.git
    assert found.documents == every_skill_twice(counted, made).documents


@pytest.mark.parametrize("command", ["check", "score"])
def test_a_baseline_without_a_cache_is_assessed_where_it_differs(
    request_of_many: PullRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    request_of_many.change(skill(TOUCHED, body=f"\nKeep the newest of two rows.\n{LINK}"))
    log = counting_git(tmp_path, monkeypatch)
    assessed: list[str] = []
    real = assess.assess

    def counting(source: SkillSource, *arguments: Any, **options: Any) -> Assessment:
        assessed.append(source.root.directory)
        return real(source, *arguments, **options)

    monkeypatch.setattr(assess, "assess", counting)
    words = (command, ".", "--no-cache", "--baseline", "HEAD^1", "--output", "json")
    done = run(request_of_many.folder, *words)
    assert len(assessed) == COUNT + 1
    assert sum("cat-file" in line for line in log.read_text(encoding="utf-8").splitlines()) == 1
    monkeypatch.setattr(pipeline.Assessor, "_remembered", lambda *_: None)
    plain = run(request_of_many.folder, *words)
    assert (done.code, done.err) == (plain.code, plain.err)
    assert without_durations(done.json) == without_durations(plain.json)


def without_durations(document: Any) -> Any:
    """Drop times, which differ between any two runs."""
    if isinstance(document, dict):
        return {key: without_durations(value) for key, value in document.items() if "duration" not in key}
    return [without_durations(item) for item in document] if isinstance(document, list) else document
