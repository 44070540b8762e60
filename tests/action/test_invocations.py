"""Gates on recorded invocations in a pull request: what decides, what it tells, and what it leaves alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.action.pull_request import PullRequest, skill
from tests.action.recorded import INPUTS, log, repository, touching

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
pytest.importorskip("scipy", reason="scipy is not installed")

SKILL = "skills/merge-sheets"
TRIGGER = "gates:\n  give-up: {kind: trigger, max_score: 40, min_invocations: 10, max_age_without_improvement: 0}\n"


def test_a_skill_whose_record_is_good_passes_and_all_of_it_is_told(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets"))
    made.change(touching())
    ran = made.run(**INPUTS)
    assert (ran.code, ran.outputs["result"]) == (0, "pass"), ran.err
    assert json.loads(ran.outputs["gates"]) == {SKILL: {"publish": "passed"}}
    assert ran.outputs["invocations-json"] == "skillgate-report/invocations.json"
    document = ran.document("invocations.json")
    assert (document["kind"], document["invocations"], document["rated"]) == ("invocations", 12, 12)
    (check,) = document["gates"]
    assert (check["skill"], check["status"], check["stats"]["invocation_count"]) == (SKILL, "passed", 12)
    assert document["gate"]["passed"] is True
    for text in (ran.summary, (ran.folder / "skillgate-report" / "report.md").read_text(encoding="utf-8")):
        assert "<summary>✅ Gates on recorded invocations: PASSED publish: 1 of 1 skill</summary>" in text
    assert "PASSED publish: 1 of 1 skill" in ran.log


def test_a_requirement_that_failed_fails_the_step_with_the_reason_first(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False))
    made.change(touching())
    ran = made.run(**INPUTS)
    assert (ran.code, ran.outputs["result"]) == (1, "fail"), ran.err
    assert ran.run["reasons"][0].startswith(f"{SKILL}: the gate publish on recorded invocations failed: average score")
    assert f"{SKILL}: the gate publish on recorded invocations failed" in ran.log.split("\n")[1]
    first = next(line for line in ran.summary.split("\n") if line.startswith("- "))
    assert "the gate publish on recorded invocations failed" in first
    assert "Gates on recorded invocations: FAILED publish: 1 of 1 skill" in ran.summary
    assert json.loads(ran.outputs["gates"]) == {SKILL: {"publish": "failed"}}


def test_every_gate_has_to_be_passed(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets"))
    made.change(touching())
    ran = made.run(**{**INPUTS, "gate": "publish, feature"})
    assert (ran.code, json.loads(ran.outputs["gates"])) == (1, {SKILL: {"publish": "passed", "feature": "failed"}})
    assert "the gate feature" in ran.run["reasons"][0]


@pytest.mark.parametrize(
    ("runs", "code", "status"),
    [
        (log("merge-sheets", well=False), 1, "triggered"),
        (log("merge-sheets"), 0, "clear"),
        (log("merge-sheets", 3, well=False), 0, "insufficient_data"),
    ],
)
def test_a_trigger_that_went_off_fails_the_step(tmp_path: Path, runs: str, code: int, status: str) -> None:
    made = repository(tmp_path, runs, {".skillgate.yaml": TRIGGER})
    made.change(touching())
    ran = made.run(**{**INPUTS, "gate": "give-up"})
    assert (ran.code, json.loads(ran.outputs["gates"])) == (code, {SKILL: {"give-up": status}}), ran.err
    assert (ran.run["reasons"] == []) is (code == 0)


@pytest.mark.parametrize("runs", [log("another"), log("merge-sheets", days_ago=40)])
@pytest.mark.parametrize(
    ("inputs", "code", "result"),
    [
        ({}, 1, "fail"),  # unmeasured is in fail-on by default
        ({"fail_on": "error"}, 3, "error"),
        ({"on_unmeasured": "pass"}, 0, "pass"),
    ],
)
def test_a_skill_of_which_nothing_is_recorded_is_unmeasured(
    tmp_path: Path, runs: str, inputs: dict[str, str], code: int, result: str
) -> None:
    made = repository(tmp_path, runs)
    made.change(touching())
    ran = made.run(**INPUTS, **inputs)
    assert (ran.code, ran.outputs["result"]) == (code, result), ran.err
    assert json.loads(ran.outputs["gates"]) == {SKILL: {"publish": "no_data"}}
    assert "is undecided: no invocation was recorded in the last 30 days" in ran.outputs["reasons"]


def test_a_figure_that_nobody_measured_is_no_pass(tmp_path: Path) -> None:
    gate = "gates:\n  calm: {max_error_rate: 0.5}\n"
    runs = log("merge-sheets").replace('"error_count": 0, ', "")
    made = repository(tmp_path, runs, {".skillgate.yaml": gate})
    made.change(touching())
    ran = made.run(**{**INPUTS, "gate": "calm"}, fail_on="error")
    assert (ran.code, json.loads(ran.outputs["gates"])) == (3, {SKILL: {"calm": "unmeasured"}}), ran.err


def test_a_new_skill_without_a_record_is_told_and_fails_nothing(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False))
    made.change(skill("split-sheets"))
    ran = made.run(**INPUTS)
    assert (ran.code, json.loads(ran.outputs["gates"])) == (0, {}), ran.err
    assert "skills/split-sheets is new and has no recorded invocations: no gate was checked" in ran.run["notices"]
    made.write({"found.jsonl": log("split-sheets", well=False)})
    assert made.run(**{**INPUTS, "invocations": "found.jsonl"}).code == 1


def test_a_skill_whose_name_does_not_look_like_one_is_found_by_its_own_name(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets") + log("split all sheets", well=False))
    made.change({"skills/split/SKILL.md": skill("split-sheets")["skills/split-sheets/SKILL.md"].replace(
        "name: split-sheets", "name: split all sheets"
    )})  # fmt: skip
    made.write({"found.jsonl": log("split all sheets", well=False)})
    ran = made.run(**{**INPUTS, "invocations": "found.jsonl"})
    assert json.loads(ran.outputs["gates"]) == {"skills/split": {"publish": "failed"}}, ran.err
    assert "does not look like one" not in ran.err


def test_a_removed_skill_is_asked_nothing(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False))
    made.base(skill("split-sheets"))
    made.change({SKILL: None})
    ran = made.run(**INPUTS)
    assert (ran.code, ran.outputs["gates"], ran.outputs["invocations-json"]) == (0, "", ""), ran.err


def test_skills_that_the_change_does_not_touch_are_not_asked(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False) + log("split-sheets"), skill("split-sheets"))
    made.change(touching("split-sheets"))
    assert json.loads(made.run(**INPUTS).outputs["gates"]) == {"skills/split-sheets": {"publish": "passed"}}
    everything = made.run(**INPUTS, changed_only="false")
    assert everything.code == 1
    assert json.loads(everything.outputs["gates"])[SKILL] == {"publish": "failed"}


def test_never_tells_and_fails_nothing(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False))
    made.change(touching())
    ran = made.run(**INPUTS, fail_on="never")
    assert (ran.code, ran.outputs["result"]) == (0, "pass"), ran.err
    assert any("the gate publish on recorded invocations failed" in notice for notice in ran.run["notices"])
    assert "FAILED publish: 1 of 1 skill" in ran.summary


def test_outside_of_a_change_what_is_checked_out_is_asked(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False))
    made.name = "push"
    ran = made.run(**INPUTS)
    assert (ran.code, json.loads(ran.outputs["gates"])) == (1, {SKILL: {"publish": "failed"}}), ran.err


def test_a_plugin_stands_before_the_name_and_another_plugin_is_another_skill(tmp_path: Path) -> None:
    runs = log("sheets:merge-sheets") + log("other:merge-sheets", well=False)
    made = repository(tmp_path, runs, {".claude-plugin/plugin.json": json.dumps({"name": "sheets"})})
    made.change(touching())
    ran = made.run(**INPUTS)
    assert (ran.code, ran.document("invocations.json")["invocations"]) == (0, 12), ran.err


def test_directories_and_several_files_are_read_each_once(tmp_path: Path) -> None:
    more = {"logs/older.jsonl": log("merge-sheets", 8, days_ago=3), "logs/deeper/notes.txt": "nothing of interest"}
    made = repository(tmp_path, log("merge-sheets"), more)
    made.change(touching())
    ran = made.run(**{**INPUTS, "invocations": "logs\nlogs/runs.jsonl"})
    assert (ran.code, ran.document("invocations.json")["invocations"]) == (0, 20), ran.err


def test_what_a_store_holds_is_asked(tmp_path: Path) -> None:
    from tests.bench.made import run

    made = repository(tmp_path, log("another"))
    made.change(touching())
    made.write({"found.jsonl": log("merge-sheets")})
    done = run(made.folder, "log", "import", "--store", "kept/store.db", "found.jsonl")
    assert done.code == 0, done.err
    ran = made.run(invocations="store", gate="publish", store="kept/store.db")
    assert (ran.code, json.loads(ran.outputs["gates"])) == (0, {SKILL: {"publish": "passed"}}), ran.err
    empty = made.run(invocations="store", gate="publish", store="kept/other.db", fail_on="error")
    assert (empty.code, json.loads(empty.outputs["gates"])) == (3, {SKILL: {"publish": "no_data"}}), empty.err


@pytest.mark.parametrize(
    ("inputs", "told"),
    [
        ({"gate": "publish"}, "both inputs, invocations and gate; invocations is"),
        ({"invocations": "logs"}, "gate is not set"),
        ({"invocations": "logs", "gate": "publsh"}, "unknown gate 'publsh' (did you mean 'publish'?)"),
        ({"invocations": "nowhere.jsonl", "gate": "publish"}, "there is nothing to read: nowhere.jsonl does not exist"),
        ({"invocations": "../elsewhere.jsonl", "gate": "publish"}, "leads out of the workspace"),
        ({"invocations": ".git/config", "gate": "publish"}, "is in Git's own directory"),
        ({"invocations": "store", "gate": "publish"}, "set the input store too"),
        ({"invocations": "store\nlogs", "gate": "publish", "store": "kept/store.db"}, "use it alone"),
        ({"invocations": "logs/notes.txt", "gate": "publish"}, "nothing could be read"),
        ({"invocations": "logs/broken.jsonl", "gate": "publish"}, "nothing could be read"),
    ],
)
def test_inputs_that_do_not_do_are_refused(tmp_path: Path, inputs: dict[str, str], told: str) -> None:
    more = {"logs/notes.txt": "no log at all\n", "logs/broken.jsonl": '{"skill_name": 3}\n{"skill_name": "x"}\n'}
    made = repository(tmp_path, log("merge-sheets"), more)
    made.change(touching())
    ran = made.run(**inputs)
    assert (ran.code, ran.outputs["result"]) == (2, "error"), ran.err
    assert told in ran.outputs["reasons"]


def test_a_change_that_touches_no_skill_passes(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False))
    made.change({"README.md": "# Sheets\n"})
    ran = made.run(**INPUTS)
    assert (ran.code, ran.outputs["gates"]) == (0, ""), ran.err


def test_lines_that_are_rejected_are_told_and_fail_nothing(tmp_path: Path) -> None:
    broken = "".join(
        f'{{"skill_name": "x", "timestamp": "{number}"}}\n{{"skill_name": {number}}}\n' for number in range(40)
    )
    made = repository(tmp_path, broken + log("merge-sheets"))
    made.change(touching())
    ran = made.run(**INPUTS)
    assert ran.code == 0, ran.err
    told = [notice for notice in ran.run["notices"] if notice.startswith("invocations: ")]
    assert told[0].startswith("invocations: logs/runs.jsonl:1: ")
    assert len(told) < 15
    assert any("more places could not be read" in notice for notice in told)


def test_an_empty_log_is_no_record(tmp_path: Path) -> None:
    made = repository(tmp_path, "")
    made.change(touching())
    ran = made.run(**INPUTS, fail_on="error")
    assert (ran.code, json.loads(ran.outputs["gates"])) == (3, {SKILL: {"publish": "no_data"}}), ran.err


def test_a_failed_score_stands_before_a_failed_gate(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False))
    made.change(touching())
    ran = made.run(**INPUTS, threshold="99.9")
    score, gate = ran.run["reasons"]
    assert (ran.code, "99.9" in score, "the gate publish" in gate) == (1, True, True), ran.err


def test_a_failed_gate_stands_before_what_could_not_be_measured(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False))
    made.change({**touching(), "skills/torn/SKILL.md": "\0"})
    ran = made.run(**INPUTS, fail_on="regression")
    gate, missing = ran.run["reasons"]
    assert (ran.code, "the gate publish" in gate, "was not measured" in missing) == (1, True, True), ran.err


def test_reports_of_earlier_jobs_are_gated_when_they_are_told(tmp_path: Path) -> None:
    made = repository(tmp_path, log("merge-sheets", well=False))
    made.name = "push"
    made.run(report_dir="first")
    ran = made.run(**INPUTS, reports="first/report.json")
    assert (ran.code, json.loads(ran.outputs["gates"])) == (1, {SKILL: {"publish": "failed"}}), ran.err


def test_two_skills_of_one_name_share_its_record_and_it_is_said(tmp_path: Path) -> None:
    text = skill("merge-sheets")[f"{SKILL}/SKILL.md"]
    twin = {"more/merge-sheets/SKILL.md": text, "more/merge-sheets/references/columns.md": "# Columns\n\nEach.\n"}
    made = PullRequest(folder=tmp_path / "work", name="push")
    made.base({**skill("merge-sheets"), **twin, "logs/runs.jsonl": log("merge-sheets")})
    ran = made.run(**INPUTS, fail_on="never")
    assert set(json.loads(ran.outputs["gates"])) == {SKILL, "more/merge-sheets"}, ran.err
    assert any("are all called merge-sheets; its records count for each" in notice for notice in ran.run["notices"])
