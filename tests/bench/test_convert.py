"""Reports written again in another format, and the lists that eval-skills wrote."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.model.bench import Status
from skillgate.report.bench import view
from skillgate.report.formats.markdown import LIMIT, write
from skillgate.report.json import render as render_json
from tests.bench.made import result, run
from tests.bench.written import good, mixed, skill_report, whole
from tests.report.pages import EVIL
from tests.report.reports import a_report, a_skill

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from skillgate.model.bench import CompletionReport


def older(**changes: Any) -> dict[str, Any]:
    """One report of such a list: four tasks in two runs."""
    tasks = [
        {"taskId": f"t{task}", "skillId": "calc", "status": status, "score": score, "latencyMs": ms, "runId": number}
        | {"scorerType": "exact", "error": "Timeout after 30000ms" if status == "timeout" else None}
        for number in (0, 1)
        for task, (status, score, ms) in enumerate(
            (("pass", 1, 12.5), ("pass" if number else "fail", number, 14.25), ("error", 0, 0), ("timeout", 0, 0))
        )
    ]
    values: dict[str, Any] = {
        "skillId": "calc",
        "skillVersion": "1.0.0",
        "benchmarkId": "coding-easy",
        "timestamp": "2025-03-04T05:06:07.890Z",
        "summary": {
            "completionRate": 0.375,
            "partialScore": 0.375,
            "errorRate": 0.5,
            "consistencyScore": 0.875,
            "compositeScore": 0.5374,
        },
        "latency": {"p50Ms": 13, "p95Ms": 14, "p99Ms": 14},
        "tokenCost": {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15},
        "taskResults": tasks,
        "evaluatorMetadata": {},
    }
    return {**values, **changes}


def written(file: Path, value: object) -> Path:
    file.write_text(json.dumps(value), encoding="utf-8")
    return file


def converted(cwd: Path, name: str, *words: str) -> Any:
    done = run(cwd, "report", "convert", name, *words, "--format", "json")
    assert done.code == 0, done.err
    return done.json


@pytest.fixture
def place(tmp_path: Path) -> Path:
    report = whole(skill_report(mixed(), "a"), skill_report(good(), "b"))
    (tmp_path / "r.json").write_text(render_json(report), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("text", "Flaky (passed in some runs only)"),
        ("markdown", "# ⚠️ No gate"),
        ("csv", "skillId,benchmarkId,completionRate"),
        ("junit", "<testsuites"),
        ("json", '"kind": "bench"'),
    ],
)
def test_a_report_is_written_in_every_format(place: Path, form: str, words: str) -> None:
    done = run(place, "report", "convert", "r.json", "--format", form)
    assert (done.code, words in done.out) == (0, True)


def test_html_is_written_too(place: Path) -> None:
    pytest.importorskip("jinja2")
    assert run(place, "report", "convert", "r.json", "--format", "html").out.startswith("<!doctype html>")


def test_json_comes_back_as_it_was(place: Path) -> None:
    assert converted(place, "r.json") == json.loads((place / "r.json").read_text(encoding="utf-8"))


def test_the_suffix_of_the_file_says_the_format(place: Path) -> None:
    for name, words in (("o.csv", "skillId"), ("o.md", "# ⚠️ No gate"), ("o.xml", "<?xml"), ("o.txt", "No gate")):
        assert run(place, "report", "convert", "r.json", "--output", name).code == 0
        assert (place / name).read_text(encoding="utf-8").startswith(words)
    assert run(place, "report", "convert", "r.json", "--output", "o.odd").code == 2
    assert run(place, "report", "convert", "r.json", "--output", "o.odd", "--format", "csv").code == 0


def test_a_format_that_a_kind_does_not_have_is_refused_with_those_it_has(place: Path) -> None:
    done = run(place, "report", "convert", "r.json", "--format", "sarif")
    assert done.code == 2
    assert "text, json, markdown, html, csv, junit" in done.err
    assert run(place, "report", "convert", "r.json", "--format", "pdf").code == 2


@pytest.mark.parametrize("form", ["text", "markdown", "junit", "sarif", "github", "gitlab"])
def test_a_document_of_scores_is_written_again(tmp_path: Path, form: str) -> None:
    (tmp_path / "s.json").write_text(render_json(a_report(a_skill(), a_skill(path="skills/b"))), encoding="utf-8")
    done = run(tmp_path, "report", "convert", "s.json", "--format", form)
    assert done.code == 0
    refused = run(tmp_path, "report", "convert", "s.json", "--format", "csv")
    assert (refused.code, "cannot be written as csv" in refused.err) == (2, True)


def test_a_report_about_one_skill_is_written_again(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: one\ndescription: Use when asked for one.\n---\n\n# One\n", "utf-8")
    assert run(tmp_path, "score", "one", "--output-file", "s.json").code in (0, 1)
    done = run(tmp_path, "report", "convert", "s.json", "--format", "markdown")
    assert (done.code, "one" in done.out) == (0, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a skillgate report: kind"),
        ("[5]", "$[0]: expected an object"),
        ('{"kind": "bench", "reports": [{}]}', "reports[0].skillId"),
        ('{"kind": "bench", "schema_version": 99}', "a newer skillgate wrote it"),
        ('{"kind": "poem"}', "kind"),
        ('{"kind": "bench-diff"}', "label_a"),
    ],
)
def test_what_is_no_report_is_refused_with_its_name_and_the_place(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "odd.json").write_text(text, encoding="utf-8")
    done = run(tmp_path, "report", "convert", "odd.json", "--format", "markdown")
    assert done.code == 2
    assert "odd.json" in done.err
    assert words in done.err
    assert run(tmp_path, "report", "convert", "none.json").code == 2


def test_an_older_list_is_read_and_what_it_does_not_say_is_told(tmp_path: Path) -> None:
    written(tmp_path / "old.json", [older(), older(skillId="other", benchmarkId="b2", taskResults=[], latency={})])
    done = run(tmp_path, "report", "convert", "old.json", "--format", "json")
    assert done.code == 0
    assert "settings" in done.err
    first, second = done.json["reports"]
    summary = first["summary"]
    assert (summary["completionRate"], summary["errorRate"]) == (0.375, 0.5)
    assert (summary["partialScore"], summary["compositeScore"]) == (0.375, 0.5374)  # only the benchmark tells how
    assert summary["counts"] | {"passed": 3, "failed": 1, "errors": 2, "timeouts": 2} == summary["counts"]
    assert summary["flakyTasks"] == ["t1"]
    assert [one["run"] for one in first["taskResults"]] == [1, 1, 1, 1, 2, 2, 2, 2]
    assert [one["latencyMs"] for one in first["taskResults"][:4]] == [12.5, 14.25, None, None]
    assert first["taskResults"][2]["errorKind"] is None
    assert first["tokenCost"]["total"] == 15
    assert second["summary"]["completionRate"] == 0.375
    assert second["latency"]["p95Ms"] is None
    assert second["summary"]["reasons"]["counts"]


def test_figures_that_an_older_report_lacks_are_null_with_a_reason(tmp_path: Path) -> None:
    written(tmp_path / "old.json", [older(summary={"completionRate": None}, taskResults=None)])
    summary = converted(tmp_path, "old.json")["reports"][0]["summary"]
    for key in ("completionRate", "partialScore", "compositeScore", "errorRate"):
        assert summary[key] is None
        assert summary["reasons"][key] == "not in the report of eval-skills"


def test_an_older_report_whose_figures_are_not_what_its_results_give_is_told(tmp_path: Path) -> None:
    summary = {**older()["summary"], "completionRate": 0.9}
    written(tmp_path / "old.json", [older(summary=summary)])
    done = run(tmp_path, "report", "convert", "old.json", "--format", "json")
    assert "has completionRate 0.9, but its results give 0.375" in done.err
    assert done.json["reports"][0]["summary"]["completionRate"] == 0.375


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"summary": None}, "$[0].summary: expected an object, found nothing"),
        ({"skillId": 5}, "$[0].skillId"),
        ({"timestamp": "yesterday"}, "$[0].timestamp"),
        ({"summary": {"completionRate": 1.5}}, "$[0].summary.completionRate"),
        ({"taskResults": [{"taskId": "t", "status": "maybe"}]}, "$[0].taskResults[0].status"),
        ({"taskResults": {}}, "$[0].taskResults: expected a list, found an object"),
        ({"taskResults": [{"taskId": "t", "status": "pass", "latencyMs": "long"}]}, "taskResults[0].latencyMs"),
    ],
)
def test_a_list_that_is_not_of_reports_is_refused(tmp_path: Path, changes: Mapping[str, Any], words: str) -> None:
    written(tmp_path / "old.json", [older(**changes)])
    for command in (("convert", "old.json"), ("diff", "old.json", "old.json")):
        if command[0] == "diff":
            pytest.importorskip("scipy")
        done = run(tmp_path, "report", *command)
        assert done.code == 2
        assert "old.json" in done.err
        assert words in done.err


def test_an_answer_that_json_cannot_hold_is_cached_as_a_text(tmp_path: Path) -> None:
    tasks = [{"taskId": "t", "status": "pass", "score": 1, "latencyMs": 5, "output": {"result": float("nan")}}]
    written(tmp_path / "old.json", [older(taskResults=tasks)])
    found = converted(tmp_path, "old.json")["reports"][0]["taskResults"][0]
    assert found["output"]["value"] == '{"result": NaN}'


def test_a_csv_cell_is_no_formula(tmp_path: Path) -> None:
    report = whole(skill_report(good(tasks=2), '=HYPERLINK("x")', skill_version="@1"))
    (tmp_path / "r.json").write_text(render_json(report), encoding="utf-8")
    lines = list(csv.reader(io.StringIO(run(tmp_path, "report", "convert", "r.json", "--format", "csv").out)))
    assert lines[1][0] == '\'=HYPERLINK("x")'
    assert len(lines[0]) == len(lines[1])


def markdown(*reports: CompletionReport, **changes: Any) -> str:
    return write(view(whole(*reports, **changes)))


def test_markdown_shows_runs_reasons_errors_intervals_tokens_and_flaky_tasks() -> None:
    said = markdown(skill_report(mixed(), "a"))
    for words in (
        "| `t02` | error | 0/3 | 0.00 | 43 ms | crash: signal 11 ended it |",
        '| `t01` `golden` | fail | 0/3 | 0.25 | 23 ms | expected 25, found "twenty-four" |',
        "| `t04` | flaky | 2/3 | 0.75 | 83 ms |",
        "Flaky (passed in some runs only): `t04`",
        "- Tokens: 3,960 tokens (3,300 in, 660 out), \\$\u200b0.0033",
        "- Mean score: 0.727, 95 % interval",
        "| 69.7 % (41–89) |",
        "| 0.957 |",
        "| even | 6 | 77.8 %",
        "7 tasks passed in every run",
    ):
        assert words in said, words


def test_markdown_stays_below_its_limit_and_says_what_it_leaves_out() -> None:
    tasks = [
        result(f"task {n}", Status.FAIL, reason="| because <b> " * 100, error=f"{n}" * 2_000) for n in range(1_000)
    ]
    said = markdown(*(skill_report(tasks, f"s{n}") for n in range(60)))
    assert 0.9 * LIMIT < len(said.encode()) <= LIMIT
    assert "800 more tasks in the JSON report." in said
    assert "more parts in the JSON report: there is no room for them here." in said


def test_markdown_of_hostile_texts_holds_no_markup_of_theirs() -> None:
    results = [result(text, Status.ERROR, error=text, reason=text, tags=(text,)) for text in EVIL]
    report = skill_report(results, EVIL[0], skill_version=EVIL[1], benchmark_id=EVIL[4])
    said = re.sub(
        r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", markdown(report, notices=EVIL)
    )  # but for code, which is inert
    for tag in ("<script", "<img", "<svg", "<iframe", "\x1b", "\u202e"):
        assert tag not in said
