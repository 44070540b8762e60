"""score, check and compare from the command line: gates, baselines, outputs and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from skillgate.report.schema import report_schema
from tests.cli.running import commit, run
from tests.skills import filler

GOOD = """---
name: {name}
description: Tidy CSV files. Use when cleaning a spreadsheet export, merging files, or checking that columns agree.
---
# Tidy CSV

Read the file, list the columns that do not agree, and write a new file beside it. The input is one CSV file in UTF-8.
The output format is a table with one row for each column: its name, its type, and how many of its values are empty.
Stop when the file has no header, and say so. Keep the order of the rows, since people compare the two files by eye.

## Examples

Give it `in.csv` with a header and ten rows, and it returns a table that names each column and the values it lacks.
"""
NO_TRIGGER = GOOD.replace(
    "Use when cleaning a spreadsheet export, merging files, or checking", "It helps with checking"
)


def write(folder: Path, name: str, text: str = GOOD) -> Path:
    """Write a skill."""
    skill = folder / name
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(text.replace("{name}", name), encoding="utf-8")
    return skill


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    """Two skills, one of them without a trigger, in a directory of their own."""
    write(tmp_path / "skills", "good")
    write(tmp_path / "skills", "silent", NO_TRIGGER)
    return tmp_path


def test_without_a_gate_a_low_score_is_no_failure(skills: Path) -> None:
    done = run(skills, "score", "skills")
    assert done.code == 0
    assert "gate" not in done.out


def test_a_threshold_fails_the_skills_below_it_and_names_them(skills: Path) -> None:
    scores = {
        item["skill"]["name"]: item["composite"]["score"] for item in run(skills, "score", "--json").json["results"]
    }
    bound = (scores["good"] + scores["silent"]) / 2
    done = run(skills, "score", "skills", "--threshold", str(bound))
    assert done.code == 1
    assert "1 of 2 skills fails: " in done.out
    assert "skills/silent: score" in done.out
    assert run(skills, "score", "skills/good", "--threshold", str(bound)).code == 0


def test_a_score_exactly_at_the_threshold_passes(skills: Path) -> None:
    score = run(skills, "score", "skills/good", "--json").json["composite"]["score"]
    assert run(skills, "score", "skills/good", "--threshold", str(score)).code == 0
    assert run(skills, "score", "skills/good", "--threshold", str(score + 0.01)).code == 1


def test_badge_and_dimension_are_gates(skills: Path) -> None:
    assert run(skills, "score", "skills/good", "--min-badge", "platinum").code == 1
    assert run(skills, "score", "skills/good", "--min-dimension", "triggering_accuracy=0.2").code == 0
    assert run(skills, "score", "skills/good", "--min-dimension", "triggering_accuracy=0.99").code == 1


def test_a_dimension_that_is_not_measured_passes_no_gate(skills: Path) -> None:
    done = run(skills, "score", "skills/good", "--min-dimension", "robustness=0.1")
    assert done.code == 1
    assert "robustness was not measured: not measured at quick depth" in done.out


def test_check_fails_on_errors_and_warnings_only_when_asked(skills: Path) -> None:
    assert run(skills, "check", "skills").code == 0
    done = run(skills, "check", "skills", "--fail-on", "error,warning")
    assert done.code == 1
    assert "skills/silent/SKILL.md:3:1: warning MISSING_TRIGGER" in done.out
    write(skills / "skills", "broken", GOOD + "\nSee [it](references/gone.md).\n")
    done = run(skills, "check", "skills")
    assert done.code == 1
    assert "skills/broken/SKILL.md:15:10: error ORPHAN_REFERENCE references/gone.md does not exist" in done.out


def test_fail_on_never_never_fails(skills: Path) -> None:
    write(skills / "skills", "broken", "no frontmatter here\n")
    assert run(skills, "check", "skills").code == 1
    assert run(skills, "check", "skills", "--fail-on", "never", "--threshold", "99").code == 0


def test_a_bound_that_fail_on_leaves_out_is_said_to_fail_nothing(skills: Path) -> None:
    done = run(skills, "score", "skills", "--threshold", "99", "--fail-on", "error")
    assert done.code == 0
    assert "threshold is set, but fail-on does not list threshold" in done.err


def test_a_gate_without_its_bound_is_refused(skills: Path) -> None:
    done = run(skills, "score", "skills", "--fail-on", "threshold")
    assert (done.code, done.out) == (2, "")
    assert "--fail-on lists threshold, which needs threshold" in done.err


@pytest.mark.parametrize("depth", ["deep", "certify"])
def test_a_depth_that_cannot_run_is_never_replaced(skills: Path, depth: str) -> None:
    pytest.importorskip("anthropic")
    done = run(skills, "score", "skills", "--depth", depth, "--json")
    assert done.code == 3
    assert done.json["depth"] == depth
    assert done.json["results"][0]["composite"]["score"] is None
    assert "there is no key" in done.err


def test_no_skill_is_an_error_unless_that_is_allowed(tmp_path: Path) -> None:
    done = run(tmp_path, "score")
    assert (done.code, done.out) == (2, "")
    assert "no skill found in ." in done.err
    done = run(tmp_path, "score", "--allow-empty", "--json")
    assert done.code == 0
    assert done.json["summary"]["skills"] == 0


def test_a_path_that_is_not_there_is_an_error_on_stderr(tmp_path: Path) -> None:
    done = run(tmp_path, "score", "nowhere", "--output", "json")
    assert (done.code, done.out) == (2, "")
    assert "nowhere" in done.err


def test_one_skill_that_cannot_be_read_stops_none_of_the_others(skills: Path) -> None:
    (skills / "skills" / "odd" / "SKILL.md").mkdir(parents=True)
    done = run(skills, "score", "skills", "--json")
    assert done.code == 3
    by_name = {item["skill"]["name"]: item for item in done.json["results"]}
    assert by_name["odd"]["evaluated"] is False
    assert by_name["odd"]["composite"]["score"] is None
    assert by_name["good"]["composite"]["score"] > 60
    assert done.json["summary"]["not_evaluated"] == 1
    assert run(skills, "score", "skills", "--threshold", "99").code == 1


def test_one_skill_is_an_object_and_several_are_a_list(skills: Path) -> None:
    validator = jsonschema.Draft202012Validator(report_schema())
    for words in (["skills/good"], ["skills/good/SKILL.md"]):
        document = run(skills, "score", *words, "--json").json
        validator.validate(document)
        assert document["composite"]["dimensions"] == document["dimensions"]
        assert document["layers"][0]["name"] == "static"
    for words in (["skills"], ["skills/good", "skills/silent"]):
        document = run(skills, "score", *words, "--json").json
        validator.validate(document)
        assert len(document["results"]) == 2
    checked = run(skills, "check", "skills", "--json").json
    validator.validate(checked)
    assert [finding["id"] for finding in checked["findings"]] == ["MISSING_TRIGGER", "DUPLICATED_CONTENT"]


def test_files_are_written_in_the_format_of_their_suffix(skills: Path) -> None:
    done = run(skills, "score", "skills", "--output-file", "a.json", "--output-file", "b.md")
    assert done.code == 0
    assert json.loads((skills / "a.json").read_text(encoding="utf-8"))["kind"] == "score"
    assert (skills / "b.md").read_text(encoding="utf-8").startswith("# 2 skills: ")
    done = run(skills, "score", "skills", "--output-file", "no/such/folder.json")
    assert done.code == 2
    assert "cannot write no/such/folder.json" in done.err


def test_a_kept_report_is_a_baseline(skills: Path) -> None:
    run(skills, "score", "skills", "--output-file", "base.json")
    assert run(skills, "score", "skills", "--baseline", "base.json").code == 0
    (skills / "skills" / "good" / "SKILL.md").write_text(NO_TRIGGER.replace("{name}", "good"), encoding="utf-8")
    done = run(skills, "score", "skills", "--baseline", "base.json")
    assert done.code == 1
    assert "skills/good: it " in done.out
    write(skills / "skills", "newcomer", NO_TRIGGER)
    done = run(skills, "score", "skills/newcomer", "--baseline", "base.json", "--json")
    assert done.code == 0
    assert done.json["gate"]["outcomes"][0]["reason"] == "no baseline: the skill is new"


def test_a_baseline_that_cannot_be_compared_is_refused(skills: Path) -> None:
    run(skills, "score", "skills", "--output-file", "base.json")
    kept = json.loads((skills / "base.json").read_text(encoding="utf-8"))
    for name, change, message in (
        ("older.json", {"scoring_version": 0}, "scoring version 0"),
        ("deeper.json", {"depth": "deep"}, "at depth deep"),
        ("strange.json", {"kind": "bench"}, "strange.json is not a skillgate report"),
        ("wrong.json", {"results": [{}]}, "results[0]"),
    ):
        (skills / name).write_text(json.dumps({**kept, **change}), encoding="utf-8")
        done = run(skills, "score", "skills", "--baseline", name)
        assert done.code == 2
        assert message in done.err
    assert run(skills, "score", "skills", "--baseline", "missing.json").code == 2


def test_a_revision_is_a_baseline(skills: Path) -> None:
    commit(skills)
    assert run(skills, "score", "skills", "--baseline", "HEAD").code == 0
    (skills / "skills" / "good" / "SKILL.md").write_text(NO_TRIGGER.replace("{name}", "good"), encoding="utf-8")
    write(skills, "later", NO_TRIGGER)
    done = run(skills, "score", "skills", "later", "--baseline", "HEAD", "--json")
    assert done.code == 1
    verdicts = {item["skill"]["name"]: item["gate"]["passed"] for item in done.json["results"]}
    assert verdicts == {"good": False, "silent": True, "later": True}
    done = run(skills, "score", "skills", "--baseline", "no-such-revision")
    assert done.code == 2
    assert "no-such-revision" in done.err


def test_compare_shows_what_moved(skills: Path) -> None:
    done = run(skills, "compare", "skills/good", "skills/silent", "--json")
    assert done.code == 0
    jsonschema.Draft202012Validator(report_schema()).validate(done.json)
    assert done.json["change"] < 0
    assert [finding["id"] for finding in done.json["new"]] == ["MISSING_TRIGGER"]
    assert done.json["dimensions"]["triggering_accuracy"]["better"] == "a"
    assert done.json["dimensions"]["robustness"]["change"] is None
    assert run(skills, "compare", "skills/good", "skills/silent", "--max-drop", "1").code == 1
    assert "▼" in run(skills, "compare", "skills/good", "skills/silent").out
    assert "▼" in run(skills, "compare", "skills/good", "skills/silent", "--output", "markdown").out


def test_compare_reads_a_side_from_git(skills: Path) -> None:
    commit(skills)
    (skills / "skills" / "good" / "SKILL.md").write_text(NO_TRIGGER.replace("{name}", "good"), encoding="utf-8")
    done = run(skills, "compare", "HEAD:skills/good", "skills/good", "--json")
    assert done.code == 0
    assert done.json["change"] < 0
    assert done.json["a"]["skill"]["path"] == "HEAD:skills/good"


def test_compare_wants_one_skill_on_each_side(skills: Path) -> None:
    done = run(skills, "compare", "skills", "skills/good")
    assert done.code == 2
    assert "2 skills in skills" in done.err
    assert run(skills, "compare", "nowhere", "skills/good").code == 2


def test_configuration_sets_the_gate_for_some_paths(skills: Path) -> None:
    (skills / ".skillgate.yaml").write_text(
        "threshold: 99\noverrides:\n  - paths: ['skills/silent']\n    threshold: 10\n", encoding="utf-8"
    )
    done = run(skills, "score", "skills", "--json")
    assert done.code == 1
    verdicts = {item["skill"]["name"]: item["gate"]["passed"] for item in done.json["results"]}
    assert verdicts == {"good": False, "silent": True}


def test_explain_rules_and_schema_answer(tmp_path: Path) -> None:
    assert "## MISSING_TRIGGER" in run(tmp_path, "explain", "missing-trigger").out
    triggering = run(tmp_path, "explain", "triggering_accuracy").out
    assert "Weight 25 %" in triggering
    assert "**Fix first if** the composite is below 70." in triggering
    assert "Gain per hour: high." in triggering
    assert "Platinum ★★★★★" in run(tmp_path, "explain", "badges").out
    done = run(tmp_path, "explain", "MISSING_TRIGER")
    assert done.code == 2
    assert "did you mean 'MISSING_TRIGGER'" in done.err
    identifiers = {rule["id"] for rule in run(tmp_path, "rules", "--json").json["rules"]}
    assert {"ORPHAN_REFERENCE", "NOT_UTF8", "NAME_INVALID"} <= identifiers
    jsonschema.Draft202012Validator.check_schema(run(tmp_path, "schema", "report").json)
    jsonschema.Draft202012Validator.check_schema(run(tmp_path, "schema", "config").json)
    assert run(tmp_path, "schema", "reports").code == 2


def test_a_short_skill_is_told_which_other_describes_nearly_the_same(tmp_path: Path) -> None:
    write(tmp_path / "skills", "tidy-csv")
    write(tmp_path / "skills", "clean-csv")
    write(
        tmp_path / "skills",
        "bake-bread",
        GOOD.replace("Tidy CSV files", "Bake bread").replace("a spreadsheet", "dough"),
    )
    done = run(tmp_path, "score", "skills", "--json")
    advice = {item["skill"]["name"]: [piece["action"] for piece in item["advice"]] for item in done.json["results"]}
    assert any("merge it with skills/clean-csv" in action for action in advice["tidy-csv"])
    assert any("merge it with skills/tidy-csv" in action for action in advice["clean-csv"])


def test_the_option_of_another_command_is_named(tmp_path: Path) -> None:
    done = run(tmp_path, "score", "--format", "json")
    assert done.code == 2
    assert "did you mean '--output'" in done.err


@pytest.mark.parametrize(("topic", "title"), [("Platinum", "## badges"), ("a", "## grades"), ("penalty", "## penalty")])
def test_a_badge_or_a_grade_explains_all_of_them(tmp_path: Path, topic: str, title: str) -> None:
    assert run(tmp_path, "explain", topic).out.startswith(title)


def test_compare_says_what_quick_depth_cannot_see(tmp_path: Path) -> None:
    long = f"{GOOD}\n{filler(60)}"
    write(tmp_path, "before", long)
    moved = write(tmp_path, "after", GOOD + "\nThe steps are in [one file](references/steps.md).\n")
    (moved / "references").mkdir()
    (moved / "references" / "steps.md").write_text("# Steps\n\nAll of them.\n", encoding="utf-8")
    hints = run(tmp_path, "compare", "before", "after", "--json").json["hints"]
    assert any("fewer lines and more linked references" in hint for hint in hints)
    assert run(tmp_path, "compare", "before", "before", "--json").json["hints"] == []
    assert "hint: B has fewer lines" in run(tmp_path, "compare", "before", "after").out
