"""Shards of a benchmark run, and the one report of all of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import answering, benchmark, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

OF = 3
TIMES = ("duration_s", "timestamp", "latency", "latencyMs", "compositeScore")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Two skills, one of them wrong at times, and a benchmark whose order is not the alphabet's."""
    skill(tmp_path / "a", answering("data['n']"))
    skill(tmp_path / "b", answering("data['n'] if data['n'] % 3 else 'no'"))
    tasks = [
        task(f"t{n}", inputData={"n": n}, expectedOutput={"value": n}, tags=["odd" if n % 2 else "even"], weight=n + 1)
        for n in reversed(range(12))
    ]
    benchmark(tmp_path / "b.json", *tasks, scoringMethod="weighted_mean", maxLatencyMs=1000)
    return tmp_path


def evaluated(place: Path, folder: str, *words: str) -> Done:
    """Run the benchmark and put its report into a folder."""
    fixed = ("--skills", "a", "b", "--benchmark", "./b.json", "--runs", "2", "--format", "json")
    return run(place, "eval", *fixed, "--output-dir", folder, *words)


def shards(place: Path, *words: str) -> list[str]:
    names = []
    for number in range(1, OF + 1):
        assert evaluated(place, f"s{number}", "--shard", f"{number}/{OF}", *words).code == 0
        names.append(f"s{number}/eval-result.json")
    return names


def timeless(value: Any) -> Any:
    """A document without what the clock decides."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in TIMES}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def change(place: Path, name: str, **values: Any) -> None:
    """Change a shard's document, at its top or in its settings."""
    data = json.loads((place / name).read_text(encoding="utf-8"))
    for key, value in values.items():
        (data["run"] if key in data["run"] else data)[key] = value
    (place / name).write_text(json.dumps(data), encoding="utf-8")


def test_the_merged_report_is_the_one_of_the_whole_run_but_for_its_times(place: Path) -> None:
    assert evaluated(place, "whole").code == 0
    names = shards(place)
    done = run(place, "report", "merge", *reversed(names), "--json")
    assert done.code == 0
    whole = json.loads((place / "whole" / "eval-result.json").read_text(encoding="utf-8"))
    one, other = timeless(whole), timeless(done.json)
    assert one == other
    assert [len(report["taskResults"]) for report in other["reports"]] == [24, 24]
    held = [
        len(report["taskResults"])
        for name in names
        for report in json.loads((place / name).read_text(encoding="utf-8"))["reports"]
        if report["skillId"] == "a"
    ]
    assert sum(held) == 24
    assert max(held) < 24


def test_gates_are_asked_of_all_results_and_not_of_a_shard(place: Path) -> None:
    refused = evaluated(place, "s1", "--shard", "1/3", "--min-completion", "0.9")
    assert (refused.code, "report merge" in refused.err) == (2, True)
    assert evaluated(place, "s1", "--shard", "1/3", "--exit-on-fail").code == 2
    names = shards(place)
    assert run(place, "report", "merge", *names, "--min-completion", "0.5").code == 0
    failed = run(place, "report", "merge", *names, "--min-completion", "0.9", "--json")
    assert failed.code == 1
    assert {one["skillId"]: one["gate"]["passed"] for one in failed.json["reports"]} == {"a": True, "b": False}
    assert run(place, "report", "merge", *names, "--require-task", "nobody").code == 2


def test_a_configured_gate_is_asked_at_the_merge(place: Path) -> None:
    (place / ".skillgate.yaml").write_text("min-completion: 0.9\n", encoding="utf-8")
    assert run(place, "report", "merge", *shards(place)).code == 1


def test_it_is_written_in_every_format(place: Path) -> None:
    names = shards(place)
    files = [word for name in ("m.json", "m.md", "m.csv", "m.xml", "m.txt") for word in ("--output-file", name)]
    assert run(place, "report", "merge", *names, *files, "--output", "csv").out.startswith("skillId,")
    assert "<testsuites" in (place / "m.xml").read_text(encoding="utf-8")
    assert (place / "m.csv").read_text(encoding="utf-8").count("\n") == 3
    assert run(place, "report", "merge", *names, "--output", "sarif").code == 2


def test_a_missing_a_double_and_a_foreign_shard_are_refused(place: Path) -> None:
    names = shards(place)
    missing = run(place, "report", "merge", *names[:2])
    assert (missing.code, "missing shard: 3/3" in missing.err) == (2, True)
    assert "passed twice" in run(place, "report", "merge", *names, names[0]).err
    (place / "copy.json").write_bytes((place / names[0]).read_bytes())
    assert "both shard 1/3" in run(place, "report", "merge", *names, "copy.json").err
    assert evaluated(place, "whole").code == 0
    assert "is not a shard" in run(place, "report", "merge", *names[:2], "whole/eval-result.json").err
    assert evaluated(place, "other", "--shard", "3/4").code == 0
    assert "not from the same run" in run(place, "report", "merge", *names[:2], "other/eval-result.json").err


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"runs": 3}, "the setting runs 2"),
        ({"concurrency": 1}, "the setting concurrency"),
        ({"config_digest": "f" * 16}, "configuration"),
        ({"tool": {"version": "0.0.1", "name": "skillgate"}}, "skillgate"),
        ({"allTasks": ["t1"]}, "the setting all tasks"),
    ],
)
def test_shards_of_other_settings_are_refused(place: Path, values: dict[str, Any], words: str) -> None:
    names = shards(place)
    change(place, names[1], **values)
    done = run(place, "report", "merge", *names)
    assert done.code == 2
    assert words in done.err
    assert names[1] in done.err


@pytest.mark.parametrize("key", ["skillDigest", "benchmarkDigest", "skillVersion", "benchmarkVersion"])
def test_shards_of_another_skill_or_benchmark_are_refused(place: Path, key: str) -> None:
    names = shards(place)
    data = json.loads((place / names[2]).read_text(encoding="utf-8"))
    data["reports"][0][key] = "9.9.9"
    (place / names[2]).write_text(json.dumps(data), encoding="utf-8")
    done = run(place, "report", "merge", *names)
    assert (done.code, "9.9.9" in done.err) == (2, True)


def test_a_shard_that_lacks_a_result_or_holds_one_twice_is_refused(place: Path) -> None:
    names = shards(place)
    data = json.loads((place / names[0]).read_text(encoding="utf-8"))
    results = data["reports"][0]["taskResults"]
    for held, words in ((results[1:], "1 results are missing"), ([*results, results[0]], "duplicates")):
        data["reports"][0]["taskResults"] = held
        (place / names[0]).write_text(json.dumps(data), encoding="utf-8")
        done = run(place, "report", "merge", *names)
        assert (done.code, words in done.err) == (2, True)


def test_a_shard_that_was_interrupted_is_refused(place: Path) -> None:
    names = shards(place)
    data = json.loads((place / names[0]).read_text(encoding="utf-8"))
    data["reports"][0]["incomplete"] = "the run was interrupted"
    (place / names[0]).write_text(json.dumps(data), encoding="utf-8")
    assert "run shard 1/3 again" in run(place, "report", "merge", *names).err


def test_a_shard_that_is_dealt_nothing_passes(tmp_path: Path) -> None:
    skill(tmp_path / "a", answering("data['n']"))
    benchmark(tmp_path / "b.json", task())
    codes, names = [], []
    for number in range(1, 4):
        words = ("--shard", f"{number}/3", "--format", "json", "--output-dir", f"s{number}")
        codes.append(run(tmp_path, "eval", "--skills", "a", "--benchmark", "./b.json", *words).code)
        names.append(f"s{number}/eval-result.json")
    assert codes == [0, 0, 0]
    done = run(tmp_path, "report", "merge", *names, "--json")
    assert (done.code, done.json["reports"][0]["summary"]["counts"]["passed"]) == (0, 1)


@pytest.mark.parametrize("word", ["0/3", "4/3", "1", "1/1001", "a/b"])
def test_a_shard_that_cannot_be_is_refused(place: Path, word: str) -> None:
    assert evaluated(place, "s", "--shard", word).code == 2


def test_options_of_scores_are_refused_for_benchmarks_and_the_other_way_round(place: Path) -> None:
    names = shards(place)
    for words in (("--threshold", "80"), ("--certificate", "c.json"), ("--allow-empty",)):
        assert "is for score reports" in run(place, "report", "merge", *names, *words).err
