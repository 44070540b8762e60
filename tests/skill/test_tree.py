"""A directory on disk as a tree: exact names, links kept inside, and nothing that blocks."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from skillgate.files import toplevel
from skillgate.model.skill import Entry, EntryKind
from skillgate.skill.tree import DiskTree

FILE, DIRECTORY, OTHER = EntryKind.FILE, EntryKind.DIRECTORY, EntryKind.OTHER


def link(at: Path, target: str | Path) -> None:
    try:
        at.symlink_to(target, target_is_directory=True)
    except (OSError, NotImplementedError):
        pytest.skip("symbolic links cannot be made here")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_bytes(b"secret")
    top = tmp_path / "tree"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "guide.md").write_bytes(b"0123456789")
    return top


def kind(tree: DiskTree, path: str) -> EntryKind | None:
    entry = tree.entry(path)
    return entry.kind if entry else None


def test_files_have_a_size_directories_are_listed_in_order_and_the_root_is_one(root: Path) -> None:
    for name in ("z", "Z", "ä", ".hidden"):
        (root / "a" / "b" / (name + "1")).touch()
    tree = DiskTree(str(root))
    assert tree.entry("a/guide.md") == Entry(kind=FILE, size=10)
    assert (kind(tree, ""), kind(tree, "a/b"), kind(tree, "a/nothing")) == (DIRECTORY, DIRECTORY, None)
    assert tree.names("") == ("a",)
    assert tree.names("a/b") == (".hidden1", "Z1", "z1", "ä1")


@pytest.mark.parametrize("path", ["a/guide.md", "a/nothing", "nothing/at/all", "a/guide.md/below", "a/../a", "..", "/"])
def test_what_is_no_directory_has_no_names(root: Path, path: str) -> None:
    assert DiskTree(str(root)).names(path) == ()


@pytest.mark.parametrize(
    "path", ["a/GUIDE.MD", "A/guide.md", "A", "a/../a/guide.md", "./a", "../outside/secret.txt", "a//b"]
)
def test_names_match_exactly_and_never_climb(root: Path, path: str) -> None:
    tree = DiskTree(str(root))
    assert tree.entry(path) is None
    with pytest.raises(FileNotFoundError):
        tree.read(path, limit=10)


def test_reading_stops_at_the_limit(root: Path) -> None:
    tree = DiskTree(str(root))
    assert tree.read("a/guide.md", limit=4) == b"0123"
    assert tree.read("a/guide.md", limit=100) == b"0123456789"


def test_links_inside_are_followed_wherever_they_stand_in_the_path(root: Path) -> None:
    link(root / "mirror", "a")
    link(root / "a" / "up", "..")
    link(root / "a" / "b" / "whole", root)
    tree = DiskTree(str(root))
    assert tree.read("mirror/up/a/b/whole/mirror/guide.md", limit=3) == b"012"
    assert tree.real("mirror/up/a/b") == "a/b"
    assert tree.real("a/up") == ""
    assert tree.names("mirror") == ("b", "guide.md", "up")


def test_a_link_that_leads_outside_is_never_looked_through(root: Path) -> None:
    link(root / "folder", root.parent / "outside")
    link(root / "relative", "../outside")
    link(root / "beside", root.parent / "tree-2")
    (root.parent / "tree-2").mkdir()
    link(root / "secret.txt", root.parent / "outside" / "secret.txt")
    link(root / "hop", "folder/secret.txt")
    tree = DiskTree(str(root))
    for path in ("folder", "relative", "beside", "secret.txt", "hop"):
        assert kind(tree, path) is OTHER
        assert tree.names(path) == ()
        with pytest.raises(OSError, match="outside") as caught:
            tree.read(path, limit=10)
        assert caught.value.errno == errno.EXDEV
    assert tree.entry("folder/secret.txt") is None
    assert [tree.leads_outside(path) for path in ("folder", "beside", "secret.txt", "a")] == [True, True, False, False]


def test_links_that_loop_or_lead_nowhere_are_entries_of_no_use(root: Path) -> None:
    link(root / "ping", "pong")
    link(root / "pong", "ping")
    link(root / "self", "self")
    link(root / "broken", "nowhere")
    tree = DiskTree(str(root))
    assert {kind(tree, path) for path in ("ping", "pong", "self", "broken")} == {OTHER}
    with pytest.raises(FileNotFoundError):
        tree.read("broken", limit=1)
    with pytest.raises(OSError, match="symbolic links") as caught:
        tree.read("self", limit=1)
    assert caught.value.errno == errno.ELOOP


def test_a_chain_of_a_thousand_links_is_a_loop_and_no_recursion(root: Path) -> None:
    for number in range(1_000):
        link(root / f"l{number}", f"l{number + 1}")
    assert kind(DiskTree(str(root)), "l0") is OTHER


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_is_refused_without_waiting_for_its_writer(root: Path) -> None:
    os.mkfifo(root / "pipe")
    tree = DiskTree(str(root))
    assert kind(tree, "pipe") is OTHER
    with pytest.raises(OSError, match="not a regular file"):
        tree.read("pipe", limit=1)


def test_reading_a_directory_says_so(root: Path) -> None:
    with pytest.raises(IsADirectoryError):
        DiskTree(str(root)).read("a", limit=1)


@pytest.mark.skipif(os.name == "nt", reason="file names are Unicode here")
@pytest.mark.parametrize("name", [b"sp ace", b"new\nline", "ümläut·日本".encode(), b"latin-\xe9", b"back\\slash"])
def test_any_name_works(root: Path, name: bytes) -> None:
    directory = os.fsencode(root) + b"/" + name
    try:
        Path(os.fsdecode(directory)).mkdir()
    except OSError:
        pytest.skip("this file system refuses the name")
    Path(os.fsdecode(directory), "x").write_bytes(b"x")
    tree = DiskTree(str(root))
    shown = name.decode("utf-8", "surrogateescape")
    assert shown in tree.names("")
    assert tree.read(f"{shown}/x", limit=1) == b"x"


def test_a_missing_path_of_thousands_of_parts_is_not_looked_up_part_by_part(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, real = DiskTree(str(root)), DiskTree.real
    asked: list[str] = []

    def recorded(self: DiskTree, path: str) -> str | None:
        asked.append(path)
        return real(self, path)

    monkeypatch.setattr(DiskTree, "real", recorded)
    assert tree.entry("a/" * 8_000 + "x.md") is None
    assert len(asked) < 10


def test_a_path_of_thousands_of_parts_does_not_recurse(root: Path) -> None:
    tree = DiskTree(str(root))
    assert tree.entry("a/" * 5_000 + "a") is None
    assert tree.real("a/" * 5_000) is None


def test_a_root_that_is_a_link_is_its_target(root: Path) -> None:
    link(root.parent / "alias", root)
    tree = DiskTree(str(root.parent / "alias"))
    assert tree.read("a/guide.md", limit=1) == b"0"
    assert Path(tree.root) == root.resolve()


@pytest.mark.parametrize("as_file", [False, True])
def test_the_repository_is_the_nearest_directory_with_git_data(root: Path, *, as_file: bool) -> None:
    real = root.resolve()
    assert toplevel(str(real / "a" / "b")) != str(real)
    if as_file:
        (root / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")
    else:
        (root / ".git").mkdir()
    assert toplevel(str(real / "a" / "b")) == str(real)
    assert toplevel(str(real)) == str(real)
