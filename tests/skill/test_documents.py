"""Which files of a skill are its documents, which are passed over, and where their links lead."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from skillgate.model.skill import SkillRoot, SkillSource
from skillgate.skill import documents
from skillgate.skill.discover import discover
from skillgate.skill.parse import parse
from skillgate.skill.read import read
from tests.skills import write_skill

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skillgate.model.skill import Document, Skill

LINKS = pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
MEGABYTE = 1 << 20


def skill_at(directory: Path) -> Skill:
    """Parse the skill in a directory."""
    source = read(root_at(directory))
    assert isinstance(source, SkillSource)
    return parse(source)


def root_at(directory: Path) -> SkillRoot:
    """Find the skill in a directory."""
    return next(root for root in discover([str(directory)]).roots if root.name == directory.name)


def documents_of(tmp_path: Path, files: Mapping[str, str | bytes]) -> list[str]:
    """Give the documents of a skill with these files, relative to it, the main one left out."""
    return names_in(skill_at(write_skill(tmp_path / "skills", "one", files=files)))


def names_in(skill: Skill) -> list[str]:
    """Give the documents beside the main one, relative to the skill."""
    return [relative(skill, document) for document in skill.documents[1:]]


def relative(skill: Skill, document: Document) -> str:
    """Write a document's file relative to the skill."""
    return document.file.removeprefix(f"{skill.root.directory}/")


@pytest.mark.parametrize(
    "path",
    [
        "guide.md",
        "GUIDE.MD",
        "guide.markdown",
        "references/guide.md",
        "references/deep/er/guide.md",
        "references/security.md",
        "references/changelog.md",
        "references/testing/tests/unit.md",
        "python/README.md",
        "scripts/README.md",
        "examples/report.md",
        "security.md",
        "license-compliance.md",
        "notice-board.md",
        "AGENTS.md",
        "agents/grader.md",
    ],
)
def test_what_a_model_may_come_to_follow_is_a_document(path: str, tmp_path: Path) -> None:
    assert documents_of(tmp_path, {path: "# A page\n"}) == [path]


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "readme.md",
        "README.zh-CN.md",
        "README_ja.md",
        "LICENSE.md",
        "LICENSE-MIT.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "CODE_OF_CONDUCT.md",
        "SECURITY.md",
        "assets/form.md",
        "references/assets/form.md",
        "templates/report.md",
        "references/template/report.md",
        "tests/case.md",
        "evals/case.md",
        "scripts/tests/case.md",
        "scripts/fixtures/case.md",
        ".github/pull_request.md",
        "node_modules/kit/guide.md",
        ".git/notes.md",
        "guide.mdx",
        "guide.txt",
        "md",
    ],
)
def test_templates_tests_papers_and_other_files_are_none(path: str, tmp_path: Path) -> None:
    assert documents_of(tmp_path, {path: "# A page\n"}) == []


def test_the_main_file_comes_first_and_the_others_by_path(tmp_path: Path) -> None:
    files = {"references/b.md": "x", "references/a.md": "x", "a.md": "x", "zeta/z.md": "x"}
    skill = skill_at(write_skill(tmp_path / "skills", "one", files=files))
    names = [relative(skill, document) for document in skill.documents]
    assert names == ["SKILL.md", "a.md", "references/a.md", "references/b.md", "zeta/z.md"]


def test_a_skill_below_is_a_skill_of_its_own(tmp_path: Path) -> None:
    files = {"sub/SKILL.md": "# Sub\n", "sub/references/a.md": "x", "sub/deeper/b.md": "x", "own/c.md": "x"}
    skill = skill_at(write_skill(tmp_path / "skills", "one", files=files))
    assert names_in(skill) == ["own/c.md"]
    assert not [path for path in skill.files if "/sub/" in path]


def test_around_a_skill_that_is_its_repository_only_its_folders_count(tmp_path: Path) -> None:
    files = {"docs/a.md": "x", "notes.md": "x", "references/b.md": "x", "src/ä.py": "ä", "scripts/ö.py": "# ö\n"}
    directory = write_skill(tmp_path, "one", files=files)
    (directory / ".git").mkdir()
    skill = skill_at(directory)
    assert skill.root.directory == ""
    assert [document.file for document in skill.documents] == ["SKILL.md", "references/b.md"]
    assert [script.file for script in skill.scripts] == ["scripts/ö.py"]


@pytest.mark.parametrize("data", [b"\xff\xfe# A page", b"# A\x00page", b"x" * (MEGABYTE + 1)])
def test_what_is_no_text_or_too_large_is_passed_over(data: bytes, tmp_path: Path) -> None:
    assert documents_of(tmp_path, {"references/a.md": data, "references/b.md": "x"}) == ["references/b.md"]


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads every file")
def test_what_may_not_be_read_is_passed_over(tmp_path: Path) -> None:
    directory = write_skill(tmp_path / "skills", "one", files={"references/a.md": "x", "references/b.md": "x"})
    (directory / "references" / "a.md").chmod(0)
    assert names_in(skill_at(directory)) == ["references/b.md"]


def test_line_ends_and_a_byte_order_mark_are_normalised(tmp_path: Path) -> None:
    files = {"references/a.md": b"\xef\xbb\xbf---\r\ntitle: A\r\n---\r\n# One\r\rTwo\r\n"}
    skill = skill_at(write_skill(tmp_path / "skills", "one", files=files))
    page = skill.documents[1]
    assert page.text == "---\ntitle: A\n---\n# One\n\nTwo\n"
    assert page.first_line == 4
    assert [(heading.text, heading.line) for heading in page.headings] == [("One", 4)]


def test_at_most_so_many_documents_are_read(tmp_path: Path) -> None:
    files = {f"references/{number:04}.md": "x" for number in range(documents.MAX_DOCUMENTS + 5)}
    found = documents_of(tmp_path, files)
    assert len(found) == documents.MAX_DOCUMENTS
    assert found[-1] == f"references/{documents.MAX_DOCUMENTS - 1:04}.md"


def test_at_most_so_many_bytes_are_read(tmp_path: Path) -> None:
    blank = "\n" * (MEGABYTE - 1)  # the cheapest text to parse
    found = documents_of(tmp_path, {f"references/{number:02}.md": blank for number in range(12)})
    assert len(found) == documents.MAX_TOTAL_BYTES // (MEGABYTE - 1)


def test_folders_of_instructions_come_first_where_there_are_too_many_files(tmp_path: Path) -> None:
    many = {f"assets/{number:05}.txt": "" for number in range(documents.MAX_FILES + 50)}
    skill = skill_at(write_skill(tmp_path / "skills", "one", files={**many, "references/a.md": "x", "zeta/b.md": "x"}))
    assert names_in(skill) == ["references/a.md", "zeta/b.md"]
    assert len(skill.files) <= documents.MAX_FILES


@LINKS
def test_a_link_out_of_the_skill_is_not_followed(tmp_path: Path) -> None:
    directory = write_skill(tmp_path / "skills", "one", files={"references/a.md": "x"})
    outside = tmp_path / "skills" / "shared"
    outside.mkdir()
    (outside / "b.md").write_text("x", encoding="utf-8")
    (directory / "references" / "b.md").symlink_to(outside / "b.md")
    (directory / "references" / "more").symlink_to(outside)
    (directory / "references" / "gone.md").symlink_to("nothing.md")
    (directory / "references" / "loop").symlink_to(directory / "references")
    assert names_in(skill_at(directory)) == ["references/a.md"]


@LINKS
def test_a_file_under_two_names_is_read_once(tmp_path: Path) -> None:
    directory = write_skill(tmp_path / "skills", "one", files={"references/a.md": "x"})
    (directory / "AGENTS.md").symlink_to("SKILL.md")
    (directory / "references" / "b.md").symlink_to("a.md")
    assert names_in(skill_at(directory)) == ["references/a.md"]


def test_links_lead_from_their_file_and_from_the_skill(tmp_path: Path) -> None:
    text = "[a](b.md) [b](references/b.md) [c](../SKILL.md) [d](SKILL.md) [e](../../two/SKILL.md) [f](gone.md)\n"
    write_skill(tmp_path / "skills", "two")
    files = {"references/a.md": text, "references/b.md": "x"}
    skill = skill_at(write_skill(tmp_path / "skills", "one", files=files))
    here, folder = skill.root.directory, skill.root.directory.rpartition("/")[0]
    two = f"{folder}/two/SKILL.md" if folder else "two/SKILL.md"
    b = f"{here}/references/b.md"
    assert [link.resolved for link in skill.documents[1].links] == [
        b,
        b,
        f"{here}/SKILL.md",
        f"{here}/SKILL.md",
        two,
        None,
    ]


def test_only_scripts_that_are_not_plain_ascii_are_kept(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "scripts/a.py": "x = 1\n",
        "scripts/b.py": "x = 'é'\n",
        "data.csv": "é",
        "bad.py": b"\xff",
    }
    skill = skill_at(write_skill(tmp_path / "skills", "one", files=files))
    assert [script.file.rpartition("/")[2] for script in skill.scripts] == ["b.py"]


def test_other_texts_tell_of_a_file_that_was_not_read(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "a.py": "one",
        "b.bin": "two",
        "c.md": b"\xffthree",
        "d.json": b"x" * (MEGABYTE + 1),
        "e.md": "known",
    }
    root = root_at(write_skill(tmp_path / "skills", "one", files=files))
    known = {f"{root.directory}/e.md", f"{root.directory}/SKILL.md"}
    found = list(documents.other_texts(root, documents.files(root), known))
    assert [None if one is None else one[1] for one in found] == ["one", "\ufffdthree", None]
