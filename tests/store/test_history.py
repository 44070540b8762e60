"""`history` lists, compares and imports."""

from __future__ import annotations

import json
import re
import sqlite3
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from skillgate.model.codec import encode
from skillgate.report.json import render
from tests.architecture.source import ROOT
from tests.bench.made import run
from tests.store.made import NOON, document, evaluation, report

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.bench import BenchReport

EXAMPLE = str(ROOT / "examples/skills/csv-quality-report")


def saved(folder: Path, name: str, found: BenchReport) -> str:
    (folder / name).write_text(render(found), encoding="utf-8")
    return name


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Six runs of one skill that gets better, on two contents of the benchmark, and a score."""
    files = [
        saved(tmp_path, f"{index}.json", document(evaluation(10 + index, 20, at=NOON + timedelta(days=index))))
        for index in range(5)
    ]
    newer = evaluation(2, 20, at=NOON + timedelta(days=9), benchmark_digest="c" * 32, benchmark_version="2.0.0")
    files.append(saved(tmp_path, "newer.json", document(newer)))
    scored = run(tmp_path, "score", EXAMPLE, "--json")
    (tmp_path / "score.json").write_text(scored.out, encoding="utf-8")
    done = run(tmp_path, "history", "import", *files)
    assert (done.code, done.out) == (0, "6 of 6 imported\n"), done.err
    done = run(tmp_path, "history", "import", "score.json", "--at", "2026-03-05", "--commit", "abc", "--branch", "b")
    assert done.code == 0, done.err
    return tmp_path


def test_the_newest_stand_first(filled: Path) -> None:
    found = run(filled, "history", "--json").json
    assert found["kind"] == "history"
    assert [one["completionRate"] for one in found["evaluations"]] == [0.1, 0.7, 0.65, 0.6, 0.55, 0.5]
    (score,) = found["scores"]
    assert (score["scored_at"], score["commit_id"], score["branch"]) == ("2026-03-05T00:00:00Z", "abc", "b")
    assert score["composite"] == json.loads((filled / "score.json").read_text())["composite"]["score"]
    assert len(score["dimensions"]) == 10
    assert found["trends"] == []


def test_the_table_has_a_row_for_each_run(filled: Path) -> None:
    out = run(filled, "history").out
    assert out.startswith("7 past results\n\nBenchmarks\nwhen (UTC) ")
    assert len(re.findall(r"^\d{4}-\d\d-\d\d \d\d:\d\d", out, re.MULTILINE)) == 6 + 1
    assert out.splitlines()[4].split()[:7] == ["2026-03-10", "12:00", "s", "1.0.0", "own", "2.0.0", "10.0"]
    assert "abc b" in out.partition("\nScores\n")[2]


@pytest.mark.parametrize(
    ("words", "evaluations", "scores"),
    [
        (("--limit", "2"), 2, 1),
        (("--kind", "bench"), 6, 0),
        (("--kind", "score"), 0, 1),
        (("--benchmark", "own"), 6, 0),
        (("--benchmark", "none"), 0, 0),
        (("--skill", "s"), 6, 0),
        (("--skill", EXAMPLE), 0, 1),
        (("--since", "2026-03-04"), 3, 1),
        (("--since", "2026-03-04T12:00:00+00:00"), 3, 1),
    ],
)
def test_filters(filled: Path, words: tuple[str, ...], evaluations: int, scores: int) -> None:
    found = run(filled, "history", "--json", *words).json
    assert (len(found["evaluations"]), len(found["scores"])) == (evaluations, scores)


def test_since_a_span_counts_back_from_now(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    old, new = (document(evaluation(1, 2, at=now - timedelta(days=days))) for days in (40, 3))
    run(tmp_path, "history", "import", saved(tmp_path, "a.json", old), saved(tmp_path, "b.json", new))
    spans = ("48h", "30d", "8w")
    assert [len(run(tmp_path, "history", "--json", "--since", span).json["evaluations"]) for span in spans] == [0, 1, 2]


def test_a_trend_is_told_for_each_content_of_a_benchmark(filled: Path) -> None:
    done = run(filled, "history", "--trend")
    lines = done.out.splitlines()
    assert lines[:3] == ["3 series of past results", "", "↗ rising   s on own 1.0.0 (bbbbbbbb)"]
    assert "first 50.0 % · last 70.0 % · best 70.0 % · 5 runs since 2026-03-01" in " ".join(done.out.split())
    assert "           rising over 5 runs (Mann–Kendall, p = 0.027)" in lines
    assert "· unknown  s on own 2.0.0 (cccccccc)" in lines
    found = run(filled, "history", "--trend", "--kind", "bench", "--json").json
    assert [(one["change"], one["values"]) for one in found["trends"]] == [
        ("rising", [0.5, 0.55, 0.6, 0.65, 0.7]),
        ("unknown", [0.1]),
    ]


def test_nothing_found_is_said(filled: Path) -> None:
    done = run(filled, "history", "--skill", "none")
    assert (done.code, done.out) == (0, "Nothing of this kind is in the store\n")
    assert run(filled, "history", "--skill", "none", "--trend").out == "Nothing of this kind is in the store\n"


def test_one_bad_file_stops_no_other_and_each_has_its_reason(tmp_path: Path) -> None:
    good = saved(tmp_path, "good.json", report(1))
    (tmp_path / "text.json").write_text("hello")
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "check.json").write_text('{"kind": "check"}')
    (tmp_path / "half.json").write_text('{"kind": "bench", "reports": [{}]}')
    later = encode(report(2)) | {"schema_version": 99}
    (tmp_path / "later.json").write_text(json.dumps(later))
    huge = encode(report(3))
    huge["reports"][0]["summary"]["counts"]["retries"] = 10**30
    (tmp_path / "huge.json").write_text(json.dumps(huge))
    endless = json.dumps(encode(report(4))).replace('"p95Ms": 20.0', '"p95Ms": Infinity')
    assert "Infinity" in endless
    (tmp_path / "endless.json").write_text(endless)
    bad = [
        "endless.json",
        "text.json",
        "list.json",
        "check.json",
        "half.json",
        "later.json",
        "huge.json",
        "missing.json",
    ]
    done = run(tmp_path, "history", "import", *bad[:3], good, *bad[3:])
    assert done.code == 2
    assert done.out == "1 of 9 imported, 8 not readable\n"
    assert all(name in done.err for name in bad)
    assert "expected a JSON report of eval, score or certify, or a report or database of eval-skills" in done.err
    assert "found kind 'check'" in done.err
    assert len(run(tmp_path, "history", "--json").json["evaluations"]) == 1


def test_a_report_laid_out_anew_is_the_same_one(tmp_path: Path) -> None:
    name = saved(tmp_path, "a.json", report(1))
    (tmp_path / "b.json").write_text(json.dumps(json.loads((tmp_path / name).read_text()), sort_keys=True))
    done = run(tmp_path, "history", "import", "a.json", "b.json", "a.json")
    assert done.out == "1 of 3 imported, 2 already known\n"


def test_reports_of_several_skills_and_of_certify_are_taken(tmp_path: Path) -> None:
    several = run(tmp_path, "score", str(ROOT / "examples/skills"), "--json")
    (tmp_path / "several.json").write_text(several.out, encoding="utf-8")
    assert run(tmp_path, "history", "import", "several.json").code == 0
    found = run(tmp_path, "history", "--json", "--kind", "score", "--limit", "500").json["scores"]
    assert len(found) == len(several.json["results"]) > 1
    assert {one["skill_path"] for one in found} == {one["skill"]["path"] for one in several.json["results"]}


def test_a_hostile_report_is_inert_in_the_terminal(tmp_path: Path) -> None:
    name = "\x1b[2J\u202e::error::x\n" + "y" * 300
    one = evaluation(1, 2, skill=name, benchmark_id="\x07b", incomplete="\x1b]0;x\x07")
    assert run(tmp_path, "history", "import", saved(tmp_path, "a.json", document(one))).code == 0
    for words in ((), ("--trend",)):
        out = run(tmp_path, "history", *words).out
        assert not {"\x1b", "\x07", "\u202e"} & set(out)
        assert not [line for line in out.splitlines() if line.startswith("::")]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE bench_evaluations SET started_at = 'noon'",
        "UPDATE bench_evaluations SET completion_rate = 'all'",
        "UPDATE bench_evaluations SET skill_id = x'00ff'",
        "UPDATE bench_evaluations SET passed = 0.5",
        "UPDATE bench_evaluations SET completion_rate = 9e999",
        "UPDATE score_results SET models = '{'",
        "UPDATE score_results SET dimensions = '[]'",
        "DROP TABLE score_results",
    ],
)
def test_a_file_that_somebody_else_wrote_into_is_told(filled: Path, change: str) -> None:
    connection = sqlite3.connect(filled / ".skillgate/store.db")
    connection.execute(change)
    connection.commit()
    connection.close()
    done = run(filled, "history")
    assert (done.code, "store .skillgate/store.db" in done.err) == (3, True), done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--limit", "0"), "at least 1"),
        (("--since", "yesterday"), "a date such as"),
        (("--kind", "score", "--benchmark", "b"), "--benchmark does not apply to scores"),
        (("import",), "FILE"),
        (("imports",), "import"),
        (("import", "x.json", "--at", "noon"), "a date such as"),
        ((), "the store .skillgate/store.db does not exist"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = run(tmp_path, "history", *words)
    assert (done.code, said in done.err) == (2, True), done.err
    assert not (tmp_path / ".skillgate").exists()
