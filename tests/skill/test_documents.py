"""Which files of a skill are its documents, which are passed over, and where their links lead."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from skillgate.model.skill import Document, SkillRoot, SkillSource
from skillgate.skill.find import discover, read
from skillgate.skill.parse import MAX_DOCUMENTS, MAX_FILES, MAX_TOTAL_BYTES, other_texts, parse, survey
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
    files = {f"references/{number:04}.md": "x" for number in range(MAX_DOCUMENTS + 5)}
    found = documents_of(tmp_path, files)
    assert len(found) == MAX_DOCUMENTS
    assert found[-1] == f"references/{MAX_DOCUMENTS - 1:04}.md"


def test_at_most_so_many_bytes_are_read(tmp_path: Path) -> None:
    blank = "\n" * (MEGABYTE - 1)  # the cheapest text to parse
    found = documents_of(tmp_path, {f"references/{number:02}.md": blank for number in range(12)})
    assert len(found) == MAX_TOTAL_BYTES // (MEGABYTE - 1)


def test_folders_of_instructions_come_first_where_there_are_too_many_files(tmp_path: Path) -> None:
    many = {f"assets/{number:05}.txt": "" for number in range(MAX_FILES + 50)}
    skill = skill_at(write_skill(tmp_path / "skills", "one", files={**many, "references/a.md": "x", "zeta/b.md": "x"}))
    assert names_in(skill) == ["references/a.md", "zeta/b.md"]
    assert len(skill.files) <= MAX_FILES


def flood(*, more: Mapping[str, str | bytes] | None = None) -> dict[str, str | bytes]:
    """Give more empty files than are looked at, and then others whose names come later."""
    return {**{f"a{number:05}.txt": "" for number in range(MAX_FILES + 50)}, **(more or {})}


def unread(skill: Skill) -> list[tuple[str | None, str]]:
    """Give what is said of documents that are not read: the file, and the message."""
    return [(problem.file, problem.message) for problem in skill.problems_of("document_unread")]


TOO_MANY = (None, "the skill has more than 2,000 files; of the rest only linked files are checked")


def test_a_flood_of_files_hides_no_linked_document(tmp_path: Path) -> None:
    files = flood(more={"references/a.md": "x", "references/b.md": "x", "z/c.md": "x", "z/ä.py": "# ä\n"})
    body = "[a](references/a.md#x) and `z/c.md`, then ![d](z/none.md), [e](z/%C3%A4.py) [f](z)\n"
    skill = skill_at(write_skill(tmp_path / "skills", "one", body=body, files=files))
    assert names_in(skill) == ["references/a.md", "z/c.md"]
    assert [script.file.rpartition("/")[2] for script in skill.scripts] == ["ä.py"]
    assert unread(skill) == [TOO_MANY]


def test_two_thousand_names_are_not_too_many(tmp_path: Path) -> None:
    many = {f"references/{number:05}.txt": "" for number in range(MAX_FILES - 2)}  # with SKILL.md and folder
    directory = write_skill(tmp_path / "skills", "one", files=many)
    assert unread(skill_at(directory)) == []
    (directory / "references" / "z.md").touch()
    assert unread(skill_at(directory)) == [TOO_MANY]


def test_too_many_files_where_no_instructions_lie_are_nobodys_concern(tmp_path: Path) -> None:
    many = {f"assets/{number:05}.png": "" for number in range(MAX_FILES + 50)}
    assert unread(skill_at(write_skill(tmp_path / "skills", "one", files={**many, "tests/x/a.md": ""}))) == []
    directory = write_skill(tmp_path / "repo", "two", files={f"src/{path}": text for path, text in many.items()})
    (directory / ".git").mkdir()
    assert unread(skill_at(directory)) == []


def test_a_linked_document_in_a_directory_of_packages_is_read(tmp_path: Path) -> None:
    pages = ("references/node_modules/r.md", "references/node_modules/s.md", "references/node_modules/t.md")
    files = dict.fromkeys((*pages, ".cache/u.md", ".git/notes.md"), "x")
    files["references/node_modules/r.md"] = "[s](s.md)\n"
    body = "[r](references/node_modules/r.md) [n](.git/notes.md)\n"
    skill = skill_at(write_skill(tmp_path / "skills", "one", body=body, files=files))
    assert names_in(skill) == ["references/node_modules/r.md", "references/node_modules/s.md"]


def test_a_linked_document_of_a_skill_below_is_that_skills(tmp_path: Path) -> None:
    files = flood(more={"sub/SKILL.md": "# Sub\n", "sub/references/a.md": "x", "sub/b.md": "x"})
    body = "[a](sub/references/a.md) [b](sub/b.md) [c](sub/SKILL.md)\n"
    assert names_in(skill_at(write_skill(tmp_path / "skills", "one", body=body, files=files))) == []


@LINKS
def test_linked_documents_behind_a_link_out_of_the_skill_are_read(tmp_path: Path) -> None:
    texts = {"a.md": "[b](b.md)", "b.md": "[a](a.md) [c](../notes/c.md)", "lost.md": "x", "form.md": "x"}
    shared = tmp_path / "skills" / "shared"
    (shared / "refs").mkdir(parents=True)
    for name, text in texts.items():
        (shared / "refs" / name).write_text(text, encoding="utf-8")
    (shared / "d.md").write_text("x", encoding="utf-8")
    (shared / "bad.md").write_bytes(b"\xff")
    body = "[a](references/a.md) [d](d.md) [bad](bad.md) [form](assets/form.md) [gone](references/gone.md)\n"
    directory = write_skill(tmp_path / "skills", "one", body=body)
    (directory / "references").symlink_to("../shared/refs")
    (directory / "assets").symlink_to("../shared/refs")
    (directory / "d.md").symlink_to("../shared/d.md")
    (directory / "bad.md").symlink_to("../shared/bad.md")
    skill = skill_at(directory)
    assert names_in(skill) == ["d.md", "references/a.md", "references/b.md"]
    assert [link.dead for link in skill.links] == [False, False, False, False, True]
    assert [(file or "").rpartition("/")[2] for file, _ in unread(skill)] == ["bad.md"]


@LINKS
@pytest.mark.parametrize("body", ["All are in [the references](references/).\n", "All are in `references/`.\n"])
def test_of_a_linked_directory_behind_a_link_the_files_are_read(body: str, tmp_path: Path) -> None:
    shared = tmp_path / "skills" / "shared"
    (shared / "deeper").mkdir(parents=True)
    for name in ("a.md", "b.md", "deeper/c.md"):
        (shared / name).write_text("x", encoding="utf-8")
    directory = write_skill(tmp_path / "skills", "one", body=body)
    (directory / "references").symlink_to("../shared")
    assert names_in(skill_at(directory)) == ["references/a.md", "references/b.md"]


@LINKS
def test_a_link_to_all_that_is_around_the_skill_brings_in_what_is_linked_alone(tmp_path: Path) -> None:
    directory = write_skill(tmp_path / "skills", "one", body="[a](up/two/a.md) [b](up/b.md)\n")
    write_skill(tmp_path / "skills", "two", files={"a.md": "x"})
    for name in ("b.md", "c.md"):
        (tmp_path / "skills" / name).write_text("[loop](up/up/b.md)", encoding="utf-8")
    (directory / "up").symlink_to("..")
    (tmp_path / "skills" / "up").symlink_to(".")
    assert names_in(skill_at(directory)) == ["up/b.md"]
    deep = "up/" * 1_300
    skill = skill_at(write_skill(tmp_path / "skills", "one", body=f"[b]({deep}b.md)\n"))
    assert [name.rpartition("/")[2] for name in names_in(skill)] == ["b.md"]


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


def test_other_text_files_are_kept(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "scripts/a.py": "x = 1\n",
        "scripts/b.py": "x = 'é'\n",
        "scripts/run": "x",
        "references/c.md": "a document",
        "assets/d.md": "a template",
        "data.csv": "é",
        "data.bin": "x",
        ".env": "A=1",
        "empty.txt": "",
        "bad.py": b"\xff",
    }
    skill = skill_at(write_skill(tmp_path / "skills", "one", files=files))
    kept = [skill.root.inside(script.file) for script in skill.scripts]
    assert kept == [".env", "assets/d.md", "data.csv", "scripts/a.py", "scripts/b.py", "scripts/run"]


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
    found = list(other_texts(root, survey(root, Document(file="", text="")).files, known))
    assert [None if one is None else one[1] for one in found] == ["one", "\ufffdthree", None]
