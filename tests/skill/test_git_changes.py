"""What git says of changes: a commit beside the working tree, in real repositories."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from skillgate.errors import IncompleteError, UsageError
from skillgate.skill.git import changes, holds_submodule, renames

if TYPE_CHECKING:
    from pathlib import Path

IDENTITY = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str) -> str:
    """Run git with an identity of its own."""
    done = subprocess.run(["git", *IDENTITY, *words], cwd=folder, check=True, capture_output=True, encoding="utf-8")
    return done.stdout.strip()


def write(folder: Path, *paths: str, text: str = "x\n") -> None:
    """Write files."""
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def commit(folder: Path) -> str:
    """Commit all that is there."""
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "more")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with two files in one commit."""
    folder = tmp_path / "repo"
    write(folder, "a/one", "b/two", ".gitignore")
    (folder / ".gitignore").write_text("ignored/\n")
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    return folder


def asked(folder: Path, since: str | None = None) -> dict[str, bool]:
    return changes(str(folder), since)


def test_nothing_changed(repo: Path) -> None:
    os.utime(repo / "a" / "one")
    assert asked(repo) == {}


def test_every_kind_of_change(repo: Path) -> None:
    write(repo, "a/one", text="y\n")
    write(repo, "c/new", "c/staged", "ignored/file")
    git(repo, "add", "c/staged")
    (repo / "b" / "two").unlink()
    assert asked(repo) == {"a/one": False, "b/two": True, "c/new": True, "c/staged": True}


def test_a_renamed_file_gives_both_paths(repo: Path) -> None:
    git(repo, "config", "diff.renames", "copies")
    git(repo, "mv", "b/two", "b/three")
    assert asked(repo) == {"b/two": True, "b/three": True}


def test_a_file_that_becomes_a_link_is_of_another_kind(repo: Path) -> None:
    (repo / "b" / "two").unlink()
    (repo / "b" / "two").symlink_to("../a/one")
    assert asked(repo) == {"b/two": True}


def test_names_come_as_they_are(repo: Path) -> None:
    names = ["-x/--all", "a b/c d", "é/文", "line\nbreak/x", "tab\tx", '"quoted"', ":(glob)/x", "HEAD"]
    write(repo, *names)
    write(repo, "\udcff/x")  # on disk the byte 0xff
    expected = {*names, "\udcff/x"}
    assert asked(repo) == dict.fromkeys(expected, True)
    git(repo, "add", "-A")
    assert asked(repo) == dict.fromkeys(expected, True)


def test_before_the_first_commit_all_is_new(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    write(tmp_path, "a/one", "b/two")
    git(tmp_path, "add", "b/two")
    assert asked(tmp_path) == {"a/one": True, "b/two": True}
    with pytest.raises(UsageError, match="main is not a commit"):
        asked(tmp_path, "main")


def test_since_a_branch_is_since_it_was_left(repo: Path) -> None:
    git(repo, "switch", "-qc", "topic")
    write(repo, "a/topic")
    commit(repo)
    git(repo, "switch", "-q", "main")
    write(repo, "a/main")
    commit(repo)
    git(repo, "switch", "-q", "topic")
    write(repo, "a/loose")
    assert asked(repo, "main") == {"a/topic": True, "a/loose": True}
    assert asked(repo) == {"a/loose": True}


def test_histories_that_never_met_are_compared_as_they_are(repo: Path) -> None:
    git(repo, "switch", "-q", "--orphan", "other")
    write(repo, "a/one", "d/four")
    commit(repo)
    assert asked(repo, "main") == {"b/two": True, ".gitignore": True, "d/four": True}


@pytest.mark.parametrize("revision", ["nope", "", "-x", "--all", "HEAD~9", "a/one", "HEAD:a", "\n", "main..main"])
def test_what_is_no_commit_is_refused(revision: str, repo: Path) -> None:
    with pytest.raises(UsageError, match="is not a commit in"):
        asked(repo, revision)


def test_a_shallow_clone_says_what_to_do(repo: Path, tmp_path: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    write(repo, "c")
    commit(repo)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "clone")
    with pytest.raises(UsageError, match="the clone is shallow: fetch the commit first"):
        asked(tmp_path / "clone", first)


def test_a_tag_that_is_no_commit_is_refused_and_one_that_is_taken(repo: Path) -> None:
    git(repo, "tag", "-a", "v1", "-m", "v1")
    git(repo, "tag", "tree", "HEAD^{tree}")
    assert asked(repo, "v1") == {}
    with pytest.raises(UsageError, match="is not a commit"):
        asked(repo, "tree")


def test_what_is_no_repository_fails(tmp_path: Path) -> None:
    with pytest.raises(IncompleteError, match="git cannot list changed files"):
        asked(tmp_path)


def test_a_worktree_has_changes_of_its_own(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", "-b", "topic", str(tmp_path / "tree"))
    write(tmp_path / "tree", "a/new")
    assert asked(tmp_path / "tree") == {"a/new": True}
    assert asked(repo) == {}


def test_a_submodule_is_one_path_and_changed_where_its_commit_is(repo: Path, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    write(inner, "x")
    git(inner, "init", "-q", "-b", "main")
    commit(inner)
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "vendor/in ner")
    commit(repo)
    write(repo / "vendor" / "in ner", "dirty")
    assert asked(repo) == {}
    assert asked(repo / "vendor" / "in ner") == {"dirty": True}
    commit(repo / "vendor" / "in ner")
    assert asked(repo) == {"vendor/in ner": False}
    assert holds_submodule(str(repo), "vendor/in ner")
    assert not holds_submodule(str(repo), "vendor")
    assert not holds_submodule(str(repo), "a")
    assert not holds_submodule(str(repo), "*")


def test_no_program_of_the_repository_is_run(repo: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho run >> '{tmp_path / 'log'}'\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "diff.x.textconv", "diff.x.command"):
        git(repo, "config", key, str(trap))
    (repo / ".git" / "info" / "attributes").write_text("* diff=x\n")
    write(repo, "a/one", text="y\n")
    assert asked(repo) == {"a/one": False}
    assert not (tmp_path / "log").exists()


def test_the_index_of_the_repository_is_left_as_it_is(repo: Path) -> None:
    index = repo / ".git" / "index"
    os.utime(
        repo / "a" / "one", (1, 1)
    )  # git has to look again whether it changed, and would write down that it did not
    before = index.read_bytes(), index.stat().st_mtime_ns
    assert not changes(str(repo), "HEAD")
    assert not renames(str(repo), "HEAD", "one")
    assert (index.read_bytes(), index.stat().st_mtime_ns) == before


def test_a_change_in_the_second_of_the_commit_is_seen(repo: Path) -> None:
    for count in range(20):
        write(repo, "a/one", text=f"{count % 10}\n")
        commit(repo)
        write(repo, "a/one", text=f"{(count + 1) % 10}\n")  # of the same size, and perhaps at the same time
        assert changes(str(repo)) == {"a/one": False}


def test_a_moved_file_of_a_name_is_found_by_what_it_holds(repo: Path) -> None:
    text = "".join(f"Line {number}.\n" for number in range(40))
    write(repo, "x/SKILL.md", "y/other.md", text=text)
    before = commit(repo)
    git(repo, "mv", "x", "z")
    write(repo, "z/SKILL.md", text=text + "One more.\n")
    git(repo, "mv", "y", "w")
    assert renames(str(repo), before, "SKILL.md") == {"z/SKILL.md": "x/SKILL.md"}
