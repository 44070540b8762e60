"""What an editor offers while a skill is written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from skillgate.lsp.completion import _KEYS
from skillgate.static.rules import CLAUDE_CODE, SPECIFIED
from tests.lsp.editor import Editor, edited
from tests.skills import DESCRIPTION, NAME, write_skill

if TYPE_CHECKING:
    from collections.abc import Iterator

MAIN = f"skills/{NAME}/SKILL.md"
PAGE = f"skills/{NAME}/references/columns.md"
FILES = {
    "references/columns.md": "# Columns\n",
    "references/a b(c).md": "# A\n",
    "scripts/run.py": "print()\n",
    ".hidden/x.md": "x",
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """An editor with a skill that has files."""
    tmp_path = tmp_path_factory.mktemp("work")
    (tmp_path / ".git").mkdir()
    (tmp_path / "private.md").write_text("private")
    folder = write_skill(tmp_path / "skills", files=FILES)
    (folder / "references" / "out.md").symlink_to(tmp_path / "private.md")
    with Editor(tmp_path) as one:
        yield one


@pytest.fixture
def editor(shared: Editor) -> Iterator[Editor]:
    """The shared editor, without documents."""
    yield shared
    shared.forget()


def offered(editor: Editor, text: str, path: str = MAIN) -> dict[str, str]:
    """Return what each item makes of a text in which ``|`` is the pointer, by label."""
    before, _, after = text.partition("|")
    editor.open(path, before + after)
    line, character = before.count("\n"), len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
    found = editor.complete(path, line, character)
    made = {label: edited(before + after, [item.text_edit], "utf-16") for label, item in found.items()}
    editor.close(path)
    return made


def test_every_key_is_described() -> None:
    assert set(_KEYS) == {*SPECIFIED, *CLAUDE_CODE}


def test_keys_that_are_missing_are_offered(editor: Editor) -> None:
    found = offered(editor, f"---\nname: x\ndescription: {DESCRIPTION}\nlic|\n---\n")
    assert not {"name", "description"} & set(found)
    assert set(found) >= {"license", "allowed-tools", "metadata", "disable-model-invocation"}
    assert "\nlicense: \n---" in found["license"]
    assert "\nmetadata:\n  \n---" in found["metadata"]


def test_a_key_says_what_it_is(editor: Editor) -> None:
    editor.open(MAIN, "---\n\n---\n")
    item = editor.complete(MAIN, 1, 0)["description"]
    assert item.detail == "Agent Skills"
    assert "when to use it" in str(item.documentation)
    assert editor.complete(MAIN, 1, 0)["model"].detail == "Claude Code"


@pytest.mark.parametrize(
    ("text", "some", "line"),
    [
        ("metadata:\n  |", {"category"}, "  category: "),
        ("metadata:\n  category: wo|", {"workflow", "generator"}, "  category: workflow"),
        ("allowed-tools: Read G|", {"Grep", "Glob"}, "allowed-tools: Read Grep"),
        ("model: |", {"sonnet", "haiku"}, "model: sonnet"),
        ("disable-model-invocation: t|", {"true", "false"}, "disable-model-invocation: true"),
        ("context: |", {"fork"}, "context: fork"),
    ],
)
def test_known_values_are_offered(text: str, some: set[str], line: str, editor: Editor) -> None:
    found = offered(editor, f"---\n{text}\n---\n")
    assert some <= set(found)
    assert any(line in made.split("\n") for made in found.values())


@pytest.mark.parametrize("text", ["---\ndescription: a|\n---\n", "---\nname: x\n---\nWords |", "# T\nna|", "|"])
def test_nothing_is_offered_elsewhere(text: str, editor: Editor) -> None:
    assert offered(editor, text) == {}


def test_while_the_frontmatter_is_open_keys_are_offered(editor: Editor) -> None:
    assert "description" in offered(editor, "---\nname: x\nde|")


@pytest.mark.parametrize(
    ("text", "path", "labels"),
    [
        ("🎉 [a](|)", MAIN, {"SKILL.md", "references/", "scripts/"}),
        ("[a](references/|)", MAIN, {"columns.md", "a b(c).md", "out.md"}),
        ("[a](scripts/r|)", MAIN, {"run.py"}),
        ("[a](../|)", PAGE, {"SKILL.md", "references/", "scripts/"}),
        ("[a](../../|)", PAGE, set()),
        ("[a](../|)", MAIN, set()),
        ("[a](/|)", MAIN, set()),
        ("[a](https://|)", MAIN, set()),
    ],
)
def test_files_of_the_skill_are_offered_behind_a_link(text: str, path: str, labels: set[str], editor: Editor) -> None:
    found = offered(editor, f"# T\n\n{text}\n", path)
    assert set(found) - {"out.md"} == labels - {"out.md"}
    assert "out.md" not in found  # it leads out of the skill


def test_a_name_with_blanks_is_a_valid_target(editor: Editor) -> None:
    assert "[a](references/a%20b%28c%29.md)" in offered(editor, "# T\n\n[a](references/|)\n")["a b(c).md"]


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_a_hostile_name_is_shown_plainly(editor: Editor) -> None:
    file = editor.folder / "skills" / NAME / "a\u202eb\n.md"
    file.write_text("x")
    found = offered(editor, "# T\n\n[a](|)\n")
    file.unlink()
    assert "a\\u{202e}b .md" in found
    assert "[a](a%E2%80%AEb%0A.md)" in found["a\\u{202e}b .md"]
