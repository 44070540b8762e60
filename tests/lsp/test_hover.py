"""What an editor shows at the pointer."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import run
from tests.lsp.editor import Editor
from tests.skills import BODY, DESCRIPTION, NAME, write_skill

if TYPE_CHECKING:
    from pathlib import Path

MAIN = f"skills/{NAME}/SKILL.md"
HOSTILE = "<img src=x onerror=alert(1)>[click](https://evil.example)`x`*b*"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with one skill with a heading that occurs twice."""
    (tmp_path / ".git").mkdir()
    write_skill(tmp_path / "skills", body=f"{BODY}\n[gone](references/a.md)\n\n```\nx\n")
    return tmp_path


def test_a_finding_says_why_it_matters_how_to_fix_it_and_what_that_gains(folder: Path) -> None:
    with Editor(folder) as editor:
        (found,) = [one for one in editor.open(MAIN) if one.code == "ORPHAN_REFERENCE"]
        shown = editor.hover(MAIN, found.range.start.line, found.range.start.character) or ""
    assert shown.startswith("**ORPHAN_REFERENCE** (error): ")
    assert "**Fix.** Create the file\\, or remove the link" in shown
    report = json.loads(run(folder, "score", f"skills/{NAME}", "--output", "json").out)
    (gain,) = [one["gain"] for one in report["advice"] if "references" in one["action"] and one["removes"]]
    assert f"Fixing it gains \\+{gain:.1f}".replace(".", "\\.") in shown


@pytest.mark.parametrize("line", [0, 1, 3, 4])
def test_the_head_says_score_badge_and_three_steps_as_the_command_does(line: int, folder: Path) -> None:
    report = json.loads(run(folder, "score", f"skills/{NAME}", "--output", "json").out)
    with Editor(folder, markdown=False) as editor:
        editor.open(MAIN)
        shown = editor.hover(MAIN, line, 0) or ""
        assert editor.hover(MAIN, 8, 0) is None
    assert f"Score {report['composite']['score']:.2f} · no badge" in shown
    assert report["composite"]["badge_reason"][1:] in shown
    steps = shown.partition("Do next:\n\n")[2].split("\n")
    assert [step[:2] for step in steps] == ["1.", "2.", "3."]
    assert "\\" not in shown


def test_a_skill_without_a_score_says_why(folder: Path) -> None:
    with Editor(folder, markdown=False) as editor:
        editor.open(MAIN, "---\nname: x\n---\n\x00")
        assert "No score: " in (editor.hover(MAIN, 0, 0) or "")


def test_a_hostile_name_stays_plain(folder: Path) -> None:
    head = f"name: {NAME}\ndescription: {DESCRIPTION}\n'{HOSTILE}': 1"
    with Editor(folder) as editor:
        found = editor.open(MAIN, f"---\n{head}\n---\n{BODY}\n[a]({HOSTILE.replace(' ', '')})\n")
        for one in found:
            shown = editor.hover(MAIN, one.range.start.line, one.range.start.character) or ""
            for part in (r"(?<!\\)<img", r"(?<!\\)\]\(", r"(?<!\\)`x", r"(?<!\\)\*b"):
                assert re.search(part, shown) is None
        assert any("img" in one.message for one in found)
