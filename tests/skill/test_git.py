"""One commit as a tree, read from git's objects; and what git ignores. Every test asks a real repository."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from skillgate.errors import IncompleteError, UsageError
from skillgate.files import toplevel
from skillgate.model.skill import Entry, EntryKind
from skillgate.skill.git import GitTree, commit_of, git, ignored, one_reader, open_commit, parents

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

FILE, DIRECTORY, OTHER = EntryKind.FILE, EntryKind.DIRECTORY, EntryKind.OTHER
AUTHOR = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false")


def do(repo: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    argv = ["git", *AUTHOR, "-c", "protocol.file.allow=always", "-C", str(repo), *arguments]
    return subprocess.run(argv, input=stdin, capture_output=True, check=True).stdout


def add_blob(repo: Path, mode: str, path: bytes, content: bytes) -> None:
    """Put a file into the index without the working tree: links and names that this system could not make."""
    name = do(repo, "hash-object", "-w", "--stdin", stdin=content).strip()
    do(repo, "update-index", "-z", "--index-info", stdin=mode.encode() + b" " + name + b"\t" + path + b"\0")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    top = tmp_path / "repo"
    top.mkdir()
    do(top, "init", "-q")
    return top


def commit(repo: Path) -> GitTree:
    do(repo, "commit", "-q", "--allow-empty", "-m", "state")
    return open_commit(str(repo), "HEAD")


def kind(tree: GitTree, path: str) -> EntryKind | None:
    entry = tree.entry(path)
    return entry.kind if entry else None


def test_a_commit_is_read_without_a_working_tree(repo: Path) -> None:
    add_blob(repo, "100644", b"skills/one/SKILL.md", b"0123456789")
    add_blob(repo, "100755", b"skills/one/scripts/run.sh", b"#!/bin/sh\n")
    tree = commit(repo)
    assert tree.entry("skills/one/SKILL.md") == Entry(kind=FILE, size=10)
    assert tree.read("skills/one/SKILL.md", limit=4) == b"0123"
    assert tree.read("skills/one/scripts/run.sh", limit=100) == b"#!/bin/sh\n"
    assert (kind(tree, ""), kind(tree, "skills/one"), kind(tree, "skills/two")) == (DIRECTORY, DIRECTORY, None)
    assert tree.names("skills/one") == ("SKILL.md", "scripts")
    assert (tree.names(""), tree.names("skills/one/SKILL.md"), tree.names("nothing")) == (("skills",), (), ())
    assert list(repo.iterdir()) == [repo / ".git"]


def test_each_name_of_a_commit_gives_that_commit(repo: Path) -> None:
    add_blob(repo, "100644", b"f", b"old")
    commit(repo)
    do(repo, "tag", "v1")
    add_blob(repo, "100644", b"f", b"new")
    commit(repo)
    assert [open_commit(str(repo), rev).read("f", limit=9) for rev in ("v1", "HEAD~1", "HEAD")] == [
        b"old",
        b"old",
        b"new",
    ]


def test_names_match_exactly_and_any_bytes_are_names(repo: Path) -> None:
    for name in (b"sp ace", b"new\nline", b"tab\t", "ä日".encode(), b"latin-\xe9", b'"quoted"', b"-dash"):
        add_blob(repo, "100644", name + b"/x", b"<" + name + b">")
    tree = commit(repo)
    assert len(tree.names("")) == 7
    for shown in tree.names(""):
        assert tree.read(f"{shown}/x", limit=99) == b"<" + shown.encode("utf-8", "surrogateescape") + b">"
    assert tree.entry("SP ACE/x") is None


def test_links_are_resolved_inside_the_commit(repo: Path) -> None:
    add_blob(repo, "100644", b"a/b/x", b"x")
    add_blob(repo, "120000", b"mirror", b"a/b/")
    add_blob(repo, "120000", b"a/up", b"./../mirror")
    add_blob(repo, "120000", b"a/b/top", b"../..")
    tree = commit(repo)
    assert tree.real("a/up/top/mirror/x") == "a/b/x"
    assert tree.read("a/up/x", limit=1) == b"x"
    assert (kind(tree, "mirror"), tree.names("mirror")) == (DIRECTORY, ("top", "x"))
    assert dict(tree.listing(""))["mirror"] is None


@pytest.mark.parametrize("target", [b"/etc/passwd", b"../outside", b"a/../../x", b"link", b"nowhere", b"x" * 5_000])
def test_links_that_lead_elsewhere_are_entries_of_no_use(repo: Path, target: bytes) -> None:
    add_blob(repo, "120000", b"link", target)
    tree = commit(repo)
    assert kind(tree, "link") is OTHER
    assert tree.entry("link/below") is None
    with pytest.raises(OSError, match="symbolic link") as caught:
        tree.read("link", limit=10)
    assert caught.value.errno == errno.EXDEV


def test_only_links_out_of_the_commit_count_as_leading_outside(repo: Path) -> None:
    for name, target in ((b"d/out", b"../../x"), (b"d/abs", b"/x"), (b"d/broken", b"../x"), (b"d/loop", b"loop")):
        add_blob(repo, "120000", name, target)
    tree = commit(repo)
    assert [tree.leads_outside(f"d/{name}") for name in ("out", "abs", "broken", "loop")] == [True, True, False, False]


def test_links_that_multiply_are_given_up(repo: Path) -> None:
    for number in range(1, 60):
        before = f"l{number - 1}"
        add_blob(repo, "120000", f"l{number}".encode(), f"{before}/{before}".encode())
    add_blob(repo, "120000", b"l0", b".")
    assert kind(commit(repo), "l59") is OTHER


def test_a_submodule_is_neither_file_nor_directory(repo: Path) -> None:
    do(repo, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendored")
    tree = commit(repo)
    assert kind(tree, "vendored") is OTHER
    with pytest.raises(OSError, match="not a regular file"):
        tree.read("vendored", limit=1)


def test_reading_what_is_no_file_says_what_it_is(repo: Path) -> None:
    add_blob(repo, "100644", b"a/x", b"")
    tree = commit(repo)
    with pytest.raises(IsADirectoryError):
        tree.read("a", limit=1)
    with pytest.raises(FileNotFoundError):
        tree.read("a/y", limit=1)
    with pytest.raises(NotADirectoryError):
        tree.listing("a/x")
    assert tree.read("a/x", limit=1) == b""


def test_a_deep_commit_does_not_recurse(repo: Path) -> None:
    deep = b"/".join([b"d"] * 1_000)
    add_blob(repo, "100644", deep + b"/x", b"x")
    assert commit(repo).read(deep.decode() + "/x", limit=1) == b"x"


@pytest.mark.parametrize("rev", ["no-such-branch", "", "--all", "HEAD:f", "0" * 40])
def test_an_unknown_commit_is_the_users_error_and_names_it(repo: Path, rev: str) -> None:
    add_blob(repo, "100644", b"f", b"")
    commit(repo)
    with pytest.raises(UsageError, match="is not a commit in") as caught:
        open_commit(str(repo), rev)
    assert str(caught.value).startswith(rev)


def test_a_shallow_clone_is_told_to_fetch_more(repo: Path) -> None:
    commit(repo)
    commit(repo)
    do(repo.parent, "clone", "-q", "--depth=1", repo.as_uri(), "shallow")
    with pytest.raises(UsageError, match="fetch-depth"):
        open_commit(str(repo.parent / "shallow"), "HEAD~1")


def test_where_there_is_no_repository_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not a git repository"):
        open_commit(str(tmp_path), "HEAD")


def test_a_missing_object_is_incomplete_not_a_missing_file(repo: Path) -> None:
    add_blob(repo, "100644", b"f", b"content")
    tree = commit(repo)
    name = do(repo, "rev-parse", "HEAD:f").decode().strip()
    (repo / ".git" / "objects" / name[:2] / name[2:]).unlink()
    with pytest.raises(IncompleteError, match=f"{name} missing"):
        tree.read("f", limit=1)


def test_replaced_objects_are_not_believed(repo: Path) -> None:
    add_blob(repo, "100644", b"f", b"real")
    commit(repo)
    other = do(repo, "hash-object", "-w", "--stdin", stdin=b"fake").decode().strip()
    do(repo, "replace", do(repo, "rev-parse", "HEAD:f").decode().strip(), other)
    assert open_commit(str(repo), "HEAD").read("f", limit=9) == b"real"


@pytest.mark.skipif(os.name == "nt", reason="the planted programs are shell scripts")
def test_programs_that_the_repository_configures_do_not_run(repo: Path) -> None:
    planted, proof = repo / ".git" / "planted", repo.parent / "proof"
    planted.write_text(f"#!/bin/sh\ntouch '{proof}'\n", encoding="utf-8")
    planted.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "core.editor"):
        do(repo, "config", key, str(planted))
    (repo / "x").touch()
    ignored(str(repo), ["x"])
    git(str(repo), "status", "--short")
    assert not proof.exists()


def test_ignored_files_are_told_and_tracked_ones_are_not(repo: Path) -> None:
    (repo / ".gitignore").write_text("build/\n*.tmp\n!keep.tmp\n", encoding="utf-8")
    add_blob(repo, "100644", b"build/tracked", b"")
    for directory in ("build", "src", ":odd", "[a-z]", "sp ace\nx" if os.name != "nt" else "sp ace"):
        (repo / directory).mkdir()
        for name in ("a.tmp", "keep.tmp", "SKILL.md"):
            (repo / directory / name).touch()
    odd = sorted(path.name for path in repo.iterdir() if path.name.startswith((":", "[", "sp")))
    asked = ["build/SKILL.md", "build/tracked", "src/a.tmp", "src/keep.tmp", "src/SKILL.md"]
    found = ignored(str(repo), [*asked, *(f"{name}/{file}" for name in odd for file in ("a.tmp", "SKILL.md"))])
    assert found == {"build/SKILL.md", "src/a.tmp", *(f"{name}/a.tmp" for name in odd)}


def test_git_that_refuses_is_reported(tmp_path: Path) -> None:
    with pytest.raises(IncompleteError, match="not a git repository"):
        ignored(str(tmp_path), ["x"])


def test_the_top_of_a_linked_working_tree_is_its_own(repo: Path) -> None:
    add_blob(repo, "100644", b"a/x", b"x")
    commit(repo)
    do(repo, "worktree", "add", "-q", str(repo.parent / "second"))
    second = str((repo.parent / "second").resolve())
    assert toplevel(str(Path(second, "a"))) == second
    assert open_commit(second, "HEAD").root == second


def counting(repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a script before Git on PATH; return the file in which it writes the number and words of each process."""
    log, script, real = repo.parent / "git.log", repo.parent / "counting" / "git", shutil.which("git")
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\necho \"$$ $*\" >> '{log}'\nexec '{real}' \"$@\"\n", encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    return log


def readers(log: Path) -> list[int]:
    """Return the numbers of the processes that read objects."""
    return [int(line.split()[0]) for line in log.read_text().splitlines() if "cat-file" in line]


@pytest.mark.skipif(os.name == "nt", reason="Git is counted by a shell script")
def test_one_process_reads_two_commits_and_ends_with_the_block(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(200):
        add_blob(repo, "100644", f"d{number}/f".encode(), b"%d\n" % number * number * 40)
    add_blob(repo, "120000", b"link", b"d199")
    commit(repo)
    add_blob(repo, "100644", b"d7/f", b"other")
    commit(repo)
    log = counting(repo, monkeypatch)
    with one_reader():
        trees = [open_commit(str(repo), rev) for rev in ("HEAD~1", "HEAD", "HEAD")]
        for tree in trees:
            assert tree.read("link/f", limit=4) == b"199\n"
            assert all(tree.read(f"d{number}/f", limit=9)[:1] == b"%d" % (number // 100) for number in range(100, 200))
        assert [tree.read("d7/f", limit=9) for tree in trees] == [b"7\n7\n7\n7\n7", b"other", b"other"]
        assert parents(str(repo), str(commit_of(str(repo), "HEAD"))) == (commit_of(str(repo), "HEAD~1"),)
        (reader,) = readers(log)
    assert len(log.read_text().splitlines()) == 3  # and one list of files for each commit
    with pytest.raises(ProcessLookupError):
        os.kill(reader, 0)


@pytest.mark.parametrize("in_block", [False, True])
def test_any_names_are_read_by_one_process_too(repo: Path, *, in_block: bool) -> None:
    for name in (b"sp ace", b"new\nline", "ä日".encode(), b"latin-\xe9", b"-dash", b"x missing", b"1 blob 5"):
        add_blob(repo, "100644", name + b"/x", b"\0missing\n" + name)
    commit(repo)
    with one_reader() if in_block else nullcontext():
        tree = open_commit(str(repo), "HEAD")
        for shown in tree.names(""):
            assert tree.read(f"{shown}/x", limit=99) == b"\0missing\n" + shown.encode("utf-8", "surrogateescape")


ODD = ["", " ", "HEAD\n", "HEAD\nHEAD", "x\nHEAD", "--all", "-h", "HEAD:f", "HEAD HEAD", "HEAD commit 5", "f", "\udce9"]


@pytest.mark.parametrize("rev", [*ODD, "HEAD", "HEAD~1", "HEAD~2", "v1", "@", "HEAD^{commit}", "HEAD^{tree}", ":/sta"])
def test_a_revision_means_the_same_to_the_one_process(repo: Path, rev: str) -> None:
    add_blob(repo, "100644", b"f", b"x")
    commit(repo)
    do(repo, "tag", "-a", "v1", "-m", "annotated")
    commit(repo)
    expected = commit_of(str(repo), rev)
    with one_reader():
        assert commit_of(str(repo), rev) == expected
        assert commit_of(str(repo), "HEAD") is not None  # still in step


def test_a_missing_object_does_not_disturb_the_next(repo: Path) -> None:
    for path in (b"a/f", b"b/f"):
        add_blob(repo, "100644", path, b"content of " + path)
    tree = commit(repo)
    name = do(repo, "rev-parse", "HEAD:a/f").decode().strip()
    (repo / ".git" / "objects" / name[:2] / name[2:]).unlink()
    with one_reader():
        for _ in range(2):
            with pytest.raises(IncompleteError, match=f"{name} missing"):
                tree.read("a/f", limit=1)
            assert commit_of(str(repo), "HEAD") is not None
        assert tree.read("b/f", limit=99) == b"content of b/f"


def test_a_broken_object_is_incomplete(repo: Path) -> None:
    add_blob(repo, "100644", b"f", os.urandom(100_000))
    tree = commit(repo)
    name = do(repo, "rev-parse", "HEAD:f").decode().strip()
    place = repo / ".git" / "objects" / name[:2] / name[2:]
    place.chmod(0o644)
    place.write_bytes(place.read_bytes()[:50_000])
    with one_reader():
        with pytest.raises(IncompleteError, match=f"git cannot read object {name}: "):
            tree.read("f", limit=1)
        assert commit_of(str(repo), "HEAD") is not None


def test_a_partial_clone_fetches_nothing(repo: Path) -> None:
    add_blob(repo, "100644", b"f", b"content")
    commit(repo)
    do(repo, "config", "uploadpack.allowFilter", "true")
    do(repo.parent, "clone", "-q", "--no-checkout", "--filter=blob:none", repo.as_uri(), "partial")
    with one_reader():
        assert commit_of(str(repo.parent / "partial"), "HEAD") is not None
        tree = GitTree(str(repo.parent / "partial"), do(repo, "ls-tree", "-r", "-z", "-l", "HEAD"), {})
        with pytest.raises(IncompleteError, match="git cannot read object"):
            tree.read("f", limit=1)
        assert commit_of(str(repo.parent / "partial"), "HEAD") is not None


@pytest.mark.skipif(os.name == "nt", reason="Git is counted by a shell script")
def test_a_process_that_was_killed_is_replaced(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_blob(repo, "100644", b"f", b"content")
    commit(repo)
    log = counting(repo, monkeypatch)
    with one_reader():
        tree = open_commit(str(repo), "HEAD")
        os.kill(readers(log)[0], signal.SIGKILL)
        while _is_running(readers(log)[0]):
            time.sleep(0.01)
        assert tree.read("f", limit=99) == b"content"
        assert len(readers(log)) == 2


def _is_running(process: int) -> bool:
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, check=False)
    return done.stdout.strip()[:1] not in (b"", b"Z")


def test_a_repository_that_git_refuses_has_no_commit(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    with one_reader():
        assert commit_of(str(tmp_path), "HEAD") is None
        with pytest.raises(UsageError, match="not a git repository"):
            open_commit(str(tmp_path), "HEAD")


def test_an_inner_block_uses_the_outer_ones_process(repo: Path) -> None:
    add_blob(repo, "100644", b"f", b"content")
    commit(repo)
    with one_reader():
        with one_reader():
            tree = open_commit(str(repo), "HEAD")
        assert open_commit(str(repo), "HEAD") is tree
    assert open_commit(str(repo), "HEAD") is not tree
    assert tree.read("f", limit=99) == b"content"  # by a process of its own
