"""The command eval from its options to its exit code, with real programs for skills."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.model.bench import BenchReport
from skillgate.model.codec import decode
from tests.architecture.source import ROOT
from tests.bench.made import answering, benchmark, run, skill, task

if TYPE_CHECKING:
    from tests.cli.running import Done

EXAMPLE = ROOT / "examples/executable/calculator"


def evaluated(cwd: Path, *words: str) -> Done:
    """Evaluate the skill ``s`` on the benchmark ``b.json`` there."""
    return run(cwd, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", *words)


def only(done: Done) -> Any:
    (report,) = done.json["reports"]
    return report


def statuses(done: Done) -> list[str]:
    return [result["status"] for result in only(done)["taskResults"]]


def test_the_shipped_example_completes_the_easy_benchmark(tmp_path: Path) -> None:
    done = run(tmp_path, "eval", "--skills", str(EXAMPLE), "--runs", "2", "--json", "--exit-on-fail")
    assert done.code == 0, done.err
    summary = only(done)["summary"]
    assert (summary["completionRate"], summary["counts"]["total"], summary["consistencyScore"]) == (1.0, 40, 1.0)
    assert summary["confidenceInterval"] == {"mean": 1, "ciLow": 1, "ciHigh": 1, "n": 20, "method": "bootstrap"}
    decode(BenchReport, done.json)


@pytest.mark.parametrize("result", ["None", "data", "True", "'true'", "[]", "{'result': data}"])
def test_a_skill_that_does_nothing_passes_next_to_nothing(tmp_path: Path, result: str) -> None:
    skill(tmp_path / "s", answering(result))
    done = run(tmp_path, "eval", "--skills", "s", "--json")
    passed = [one["taskId"] for one in only(done)["taskResults"] if one["status"] == "pass"]
    assert passed in ([], ["palindrome-1", "palindrome-4"])
    assert not passed or result == "True"


def test_files_are_written_under_a_stable_name_and_one_with_the_time(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("data['n']"))
    benchmark(tmp_path / "b.json", task())
    done = evaluated(tmp_path, "--format", "json,markdown", "csv", "--output-dir", "out")
    assert done.code == 0
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"eval-result.json", "eval-result.md", "eval-result.csv"} < names
    assert len(names) == 6
    assert json.loads((tmp_path / "out/eval-result.json").read_text()) == done.json
    (row,) = csv.DictReader((tmp_path / "out/eval-result.csv").read_text().splitlines())
    assert (row["skillId"], row["completionRate"], row["gate"]) == ("s", "1", "")


def test_results_come_in_the_order_run_skill_task(tmp_path: Path) -> None:
    for name in ("b", "a"):
        skill(tmp_path / name, answering("data['n']"))
    benchmark(tmp_path / "bench.json", task("t2"), task("t1"))
    done = run(tmp_path, "eval", "--skills", "a", "b", "--benchmark", "./bench.json", "--runs", "2", "--json")
    found = [[(one["run"], one["taskId"]) for one in report["taskResults"]] for report in done.json["reports"]]
    assert found == [[(1, "t2"), (1, "t1"), (2, "t2"), (2, "t1")]] * 2


def test_a_gate_fails_the_run_whether_or_not_it_is_asked_to_exit(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("0"))
    benchmark(tmp_path / "b.json", task())
    assert evaluated(tmp_path).code == 0
    assert evaluated(tmp_path, "--exit-on-fail").code == 1
    assert evaluated(tmp_path, "--min-completion", "0.1").code == 1
    assert evaluated(tmp_path, "--require-task", "t1").code == 1
    assert evaluated(tmp_path, "--exit-on-fail", "--min-completion", "0").code == 0


@pytest.mark.parametrize(
    ("code", "status", "kind", "words"),
    [
        ("import time; time.sleep(60)", "timeout", "timeout", "within 1 s"),
        ("raise SystemExit(3)", "error", "exit_code", "exited with code 3 without a reply"),
        (answering("data['n']") + "raise SystemExit(3)", "error", "exit_code", "answered and then"),
        ("import os; os.kill(os.getpid(), 9)", "error", "crash", "signal 9"),
        ("print('hello')", "error", "protocol", "no JSON-RPC reply"),
        ("import sys; sys.stderr.write('why\\n')", "error", "protocol", "why"),
        (
            'print(\'{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "upstream timeout"}}\')',
            "error",
            "rpc",
            "upstream timeout",
        ),
        ("import sys\nwhile True: sys.stdout.write('x' * 65536)", "error", "output_limit", "more than"),
    ],
)
def test_what_a_skill_does_wrong_is_its_own_failure_of_a_kind(
    tmp_path: Path, code: str, status: str, kind: str, words: str
) -> None:
    skill(tmp_path / "s", code)
    benchmark(tmp_path / "b.json", task())
    done = evaluated(tmp_path, "--timeout", "1000")
    (result,) = only(done)["taskResults"]
    assert (result["status"], result["errorKind"], result["score"]) == (status, kind, 0)
    assert words in result["error"]
    assert len(result["error"]) <= 2000
    assert done.code == 0
    assert (result["latencyMs"] == 1000) is (status == "timeout")


def test_a_skill_that_crashes_costs_the_others_nothing(tmp_path: Path) -> None:
    skill(tmp_path / "s", "raise SystemExit(1)")
    skill(tmp_path / "good", answering("data['n']"))
    benchmark(tmp_path / "b.json", task(inputData={"n": 1, "long": "x" * 500_000}))
    done = run(tmp_path, "eval", "--skills", "s", "good", "--benchmark", "./b.json", "--json")
    assert {one["skillId"]: one["summary"]["completionRate"] for one in done.json["reports"]} == {"good": 1, "s": 0}


def test_infrastructure_is_tried_again_and_told_and_a_wrong_answer_never_is(tmp_path: Path) -> None:
    marker = "import os, sys\nif not os.path.exists({0!r}):\n    open({0!r}, 'w').close(); sys.exit(1)\n"
    place = tmp_path / "shared"
    place.mkdir()
    place.chmod(0o777)
    for folder in (tmp_path, *tmp_path.parents):  # the program may run as another user
        if os.geteuid() == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o001)
    skill(tmp_path / "s", marker.format(str(place / "seen")) + answering("data['n']"))
    benchmark(tmp_path / "b.json", task())
    done = evaluated(tmp_path, "--retries", "2", "--retry-delay-s", "0.01")
    (result,) = only(done)["taskResults"]
    assert (result["status"], [one["errorKind"] for one in result["attempts"]]) == ("pass", ["exit_code"])
    assert only(done)["summary"]["counts"]["retries"] == 1
    skill(tmp_path / "s", answering("7"))
    assert only(evaluated(tmp_path, "--retries", "2"))["taskResults"][0]["attempts"] == []


def test_a_flaky_task_is_named(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("data['n'] if __import__('time').time_ns() % 2 else 0"))
    benchmark(tmp_path / "b.json", task())
    summary = only(evaluated(tmp_path, "--runs", "25"))["summary"]
    assert summary["flakyTasks"] == ["t1"]
    assert 0 < summary["consistencyScore"] < 1


def test_a_large_answer_is_cut_and_scored_whole(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("'x' * 1_000_000"))
    benchmark(tmp_path / "b.json", task(expectedOutput={"value": "x" * 1_000_000}))
    done = evaluated(tmp_path)
    output = only(done)["taskResults"][0]["output"]
    assert (statuses(done), output["truncated"], output["sizeBytes"]) == (["pass"], True, 1_000_002)
    assert len(done.out) < 60_000


def test_what_could_not_be_scored_is_skipped_and_ends_with_3(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("'a' * 40 + '!'"))
    away = task(expectedOutput={"type": "regex", "patterns": ["^(a+)+$"]}, evaluator={"timeoutMs": 300})
    benchmark(tmp_path / "b.json", away, task("t2"))
    done = evaluated(tmp_path)
    assert (statuses(done), done.code) == (["skipped", "fail"], 3)
    assert only(done)["summary"]["counts"]["total"] == 1
    assert evaluated(tmp_path, "--allow-skipped").code == 0
    assert evaluated(tmp_path, "--exit-on-fail").code == 1


def test_a_dry_run_says_what_would_run_and_writes_nothing(tmp_path: Path) -> None:
    skill(tmp_path / "s", "raise SystemExit(1)")
    done = run(tmp_path, "eval", "--skills", "s", "--runs", "3", "--dry-run")
    assert done.code == 0
    assert "60 calls: 1 skills × 20 tasks × 3 runs" in done.out
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--concurrency", "0"), "from 1 to 256"),
        (("--concurrency", "abc"), "whole number"),
        (("--runs", "2.7"), "whole number"),
        (("--runs", "-3"), "from 1 to 1000"),
        (("--retries", "-1"), "from 0"),
        (("--timeout", "0"), "at least 100"),
        (("--timeout", "30"), "write 30s"),
        (("--timeout", "abc"), "30s"),
        (("--min-completion", "abc"), "a number from 0 to 1"),
        (("--min-completion", "80"), "did you mean 0.8?"),
        (("--min-completion", "nan"), "a number from 0 to 1"),
        (("--evaluator", "bogus"), "expected one of"),
        (("--format", "pdf"), "found 'pdf'"),
        (("--benchmark", "nope"), "there is no benchmark 'nope'"),
        (("--benchmark", "gaia-v1"), "placeholder"),
        (("--benchmarks-dir", "nowhere"), "no such directory"),
        (("--require-task", "nope"), "no such task"),
        (("--task-id", "nope"), "no task 'nope'"),
        (("-c", "nope.yaml"), "nope.yaml"),
        (("--output-dir", "s/skill.json/x"), "cannot write"),
        (("--skills", "missing"), "missing does not exist"),
        (("--no-allow-exec",), "remove --no-allow-exec, or set allow-exec: true"),
    ],
)
def test_what_is_not_valid_ends_with_2_before_anything_runs(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    skill(tmp_path / "s", "open('ran', 'w')")
    done = run(tmp_path, "eval", "--skills", "s", *words)
    assert done.code == 2
    assert told in done.err
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize("entrypoint", ["python3 skill.py; touch x", "python3 skill.py | cat", "python3 skill.py > x"])
def test_a_command_for_a_shell_is_refused(tmp_path: Path, entrypoint: str) -> None:
    skill(tmp_path / "s", entrypoint=entrypoint)
    done = run(tmp_path, "eval", "--skills", "s")
    assert (done.code, "needs a shell" in done.err) == (2, True)


def test_quotes_and_arguments_are_kept(tmp_path: Path) -> None:
    folder = skill(tmp_path / "s", entrypoint='python3 "my skill.py" 0.5 kill-switch.py')
    (folder / "my skill.py").write_text(answering("__import__('sys').argv[1:]"), encoding="utf-8")
    benchmark(tmp_path / "b.json", task(expectedOutput={"value": ["0.5", "kill-switch.py"]}))
    assert statuses(evaluated(tmp_path)) == ["pass"]


@pytest.mark.parametrize("name", ["SKILLGATE_CACHE_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"])
def test_a_key_of_this_program_is_given_to_no_skill_even_where_it_is_allowed(tmp_path: Path, name: str) -> None:
    skill(tmp_path / "s", config={"passEnv": [name]})
    done = run(tmp_path, "eval", "--skills", "s", "--allow-env", name, **{name: "MARK-OF-A-SECRET"})
    assert done.code == 2
    assert f"{name} is never passed to a skill" in done.err
    assert "MARK-OF-A-SECRET" not in done.out + done.err


@pytest.mark.parametrize("name", ["GITHUB_TOKEN", "ANTHROPIC_API_KEY", "AWS_SECRET", "HOME_KEY", "SKILL_MISSING"])
def test_a_variable_that_a_skill_must_not_have_is_refused(tmp_path: Path, name: str) -> None:
    skill(tmp_path / "s", config={"passEnv": [name]})
    done = run(tmp_path, "eval", "--skills", "s", GITHUB_TOKEN="t", ANTHROPIC_API_KEY="k", AWS_SECRET="s", HOME_KEY="h")
    assert done.code == 2
    assert name in done.err


def test_a_variable_of_the_skills_own_is_handed_on_and_not_shown(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("len(__import__('os').environ['SKILL_KEY'])"), config={"passEnv": ["SKILL_KEY"]})
    benchmark(tmp_path / "b.json", task(expectedOutput={"value": 6}))
    words = ("eval", "--skills", "s", "--benchmark", "./b.json", "--json")
    done = run(tmp_path, *words, SKILL_KEY="s3cret")
    assert statuses(done) == ["pass"]
    assert "s3cret" not in done.out + done.err


@pytest.mark.parametrize("persistent", [False, True])
def test_a_variable_that_a_skill_gives_back_is_in_nothing_that_is_written(tmp_path: Path, persistent: bool) -> None:
    code = """\
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    key = os.environ["SKILL_KEY"]
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {key: f"it is {key}"}}), flush=True)
    sys.stderr.write(key)
    sys.exit(request["params"]["n"])
"""
    skill(tmp_path / "s", code, config={"passEnv": ["SKILL_KEY"], "persistent": persistent})
    benchmark(tmp_path / "b.json", task("fine", inputData={"n": 0}), task("ends", inputData={"n": 3}))
    words = ("eval", "--skills", "s", "--benchmark", "./b.json", "--json", "--format", "json,markdown,csv")
    done = run(tmp_path, *words, SKILL_KEY="s3cret-value")
    written = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "reports").iterdir())
    assert "s3cret-value" not in done.out + done.err + written
    assert "it is [redacted]" in written


def test_what_a_crash_says_last_is_told_first_wherever_it_is_cut(tmp_path: Path) -> None:
    code = "def a_function_with_a_name(n):\n    a_function_with_a_name(n - 1) if n else {}['the cause']\n"
    skill(tmp_path / "s", code + "a_function_with_a_name(7)\n")
    benchmark(tmp_path / "b.json", task())
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--format", "markdown")
    assert "KeyError: 'the cause'" in " ".join(done.out.split())
    assert "KeyError: 'the cause'" in (tmp_path / "reports" / "eval-result.md").read_text(encoding="utf-8")


def test_hostile_names_are_inert_in_markdown_and_in_the_terminal(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("'<img src=x onerror=alert(1)> | `x` \\n## h @everyone'"))
    benchmark(tmp_path / "b.json", task("a|b`c\n## x", tags=["<script>"]))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json")
    text = (tmp_path / "reports/eval-result.md").read_text(encoding="utf-8")
    assert "<img" not in text
    assert "\n## x" not in text
    assert "@everyone" not in text
    rows = [line for line in text.splitlines() if "fail" in line and line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") == 7 for line in rows)
    assert rows
    assert "\n## x" not in done.out


def test_progress_as_json_is_a_line_for_each_result(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("data['n']"))
    benchmark(tmp_path / "b.json", task("a"), task("b"))
    done = evaluated(tmp_path, "--progress", "json", "-q")
    lines = [json.loads(line) for line in done.err.splitlines()]
    assert [(line["done"], line["total"], line["status"]) for line in lines] == [(1, 2, "pass"), (2, 2, "pass")]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_ended_leaves_no_process_and_a_report_that_says_so(
    tmp_path: Path, number: signal.Signals, code: int
) -> None:
    skill(tmp_path / "s", "import json, sys, time\nrequest = json.load(sys.stdin)\n" + _QUICK_OR_NEVER)
    benchmark(tmp_path / "b.json", task("a", inputData={"wait": 0}), task("b", inputData={"wait": 120}))
    words = ["eval", "--skills", "s", "--benchmark", "./b.json", "--concurrency", "2"]
    starter = "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    starter += "from skillgate.cli.main import entry\nentry()"
    child = subprocess.Popen(
        [sys.executable, "-c", starter, *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 30
    while not _children(child.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(2)
    started = _children(child.pid)
    child.send_signal(number)
    child.communicate(timeout=60)
    assert child.returncode == code
    assert started or not Path("/proc").exists()
    assert not [pid for pid in started if Path(f"/proc/{pid}").exists()]
    report = json.loads((tmp_path / "reports/eval-result.json").read_text(encoding="utf-8"))
    assert report["reports"][0]["incomplete"] == "the run was interrupted"
    assert report["coverage"] == 0.5  # of what was asked for, and not of what came back


_QUICK_OR_NEVER = """\
time.sleep(request["params"]["wait"])
print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": 1}))
"""


def _children(pid: int) -> list[int]:
    found = []
    for task_file in Path(f"/proc/{pid}/task").glob("*/children"):
        found += [int(word) for word in task_file.read_text().split()]
    return found


def test_a_task_has_all_the_time_that_was_given(tmp_path: Path) -> None:
    """No other limit, such as the default's half minute, stands behind the one that was given."""
    code = "import time\ntime.sleep(31)\n" + answering("data['n']")
    skill(tmp_path / "s", code)
    benchmark(tmp_path / "b.json", task())
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--timeout", "60000", "--json")
    (found,) = done.json["reports"][0]["taskResults"]
    assert (found["status"], found["latencyMs"] > 31_000) == ("pass", True)
