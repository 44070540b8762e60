"""One command finds, evaluates, selects and reports."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.publishing import with_result
from tests.architecture.source import ROOT
from tests.bench.made import answering, benchmark, run, skill, task
from tests.cli.running import Done

if TYPE_CHECKING:
    from pathlib import Path

TASKS = [task(f"t{n}", inputData={"n": n}, expectedOutput={"type": "exact", "value": n}) for n in range(1, 5)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Three skills that complete all, three quarters and none of four tasks."""
    skill(tmp_path / "skills/whole", answering("data['n']"), tags=["math"], description="Counts to n.")
    skill(tmp_path / "skills/partly", answering("min(data['n'], 3)"), tags=["math"])
    skill(tmp_path / "skills/none", answering("0"))
    benchmark(tmp_path / "b.json", *TASKS)
    return tmp_path


def ran(cwd: Path, *words: str, code: int = 0) -> Any:
    done = run(cwd, "run", "--benchmark", "./b.json", *words, "--json")
    assert done.code == code, done.err
    return done.json


def picks(document: Any) -> dict[str, bool]:
    return {one["skillId"]: one["selected"] for one in document["selection"]["skills"]}


def test_all_that_are_found_are_evaluated_and_the_good_ones_selected(project: Path) -> None:
    found = ran(project)
    assert picks(found) == {"whole": True, "partly": True, "none": False}
    assert [one["skillId"] for one in found["reports"]] == ["whole", "partly", "none"]
    assert all(len(one["taskResults"]) == 4 for one in found["reports"])
    assert found["gate"]["passed"] is True
    assert found["gate"]["outcomes"][0]["reason"] == "2 of 3 skills selected"
    assert found["selection"]["strategy"]["topK"] == 5
    assert found["selection"]["strategy"]["filters"]["minCompletionRate"] == 0.7


def test_the_report_marks_each_skill_with_the_filter_that_it_failed(project: Path) -> None:
    done = run(project, "run", "--benchmark", "./b.json", "--top-k", "1", "--format", "json,markdown,html,csv,junit")
    assert done.code == 0, done.err
    assert done.out.startswith("1 of 3 skills selected\n")
    assert re.search(r"^none +completion rate 0\.0000 is below 0\.7$", done.out, re.MULTILINE)
    folder = project / "reports"
    report = json.loads((folder / "eval-result.json").read_text())
    reasons = {one["skillId"]: [gate["reason"] for gate in one["gate"]["outcomes"]] for one in report["reports"]}
    assert reasons["whole"][1].startswith("selected: rank 1 of 2 by composite")
    assert reasons["partly"][1].startswith("not selected: rank 2 of 2 by composite")
    assert reasons["none"] == ["completion rate 0.0000 is below 0.7", "not selected"]
    for name in ("eval-result.md", "eval-result.html", "eval-result.junit.xml"):
        text = (folder / name).read_text()
        assert "1 of 3 skills selected" in text, name
        assert "completion rate 0.0000 is below 0.7" in text, name
    rows = [line.split(",") for line in (folder / "eval-result.csv").read_text().splitlines()]
    assert {row[0]: row[-1] for row in rows[1:]} == {"whole": "pass", "partly": "fail", "none": "fail"}


def test_nothing_selected_fails_and_still_reports(project: Path) -> None:
    found = ran(project, "-q", "none", code=1)
    assert picks(found) == {"none": False}
    assert found["gate"]["passed"] is False
    assert json.loads((project / "reports/eval-result.json").read_text()) == found


def test_nothing_found_is_no_run(project: Path) -> None:
    done = run(project, "run", "--benchmark", "./b.json", "-q", "weather")
    assert (done.code, done.out) == (2, "")
    assert "found no skill to evaluate in ./skills; nothing was run" in done.err
    assert not (project / "reports").exists()
    assert run(project, "run", "--skills-dir", "gone").code == 2


def test_a_search_narrows_what_is_evaluated(project: Path) -> None:
    assert list(picks(ran(project, "-q", "counts"))) == ["whole"]
    assert sorted(picks(ran(project, "-t", "MATH"))) == ["partly", "whole"]
    assert run(project, "run", "--benchmark", "./b.json", "-a", "http").code == 2


@pytest.mark.parametrize(
    ("words", "selected"),
    [
        (("--min-completion", "0"), {"whole", "partly", "none"}),
        (("--min-completion", "0.9"), {"whole"}),
        (("--min-partial", "0.9"), {"whole"}),
        (("--require-task", "t4"), {"whole"}),
        (("--min-completion", "0", "--top-k", "2"), {"whole", "partly"}),
        (("--min-completion", "0", "--sort-by", "completionRate", "--order", "asc", "--top-k", "1"), {"none"}),
    ],
)
def test_bounds_say_who_is_selected(project: Path, words: tuple[str, ...], selected: set[str]) -> None:
    assert {name for name, one in picks(ran(project, *words)).items() if one} == selected


def test_with_exit_on_fail_a_skill_that_misses_a_bound_fails_the_run(project: Path) -> None:
    found = ran(project, "--exit-on-fail", code=1)
    assert picks(found)["whole"] is True
    assert found["gate"]["passed"] is False
    ran(project, "--exit-on-fail", "-t", "math", "--top-k", "1")  # a rank behind the last fails nothing


def test_a_strategy_filters_and_options_hold_over_it(project: Path) -> None:
    text = "filters: {minCompletionRate: 0.9, requiredTags: [math]}\nsortBy: completionRate\ntopK: 3\n"
    (project / "s.yaml").write_text(text, encoding="utf-8")
    found = ran(project, "--strategy", "s.yaml")
    assert picks(found) == {"whole": True, "partly": False, "none": False}
    assert sorted(one["skillId"] for one in found["reports"]) == ["partly", "whole"]
    assert found["notices"] == ["none was not evaluated: lacks the tag math"]
    assert picks(ran(project, "--strategy", "s.yaml", "--min-completion", "0.5"))["partly"] is True
    (project / "s.yaml").write_text("filters: {minCompletionrate: 0.9}\nsortBy: bogus\n", encoding="utf-8")
    done = run(project, "run", "--benchmark", "./b.json", "--strategy", "s.yaml")
    assert (done.code, done.out) == (2, "")
    assert 'did you mean "minCompletionRate"?' in done.err
    assert "sortBy: expected one of" in done.err


def test_a_configured_bound_holds_where_nothing_else_says_one(project: Path) -> None:
    (project / ".skillgate.yaml").write_text("min-completion: 0.9\n", encoding="utf-8")
    assert picks(ran(project)) == {"whole": True, "partly": False, "none": False}
    assert picks(ran(project, "--min-completion", "0.5"))["partly"] is True


def test_a_skill_that_cannot_be_loaded_stops_no_other(project: Path) -> None:
    skill(project / "skills/broken", id="Bad ID!")
    skill(project / "skills/chain", adapterType="langchain")
    skill(project / "skills/again", answering("0"), id="whole")
    secret = {"authType": "bearer", "authTokenEnvKey": "SKILL_TOKEN"}
    skill(project / "skills/web", adapterType="http", entrypoint="http://127.0.0.1:9/", config=secret)
    found = ran(project, code=3)
    assert picks(found)["partly"] is True
    told = {one["path"]: one["reason"] for one in found["not_loaded"]}
    assert sum("broken" in path for path in told) == 1
    assert any("langchain" in reason for reason in told.values())
    assert any("same id and version as" in reason for reason in told.values())
    assert any("SKILL_TOKEN" in reason for reason in told.values())
    done = run(project, "run", "--benchmark", "./b.json")
    assert "not loaded: skills/broken/skill.json: " in done.out


def test_prose_skills_are_run_only_where_that_is_asked_for(project: Path) -> None:
    (project / "skills/charts").mkdir()
    (project / "skills/charts/SKILL.md").write_text("---\nname: charts\ndescription: Charts.\n---\nDraw.\n")
    done = run(project, "run", "--benchmark", "./b.json", "--dry-run")
    assert done.code == 0
    assert "1 prose skills (SKILL.md) left out; use --prose to include them" in done.err
    static = run(project, "run", "--benchmark", "skill-quality", "--prose", "--min-completion", "0", "--json")
    assert "charts" in picks(static.json)


def test_a_dry_run_writes_nothing(project: Path) -> None:
    before = sorted(project.rglob("*"))
    done = run(project, "run", "--benchmark", "./b.json", "--dry-run", "--runs", "3")
    assert done.code == 0
    assert "36 calls: 3 skills × 4 tasks × 3 runs" in done.out
    assert sorted(project.rglob("*")) == before


def test_what_could_not_be_measured_is_not_selected(project: Path) -> None:
    judged = {"type": "llm_judge", "judgePrompt": "Is it good?"}
    benchmark(project / "b.json", *TASKS, task("judged", expectedOutput=judged))
    found = ran(project, code=1)
    assert not any(picks(found).values())
    whole = next(one for one in found["selection"]["skills"] if one["skillId"] == "whole")
    assert whole["reasons"] == ["1 of 5 results were not measured"]
    assert picks(ran(project, "--allow-skipped")) == {"whole": True, "partly": True, "none": False}


def test_what_was_selected_is_found_and_selected_again(project: Path) -> None:
    ran(project)
    found = run(project, "find", "--min-completion", "0.7", "--json").json
    assert [one["id"] for one in found["skills"]] == ["whole", "partly"]
    chosen = run(project, "select", "--from", "skills", "--min-completion", "0.9", "--json").json
    assert [one["id"] for one in chosen] == ["whole"]


def test_an_interrupted_run_writes_what_it_has(project: Path) -> None:
    skill(project / "skills/slow", "import time; time.sleep(60)")
    words = ["run", "--benchmark", "./b.json", "--no-store", "--progress", "json", "--concurrency", "16"]
    process = subprocess.Popen(
        [sys.executable, "-m", "skillgate", *words],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        encoding="utf-8",
    )
    assert process.stderr is not None
    assert any(line.startswith("{") for line in process.stderr)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 130
    report = json.loads((project / "reports/eval-result.json").read_text())
    assert {one["incomplete"] for one in report["reports"]} == {"the run was interrupted"}


def written(cwd: Path, *words: str, command: str = "eval") -> Done:
    which = ("--skills", "skills/whole") if command == "eval" else ("-q", "whole")
    return run(cwd, command, *which, "--benchmark", "./b.json", "--write-metadata", *words)


@pytest.mark.parametrize("command", ["eval", "run"])
def test_results_go_into_skill_json_on_request_and_the_rest_stays_as_it_is(project: Path, command: str) -> None:
    file = project / "skills/whole/skill.json"
    text = (
        '{\n    "id": "whole",\n    "name": "Whölé", "version": "1.0.0",\n    "adapterType": "subprocess",\n'
        '    "entrypoint": "python3 skill.py",\n    "tags": ["b",   "a"],\n    "own": 1.50,\n    "metadata": {\n'
        '        "author": "me"\n    }\n}\n'
    )
    file.write_text(text, encoding="utf-8")
    file.chmod(0o640)
    for _ in range(2):  # the second time it is replaced
        done = written(project, "--no-store", command=command)
        assert done.code == 0, done.err
    now = file.read_text(encoding="utf-8")
    before, _, behind = now.partition(',\n        "benchmarkResults": [')
    assert text.startswith(before)
    assert behind.endswith("\n    }\n}\n")
    (result,) = json.loads(now)["metadata"]["benchmarkResults"]
    assert (result["benchmarkId"], result["completionRate"], result["skillVersion"]) == ("own", 1.0, "1.0.0")
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in file.parent.iterdir()) == ["skill.json", "skill.py"]
    found = run(project, "find", "--min-completion", "1", "--no-store", "--json").json
    assert [one["id"] for one in found["skills"]] == ["whole"]


def test_nothing_is_written_back_of_a_part_and_nothing_through_a_link(project: Path) -> None:
    file = project / "skills/whole/skill.json"
    text = file.read_text()
    for words in (("--task-id", "t1"), ("--task-tag", "x")):
        benchmark(project / "b.json", *[{**one, "tags": ["x"]} for one in TASKS])
        done = written(project, *words)
        assert (done.code, "all tasks" in done.err) == (2, True)
    assert written(project, "--dry-run").code == 0
    (project / "elsewhere.json").write_text(text, encoding="utf-8")
    file.unlink()
    file.symlink_to(project / "elsewhere.json")
    done = written(project)
    assert (done.code, "has no skill.json of whole: it was read through a link" in done.err) == (2, True)
    assert (project / "elsewhere.json").read_text() == text
    skill(project / "skills/none", id="none")
    (project / "skills/none/variant.json").write_text(text, encoding="utf-8")
    other = run(project, "eval", "--skills", "skills/none/variant.json", "--benchmark", "./b.json", "--write-metadata")
    assert (other.code, "from a file with another name" in other.err) == (2, True)


RESULT = {"benchmarkId": "b", "completionRate": 1.0}


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{ }",
        '{"a": 1}',
        '{"metadata": {}}',
        '{"metadata": {"x": {"benchmarkResults": []}}, "z": "benchmarkResults"}',
        '{"metadata":{"benchmarkResults":[{"benchmarkId":"b","completionRate":0.1},{"benchmarkId":"c"},7]},"z":[1]}',
        '{\n\t"metadata": {\n\t\t"author": "}\\""\n\t}\n}',
        '{\r\n  "id": "x"\r\n}\r\n',
        '  {"metadata" : { "a":1 } , "b" : 2 }  ',
    ],
)
def test_only_the_result_is_added(text: str) -> None:
    before, now = json.loads(text), json.loads(with_result(text, RESULT))
    results = now["metadata"].pop("benchmarkResults")
    old = before.setdefault("metadata", {}).pop("benchmarkResults", [])
    assert results == [*(one for one in old if one == 7 or one["benchmarkId"] != "b"), RESULT]
    assert now == before
    assert with_result(with_result(text, RESULT), RESULT) == with_result(text, RESULT)
    assert with_result(text, RESULT).count("\n") >= text.count("\n")


@pytest.mark.parametrize("text", ['{"metadata": []}', '{"metadata": {"benchmarkResults": {}}}'])
def test_what_has_another_form_is_let_be(text: str) -> None:
    with pytest.raises(ValueError, match="is no"):
        with_result(text, RESULT)
