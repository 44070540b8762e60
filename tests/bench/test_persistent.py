"""Programs that answer many requests with one process, through the command line, and what they may do wrong."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.bench.isolation.spawner import ProcessSpawner
from skillgate.bench.ports import Limits
from skillgate.model.bench import ErrorKind
from tests.bench.made import benchmark, run, skill, task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.running import Done

LOOP = """\
import json, os, sys, time
count = 0
def answer(request, result):
    print(json.dumps({{"jsonrpc": "2.0", "id": request["id"], "result": result}}), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    data, count = request["params"], count + 1
    {body}
"""


def looping(body: str) -> str:
    """A program that does something for each request."""
    return LOOP.format(body=body.replace("\n", "\n    "))


def evaluated(cwd: Path, body: str, *tasks: dict[str, Any], words: tuple[str, ...] = (), **config: Any) -> Done:
    """Evaluate one persistent skill, one task at a time unless said otherwise."""
    skill(cwd / "s", looping(body), config={"persistent": True, **config})
    benchmark(cwd / "b.json", *tasks)
    concurrency = () if "--concurrency" in words else ("--concurrency", "1")
    return run(cwd, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", *concurrency, *words)


def results(done: Done) -> list[dict[str, Any]]:
    assert done.out, done.err
    found: list[dict[str, Any]] = done.json["reports"][0]["taskResults"]
    return found


def outputs(done: Done) -> list[Any]:
    return [(one.get("output") or {}).get("value") for one in results(done)]


def numbered(count: int) -> list[dict[str, Any]]:
    return [task(f"t{n}", inputData={"n": n}, expectedOutput={"value": n}) for n in range(count)]


def test_one_process_answers_all_requests_with_ids_that_count_up(tmp_path: Path) -> None:
    done = evaluated(tmp_path, "answer(request, [os.getpid(), request['id'], count])", *numbered(5))
    found = outputs(done)
    assert len({pid for pid, *_ in found}) == 1
    assert [rest for _, *rest in found] == [[n, n] for n in range(1, 6)]


def test_calls_at_once_have_a_process_each_and_never_one_anothers_answer(tmp_path: Path) -> None:
    body = "time.sleep(0.02); answer(request, data['n'])"
    done = evaluated(tmp_path, body, *numbered(24), words=("--concurrency", "4", "--runs", "3"))
    assert {one["status"] for one in results(done)} == {"pass"}
    pids = evaluated(tmp_path, "time.sleep(0.2); answer(request, os.getpid())", *numbered(8), maxConcurrency=2)
    assert len(set(outputs(pids))) <= 2


@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        ("time.sleep(60)", "timeout", "within 1 s"),
        ("os._exit(3)", "exit_code", "exited with code 3 without a reply"),
        ("os.kill(os.getpid(), 9)", "crash", "signal 9"),
        ("print('hello', flush=True)", "protocol", "no JSON-RPC reply"),
        ("answer({'id': 7}, 1)", "protocol", "id 7, expected 2"),
        ("answer({'id': None}, 1)", "protocol", "id null, expected 2"),
        ("sys.stdout.write('x' * 6_000_000); sys.stdout.flush()", "output_limit", "more than 5,242,880 bytes"),
        ('print(\'{"jsonrpc": "2.0", "id": 2, "result": NaN}\', flush=True)', "protocol", "NaN"),
    ],
)
def test_a_process_that_does_wrong_is_replaced_and_costs_one_task(
    tmp_path: Path, wrong: str, kind: str, words: str
) -> None:
    body = f"if data['n'] == 1:\n    {wrong}\nelse:\n    answer(request, data['n'] if count > 0 else None)"
    done = evaluated(tmp_path, body, *numbered(4), words=("--timeout", "1000"))
    found = results(done)
    assert [one["status"] == "pass" for one in found] == [True, False, True, True], found
    assert found[1]["errorKind"] == kind
    assert words in found[1]["error"]


def test_an_error_it_answers_is_the_tasks_own_and_the_process_stays(tmp_path: Path) -> None:
    error = '{"jsonrpc": "2.0", "id": %d, "error": {"code": 1, "message": "no"}}'
    body = f"if data['n'] == 0:\n    print({error!r} % count, flush=True)\nelse:\n    answer(request, count)"
    done = evaluated(tmp_path, body, *numbered(3))
    assert results(done)[0]["errorKind"] == "rpc"
    assert outputs(done)[1:] == [2, 3]


def test_a_late_answer_is_never_taken_for_that_of_the_next_request(tmp_path: Path) -> None:
    body = "if data['n'] == 0:\n    time.sleep(1.2)\nanswer(request, data['n'])"
    done = evaluated(tmp_path, body, *numbered(4), words=("--timeout", "1000"))
    assert [one["status"] for one in results(done)] == ["timeout", "pass", "pass", "pass"]


def test_what_it_says_unasked_is_never_taken_for_an_answer(tmp_path: Path) -> None:
    body = "answer(request, data['n']); answer({'id': count + 1}, 'wrong')"
    tasks = [task(f"t{n}", inputData={"n": n}, expectedOutput={"value": n}) for n in range(3)]
    done = evaluated(tmp_path, body, *tasks, words=("--retries", "3", "--retry-delay-s", "0.01"))
    assert "wrong" not in outputs(done)[:1]
    assert results(done)[0]["status"] == "pass"


def test_a_process_that_ended_between_two_tasks_is_replaced_without_a_failure(tmp_path: Path) -> None:
    done = evaluated(tmp_path, "answer(request, data['n']); time.sleep(0.01); os._exit(0)", *numbered(3))
    assert {one["status"] for one in results(done)} <= {"pass", "error"}
    assert results(done)[0]["status"] == "pass"


def test_what_one_start_costs_is_paid_once(tmp_path: Path) -> None:
    body = "answer(request, data['n'])"
    done = evaluated(tmp_path, body, *numbered(40))
    later = sorted(one["latencyMs"] for one in results(done)[1:])
    assert later[len(later) // 2] < results(done)[0]["latencyMs"]


def test_no_process_is_left_when_the_run_is_over(tmp_path: Path) -> None:
    body = "import subprocess; subprocess.Popen(['sleep', '61.7']); answer(request, os.getpid())"
    pids = outputs(evaluated(tmp_path, body, *numbered(2)))
    assert pids
    for pid in set(pids):
        assert not Path(f"/proc/{pid}").exists()
    if Path("/proc/self/cmdline").exists():
        lines = [line.read_bytes() for line in Path("/proc").glob("[0-9]*/cmdline") if line.exists()]
        assert b"sleep\x0061.7\x00" not in lines


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_skill_in_node(tmp_path: Path) -> None:
    code = """\
const data = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log("some words first");
console.log(JSON.stringify({jsonrpc: "2.0", id: data.id, result: data.params.n + 1}));
"""
    (skill(tmp_path / "s", entrypoint="node skill.js") / "skill.js").write_text(code, encoding="utf-8")
    benchmark(tmp_path / "b.json", task(expectedOutput={"value": 2}))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json")
    assert [one["status"] for one in results(done)] == ["pass"], results(done)


def test_a_skill_in_shell(tmp_path: Path) -> None:
    code = 'read -r line\nprintf \'{"jsonrpc": "2.0", "id": 1, "result": %s}\\n\' "${#line}"\n'
    (skill(tmp_path / "s", entrypoint="sh 'the skill.sh'") / "the skill.sh").write_text(code, encoding="utf-8")
    benchmark(tmp_path / "b.json", task(expectedOutput={"value": 65}))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--json")
    assert outputs(done) == [len('{"jsonrpc": "2.0", "method": "invoke", "params": {"n": 1}, "id": 1}')]


@pytest.fixture
def spawner() -> Iterator[ProcessSpawner]:
    made = ProcessSpawner(path=os.environ["PATH"], stop=threading.Event())
    yield made
    made.close()


def test_more_memory_than_allowed_ends_a_conversation(spawner: ProcessSpawner, tmp_path: Path) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("/proc is not there")
    code = "x = bytearray(300_000_000); input()"
    limits = Limits(timeout_s=20, memory_bytes=100_000_000)
    talk = spawner.open(["python3", "-c", code], root=str(tmp_path), env={}, limits=limits, copy=False)
    assert talk.read(20).kind is ErrorKind.MEMORY_LIMIT
    talk.close()


def test_a_program_that_reads_nothing_holds_nobody_up(spawner: ProcessSpawner, tmp_path: Path) -> None:
    code = "import time; time.sleep(60)"
    talk = spawner.open(["python3", "-c", code], root=str(tmp_path), env={}, limits=Limits(60), copy=False)
    began = time.monotonic()
    talk.send(b"x" * 4_000_000)
    assert talk.read(0.2).kind is ErrorKind.TIMEOUT
    talk.close()
    talk.close()
    assert time.monotonic() - began < 120
    assert talk.read(1).kind is ErrorKind.STOPPED


def test_the_last_line_counts_without_its_end(spawner: ProcessSpawner, tmp_path: Path) -> None:
    code = "import sys; print('a\\n\\nb', end=''); sys.stderr.write('why'); sys.exit(2)"
    talk = spawner.open(["python3", "-c", code], root=str(tmp_path), env={}, limits=Limits(60), copy=False)
    assert [talk.read(20).line for _ in range(2)] == [b"a", b"b"]
    assert (talk.read(20).kind, talk.stderr()) == (ErrorKind.EXIT_CODE, b"why")
    talk.close()
