"""What a correct tool does where another evaluator did something else: exit codes, files, refusals."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import answering, benchmark, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path

OWN = {"type": "custom", "customScorerPath": "scorer.py:score"}
GATES = [
    ("--exit-on-fail", "--min-completion", "1"),
    ("--min-partial", "0"),
    ("--max-error-rate", "1"),
    ("--require-task", "t1"),
    ("--require-task", "t1", "--allow-skipped"),
]


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """A directory with a skill that is right and a benchmark of one task."""
    skill(tmp_path / "s", answering("data['n']"))
    benchmark(tmp_path / "b.json", task())
    return tmp_path


@pytest.mark.parametrize("gates", GATES)
def test_a_gate_without_its_figure_is_exit_3_and_no_failure_of_the_skill(one: Path, gates: tuple[str, ...]) -> None:
    (one / "scorer.py").write_text("import os\ndef score(**_):\n    os._exit(1)\n", encoding="utf-8")
    benchmark(one / "c.json", task(expectedOutput=OWN))
    done = run(one, "eval", "--skills", "s", "--benchmark", "./c.json", "--json", *gates)
    (report,) = done.json["reports"]
    assert (done.code, report["taskResults"][0]["status"], report["gate"]["passed"]) == (3, "skipped", False)
    assert {outcome["verdict"] for outcome in report["gate"]["outcomes"]} == {"unmeasured"}


def test_a_gate_that_failed_comes_before_one_without_its_figure(one: Path) -> None:
    (one / "scorer.py").write_text("def score(**_):\n    return 7\n", encoding="utf-8")
    benchmark(one / "c.json", task(expectedOutput=OWN), task("t2", expectedOutput={"value": 2}))
    words = ("eval", "--skills", "s", "--benchmark", "./c.json", "--require-task")
    assert run(one, *words, "t1").code == 3
    assert run(one, *words, "t1", "--require-task", "t2").code == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--require-task", "nope"), "no such task"),
        (("--output-dir", "b.json"), "Not a directory"),
        (("--output-dir", "b.json/reports"), "Not a directory"),
        (("--store", "b.json"), "not a SQLite database"),
        (("--store", "s"), "is a directory"),
    ],
)
def test_a_dry_run_refuses_what_a_run_refuses_and_makes_nothing(one: Path, words: tuple[str, ...], told: str) -> None:
    there = sorted(one.rglob("*"))
    run_words = ("eval", "--skills", "s", "--benchmark", "./b.json", *words)
    done = run(one, *run_words, "--dry-run")
    assert (done.code, done.out, told in done.err) == (2, "", True)
    assert sorted(one.rglob("*")) == there
    assert run(one, *run_words).code == 2


def test_a_report_that_cannot_be_written_is_told_before_anything_runs(one: Path) -> None:
    skill(one / "s", "open('ran', 'w')")
    (one / "reports/eval-result.md").mkdir(parents=True)
    done = run(one, "eval", "--skills", "s", "--benchmark", "./b.json")
    assert (done.code, "reports/eval-result.md: it is a directory" in done.err) == (2, True)
    assert not (one / ".skillgate").exists()


def test_a_report_that_can_no_longer_be_written_costs_no_result(one: Path) -> None:
    skill(one / "s", "import time; time.sleep(1.5)\n" + answering("data['n']"))
    reports = one / "reports"

    def spoil() -> None:
        deadline = time.monotonic() + 30
        while not reports.is_dir() and time.monotonic() < deadline:
            time.sleep(0.02)
        shutil.rmtree(reports)
        reports.write_text("in the way", encoding="utf-8")

    spoiling = threading.Thread(target=spoil)
    spoiling.start()
    done = run(one, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--store", "kept.db")
    spoiling.join()
    assert (done.code, done.json["reports"][0]["summary"]["completionRate"]) == (3, 1)
    assert "cannot write reports/eval-result.json" in done.err
    assert len(run(one, "history", "--store", "kept.db", "--json").json["evaluations"]) == 1


def test_a_diff_does_not_let_through_what_was_left_out_afterwards(one: Path) -> None:
    benchmark(one / "b.json", task("t1"), task("t2", inputData={"n": 2}, expectedOutput={"value": 2}))
    words = ("eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--output-dir")
    assert run(one, *words, "before").code == 0
    skill(one / "s", answering("1"))  # t2 is broken now
    assert run(one, *words, "after", "--task-id", "t1").code == 0
    diff = ("report", "diff", "before/eval-result.json", "after/eval-result.json", "--fail-on-regression")
    done = run(one, *diff)
    assert (done.code, "not all tasks are in both reports" in done.out) == (1, True)
    assert done.out.startswith("INCONCLUSIVE")
    assert run(one, *diff, "--removed-tasks", "warn").code == 0
    assert run(one, *diff, "--golden", "t2").out.startswith("FAIL")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"models": ["a-model"]}, "the models changed from none to a-model"),
        ({"run": {"evaluator": "numeric"}}, "the default scorer changed from exact to numeric"),
    ],
)
def test_a_diff_of_other_judges_or_scorers_is_inconclusive(one: Path, change: dict[str, Any], told: str) -> None:
    assert run(one, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store").code == 0
    before = json.loads((one / "reports/eval-result.json").read_text())
    after = {**before, **change, "run": {**before["run"], **change.get("run", {})}}
    (one / "after.json").write_text(json.dumps(after), encoding="utf-8")
    words = ("report", "diff", "reports/eval-result.json", "after.json", "--fail-on-regression")
    done = run(one, *words)
    assert (done.code, done.out.startswith("INCONCLUSIVE"), told in done.out) == (1, True, True)


def test_the_history_says_which_runs_were_of_a_part(one: Path) -> None:
    benchmark(one / "b.json", task("t1", tags=["x"]), task("t2"))
    words = ("eval", "--skills", "s", "--benchmark", "./b.json")
    for part in (
        (),
        ("--task-id", "t1"),
        ("--task-tag", "x"),
        ("--shard", "1/2"),
        ("--task-id", "t1", "--task-id", "t2"),
    ):
        assert run(one, *words, *part).code == 0
    lines = [line for line in run(one, "history").out.splitlines() if " own 1.0.0" in line]
    told = (", only t1 and 1 more", ", shard 1/2", ", tagged x", ", only t1", "")
    assert [
        re.search(rf" own 1\.0\.0{words} · completed", line) is not None
        for words, line in zip(told, lines, strict=True)
    ] == [True] * 5


@pytest.mark.parametrize("form", ["markdown", "html", "csv", "junit"])
def test_the_report_to_convert_may_be_named_by_an_option(one: Path, form: str) -> None:
    assert run(one, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store").code == 0
    file = "reports/eval-result.json"
    done = run(one, "report", "convert", "--input", file, "--format", form, "--output", "out")
    assert (
        done.code,
        (one / "out").read_bytes().decode() == run(one, "report", "convert", file, "--format", form).out,
    ) == (0, True)
    assert run(one, "report", "convert", file, "--input", file).code == 2
    assert run(one, "report", "convert").code == 2


def test_more_chances_than_runs_are_refused(one: Path) -> None:
    benchmark(one / "k.json", task(), scoringMethod="pass_at_k", k=3)
    words = ("eval", "--skills", "s", "--benchmark", "./k.json", "--json")
    refused = run(one, *words, "--runs", "2")
    assert (refused.code, "use --runs 3" in refused.err) == (2, True)
    (report,) = run(one, *words, "--runs", "3").json["reports"]
    assert (report["summary"]["partialScore"], report["summary"]["k"]) == (1, 3)


def _replying(body: str) -> str:
    """A program whose reply holds these words as they are."""
    return f"""print('{{"jsonrpc": "2.0", {body}}}')"""


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ('"id": 1, "result": 1e999', "error", "protocol"),
        ('"id": 1, "result": {"deep": [-1e999]}', "error", "protocol"),
        ('"id": 1, "error": {"code": 1e999, "message": "x"}', "error", "protocol"),
        (f'"id": 1, "result": {"9" * 400}', "fail", None),
        (f'"id": 1, "result": 1.5, "usage": {{"input_tokens": {"9" * 30}}}', "pass", None),
    ],
)
def test_numbers_that_nothing_can_hold_cost_one_result_and_no_report(
    one: Path, body: str, status: str, kind: str | None
) -> None:
    skill(one / "strange", _replying(body))
    near = {"tolerance": {"absolute": 0.1}}
    tasks = [
        task("exact", expectedOutput={"value": 1.5}, evaluator=near),
        task("numeric", expectedOutput={"type": "numeric", "value": 1.5}, evaluator=near),
        task("schema", expectedOutput={"type": "json_schema", "schema": {"multipleOf": 0.5, "maximum": 9}}),
    ]
    benchmark(one / "n.json", *tasks)
    words = ("eval", "--skills", "strange", "s", "--benchmark", "./n.json", "--json", "--store", "kept.db")
    done = run(one, *words, "--format", "json,markdown,csv,junit")
    assert done.code == 0, done.err
    results = {report["skillId"]: report["taskResults"] for report in done.json["reports"]}
    assert {(result["status"], result["errorKind"]) for result in results["strange"]} == {(status, kind)}
    assert len(results["s"]) == 3
    assert len(run(one, "history", "--store", "kept.db", "--json").json["evaluations"]) == 2


def test_a_scorers_number_that_no_float_holds_is_no_score(one: Path) -> None:
    (one / "scorer.py").write_text("def score(**_):\n    return 10 ** 400\n", encoding="utf-8")
    benchmark(one / "c.json", task(expectedOutput=OWN))
    done = run(one, "eval", "--skills", "s", "--benchmark", "./c.json", "--json")
    assert (done.code, done.json["reports"][0]["taskResults"][0]["errorKind"]) == (3, "scorer")
