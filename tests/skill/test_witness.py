"""Questions put to a directory on disk, and whether it still gives their answers."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.model.skill import EntryKind
from skillgate.skill.tree import DiskTree
from skillgate.skill.walk import WatchedTree, holds

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = tmp_path / "top"
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "full.md").write_bytes(b"full")
    (top / "a" / "empty.md").write_bytes(b"")
    return top


def asked(top: Path, ask: Callable[[WatchedTree], object]) -> list[list[Any]]:
    """Ask, and give the questions as they come back from JSON."""
    tree = WatchedTree(DiskTree(str(top)))
    ask(tree)
    found: list[list[Any]] = json.loads(json.dumps(tree.questions()))
    return found


def everything(tree: WatchedTree) -> None:
    for path in (
        "",
        "a",
        "a/b",
        "a/full.md",
        "a/empty.md",
        "a/nothing.md",
        "nothing/at/all",
        "link",
        "a/full.md/below",
    ):
        tree.entry(path)
        tree.real(path)
        tree.names(path)
        try:
            tree.read(path, limit=100)
        except OSError:
            continue


def refused(tree: WatchedTree) -> None:
    with pytest.raises(OSError, match=r".+"):
        tree.read("a/later.md", limit=9)


def still(top: Path, questions: list[list[Any]]) -> bool:
    return holds(DiskTree(str(top)), questions)


def test_what_did_not_change_holds(top: Path) -> None:
    questions = asked(top, everything)
    assert still(top, questions)
    assert holds(WatchedTree(DiskTree(str(top))), questions)


def test_the_same_questions_in_any_order_are_written_the_same(top: Path) -> None:
    def backwards(tree: WatchedTree) -> None:
        tree.real("a/full.md")
        tree.entry("nothing")
        tree.entry("a")

    def forwards(tree: WatchedTree) -> None:
        tree.entry("a")
        tree.entry("nothing")
        tree.real("a/full.md")
        tree.entry("a")

    assert asked(top, backwards) == asked(top, forwards)


CHANGES: list[tuple[str, Callable[[WatchedTree], object], Callable[[Path], object]]] = [
    ("a file is gone", lambda tree: tree.entry("a/full.md"), lambda top: (top / "a/full.md").unlink()),
    ("a file is empty now", lambda tree: tree.entry("a/full.md"), lambda top: (top / "a/full.md").write_bytes(b"")),
    ("a file is no longer empty", lambda t: t.entry("a/empty.md"), lambda top: (top / "a/empty.md").write_bytes(b"x")),
    ("a file is there now", lambda tree: tree.entry("a/new.md"), lambda top: (top / "a/new.md").touch()),
    ("so is its folder", lambda tree: tree.entry("c/new.md"), lambda top: write(top / "c/new.md", b"x")),
    ("a folder became a file", lambda t: t.entry("a/b"), lambda top: flatten(top / "a/b")),
    ("a folder is gone", lambda tree: tree.entry("a/b"), lambda top: (top / "a/b").rmdir()),
    ("a name more", lambda tree: tree.names("a"), lambda top: (top / "a/new.md").touch()),
    ("a name less", lambda tree: tree.names("a"), lambda top: (top / "a/full.md").unlink()),
    ("another name", lambda tree: tree.names("a"), lambda top: (top / "a/full.md").rename(top / "a/Full.md")),
    ("another folder name", lambda tree: tree.names("a/b"), lambda top: write(top / "a/b/c", b"")),
    ("another content", lambda t: t.read("a/full.md", limit=9), lambda top: (top / "a/full.md").write_bytes(b"fulL")),
    ("a longer content", lambda t: t.read("a/full.md", limit=9), lambda top: (top / "a/full.md").write_bytes(b"full ")),
    ("content emptied", lambda t: t.read("a/full.md", limit=9), lambda top: (top / "a/full.md").write_bytes(b"")),
    ("content gone", lambda tree: tree.read("a/full.md", limit=9), lambda top: (top / "a/full.md").unlink()),
    ("can be read now", refused, lambda top: (top / "a/later.md").touch()),
]


def flatten(path: Path) -> None:
    path.rmdir()
    path.touch()


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


@pytest.mark.parametrize(("ask", "change"), [case[1:] for case in CHANGES], ids=[case[0] for case in CHANGES])
def test_each_answer_that_would_differ_is_noticed(
    top: Path, ask: Callable[[WatchedTree], object], change: Callable[[Path], object]
) -> None:
    questions = asked(top, ask)
    assert still(top, questions)
    change(top)
    assert not still(top, questions)


def test_a_file_both_described_and_read_is_noticed_either_way(top: Path) -> None:
    def both(tree: WatchedTree) -> None:
        tree.entry("a/full.md")
        tree.read("a/full.md", limit=9)
        tree.entry("a/empty.md")
        tree.read("a/empty.md", limit=9)

    questions = asked(top, both)
    for name, data in (("a/full.md", b""), ("a/full.md", b"more"), ("a/empty.md", b"x")):
        before = (top / name).read_bytes()
        (top / name).write_bytes(data)
        assert not still(top, questions)
        (top / name).write_bytes(before)
        assert still(top, questions)
    (top / "a/empty.md").unlink()
    assert not still(top, questions)


class Locked(DiskTree):
    """A tree whose files can be described and not read."""

    def read(self, path: str, *, limit: int) -> bytes:
        raise PermissionError(path)


def test_a_file_that_could_not_be_read_is_noticed_when_it_goes(top: Path) -> None:
    tree = WatchedTree(Locked(str(top)))
    tree.entry("a/full.md")
    with pytest.raises(PermissionError):
        tree.read("a/full.md", limit=9)
    assert holds(Locked(str(top)), tree.questions())
    assert not still(top, tree.questions())  # it can be read now
    (top / "a/full.md").unlink()
    assert not holds(Locked(str(top)), tree.questions())


def test_what_nobody_asked_for_may_change(top: Path) -> None:
    def ask(tree: WatchedTree) -> None:
        tree.entry("a/full.md")
        tree.real("a/full.md")
        tree.read("a/empty.md", limit=9)
        tree.names("a/b")

    questions = asked(top, ask)
    (top / "a" / "new.md").touch()
    (top / "a" / "full.md").write_bytes(b"other words, but not none")
    shutil.copytree(top / "a", top / "c")
    assert still(top, questions)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege here")
def test_a_link_that_leads_elsewhere_is_noticed(top: Path) -> None:
    (top / "link").symlink_to("a/full.md")
    questions = asked(top, lambda tree: tree.real("link"))
    assert still(top, questions)
    for target in ("a/empty.md", "nothing", "link", top.parent, "a"):
        (top / "link").unlink()
        (top / "link").symlink_to(target)
        assert not still(top, questions)
    (top / "link").unlink()
    (top / "link").write_bytes(b"full")
    assert not still(top, questions)


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege here")
def test_a_file_that_became_a_link_to_its_like_is_noticed(top: Path) -> None:
    def ask(tree: WatchedTree) -> None:
        tree.entry("a/full.md")
        tree.real("a/full.md")
        tree.read("a/full.md", limit=9)

    questions = asked(top, ask)
    (top / "a/full.md").rename(top / "moved.md")
    (top / "a/full.md").symlink_to("../moved.md")
    assert not still(top, questions)


def test_files_that_change_while_they_are_looked_at_leave_nothing_that_holds(top: Path) -> None:
    def ask(tree: WatchedTree) -> None:
        tree.read("a/full.md", limit=9)
        (top / "a/full.md").write_bytes(b"new")
        tree.read("a/full.md", limit=9)
        (top / "a/full.md").write_bytes(b"full")
        tree.read("a/full.md", limit=9)

    assert not still(top, asked(top, ask))


def test_a_size_is_none_or_one(top: Path) -> None:
    (top / "a/full.md").write_bytes(b"0123456789")
    tree = WatchedTree(DiskTree(str(top)))
    full, empty = tree.entry("a/full.md"), tree.entry("a/empty.md")
    assert full == (EntryKind.FILE, 1)
    assert empty == (EntryKind.FILE, 0)


@pytest.mark.skipif(os.name == "nt", reason="file names are Unicode here")
def test_any_name_can_be_asked_for(top: Path) -> None:
    for name in (b"new\nline", b"latin-\xe9", "日本🙂".encode(), b'"quoted\\"'):
        path = os.fsencode(top) + b"/" + name
        Path(os.fsdecode(path)).write_bytes(b"x")

    def ask(tree: WatchedTree) -> None:
        for name in tree.names(""):
            tree.entry(name)
            tree.real(name)

    questions = asked(top, ask)
    assert still(top, questions)
    Path(os.fsdecode(os.fsencode(top) + b"/latin-\xe9")).unlink()
    assert not still(top, questions)


def test_what_was_asked_for_outside_a_directory_is_told(top: Path) -> None:
    (top / "ab").mkdir()
    tree = WatchedTree(DiskTree(str(top)))
    everything(tree)
    tree.entry("ab")
    assert tree.outside("a") == ("", "a", "ab", "link", "nothing/at/all")
    assert tree.outside("") == ()


@pytest.mark.parametrize(
    "questions", [[], [[]], [[], [], [], [], []], 7, None, "text", [1] * 6, [[1], [], [], [], [], []], [[["e"]]] * 6]
)
def test_what_is_no_list_of_questions_says_so(top: Path, questions: Any) -> None:
    with pytest.raises((ValueError, TypeError, KeyError, IndexError, AttributeError)):
        holds(DiskTree(str(top)), questions)
