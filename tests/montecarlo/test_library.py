"""What a session can load and read, whatever skills and paths are made of."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from skillgate.judge.siblings import COMMON, OnDisk
from skillgate.montecarlo.library import (
    ABSENT,
    COMMON_BODIES,
    FOLDER,
    MOST_BYTES,
    MOST_NAMES,
    OUTSIDE,
    UNKNOWN,
    Held,
    SkillLibrary,
)
from skillgate.montecarlo.subject import Library
from skillgate.skill.git import open_commit
from skillgate.skill.tree import DiskTree
from tests.cli.running import commit
from tests.skills import write_skill

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

needs_links = pytest.mark.skipif(os.name == "nt", reason="symbolic links need a privilege there")


def _library(path: Path, name: str = "own", body: str | None = "The body.") -> SkillLibrary:
    tree = DiskTree(str(path.parent))
    return SkillLibrary([Held(name, body, OnDisk(tree, path.name, f"{path.name}/SKILL.md"))])


def _with(tmp_path: Path, files: Mapping[str, str | bytes]) -> SkillLibrary:
    return _library(write_skill(tmp_path / "skills", "own", files=files))


def test_it_is_a_library(tmp_path: Path) -> None:
    library: Library = _with(tmp_path, {})
    assert library.body("own").text == "The body."


def test_files_of_the_three_folders_are_listed_and_read_and_no_others(tmp_path: Path) -> None:
    files = {
        "references/deep/er/a.md": "# A\r\nend",
        "assets/b.txt": "b",
        "scripts/c.py": "\ufeffprint()",
        "evals/evals.json": "{}",
        "notes.md": "n",
        "References/x.md": "x",
    }
    library = _with(tmp_path, files)
    assert library.files("own") == ("assets/b.txt", "references/deep/er/a.md", "scripts/c.py")
    assert library.file("own", "references/deep/er/a.md") == ("# A\nend", "")
    assert library.file("own", "scripts/c.py").text == "print()"
    for path in ("evals/evals.json", "notes.md", "SKILL.md", ".", "", "/", "references/../evals/evals.json"):
        assert library.file("own", path) == (None, OUTSIDE), path


@pytest.mark.parametrize(
    "path",
    [
        "references/a.md",
        "./references/a.md",
        "references//a.md",
        "references/../references/a.md",
        "references\\a.md",
        " references/a.md\n",
        "/skills/own/references/a.md",
        "/skills/own/../own/references/a.md",
        "assets/../references/a.md",
    ],
)
def test_a_path_may_be_written_in_many_ways(path: str, tmp_path: Path) -> None:
    assert _with(tmp_path, {"references/a.md": "A"}).file("own", path).text == "A"


@pytest.mark.parametrize(
    "path",
    [
        "../other/references/a.md",
        "references/../../other/references/a.md",
        "..\\other\\references\\a.md",
        "/skills/other/references/a.md",
        "/skills/ownreferences/a.md",
        "/etc/passwd",
        "//skills/own/references/a.md",
        "/skills/own",
        "~/references/a.md",
        "file:///skills/own/references/a.md",
        "C:\\skills\\own\\references\\a.md",
        "references/a.md\x00.png",
        "\x00",
        "references/\ud800",
        "references/" + "x/" * 50_000,
        "../" * 50_000 + "etc/passwd",
    ],
)
def test_no_path_leads_out_of_the_skill(path: str, tmp_path: Path) -> None:
    write_skill(tmp_path / "skills", "other", files={"references/a.md": "SECRET"})
    found = _with(tmp_path, {"references/a.md": "A"}).file("own", path)
    assert found.text is None
    assert found.problem in (OUTSIDE, ABSENT)


def test_what_is_not_there_and_what_is_a_directory_is_said(tmp_path: Path) -> None:
    library = _with(tmp_path, {"references/deep/a.md": "A"})
    assert library.file("own", "references/b.md").problem == ABSENT
    assert library.file("own", "references/deep/a.md/b").problem == ABSENT
    assert library.file("own", "references").problem == FOLDER
    assert library.file("own", "references/deep/").problem == FOLDER


@needs_links
def test_links_are_followed_within_the_three_folders_only(tmp_path: Path) -> None:
    own = write_skill(tmp_path / "skills", "own", files={"references/a.md": "A", "evals/key.json": "SECRET"})
    other = write_skill(tmp_path / "skills", "other", files={"references/a.md": "SECRET"})
    (tmp_path / "outside.md").write_text("SECRET")
    (own / "scripts").mkdir()
    (own / "scripts" / "same.md").symlink_to(own / "references" / "a.md")
    (own / "scripts" / "loop").symlink_to(own / "scripts")
    (own / "scripts" / "key.json").symlink_to(own / "evals" / "key.json")
    (own / "scripts" / "other.md").symlink_to(other / "references" / "a.md")
    (own / "scripts" / "outside.md").symlink_to(tmp_path / "outside.md")
    (own / "scripts" / "dangling").symlink_to(own / "nowhere")
    (own / "assets").symlink_to(own / "evals")
    library = _library(own)
    assert library.files("own") == ("references/a.md", "scripts/same.md")
    assert library.file("own", "scripts/same.md").text == "A"
    for path in ("key.json", "other.md", "outside.md", "dangling", "loop/same.md"):
        assert library.file("own", f"scripts/{path}").text is None
    assert library.file("own", "assets/key.json").text is None


@needs_links
def test_a_folder_that_is_a_link_to_the_next_skill_gives_nothing(tmp_path: Path) -> None:
    own = write_skill(tmp_path / "skills", "own")
    other = write_skill(tmp_path / "skills", "own-too", files={"references/a.md": "SECRET"})
    (own / "references").symlink_to(other / "references")
    assert _library(own).files("own") == ()


def test_a_skill_below_a_skill_and_what_tools_leave_are_not_its_files(tmp_path: Path) -> None:
    files = {"assets/inner/SKILL.md": "x", "assets/inner/references/a.md": "x", "scripts/__pycache__/a.pyc": "x"}
    assert _with(tmp_path, {**files, "assets/b.md": "b"}).files("own") == ("assets/b.md",)


def test_what_is_no_text_is_said(tmp_path: Path) -> None:
    library = _with(tmp_path, {"assets/a.bin": b"a\x00b", "assets/b.txt": b"caf\xe9", "assets/c.txt": ""})
    assert "binary" in library.file("own", "assets/a.bin").problem
    assert "UTF-8" in library.file("own", "assets/b.txt").problem
    assert library.file("own", "assets/c.txt") == ("", "")


def test_a_long_file_is_cut_and_it_is_said(tmp_path: Path) -> None:
    whole, cut = "x" * MOST_BYTES, "é" * MOST_BYTES
    library = _with(tmp_path, {"references/whole.txt": whole, "references/cut.txt": "." + cut})
    assert library.file("own", "references/whole.txt").text == whole
    text = library.file("own", "references/cut.txt").text or ""
    assert text.startswith("." + "é" * (MOST_BYTES // 2 - 1) + "\n")
    assert "first 200,000 bytes is not shown" in text
    assert len(text.encode()) < MOST_BYTES + 200


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_no_file_and_nobody_waits_for_it(tmp_path: Path) -> None:
    own = write_skill(tmp_path / "skills", "own", files={"references/a.md": "A"})
    os.mkfifo(own / "references" / "pipe")
    library = _library(own)
    assert library.files("own") == ("references/a.md",)
    assert library.file("own", "references/pipe").text is None


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the permissions of files bind nobody here")
def test_a_file_that_the_system_refuses_is_a_problem_in_words(tmp_path: Path) -> None:
    own = write_skill(tmp_path / "skills", "own", files={"references/a.md": "A"})
    (own / "references" / "a.md").chmod(0)
    assert "cannot be read" in _library(own).file("own", "references/a.md").problem


def test_a_file_that_has_gone_since_it_was_listed_is_a_problem_and_one_that_was_read_stays(tmp_path: Path) -> None:
    own = write_skill(tmp_path / "skills", "own", files={"references/a.md": "A", "references/b.md": "B"})
    library = _library(own)
    assert library.file("own", "references/a.md").text == "A"
    (own / "references" / "a.md").unlink()
    (own / "references" / "b.md").unlink()
    assert library.file("own", "references/a.md").text == "A"
    assert "cannot be read" in library.file("own", "references/b.md").problem


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_file_whose_name_is_no_text_is_not_served(tmp_path: Path) -> None:
    own = write_skill(tmp_path / "skills", "own", files={"references/a.md": "A"})
    try:
        with open(os.fsencode(own / "references") + b"/\xff.md", "wb") as file:  # noqa: PTH123 - a name of bytes
            file.write(b"B")
    except OSError:
        pytest.skip("this file system takes no such name")
    assert _library(own).files("own") == ("references/a.md",)


@needs_links
def test_a_commit_gives_what_its_working_tree_gives(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"references/a.md": "A\r\n", "assets/b.bin": b"\x00", "evals/key.json": "SECRET"}
    own = write_skill(tmp_path / "skills", "own", body="\n# Own\n", files=files)
    (own / "scripts").mkdir()
    (own / "scripts" / "a.md").symlink_to("../references/a.md")
    (own / "scripts" / "key.json").symlink_to("../evals/key.json")
    commit(tmp_path)
    served = []
    for tree in (DiskTree(str(tmp_path)), open_commit(str(tmp_path), "HEAD")):
        library = SkillLibrary([Held("own", None, OnDisk(tree, "skills/own", "skills/own/SKILL.md"))])
        assert library.files("own") == ("assets/b.bin", "references/a.md", "scripts/a.md")
        served.append([library.body("own"), *(library.file("own", path) for path in library.files("own"))])
    assert served[0] == served[1]
    assert [one.text for one in served[0]] == ["# Own\n", None, "A\n", "A\n"]


def test_very_many_files_are_looked_at_up_to_a_bound(tmp_path: Path) -> None:
    library = _with(tmp_path, {f"assets/{number:05}.txt": "x" for number in range(MOST_NAMES + 50)})
    assert len(library.files("own")) == MOST_NAMES


def test_the_body_of_a_sibling_is_what_stands_below_its_frontmatter(tmp_path: Path) -> None:
    library = _library(write_skill(tmp_path / "skills", "near", body="\n# Near\r\n\nDo it.\n"), "near", body=None)
    assert library.body("near") == ("# Near\n\nDo it.\n", "")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"no frontmatter", "no frontmatter"),
        (b"---\nname: x\n", "name: x\n"),
        (b"\xef\xbb\xbf---\nname: x\n---\nbody", "body"),
        (b"---\nname: x\n---\nb\x00\xff", "b\ufffd\ufffd"),
        (b"", ""),
    ],
)
def test_the_body_of_a_broken_sibling_is_what_there_is(data: bytes, text: str, tmp_path: Path) -> None:
    path = write_skill(tmp_path / "skills", "near")
    (path / "SKILL.md").write_bytes(data)
    assert _library(path, "near", body=None).body("near").text == text


def test_the_body_of_a_sibling_that_has_gone_is_a_problem(tmp_path: Path) -> None:
    path = write_skill(tmp_path / "skills", "near")
    library = _library(path, "near", body=None)
    (path / "SKILL.md").unlink()
    assert library.body("near").text is None
    assert "cannot be read" in library.body("near").problem


def test_the_body_of_the_skill_itself_is_never_cut(tmp_path: Path) -> None:
    body = "x" * (2 * MOST_BYTES)
    assert _library(write_skill(tmp_path / "skills", "own"), body=body).body("own").text == body


def test_a_skill_that_is_not_listed_gives_nothing(tmp_path: Path) -> None:
    library = _with(tmp_path, {"references/a.md": "A"})
    assert library.body("other") == (None, UNKNOWN)
    assert library.file("other", "references/a.md") == (None, UNKNOWN)
    assert library.files("other") == ()
    assert library.base("other") == "/skills"


def test_a_skill_without_a_place_has_a_body_and_no_files() -> None:
    library = SkillLibrary([Held("common", "Do it.")])
    assert (library.body("common").text, library.files("common")) == ("Do it.", ())
    assert library.file("common", "references/a.md").problem == ABSENT


def test_every_skill_seems_to_lie_in_a_directory_of_its_own() -> None:
    names = ["a b", "a-b", "A B", "../..", "/etc", "..", "", "x\ny", "x" * 200, "x" * 201, "naïve", "a:b"]
    library = SkillLibrary([Held(name, "") for name in names])
    bases = [library.base(name) for name in names]
    assert len({base.casefold() for base in bases}) == len(names)
    for base in bases:
        root, _, name = base.rpartition("/")
        assert root == "/skills"
        assert 0 < len(name) < 80
        assert name.strip(".") == name
        assert not set(name) & set("/\\\n :")
    assert bases[:4] == ["/skills/a-b", "/skills/a-b-2", "/skills/A-B-3", "/skills/skill"]


def test_each_common_skill_has_a_body_and_no_body_is_left_over() -> None:
    assert set(COMMON_BODIES) == {one.name for one in COMMON}
    assert len(set(COMMON_BODIES.values())) == len(COMMON)
    assert all(text.startswith("# ") and len(text) > 100 for text in COMMON_BODIES.values())
