"""A run that is killed loses no finished result, and ``eval --resume`` goes on with it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import answering, benchmark, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

PROGRESS = "reports/eval-progress.jsonl"
SLOW = "import time; time.sleep(0.05)\n" + answering("data['n']")
MANY = 40


def prepared(cwd: Path, code: str = SLOW) -> None:
    skill(cwd / "s", code)
    benchmark(cwd / "b.json", *[task(f"t{n}") for n in range(MANY)])


def evaluated(cwd: Path, *words: str) -> Done:
    return run(cwd, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--no-store", *words)


def stored(cwd: Path) -> dict[tuple[str, int], Any]:
    """The results that the file of the run has, without a line that was cut off."""
    found: dict[tuple[str, int], Any] = {}
    for line in (cwd / PROGRESS).read_bytes().split(b"\n")[1:-1] if (cwd / PROGRESS).exists() else ():
        result = json.loads(line)
        assert (result["taskId"], result["run"]) not in found, "stored twice"
        found[result["taskId"], result["run"]] = result
    return found


def started(cwd: Path, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "skillgate", "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(cwd)}
    return subprocess.Popen([*command, "--runs", "2", *words], cwd=cwd, env=environ, stdout=subprocess.DEVNULL)


def test_killed_at_twenty_moments_nothing_is_lost_and_nothing_counted_twice(tmp_path: Path) -> None:
    prepared(tmp_path)
    chance = random.Random(30)
    seen: dict[tuple[str, int], Any] = {}
    kills = 0
    while kills < 20:
        words = ("--resume",) if (tmp_path / PROGRESS).exists() else ()
        child = started(tmp_path, "--concurrency", "1", *words)
        before = len(stored(tmp_path))
        target = before + chance.choice((0, 1, 1, 2))
        while child.poll() is None and len(stored(tmp_path)) < target:
            time.sleep(0.005)
        time.sleep(chance.random() * 0.05)
        assert child.poll() is None, "it ended before it was killed"
        child.send_signal(signal.SIGKILL)
        child.wait()
        kills += 1
        now = stored(tmp_path)
        assert {key: now.get(key) for key in seen} == seen, "a finished result was lost or measured again"
        seen = now
    assert started(tmp_path, "--resume").wait() == 0
    report = json.loads((tmp_path / "reports/eval-result.json").read_text(encoding="utf-8"))
    results = report["reports"][0]["taskResults"]
    keys = [(one["run"], int(one["taskId"][1:])) for one in results]
    assert keys == [(number, n) for number in (1, 2) for n in range(MANY)]
    final = {(one["taskId"], one["run"]): one for one in results}
    assert {key: final[key] for key in seen} == seen
    assert report["reports"][0]["summary"]["counts"]["total"] == 2 * MANY
    assert not (tmp_path / PROGRESS).exists()
    assert "results are of an earlier start of this run" in report["notices"][0]


def interrupted(cwd: Path) -> None:
    """Leave the file of a run of which two results are there, and one line is cut off."""
    child = started(cwd)
    while len(stored(cwd)) < 2 and child.poll() is None:
        time.sleep(0.005)
    child.kill()
    child.wait()
    lines = (cwd / PROGRESS).read_bytes().splitlines(keepends=True)
    (cwd / PROGRESS).write_bytes(b"".join(lines[:3]) + b'{"taskId": "t')


@pytest.mark.parametrize(
    ("words", "change"),
    [
        (("--runs", "3"), ""),
        (("--runs", "2", "--timeout", "9s"), ""),
        (("--runs", "2", "--task-id", "t1"), ""),
        (("--runs", "2"), "skill"),
        (("--runs", "2"), "benchmark"),
    ],
)
def test_only_the_same_run_is_resumed(tmp_path: Path, words: tuple[str, ...], change: str) -> None:
    prepared(tmp_path)
    interrupted(tmp_path)
    if change == "skill":
        prepared(tmp_path, "# changed\n" + SLOW)
    if change == "benchmark":
        benchmark(tmp_path / "b.json", *[task(f"t{n}", weight=2) for n in range(MANY)])
    done = evaluated(tmp_path, "--resume", *words)
    assert (done.code, "belongs to a run with other skills, tasks or settings" in done.err) == (2, True), done.err
    assert len(stored(tmp_path)) == 2


def test_without_the_option_a_run_starts_over_and_says_so(tmp_path: Path) -> None:
    prepared(tmp_path)
    interrupted(tmp_path)
    done = evaluated(tmp_path, "--runs", "2")
    assert "results of a run that was interrupted; starting over without --resume" in done.err
    assert (done.json["notices"], len(done.json["reports"][0]["taskResults"])) == ([], 2 * MANY)


def test_there_may_be_nothing_to_resume(tmp_path: Path) -> None:
    prepared(tmp_path)
    done = evaluated(tmp_path, "--resume")
    assert (done.code, "--resume: there is no reports/eval-progress.jsonl" in done.err) == (2, True), done.err


def test_a_line_that_is_no_result_is_passed_over(tmp_path: Path) -> None:
    prepared(tmp_path)
    interrupted(tmp_path)
    with (tmp_path / PROGRESS).open("ab") as file:
        file.write(b'\n{"taskId": 1}\n')
    done = evaluated(tmp_path, "--resume", "--runs", "2")
    assert done.code == 0, done.err
    assert done.json["notices"] == ["2 of 80 results are of an earlier start of this run, which was interrupted"]


@pytest.mark.parametrize("words", [("--exit-on-fail",), ("--min-completion", "0.5"), ("--require-task", "t1")])
def test_a_gate_on_one_run_advises_three(tmp_path: Path, words: tuple[str, ...]) -> None:
    prepared(tmp_path, answering("data['n']"))
    assert "use --runs 3" in evaluated(tmp_path, *words).err
    assert "use --runs 3" not in evaluated(tmp_path, *words, "--runs", "3").err
    assert "use --runs 3" not in evaluated(tmp_path).err
