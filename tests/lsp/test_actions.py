"""What an editor offers for a finding: its fix, as ``check --fix`` makes it, and a comment that suppresses it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from skillgate.fixes.repairs import FIXES, QUOTES
from tests.cli.running import run
from tests.lsp.editor import Editor
from tests.skills import BODY, DESCRIPTION, write_bytes, write_skill

if TYPE_CHECKING:
    from pathlib import Path

HEAD = f"name: one\ndescription: {DESCRIPTION}"
CODE = '```\n{"a": 1}\n```\n'
FILES = {"references/columns.md": "# Columns\n\nWhat each is called.\n", "docs/README.md": "All.\n"}
PAGES = "See [the columns](reference/columns.md), [again](reference/columns.md) and [all](docs/README.md).\n"
FENCE = "```bash\nmerge a b\n\n## Then\n\nRead it.\n"
SKILLS = {  # what lies in the skill's SKILL.md, by the rule that finds it
    "ALLOWED_TOOLS_SHAPE": f"---\n{HEAD}\nallowed-tools: Read, Grep\n---\n{BODY}",
    "BROKEN_LINK": f"---\n{HEAD}\n---\n# One\n\n🎉 {PAGES}",
    "BYTE_ORDER_MARK": f"\ufeff---\n{HEAD}\n---\n{BODY}",
    "FRONTMATTER_INVALID": f"---\nname: one\ndescription: Merge files: {DESCRIPTION}\n---\n{BODY}",
    "FRONTMATTER_TAB": f"---\nname:\tone\ndescription:\t{DESCRIPTION}\n---\n{BODY}",
    "LINE_ENDS": f"---\n{HEAD}\n---\n{BODY}".replace("\n", "\r\n"),
    "METADATA_SHAPE": f"---\n{HEAD}\nmetadata:\n  version: 1.0\n  year: 2026\n---\n{BODY}",
    "NAME_INVALID": f"---\nname: The One\ndescription: {DESCRIPTION}\n---\n{BODY}",
    "NAME_MISMATCH": f"---\nname: other\ndescription: {DESCRIPTION}\n---\n{BODY}",
    "NO_FINAL_NEWLINE": f"---\n{HEAD}\n---\n{BODY}\nThe end 𝒜",
    "UNCLOSED_FENCE": f"---\n{HEAD}\n---\n{BODY}\n{FENCE}",
    "UNTAGGED_CODE": f"---\n{HEAD}\n---\n{BODY}\n🎉\n\n{CODE}\nand\n\n{CODE}",
}
MANY = f"---\nname:\tOther\ndescription:\t{DESCRIPTION}\n---\n{BODY}\n{CODE}\n🎉 {PAGES}\n{CODE}\nThe end"
PAGE = f"# More\n\nSee [the columns](reference/columns.md).\n\n{CODE}\nThe end"
UNSAFE = {"UNCLOSED_FENCE"}
MAIN = "skills/one/SKILL.md"


def test_every_fix_has_a_case() -> None:
    assert set(SKILLS) == {*FIXES, QUOTES}


def folder_with(tmp_path: Path, text: str, files: dict[str, str] = FILES) -> Path:
    """Write a repository with one skill."""
    (tmp_path / ".git").mkdir(parents=True)
    write_bytes(tmp_path / "skills", "one", text.encode(), files=files)
    return tmp_path


def fixed(folder: Path, *words: str) -> dict[str, bytes]:
    """Return the files of a copy of a folder's skill after ``check --fix``."""
    copy = folder.with_name(f"{folder.name}-fixed")
    shutil.copytree(folder, copy)
    run(copy, "check", "skills/one", "--fix", "--no-cache", *words)
    return contents(copy)


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder's skill."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in (folder / "skills").rglob("*.md")}


def titles(actions: list[types.CodeAction]) -> list[str]:
    """The first two words of each title."""
    return [" ".join(one.title.split(":")[0].split()[:2]) for one in actions]


@pytest.mark.parametrize("rule", SKILLS)
def test_a_quick_fix_writes_what_the_command_does(rule: str, tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "work", SKILLS[rule])
    wanted = fixed(folder, "--select", rule, *(("--unsafe-fixes",) if rule in UNSAFE else ()))
    assert wanted != contents(folder)
    with Editor(folder) as editor:
        editor.open(MAIN)
        for _ in range(5):  # each fixes one finding
            fixes = [one for one in editor.actions(MAIN, only=["quickfix"]) if one.title.startswith(f"Fix {rule}")]
            if not fixes:
                break
            assert ("unsafe" in fixes[0].title) == (rule in UNSAFE)
            assert bool(fixes[0].is_preferred) == (rule not in UNSAFE)
            (about,) = fixes[0].diagnostics
            assert about.code == rule
            editor.apply(fixes[0])
        editor.save(MAIN)
    assert contents(folder) == wanted


@pytest.mark.parametrize("encoding", [None, "utf-8"])
@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_fixing_all_writes_what_the_command_does(
    end: str, versioned: bool, encoding: str | None, tmp_path: Path
) -> None:
    files = {**FILES, "references/more.md": PAGE.replace("\n", end)}
    folder = folder_with(tmp_path / "work", MANY.replace("\n", end), files)
    wanted = fixed(folder)
    with Editor(folder, encoding=encoding, versioned=versioned) as editor:
        names = [name for name in wanted if name in contents(folder)]
        for name in names:
            editor.open(name)
        made = [one for name in names for one in editor.actions(name, only=["source.fixAll"])]
        assert {one.kind for one in made} == {"source.fixAll.skillgate"}
        for one in made:
            editor.apply(one)
        for name in names:
            editor.save(name)
    assert contents(folder) == wanted
    assert wanted["skills/one/references/more.md"] != PAGE.replace("\n", end).encode()


def test_a_fix_changes_as_little_as_possible(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, MANY)
    with Editor(folder) as editor:
        editor.open(MAIN)
        (action,) = editor.actions(MAIN, only=["source.fixAll.skillgate"])
        (change,) = action.edit.document_changes
        made = [(edit.range.start.line, edit.new_text) for edit in change.edits]
        assert (change.text_document.version, len(made)) == (1, 5)
        assert [text for _, text in made if len(text) > 30] == []


def test_a_fix_is_offered_where_the_finding_is(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, SKILLS["UNTAGGED_CODE"])
    with Editor(folder) as editor:
        found = [one for one in editor.open(MAIN) if one.code == "UNTAGGED_CODE"]
        assert len(found) == 2
        (fix, *_) = editor.actions(MAIN, found[1].range, only=["quickfix"])
        editor.apply(fix)
        left = [one.range for one in editor.diagnostics(MAIN) if one.code == "UNTAGGED_CODE"]
        assert left == [found[0].range]
        start = types.Position(0, 0)
        assert editor.actions(MAIN, types.Range(start, start), only=["quickfix"]) == []


def test_only_what_is_asked_for_is_offered(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, SKILLS["NO_FINAL_NEWLINE"])
    with Editor(folder) as editor:
        editor.open(MAIN)
        assert {one.kind for one in editor.actions(MAIN)} == {"quickfix", "source.fixAll.skillgate"}
        assert {one.kind for one in editor.actions(MAIN, only=["source"])} == {"source.fixAll.skillgate"}
        assert editor.actions(MAIN, only=["refactor"]) == []


def test_a_fix_that_was_ignored_is_not_offered(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, SKILLS["NO_FINAL_NEWLINE"])
    (folder / ".skillgate.yaml").write_text("ignore: [NO_FINAL_NEWLINE]\n", encoding="utf-8")
    with Editor(folder) as editor:
        editor.open(MAIN)
        assert "Fix NO_FINAL_NEWLINE" not in titles(editor.actions(MAIN))


SUPPRESSED = {
    "BROKEN_LINK": (f"{BODY}\nFirst line,\n[gone](docs/a.md).\n", HEAD),
    "UNTAGGED_CODE": (f"{BODY}\nAn example:\n\n{CODE}", HEAD),
    "UNKNOWN_FIELD": (BODY, f"{HEAD}\nversion: 1"),
}


@pytest.mark.parametrize("rule", SUPPRESSED)
def test_a_comment_suppresses_one_finding(rule: str, tmp_path: Path) -> None:
    body, head = SUPPRESSED[rule]
    (tmp_path / ".git").mkdir()
    write_skill(tmp_path / "skills", "one", body=body, frontmatter=head)
    with Editor(tmp_path) as editor:
        before = [one.code for one in editor.open(MAIN)]
        (action,) = [one for one in editor.actions(MAIN) if one.title == f"Suppress {rule} with a comment"]
        assert action.kind == "quickfix"
        editor.apply(action)
        after = [one.code for one in editor.diagnostics(MAIN)]
        before.remove(rule)
        assert after == before


def test_nothing_is_offered_for_a_text_that_has_changed_meanwhile(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, SKILLS["NO_FINAL_NEWLINE"])
    with Editor(folder) as editor:
        editor.open(MAIN)
        editor.change(MAIN, SKILLS["NAME_MISMATCH"], wait=False)
        found = editor.actions(MAIN)  # waits for the new text
        assert "Fix NAME_MISMATCH" in titles(found)
        assert "Fix NO_FINAL_NEWLINE" not in titles(found)
