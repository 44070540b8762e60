"""Doing nothing must not pass: the packaged benchmarks hold to it, and a weak one is found out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.bench.documents import packaged_ids
from tests.bench.made import benchmark, run, task

if TYPE_CHECKING:
    from pathlib import Path


def test_no_packaged_benchmark_is_passed_by_doing_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, "bench", "check", "--json")
    assert done.code == 0, done.out
    assert {row["benchmark"] for row in done.json["probes"]} == set(packaged_ids())
    passed = {(row["benchmark"], row["probe"]): row["passed"] for row in done.json["probes"]}
    assert passed["coding-easy", "null"] == passed["coding-easy", "echo"] == []
    assert passed["coding-easy", "constant"] == ["palindrome-1", "palindrome-4"]


def test_tasks_that_give_their_answer_away_are_named(tmp_path: Path) -> None:
    benchmark(
        tmp_path / "weak.json",
        task("echoed", inputData={"query": "what is blue"}, expectedOutput={"type": "contains", "keywords": ["blue"]}),
        task("nothing", expectedOutput={"type": "exact", "value": None}),
        task("same", inputData={"n": 4}, expectedOutput={"type": "numeric", "value": 4}),
        task("strong", inputData={"n": 5}, expectedOutput={"type": "numeric", "value": 25}),
    )
    done = run(tmp_path, "bench", "check", "./weak.json", "--json")
    assert done.code == 1
    passed = {row["probe"]: row["passed"] for row in done.json["probes"]}
    assert (passed["null"], passed["echo"]) == (["nothing"], ["echoed", "same"])
    assert len(passed["constant"]) == 1
    assert "echoed, same" in run(tmp_path, "bench", "check", "./weak.json").out


def test_tasks_that_refusing_everything_passes_are_named(tmp_path: Path) -> None:
    call = {"inputData": {"n": 1}}
    step = {**call, "expectedOutput": {"type": "error"}}
    refusals = [
        task("any", expectedOutput={"type": "error"}),
        task("text", expectedOutput={"type": "error", "contains": "time zone"}),
        task("code", expectedOutput={"type": "error", "code": -32602, "contains": "n"}),
        task("other", expectedOutput={"type": "error", "code": 404}),
        task("after", expectedOutput={"type": "error"}, steps=[call, call]),
        task("both", expectedOutput={"type": "error"}, steps=[step, call]),
        task("made", expectedOutput={"type": "error"}, setup=[call]),
    ]
    benchmark(tmp_path / "b.json", *refusals, task(expectedOutput={"type": "exact", "value": "own"}))
    done = run(tmp_path, "bench", "check", "./b.json", "--json")
    row = next(row for row in done.json["probes"] if row["probe"] == "refuse")
    assert (row["passed"], row["allowed"], row["ok"]) == (["any", "text", "code", "both"], 4, True)
    # Where nothing but refusals is expected, a skill that does nothing passes everything.
    benchmark(tmp_path / "b.json", *refusals[:3])
    done = run(tmp_path, "bench", "check", "./b.json", "--json")
    row = next(row for row in done.json["probes"] if row["probe"] == "refuse")
    assert (done.code, row["passed"], row["allowed"]) == (1, ["any", "text", "code"], 0)
    benchmark(tmp_path / "b.json", *refusals[:3], metadata={"selfCheck": {"refuse": 3}})
    assert run(tmp_path, "bench", "check", "./b.json").code == 0


def test_what_a_benchmark_allows_of_itself_is_fine(tmp_path: Path) -> None:
    weak = task("nothing", expectedOutput={"type": "exact", "value": None})
    benchmark(tmp_path / "b.json", weak, metadata={"selfCheck": {"null": 1, "constant": 1}})
    assert run(tmp_path, "bench", "check", "./b.json").code == 0


def test_tasks_that_nothing_here_can_score_are_named_and_are_no_pass(tmp_path: Path) -> None:
    judged = task("j1", expectedOutput={"type": "llm_judge", "judgePrompt": "good?"})
    own = task("c1", expectedOutput={"type": "custom"}, evaluator={"command": ["score"]})
    benchmark(tmp_path / "b.json", judged, own)
    done = run(tmp_path, "bench", "check", "./b.json")
    assert done.code == 3
    assert "a model or a program scores them: j1, c1" in done.err
    benchmark(tmp_path / "b.json", judged, task())
    done = run(tmp_path, "bench", "check", "./b.json", "--json")
    assert (done.code, done.json["notChecked"]) == (1, {"own": ["j1"]})
