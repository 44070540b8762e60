"""Which commit a change is held against, in every shape that a checkout has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.action.context import find_base
from skillgate.action.github import Event
from skillgate.errors import UsageError
from tests.action.pull_request import PullRequest, skill
from tests.cli.running import commit, git

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def merged(tmp_path: Path) -> PullRequest:
    """A pull request whose base has moved on since it was opened, merged by GitHub into what it is now."""
    made = PullRequest(folder=tmp_path / "origin")
    made.base(skill("merge-sheets"))
    made.change(skill("merge-sheets", body="\nMore.\n"), merge=False)
    git(made.folder, "checkout", "-q", "main")
    made.base({"README.md": "# Moved on\n"})
    git(made.folder, "checkout", "-q", "--detach", "main")
    git(made.folder, "merge", "-q", "--no-ff", "--no-edit", "change")
    git(made.folder, "branch", "-q", "merge")
    made.sha = git(made.folder, "rev-parse", "merge")
    return made


def _event(of: PullRequest, name: str = "pull_request") -> Event:
    change = of.event["pull_request"]
    return Event(
        name=name,
        pull_request=7,
        sha=of.sha or None,
        head_sha=change["head"]["sha"],
        base_ref="main",
        base_sha=change["base"]["sha"],
    )


def _clone(of: PullRequest, tmp_path: Path, branch: str, *options: str) -> Path:
    copy = tmp_path / "clone"
    git(tmp_path, "clone", "-q", *options, "--branch", branch, f"file://{of.folder}", str(copy))
    return copy


def test_the_first_parent_of_githubs_merge_needs_two_commits(merged: PullRequest, tmp_path: Path) -> None:
    clone = _clone(merged, tmp_path, "merge", "--depth", "2")
    base = find_base(str(clone), _event(merged))
    assert base.commit == git(merged.folder, "rev-parse", "main")
    assert base.how == "the commit that GitHub merged the change into"


def test_a_clone_of_one_commit_is_refused_with_what_to_do(merged: PullRequest, tmp_path: Path) -> None:
    clone = _clone(merged, tmp_path, "merge", "--depth", "1")
    with pytest.raises(UsageError, match=r"the base commit [0-9a-f]{12} is not in this clone.*fetch-depth: 2"):
        find_base(str(clone), _event(merged))


def test_the_head_by_itself_is_held_against_where_it_left_its_base(merged: PullRequest, tmp_path: Path) -> None:
    clone = _clone(merged, tmp_path, "change")
    base = find_base(str(clone), _event(merged))
    assert (base.commit, base.note) == (git(merged.folder, "rev-parse", "change^"), "")
    assert base.how == "the commit where the change left its base branch"


def test_a_rebased_base_leaves_the_commit_where_both_were_one(merged: PullRequest, tmp_path: Path) -> None:
    root = git(merged.folder, "rev-parse", "change^")
    git(merged.folder, "checkout", "-q", "-B", "main", root)
    merged.base({"OTHER.md": "# Rewritten\n"})
    clone = _clone(merged, tmp_path, "change")
    assert find_base(str(clone), _event(merged)).commit == root


def test_a_shallow_head_is_refused(merged: PullRequest, tmp_path: Path) -> None:
    clone = _clone(merged, tmp_path, "change", "--depth", "1")
    with pytest.raises(UsageError, match="not in this clone"):
        find_base(str(clone), _event(merged))


def test_another_commit_than_the_head_is_told(merged: PullRequest, tmp_path: Path) -> None:
    git(merged.folder, "checkout", "-q", "change")
    merged.base({"LATER.md": "# Pushed after the event\n"})
    clone = _clone(merged, tmp_path, "change")
    assert "neither the pull request's head" in find_base(str(clone), _event(merged)).note


@pytest.mark.parametrize("name", ["pull_request", "pull_request_target"])
def test_the_base_branch_in_place_of_the_change_passes_nothing(merged: PullRequest, tmp_path: Path, name: str) -> None:
    clone = _clone(merged, tmp_path, "main")
    with pytest.raises(UsageError, match="does not contain the pull request's own commit"):
        find_base(str(clone), _event(merged, name))


def test_a_change_needs_a_repository(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no Git repository"):
        find_base(None, Event(name="pull_request", pull_request=7))
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    with pytest.raises(UsageError, match="no Git repository with a commit"):
        find_base(str(empty), Event(name="merge_group"))


class TestMergeGroup:
    def test_its_base_is_the_events(self, merged: PullRequest) -> None:
        base = git(merged.folder, "rev-parse", "main")
        event = Event(name="merge_group", group_base_sha=base)
        assert find_base(str(merged.folder), event).commit == base

    def test_a_merge_commit_has_it_as_its_first_parent(self, merged: PullRequest, tmp_path: Path) -> None:
        clone = _clone(merged, tmp_path, "merge", "--depth", "2")
        event = Event(name="merge_group", group_base_sha="0123456789" * 4, sha=merged.sha)
        assert find_base(str(clone), event).commit == git(merged.folder, "rev-parse", "main")

    def test_a_rebased_group_is_refused_where_its_base_is_not_there(self, merged: PullRequest, tmp_path: Path) -> None:
        git(merged.folder, "checkout", "-q", "change")
        clone = _clone(merged, tmp_path, "change", "--depth", "2")
        with pytest.raises(UsageError, match="base of the merge group is not in this clone"):
            find_base(str(clone), Event(name="merge_group", group_base_sha="0123456789" * 4))


@pytest.mark.parametrize("name", ["push", "schedule", "workflow_dispatch", ""])
def test_what_is_no_change_has_no_base(tmp_path: Path, name: str) -> None:
    (tmp_path / "a").write_text("a", encoding="utf-8")
    head = commit(tmp_path)
    base = find_base(str(tmp_path), Event(name=name))
    assert (base.head, base.commit) == (head, None)
    assert "not a change to a base" in base.how
