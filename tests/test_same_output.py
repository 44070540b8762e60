"""The comparison of two commits: documents and exit codes count, texts are only shown."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from benchmarks.same_output import Difference, compare
from tests.architecture.source import ROOT

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = (("check", "examples/skills"), ("score", "nowhere"))
TEXTS = (("--version",),)


def compared(tmp_path: Path, old: Path, new: Path) -> list[Difference]:
    files = tmp_path / "files"
    shutil.copytree(ROOT / "examples" / "skills", files / "examples" / "skills")
    return list(compare(old, new, files, COMMANDS, TEXTS))


def changed(tmp_path: Path, name: str, before: str, after: str) -> Path:
    """Give a copy of the program with one thing changed."""
    tree = tmp_path / "changed"
    shutil.copytree(ROOT / "skillgate", tree / "skillgate", ignore=shutil.ignore_patterns("__pycache__"))
    place = tree / "skillgate" / name
    text = place.read_text(encoding="utf-8")
    assert before in text
    place.write_text(text.replace(before, after), encoding="utf-8")
    return tree


def test_a_tree_says_the_same_as_itself(tmp_path: Path) -> None:
    assert compared(tmp_path, ROOT, ROOT) == []


def test_a_changed_value_of_a_document_counts_and_a_changed_text_is_shown(tmp_path: Path) -> None:
    tree = changed(tmp_path, "__init__.py", '__version__ = "', '__version__ = "9.')
    found = compared(tmp_path, ROOT, tree)
    assert [(one.command, one.counts) for one in found] == [("check examples/skills", True), ("--version", False)]
    assert found[0].what.startswith("tool.version: ")
    assert "+skillgate 9." in found[1].what


def test_a_changed_exit_code_counts(tmp_path: Path) -> None:
    found = compared(tmp_path, ROOT, changed(tmp_path, "errors.py", "EXIT_USAGE = 2", "EXIT_USAGE = 4"))
    assert [one for one in found if one.counts] == [Difference("score nowhere", "exit code 2 became 4", counts=True)]
