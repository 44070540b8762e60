"""Skills are selected by their reports: filter, rank, the first so many; nothing is dropped without a word."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.finding import Entrant, choose
from skillgate.model.bench import BenchUsage, RunSettings, Status
from skillgate.model.benchmark import Figures, Filters, Order, SortKey, Strategy
from skillgate.model.codec import encode
from skillgate.report.json import render
from tests.architecture.source import ROOT
from tests.bench.made import answering, benchmark, result, run, skill, task
from tests.bench.written import BEGAN, skill_report, whole

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.bench import CompletionReport


def one(
    name: str, *, passed: int = 10, of: int = 10, ms: float = 10.0, tokens: int | None = None, **changes: Any
) -> CompletionReport:
    """A skill's report: so many of its tasks passed, in so many milliseconds each."""
    usage = None if tokens is None else BenchUsage(total=tokens)
    results = [
        result(f"t{number}", Status.PASS if number < passed else Status.FAIL, latency_ms=ms, usage=usage)
        for number in range(of)
    ]
    return skill_report(results, name, **{"skill_version": "1.0.0", **changes})


def rejections(out: str) -> dict[str, str]:
    """Why each skill was not selected, from the table in the terminal."""
    table = re.sub(r"\n +", " ", out.partition("Not selected\n")[2])
    return dict(line.split(None, 1) for line in table.splitlines()[1:])


def reported(folder: Path, *reports: CompletionReport, name: str = "r.json", **changes: Any) -> str:
    (folder / name).write_text(render(whole(*reports, **changes)), encoding="utf-8")
    return name


def skills(folder: Path, *names: str, **changes: Any) -> None:
    for name in names:
        skill(folder / "skills" / name, **changes)


def chosen(cwd: Path, *words: str, code: int = 0) -> list[str]:
    done = run(cwd, "select", "--from", "skills", *words, "--json")
    assert done.code == code, done.err
    return [item["id"] for item in done.json]


def test_filter_rank_and_the_first_so_many(tmp_path: Path) -> None:
    skills(tmp_path, "a", "b", "c", "d")
    reported(tmp_path, one("a", passed=8), one("b", passed=10), one("c", passed=9), one("d", passed=5))
    assert chosen(tmp_path, "--reports", "r.json") == ["b", "c", "a", "d"]
    assert chosen(tmp_path, "--reports", "r.json", "--min-completion", "0.8") == ["b", "c", "a"]
    assert chosen(tmp_path, "--reports", "r.json", "--min-completion", "0.8", "--top-k", "2") == ["b", "c"]
    done = run(tmp_path, "select", "--from", "skills", "--reports", "r.json", "--min-completion", "0.8", "--top-k", "2")
    assert done.out.startswith("2 of 4 skills selected\n")
    rejected = rejections(done.out)
    assert rejected["a"].endswith("; only the first 2 are selected")
    assert rejected["d"] == "completion rate 0.5000 is below 0.8"


def test_what_is_selected_says_by_what(tmp_path: Path) -> None:
    skills(tmp_path, "a", description="Does it.", tags=["x"])
    reported(tmp_path, one("a", tokens=100))
    done = run(
        tmp_path, "select", "--from", "skills", "--reports", "r.json", "--max-p95-ms", "20", "--output", "out.json"
    )
    (found,) = json.loads((tmp_path / "out.json").read_text())
    assert done.err == "wrote out.json: 1 skill\n"
    assert (found["rank"], found["benchmarkId"], found["version"], found["tags"]) == (1, "own", "1.0.0", ["x"])
    assert found["figures"]["completionRate"] == 1
    assert (found["figures"]["latencyP95Ms"], found["figures"]["tokens"]) == (10, 1000)
    assert found["reasons"][1] == "95th percentile of latencies (ms) 10 is within 20"
    assert str(tmp_path) not in (tmp_path / "out.json").read_text()


@pytest.mark.parametrize(
    ("words", "order"),
    [
        (("--sort-by", "latency"), ["quick", "slow"]),
        (("--sort-by", "latency", "--order", "desc"), ["slow", "quick"]),
        (("--sort-by", "tokenCost"), ["slow", "quick"]),
        (("--sort-by", "tokenCost", "--order", "desc"), ["quick", "slow"]),
        (("--sort-by", "completionRate"), ["slow", "quick"]),
        (("--sort-by", "completionRate", "--order", "asc"), ["quick", "slow"]),
    ],
)
def test_the_best_comes_first_whatever_is_ranked_by(tmp_path: Path, words: tuple[str, ...], order: list[str]) -> None:
    skills(tmp_path, "quick", "slow")
    reported(tmp_path, one("quick", passed=8, ms=5.0, tokens=900), one("slow", ms=500.0, tokens=10))
    assert chosen(tmp_path, "--reports", "r.json", *words) == order


def test_what_was_not_measured_is_not_selected_and_says_so(tmp_path: Path) -> None:
    skills(tmp_path, "told", "silent", "never", "partly", "nothing")
    partly = skill_report([result("t1"), result("t2", Status.SKIPPED)], "partly", skill_version="1.0.0")
    nothing = skill_report([result("t1", Status.SKIPPED)], "nothing", skill_version="1.0.0")
    reported(tmp_path, one("told", tokens=5), one("silent"), partly, nothing)
    done = run(tmp_path, "select", "--from", "skills", "--reports", "r.json", "--sort-by", "tokenCost")
    told = rejections(done.out)
    assert told == {
        "never": "not evaluated: there is no report",
        "nothing": "1 of 1 results were not measured",
        "partly": "1 of 2 results were not measured",
        "silent": "tokens was not measured, but skills are ranked by it",
    }
    assert chosen(tmp_path, "--reports", "r.json", "--allow-skipped") == ["partly", "silent", "told"]
    assert chosen(tmp_path, "--reports", "r.json", "--allow-skipped", "--min-completion", "0") == [
        "partly", "silent", "told",
    ]  # fmt: skip


def test_nothing_selected_is_a_gate_that_failed(tmp_path: Path) -> None:
    skills(tmp_path, "a")
    reported(tmp_path, one("a", passed=1))
    assert chosen(tmp_path, "--reports", "r.json", "--min-completion", "0.9", code=1) == []
    done = run(tmp_path, "select", "--from", "skills", "--no-store")
    assert (done.code, done.out.splitlines()[0]) == (1, "0 of 1 skills selected")


def test_the_newest_report_of_a_skill_wins_wherever_it_stands(tmp_path: Path) -> None:
    skills(tmp_path, "a")
    later = BEGAN + timedelta(days=1)
    reported(tmp_path, one("a", passed=2, timestamp=later), name="x-new.json")
    reported(tmp_path, one("a", passed=9), name="z-old.json")
    for names in (("x-new.json", "z-old.json"), ("z-old.json", "x-new.json"), ("*-*.json",)):
        done = run(tmp_path, "select", "--from", "skills", "--reports", *names, "--json")
        assert done.json[0]["figures"]["completionRate"] == 0.2


def test_an_interrupted_report_is_passed_over(tmp_path: Path) -> None:
    skills(tmp_path, "a")
    reported(tmp_path, one("a", passed=9), name="1.json")
    reported(
        tmp_path, one("a", timestamp=BEGAN + timedelta(days=1), incomplete="the run was interrupted"), name="2.json"
    )
    done = run(tmp_path, "select", "--from", "skills", "--reports", "1.json", "2.json", "--json")
    assert done.json[0]["figures"]["completionRate"] == 0.9
    assert "2.json: a is ignored: the run was interrupted" in done.err


def test_of_several_benchmarks_one_must_be_chosen(tmp_path: Path) -> None:
    skills(tmp_path, "a", "b")
    other: dict[str, Any] = {"benchmark_id": "other", "benchmark_digest": "e" * 16}
    reported(tmp_path, one("a", passed=2), one("a", passed=9, **other), one("b", passed=5))
    done = run(tmp_path, "select", "--from", "skills", "--reports", "r.json")
    assert (done.code, done.out) == (2, "")
    assert "several benchmarks (other, own); choose one with --benchmark ID" in done.err
    assert chosen(tmp_path, "--reports", "r.json", "--benchmark", "own") == ["b", "a"]
    assert chosen(tmp_path, "--reports", "r.json", "--benchmark", "other") == ["a"]
    near = run(tmp_path, "select", "--from", "skills", "--reports", "r.json", "--benchmark", "othr")
    assert (near.code, "did you mean 'other'?" in near.err) == (2, True)


def test_only_what_was_measured_alike_is_ranked_together(tmp_path: Path) -> None:
    skills(tmp_path, "now", "then", "older")
    later = BEGAN + timedelta(days=1)
    reported(
        tmp_path,
        one("now", passed=5, timestamp=later),
        one("then", benchmark_digest="e" * 16),
        one("older", skill_version="0.9.0"),
    )
    done = run(tmp_path, "select", "--from", "skills", "--reports", "r.json")
    told = rejections(done.out)
    assert told["then"].startswith("not evaluated: its newest report has other tasks of the benchmark")
    assert told["older"] == "not evaluated: the newest report is for version 0.9.0, but the skill has 1.0.0"


def test_a_shard_and_what_is_no_report_are_refused(tmp_path: Path) -> None:
    skills(tmp_path, "a")
    reported(tmp_path, one("a"), name="shard.json", run=RunSettings(shard="1/2"))
    (tmp_path / "other.json").write_text('{"kind": "score"}', encoding="utf-8")
    (tmp_path / "broken.json").write_text('{"kind": "bench", "reports": 1}', encoding="utf-8")
    names = ("shard.json", "other.json", "broken.json", "gone.json")
    done = run(tmp_path, "select", "--from", "skills", "--reports", *names)
    assert done.code == 2
    assert "shard.json is shard 1/2; merge all shards with skillgate report merge" in done.err
    assert "other.json is not a report of skillgate eval" in done.err
    assert "broken.json is not a benchmark report" in done.err
    assert "gone.json does not exist" in done.err
    none = run(tmp_path, "select", "--from", "skills", "--reports", "none-*.json")
    assert (none.code, "none-*.json: no such file" in none.err) == (2, True)


def test_the_store_is_asked_where_no_report_is_named(tmp_path: Path) -> None:
    skill(tmp_path / "skills/good", answering("data['n']"))
    skill(tmp_path / "skills/bad", answering("0"))
    benchmark(tmp_path / "b.json", task())
    assert run(tmp_path, "eval", "--skills", "skills", "--benchmark", "./b.json").code == 0
    assert chosen(tmp_path, "--min-completion", "0.5") == ["good"]
    assert chosen(tmp_path, "--reports", "reports/eval-result*.json", "--no-store", "--min-completion", "0.5") == [
        "good"
    ]


def test_filters_of_adapter_and_tags(tmp_path: Path) -> None:
    skills(tmp_path, "a", tags=["Production-Ready", "x"])
    skills(tmp_path, "b", tags=["x"])
    skills(tmp_path, "c", tags=["production-ready"], adapterType="http", entrypoint="http://127.0.0.1:1/")
    reported(tmp_path, one("a"), one("b"), one("c"))
    assert chosen(tmp_path, "--reports", "r.json", "--require-tag", "production-ready") == ["a", "c"]
    assert chosen(tmp_path, "--reports", "r.json", "--adapter", "http", "mcp") == ["c"]
    done = run(tmp_path, "select", "--from", "skills", "--reports", "r.json", "--adapter", "http", "--require-tag", "y")
    assert "adapter subprocess is not among http; lacks the tag y" in done.out


STRATEGY = """\
filters:
  minCompletionRate: 0.8
  maxErrorRate: 0.1
  maxLatencyP95Ms: 5000
  adapterTypes: [http, subprocess]
  requiredTags: [production-ready]
sortBy: latency
order: asc
topK: 1
"""


def test_a_strategy_says_all_of_it_and_options_hold_over_it(tmp_path: Path) -> None:
    skills(tmp_path, "a", "b", "c", tags=["production-ready"])
    reported(tmp_path, one("a", ms=50.0), one("b", ms=5.0), one("c", passed=5, ms=1.0))
    (tmp_path / "s.yaml").write_text(STRATEGY, encoding="utf-8")
    (tmp_path / "s.json").write_text('{"filters": {"minCompletionRate": 0.8}, "sortBy": "latency", "topK": 1}')
    for name in ("s.yaml", "s.json"):
        named = ("--reports", "r.json", "--strategy", name)
        assert chosen(tmp_path, *named) == ["b"]
        assert chosen(tmp_path, *named, "--top-k", "9") == ["b", "a"]
        assert chosen(tmp_path, *named, "--min-completion", "0.1") == ["c"]
        assert chosen(tmp_path, *named, "--sort-by", "latency", "--order", "desc") == ["a"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("filters: {minCompletionrate: 0.8}", 'filters.minCompletionrate: expected a known key (did you mean "minComp'),
        ("sortBy: bogus", "sortBy: expected one of"),
        ("filter: {}", 'did you mean "filters"?'),
        ("filters: {minCompletionRate: 80}", "filters.minCompletionRate: expected"),
        ("filters: {minCompletionRate: .nan}", "filters.minCompletionRate: expected"),
        ("filters: {adapterTypes: [htp]}", "filters.adapterTypes[0]: expected one of"),
        ("order: descending", "order: expected one of"),
        ("topK: 0", "topK: expected"),
        ("topK: 1\ntopK: 2", "s.yaml:2: duplicate key topK"),
        ("- a", "s.yaml:1:1: "),
        ("a: [", "s.yaml:1:"),
    ],
)
def test_a_strategy_that_cannot_be_meant_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    skills(tmp_path, "a")
    reported(tmp_path, one("a"))
    (tmp_path / "s.yaml").write_text(text, encoding="utf-8")
    done = run(tmp_path, "select", "--from", "skills", "--reports", "r.json", "--strategy", "s.yaml")
    assert (done.code, done.out) == (2, "")
    assert said in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("--sort-by", "bogus"),
        ("--order", "up"),
        ("--top-k", "0"),
        ("--top-k", "x"),
        ("--min-completion", "80"),
        ("--max-p95-ms", "-1"),
        ("--adapter", "htp"),
        ("--strategy", "gone.yaml"),
        ("--output", "json"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    skills(tmp_path, "a")
    done = run(tmp_path, "select", "--from", "skills", *words)
    assert (done.code, done.out) == (2, "")
    assert run(tmp_path, "select").code == 2
    assert "--from" in run(tmp_path, "select", "--from", "gone").err


def test_candidates_come_from_a_file_or_standard_input(tmp_path: Path) -> None:
    skills(tmp_path, "a", "b")
    reported(tmp_path, one("a", passed=9), one("b"))
    first = run(tmp_path, "select", "--from", "skills", "--reports", "r.json", "--top-k", "1", "--output", "-")
    (tmp_path / "chosen.json").write_text(first.out, encoding="utf-8")
    (tmp_path / "found.json").write_text(run(tmp_path, "find", "--json").out, encoding="utf-8")
    expected = {"chosen.json": ["b"], "found.json": ["b", "a"], "skills/a/skill.json": ["a"]}
    for name, found in expected.items():
        done = run(tmp_path, "select", "--from", name, "--reports", "r.json", "--json")
        assert [item["id"] for item in done.json] == found, done.err
    piped = subprocess.run(
        [sys.executable, "-m", "skillgate", "select", "--from", "-", "--reports", str(tmp_path / "r.json"), "--json"],
        cwd=ROOT,
        input=(tmp_path / "found.json").read_text(),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert [item["id"] for item in json.loads(piped.stdout)] == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3", "c.json: expected a list of skills"),
        ("{", "c.json:1:2: not JSON"),
        ('[{"id": "a"}]', "c.json: [0].adapterType: expected"),
        ('{"skills": [{"adapterType": "http"}]}', "c.json: skills[0].id: expected"),
        ("[]", "--from c.json: no skill found"),
    ],
)
def test_a_file_that_holds_no_candidates_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "c.json").write_text(text, encoding="utf-8")
    done = run(tmp_path, "select", "--from", "c.json", "--no-store")
    assert (done.code, said in done.err) == (2, True), done.err


def test_a_broken_candidate_stops_no_other(tmp_path: Path) -> None:
    skills(tmp_path, "a")
    skill(tmp_path / "skills/again", id="a")
    (tmp_path / "skills/broken").mkdir()
    (tmp_path / "skills/broken/skill.json").write_text("{}", encoding="utf-8")
    reported(tmp_path, one("a"))
    done = run(tmp_path, "select", "--from", "skills", "--reports", "r.json", "--json")
    assert (done.code, [item["id"] for item in done.json]) == (2, ["a"])
    assert "skills/broken/skill.json: id: expected" in done.err
    assert "skills/again: same id and version as skills/a" in done.err


def test_in_json_what_was_not_selected_is_told_on_stderr(tmp_path: Path) -> None:
    skills(tmp_path, "a", "b")
    reported(tmp_path, one("a"))
    done = run(tmp_path, "select", "--from", "skills", "--reports", "r.json", "--json")
    assert done.err == "b not selected: not evaluated: there is no report\n"


def test_equal_figures_stand_by_composite_then_completion_then_id() -> None:
    same = Figures(completion_rate=0.9, composite_score=0.5, latency_p95_ms=7.0)
    entrants = [
        Entrant("b", "http", (), same),
        Entrant("a", "http", (), same),
        Entrant("c", "http", (), replace(same, completion_rate=1.0)),
        Entrant("d", "http", (), replace(same, composite_score=0.6)),
    ]
    for order in (None, Order.DESCENDING):
        found = choose(entrants, Strategy(sort_by=SortKey.LATENCY, order=order))
        assert [entrants[choice.entrant].id for choice in found] == ["d", "c", "a", "b"]


def test_a_bound_that_is_reached_is_passed() -> None:
    figures = Figures(completion_rate=0.8, error_rate=0.1, composite_score=0.9, latency_p95_ms=100.0)
    bounds = Filters(min_completion_rate=0.8, max_error_rate=0.1, max_latency_p95_ms=100.0)
    (choice,) = choose([Entrant("a", "http", (), figures)], Strategy(filters=bounds))
    assert choice.selected


def test_the_schema_of_strategies_is_published(tmp_path: Path) -> None:
    done = run(tmp_path, "schema", "strategy")
    assert done.code == 0
    properties = done.json["$defs"]["Filters"]["properties"]
    assert list(properties) == list(encode(Filters()))
    assert done.json["$defs"]["Strategy"]["additionalProperties"] is False
