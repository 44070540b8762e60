"""The skills of a directory in records: used, used earlier, not observed, and unknown where nothing was recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")
pytest.importorskip("scipy")

from skillgate.report.schema import report_schema
from tests.cli.running import run
from tests.invocations.recorded import AT, GOOD, line, write

if TYPE_CHECKING:
    from pathlib import Path


def skill(folder: Path, name: str) -> None:
    folder.mkdir(parents=True)
    text = f"---\nname: {name}\ndescription: Sort rows of a table. Use when rows need an order.\n---\n\nSort them.\n"
    (folder / "SKILL.md").write_text(text)


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Five skills in a directory, one of them in a plugin, and records of three of them and of others."""
    for name in ("used", "idle", "old", "outside"):
        skill(tmp_path / "skills" / name, name)
    skill(tmp_path / "skills/kit/skills/sort", "sort")
    (tmp_path / "skills/kit/.claude-plugin").mkdir()
    (tmp_path / "skills/kit/.claude-plugin/plugin.json").write_text(json.dumps({"name": "acme"}))
    records = [
        *(line(n, skill="used", days=n + 1, **GOOD) for n in range(3)),
        line(1, skill="old", days=90, **GOOD),
        line(1, skill="acme:sort", days=4, **GOOD),
        line(1, skill="other:sort", days=5, **GOOD),
        line(1, skill="market:outside", days=6, **GOOD),
    ]
    write(tmp_path / "a.jsonl", records)
    assert run(tmp_path, "log", "import", "a.jsonl").code == 0
    return tmp_path


def observed(folder: Path, *words: str) -> Any:
    done = run(folder, "log", "dashboard", "--skills", "skills", "--at", AT, "--json", *words)
    assert done.code == 0, done.err
    jsonschema.validate(done.json, report_schema())
    return done.json["catalogue"]


def test_every_skill_is_used_used_earlier_or_not_observed(stored: Path) -> None:
    found = observed(stored)
    states = {one["name"]: (one["observed"], one["recorded"], one["recorded_as"]) for one in found["skills"]}
    assert states == {
        "used": ("used", 3, ["used"]),
        "sort": ("used", 1, ["acme:sort"]),
        "outside": ("used", 1, ["market:outside"]),
        "old": ("earlier", 0, ["old"]),
        "idle": ("not_observed", 0, []),
    }
    assert (found["since"][:10], found["until"][:10]) == ("2026-11-14", "2026-11-19")


def test_the_table_says_for_how_long_anything_was_observed_and_never_unused(stored: Path) -> None:
    for words in (("dashboard",), ("stats",)):
        said = run(stored, "log", *words, "--skills", "skills", "--at", AT).out
        assert "Skills of skills: 3 used, 1 used before this time, 1 not observed\n" in said
        assert "Anything was observed for 6 days: 2026-11-14 to 2026-11-19" in said
        assert "not observed does not mean unused" in " ".join(said.split())
        assert [row.split()[0] for row in said.partition("last use")[2].splitlines()[1:3]] == ["idle", "old"]


def test_without_any_record_in_the_window_nothing_is_said_of_a_skill_never_seen(stored: Path) -> None:
    found = observed(stored, "--days", "1", "--at", "2026-10-01")
    assert {one["name"]: one["observed"] for one in found["skills"]} == {
        "old": "earlier",
        "idle": "unknown",
        "used": "unknown",
        "sort": "unknown",
        "outside": "unknown",
    }
    said = run(stored, "log", "dashboard", "--skills", "skills", "--days", "1", "--at", "2026-10-01").out
    assert "Nothing was recorded in this time, so nothing can be said of any skill." in said


def test_with_a_filter_it_says_that_other_uses_do_not_count(stored: Path) -> None:
    said = run(stored, "log", "dashboard", "--skills", "skills", "--at", AT, "--source", "otlp").out
    assert "Only the selected invocations count here." in said
    assert "Skills of skills: 5 unknown\n" in said


def test_names_of_skills_and_a_directory_exclude_each_other_and_it_must_hold_skills(stored: Path) -> None:
    assert run(stored, "log", "dashboard", "used", "--skills", "skills").code == 2
    (stored / "empty").mkdir()
    done = run(stored, "log", "stats", "--skills", "empty")
    assert (done.code, "no skill found in empty" in done.err) == (2, True)
