"""The words of ``log`` beside ``import``: what they say, what they change, and how they end."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import jsonschema
import pytest

from skillgate.report.schema import report_schema
from tests.cli.running import run
from tests.invocations.recorded import AT, BAD, GOOD, line, write

pytest.importorskip("sqlalchemy", reason="the extra store is not installed")

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

RISING = [*[line(n, days=20 + n / 10, **BAD) for n in range(6)], *[line(10 + n, days=1, **GOOD) for n in range(6)]]
STILL = [line(n, skill="steady", days=1 + n, **GOOD) for n in range(24)]


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A directory whose store holds one skill that got better, one that is good, and one that is not rated."""
    write(tmp_path / "runs.jsonl", [*RISING, *STILL, line(1, skill="young", duration_ms=10)])
    assert run(tmp_path, "log", "import", "runs.jsonl").code == 0
    return tmp_path


def test_stats_tell_each_skill_and_what_is_not_known(stored: Path) -> None:
    done = run(stored, "log", "stats", "--at", AT, "--json")
    assert done.code == 0
    jsonschema.validate(done.json, report_schema())
    figures = {one["skill"]: one for one in done.json["skills"]}
    assert (figures["notes"]["avg_score"], figures["notes"]["invocation_count"]) == (50, 12)
    assert (figures["steady"]["avg_score"], figures["steady"]["error_rate"]) == (100, 0)
    assert (figures["notes"]["error_rate"], figures["notes"]["errors_known"]) == (0.5, 12)
    young = figures["young"]
    assert (young["recorded"], young["invocation_count"], young["avg_score"]) == (1, 0, None)
    assert "too little" in young["reasons"]["avg_score"]
    told = run(stored, "log", "stats", "steady", "--at", AT)
    assert re.search(r"^steady +24 +24 +100\.0", told.out, flags=re.MULTILINE)
    assert "notes" not in told.out


def test_a_trend_has_the_keys_of_the_rubric(stored: Path) -> None:
    found = run(stored, "log", "trend", "notes", "--at", AT, "--json").json
    assert (found["current_avg"], found["previous_avg"], found["trend"]) == (100, 0, "improving")
    keys = {"current_avg", "previous_avg", "trend", "change_percent", "weak_component", "component_scores"}
    assert {*keys, "recommendation", "status"} <= found.keys()
    assert run(stored, "log", "trend", "notes", "--at", AT, "--all", "--json").json["trend"] == "improving"
    few = run(stored, "log", "trend", "young", "--at", AT, "--json").json
    assert (few["status"], few["trend"]) == ("insufficient_data", None)
    every = run(stored, "log", "trend", "--at", AT, "--json")
    jsonschema.validate(every.json, report_schema())
    assert [one["skill"] for one in every.json["trends"]] == ["steady", "notes"]
    assert "1 skill with fewer than five rated" in every.err
    assert "improving" in run(stored, "log", "trend", "--at", AT).out


def test_the_window_ends_where_at_says(stored: Path) -> None:
    """Fifteen days before, the skill had only its bad runs, and the other nothing but its oldest ones."""
    done = run(stored, "log", "stats", "--at", "2026-11-05", "--json")
    figures = {one["skill"]: (one["avg_score"], one["recorded"]) for one in done.json["skills"]}
    assert figures == {"notes": (0, 6), "steady": (100, 10)}
    every = run(stored, "log", "stats", "--at", AT, "--days", "2", "--json").json["skills"]
    assert {one["skill"]: one["recorded"] for one in every} == {"notes": 6, "steady": 1, "young": 1}


def gate(folder: Path, *words: str) -> Done:
    return run(folder, "log", "gate", *words, "--at", AT)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("publish", "steady"), 0, "PASSED publish"),
        (("publish", "notes"), 1, "average score 50.00 is below 70"),
        (("publish", "young"), 1, "number of rated invocations in the last 30 days 0 is below 10"),
        (("publish", "nobody"), 3, "no invocation was recorded in the last 30 days"),
        (("publish",), 1, "FAILED publish: 2 of 3 skills"),
        (("feature", "steady"), 1, "24 is below 50"),
        (("deprecation", "steady"), 0, "CLEAR deprecation"),
        (("deprecation", "young"), 0, "insufficient"),
    ],
)
def test_a_gate_ends_as_it_was_answered(stored: Path, words: tuple[str, ...], code: int, told: str) -> None:
    done = gate(stored, *words)
    assert done.code == code, done.err
    assert told in " ".join(done.out.split())


@pytest.mark.parametrize("skill", [(), ("notes",)])
def test_a_gate_names_the_filters_that_nothing_matches(stored: Path, skill: tuple[str, ...]) -> None:
    found = gate(stored, "publish", *skill, "--skill-version", "9", "--model", "m", "--json")
    failures = found.json["failures"] if skill else found.json["gates"][0]["failures"]
    assert (found.code, failures[0].endswith(" days with version '9' and model 'm'")) == (3, True)


def test_a_gate_has_the_keys_of_the_rubric(stored: Path) -> None:
    found = gate(stored, "publish", "notes", "--json").json
    assert (found["gate"], found["passed"], found["stats"]["invocation_count"]) == ("publish", False, 12)
    assert [reason.partition(" (")[0] for reason in found["failures"]] == [
        "average score 50.00 is below 70",
        "error rate 0.5000 is above 0.1",
    ]
    assert {"avg_score", "invocation_count", "error_rate"} <= found["stats"].keys()
    every = gate(stored, "publish", "--json")
    assert every.code == 1
    jsonschema.validate(every.json, report_schema())
    assert every.json["gate"]["passed"] is False
    assert len(every.json["gates"]) == 3


def test_a_document_of_one_skill_or_one_gate_says_what_it_rests_on(stored: Path) -> None:
    common = {"schema_version", "scoring_version", "rubric_version", "depth", "coverage", "models", "config_digest"}
    alone = gate(stored, "publish", "notes", "--json").json
    assert (alone["kind"], alone["gate_kind"]) == ("gate", "requirement")
    assert common <= alone.keys()
    trend = run(stored, "log", "trend", "notes", "--at", AT, "--json").json
    assert trend["kind"] == "trend"
    assert common <= trend.keys()
    every = gate(stored, "publish", "--json").json
    assert (every["invocations"], every["rated"]) == (37, 36)
    some = run(stored, "log", "trend", "notes", "steady", "--at", AT, "--json").json
    assert (some["invocations"], some["rated"]) == (36, 36)


def test_a_window_without_anything_says_where_it_lies(stored: Path) -> None:
    for word in ("stats", "trend", "dashboard"):
        done = run(stored, "log", word, "--at", "2020-01-31")
        assert done.code == 0
        assert "2020-01-02 to 2020-01-31" in done.out
        assert "--days" in done.out


def test_a_trigger_that_goes_off_ends_with_one(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(n, days=100 - n / 2, **BAD) for n in range(200)])
    assert run(tmp_path, "log", "import", "runs.jsonl").code == 0
    done = gate(tmp_path, "deprecation")
    assert done.code == 1
    assert "triggered" in done.out
    found = gate(tmp_path, "deprecation", "notes", "--json").json
    assert (found["status"], found["passed"], found["days_since_improvement"]) == ("triggered", False, 100)


def test_gates_of_the_configuration_are_asked_too(stored: Path) -> None:
    (stored / ".skillgate.yaml").write_text(
        "gates:\n  publish: {min_score: 40, max_error_rate: 0.6}\n"
        "  release: {min_score: 90, max_unrecovered_rate: 0.02, description: What goes to customers.}\n",
        encoding="utf-8",
    )
    assert gate(stored, "publish", "notes").code == 0
    assert gate(stored, "release", "steady").code == 0
    done = gate(stored, "release", "notes")
    assert done.code == 1
    assert "What goes to customers." in done.out
    unknown = gate(stored, "relaese")
    assert unknown.code == 2
    assert "did you mean 'release'" in unknown.err
    (stored / ".skillgate.yaml").write_text("gates:\n  release: {min_scroe: 90}\n", encoding="utf-8")
    wrong = gate(stored, "publish")
    assert wrong.code == 2
    assert "min_scroe" in wrong.err


def test_an_empty_store_decides_nothing(tmp_path: Path) -> None:
    write(tmp_path / "runs.jsonl", [line(1, **GOOD)])
    assert run(tmp_path, "log", "import", "runs.jsonl").code == 0
    assert run(tmp_path, "log", "purge", "--skill", "notes", "--yes").code == 0
    done = gate(tmp_path, "publish")
    assert done.code == 3
    assert "holds no invocations" in done.err
    board = run(tmp_path, "log", "dashboard")
    assert board.code == 0


def test_without_a_store_it_is_said_what_makes_one(tmp_path: Path) -> None:
    done = run(tmp_path, "log", "dashboard")
    assert done.code == 2
    assert "log import create one" in done.err
    assert not (tmp_path / ".skillgate").exists()


def test_the_dashboard_is_text_json_and_a_page(stored: Path) -> None:
    pytest.importorskip("jinja2", reason="the extra report is not installed")
    done = run(
        *(stored, "log", "dashboard", "--at", AT, "--gate", "publish", "--output", "json"),
        *("--output-file", "page.html", "--output-file", "board.txt"),
    )
    assert done.code == 0
    jsonschema.validate(done.json, report_schema())
    assert done.json["leaderboard"] == ["steady", "notes"]
    assert done.json["tiers"]["Excellent"] == 30
    assert done.json["tiers"]["Failing"] == 6
    assert "<html" in (stored / "page.html").read_text(encoding="utf-8")
    assert "Leaderboard" in (stored / "board.txt").read_text(encoding="utf-8")


def test_rescore_makes_the_other_rubric_the_one_that_is_shown(stored: Path) -> None:
    sql = "SELECT DISTINCT rubric_version FROM skill_invocations"
    before = gate(stored, "publish", "steady", "--rubric", "1.0")
    assert before.code == 3
    assert "log rescore --rubric 1.0" in before.err
    done = run(stored, "log", "rescore", "--rubric", "1.0")
    assert (done.code, done.out) == (0, "37 invocations scored by rubric 1.0\n")
    with closing(sqlite3.connect(stored / ".skillgate/store.db")) as connection, connection:
        assert connection.execute(sql).fetchall() == [("1.0",)]
        assert connection.execute("SELECT count(*) FROM skill_scores").fetchone() == (74,)
    # The published functions know baselines of code alone, so that nothing here has an efficiency, nor a total.
    found = run(stored, "log", "stats", "steady", "--at", AT, "--rubric", "1.0", "--json").json["skills"][0]
    assert (found["avg_score"], found["components"]["completion"]["mean"]) == (None, 25)
    assert run(stored, "log", "stats", "steady", "--at", AT, "--json").json["skills"][0]["avg_score"] == 100


def test_purge_says_how_many_and_asks(stored: Path) -> None:
    assert run(stored, "log", "purge").code == 2
    dry = run(stored, "log", "purge", "--before", "2026-11-05", "--dry-run", "--json")
    assert dry.json["purged"] == 15  # six of one skill, nine of the other: 16 days back and more
    refused = run(stored, "log", "purge", "--skill", "notes")
    assert refused.code == 2
    assert "delete 12 invocations of notes? Cannot ask without a terminal; confirm with --yes" in refused.err
    done = run(stored, "log", "purge", "--skill", "notes", "--yes")
    assert (done.code, done.out) == (0, "12 invocations deleted\n")
    left = run(stored, "log", "stats", "--at", AT, "--json").json["skills"]
    assert {one["skill"] for one in left} == {"steady", "young"}


def test_add_takes_later_signals_of_the_same_invocation(tmp_path: Path) -> None:
    first = run(tmp_path, "log", "add", "--skill", "notes", "--id", "a", "--set", "outcome=complete", "--json")
    assert (first.code, first.json["result"], first.json["completion"]) == (0, "new", 25)
    assert first.json["total"] is None  # a quarter of the points is too little
    words = ("--set", "user_accepted=true", "--set", "user_edit_ratio=0.5", "--set", "follow_ups=[]")
    later = run(tmp_path, "log", "add", "--id", "a", "--update", *words, "--json")
    assert (later.code, later.json["result"]) == (0, "updated")
    # 7 of 10 accepted with edits, 4 of 8, 7 of 7: 18 of 25; with 25 of 25 that is 43 of 50.
    assert (later.json["completion"], later.json["satisfaction"], later.json["total"]) == (25, 18, 86)
    again = run(tmp_path, "log", "add", "--skill", "notes", "--id", "a", "--set", "outcome=partial")
    assert again.code == 2
    assert "use --update to add to it" in again.err
    missing = run(tmp_path, "log", "add", "--id", "b", "--update", "--set", "user_accepted=true")
    assert missing.code == 2
    assert "no invocation 'b" in missing.err


def test_add_makes_time_and_id_and_takes_json(tmp_path: Path) -> None:
    done = run(tmp_path, "log", "add", json.dumps({"skill_name": "notes", "errors": []}))
    assert done.code == 0
    assert re.match(r"[0-9a-f-]{36} new: not rated, 27 % observed", done.out)  # 25 of the 92 that apply without code
    nested = run(tmp_path, "log", "add", "--skill", "notes", "--set", "feedback.accurate=true", "--json")
    assert nested.json["quality"] == 30
    for words in (["{"], ["[]"], ["--set", "errors"], [json.dumps({"skill_name": "x", "duration_ms": -1})], []):
        assert run(tmp_path, "log", "add", *words).code == 2


def test_score_shows_the_parts_and_keeps_nothing(tmp_path: Path) -> None:
    write(tmp_path / "one.jsonl", [line(1, **GOOD)])
    done = run(tmp_path, "log", "score", "one.jsonl")
    assert done.code == 0
    assert re.search(r"notes-1 +notes +100\.0 +Excellent", done.out)
    assert "no errors" in done.out
    found = run(tmp_path, "log", "score", "one.jsonl", "--json").json["invocations"][0]
    assert (found["quality_score"], found["tier"], found["coverage"]) == (100, "Excellent", 1)
    assert not (tmp_path / ".skillgate").exists()
    write(tmp_path / "bad.jsonl", [line(1, **GOOD), "{", line(2, **BAD)])
    bad = run(tmp_path, "log", "score", "bad.jsonl")
    assert bad.code == 2
    assert "notes-2" in bad.out
    assert "bad.jsonl:2: " in bad.err


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "![x](http://e)", "a|b", "café ☕", "::error::x"])
def test_hostile_names_stay_data(tmp_path: Path, name: str) -> None:
    write(tmp_path / "runs.jsonl", [line(n, skill=name, days=1 + n, **GOOD) for n in range(12)])
    assert run(tmp_path, "log", "import", "runs.jsonl").code == 0
    board = run(tmp_path, "log", "dashboard", "--at", AT, "--gate", "publish")
    assert board.code == 0
    assert not any(text.lstrip().startswith("::") for text in board.out.splitlines())
    done = gate(tmp_path, "publish", name, "--json")
    assert done.json["skill"] == name
