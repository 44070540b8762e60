"""Two states of real public skills, made by a script of edits: the diff names exactly what the edits did."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import Done, run

if TYPE_CHECKING:
    from collections.abc import Callable

CORPUS = Path(os.environ.get("SKILLGATE_TEST_DATA", ""), "corpus")
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="SKILLGATE_TEST_DATA names no test data")

EVERY, MOST = 11, 20  # every 11th skill of the collection, so that all of its authors are among them
GOOD_PROSE = """
Before you hand the result over, read it once more from the top as somebody would who has not followed the
conversation. Where a step only makes sense with something that was said earlier, say it again in place.
"""
DEAD_LINK = "\nThe cases that are left are in [the notes](references/no-such-notes.md).\n"
NEW = """\
---
name: sort-things
description: Sorts things.
---

# Sort things

Ask for the key that the things are to be sorted by, then sort them and say which of them had none.
"""


class Sides:
    """Two copies of the same skills, of which the second is edited."""

    def __init__(self, base: Path) -> None:
        found = sorted({file.parent for file in CORPUS.rglob("SKILL.md")})[::EVERY][:MOST]
        self.base, self.names = base, [skill.name for skill in found]
        assert len(set(self.names)) == MOST
        for skill in found:
            shutil.copytree(skill, base / "a" / "skills" / skill.name)
            text = (base / "a" / "skills" / skill.name / "SKILL.md").read_text(encoding="utf-8")
            (base / "a" / "skills" / skill.name / "SKILL.md").write_text(text.rstrip() + "\n", encoding="utf-8")
        shutil.copytree(base / "a", base / "b")

    def place(self, name: str) -> Path:
        return self.base / "b" / "skills" / name

    def edit(self, name: str, change: Callable[[str], str]) -> None:
        file = self.place(name) / "SKILL.md"
        before = file.read_text(encoding="utf-8")
        after = change(before)
        assert after != before
        file.write_text(after, encoding="utf-8")

    def diff(self, *words: str) -> Done:
        for side in ("a", "b"):
            done = run(self.base / side, "score", "skills", "--json")
            (self.base / f"{side}.json").write_text(done.out, encoding="utf-8")
        return run(self.base, "report", "diff", "a.json", "b.json", *words)


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    return Sides(tmp_path)


def without_trigger(text: str) -> str:
    """Put a description without any word on when to use the skill in place of its own, which stands on one line."""
    lines = text.splitlines(keepends=True)
    place = next(index for index, line in enumerate(lines) if line.startswith("description:"))
    lines[place] = "description: A collection of notes that were gathered over several years.\n"
    return "".join(lines)


def without_examples(text: str) -> str:
    """Take every code block out."""
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        fence = line.lstrip().startswith("```")
        if not inside and not fence:
            kept.append(line)
        inside = inside != fence
    return "".join(kept)


def told(document: Any) -> dict[str, tuple[str, list[str], list[str]]]:
    """Give state, new and fixed rules of every skill that differs or moved, by path."""
    return {
        (item["after"] or item["before"])["path"]: (
            item["state"],
            sorted(finding["id"] for finding in item["new"]),
            sorted(finding["id"] for finding in item["fixed"]),
        )
        for item in document["skills"]
        if item["state"] != "unchanged" or item["before"]["path"] != item["after"]["path"]
    }


def test_the_diff_names_exactly_what_the_edits_did(sides: Sides) -> None:
    linked, dumb, moved, renamed, gone, bare = sides.names[1:7]
    sides.edit(linked, lambda text: text + DEAD_LINK)
    sides.edit(dumb, without_trigger)
    (sides.base / "b" / "skills" / "group").mkdir()
    sides.place(moved).rename(sides.place(f"group/{moved}"))
    sides.place(renamed).rename(sides.place("another-name"))
    shutil.rmtree(sides.place(gone))
    sides.edit(bare, without_examples)
    (sides.place("sort-things")).mkdir()
    (sides.place("sort-things") / "SKILL.md").write_text(NEW, encoding="utf-8")
    document = sides.diff("--json").json
    assert told(document) == {
        f"skills/{linked}": ("changed", ["ORPHAN_REFERENCE"], []),
        # Two of its files were named in the description and nowhere else.
        f"skills/{dumb}": ("changed", ["MISSING_TRIGGER", "UNUSED_REFERENCE", "UNUSED_REFERENCE"], []),
        f"skills/group/{moved}": ("unchanged", [], []),
        "skills/another-name": ("changed", ["NAME_MISMATCH"], []),
        f"skills/{gone}": ("removed", [], []),
        f"skills/{bare}": ("changed", [], []),
        "skills/sort-things": ("new", ["EMPTY_DESCRIPTION"], []),
    }
    assert document["summary"]["unchanged"] == MOST - 5
    assert document["summary"]["moved"] == 2
    assert document["across"] == {"new": [], "fixed": []}
    falls = {item["name"]: item["change"] for item in document["skills"] if item["change"]}
    assert all(falls[name] < 0 for name in (linked, dumb))
    (lone,) = [hint for hint in document["hints"] if "one side only" in hint]
    assert lone.startswith(f"code_template_quality was measured on one side only in skills/{bare}:")


def test_one_added_paragraph_of_good_prose_fails_nothing(sides: Sides) -> None:
    for name in sides.names:
        sides.edit(name, lambda text: text + GOOD_PROSE)
    done = sides.diff("--json", "--fail-on-regression")
    document = done.json
    assert (done.code, document["gate"]["passed"], document["summary"]["regressions"]) == (0, True, 0)
    assert {item["regression"]["verdict"] for item in document["skills"]} == {"pass"}


def test_text_that_only_moves_down_makes_no_finding_new(sides: Sides) -> None:
    for name in sides.names:
        sides.edit(name, lambda text: text.replace("\n---\n", "\n---\n\n\n", 1))
    summary = sides.diff("--json").json["summary"]
    assert (summary["findings_new"], summary["findings_fixed"]) == (0, 0)
    assert summary["findings_kept"] > 0


def test_the_same_skills_do_not_differ(sides: Sides) -> None:
    document = sides.diff("--json").json
    assert told(document) == {}
    assert document["summary"]["unchanged"] == MOST
