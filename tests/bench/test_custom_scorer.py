"""A benchmark's own scorers: functions and commands in processes of their own, and everything that is no score."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.bench.made import answering, benchmark, run, skill, task

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done


def evaluated(folder: Path, *words: str) -> Done:
    return run(folder, "eval", "--skills", "s", "--benchmark", "./b.json", "--json", *words)


def only(done: Done) -> Any:
    (report,) = done.json["reports"]
    (result,) = report["taskResults"]
    return result


def scored(folder: Path, body: str, *words: str, **evaluator: Any) -> Done:
    """Evaluate a skill that answers its ``n``; ``body`` is that of the function ``score(data)``."""
    skill(folder / "s", answering("data['n']"))
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    (folder / "score.py").write_text(f"import json, os, sys, time\n\ndef score(data):\n{lines}\n", encoding="utf-8")
    evaluator = {"customScorerPath": "score.py:score", **evaluator}
    own = task(expectedOutput={"type": "custom", "value": 5}, evaluator=evaluator, description="what", tags=["x"])
    benchmark(folder / "b.json", own)
    return evaluated(folder, *words)


@pytest.mark.parametrize(
    ("body", "score", "status"),
    [
        ("return True", 1, "pass"),
        ("return False", 0, "fail"),
        ("return 1", 1, "pass"),
        ("return 0.5", 0.5, "fail"),
        ("return {'score': 0.5}", 0.5, "fail"),
        ("return {'score': 0.5, 'passed': True, 'reason': 'why'}", 0.5, "pass"),
        ("return {'score': 1.0, 'passed': False}", 1, "fail"),
        ("return data['output'] == 1 and data['expected'] == 5 and data['input'] == {'n': 1}", 1, "pass"),
        ("return data['task'] == {'id': 't1', 'description': 'what', 'tags': ['x']}", 1, "pass"),
    ],
)
def test_a_function_scores(tmp_path: Path, body: str, score: float, status: str) -> None:
    done = scored(tmp_path, body)
    result = only(done)
    assert (result["status"], result["score"], result["scorerType"]) == (status, score, "custom"), done.err
    assert done.code == 0
    if "why" in body:
        assert result["reason"] == "why"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 7", "from 0 to 1, found 7"),
        ("return -0.1", "from 0 to 1"),
        ("return float('nan')", "exited with code 1"),
        ("return {'score': float('inf')}", "exited with code 1"),
        ("return None", "found null"),
        ("return '1'", "from 0 to 1"),
        ("return [1]", "from 0 to 1"),
        ("return {'passed': True}", "an object with score"),
        ("return {'score': True}", "from 0 to 1"),
        ("return {'score': 1, 'pass': True}", "an object with score"),
        ("return {'score': 1, 'passed': 'yes'}", "a boolean passed"),
        ("return object()", "not JSON serializable"),
        ("raise ValueError('the scorer is broken')", "the scorer is broken"),
        ("sys.exit(1)", "exited with code 1"),
        ("sys.exit(0)", "wrote no result"),
        ("os._exit(0)", "wrote no result"),
        ("os.kill(os.getpid(), 9)", "exited with code -9"),
        ("time.sleep(60)", "within 1 s"),
        ("x = bytearray(3 << 30)\ntime.sleep(60)\nreturn True", "memory"),
        ("os.write(1, b'x' * (2 << 20))\nreturn 7", "found 7"),
    ],
)
def test_what_is_no_score_is_not_measured(tmp_path: Path, body: str, words: str) -> None:
    limit = 10_000 if "bytearray" in body else 1000 if "sleep" in body else None
    done = scored(tmp_path, body, **({} if limit is None else {"timeoutMs": limit}))
    result = only(done)
    assert (result["status"], result["errorKind"], result["score"]) == ("skipped", "scorer", None)
    assert words in result["error"]
    assert done.code == 3


@pytest.mark.parametrize(
    "forged",
    [
        "print(json.dumps({'score': 1, 'passed': True}))",
        "sys.stdout.write('\\n' + json.dumps(True) + '\\n'); sys.stdout.flush()",
        "os.write(1, b'\\n00000000000000000000000000000000 true\\n')",
        "sys.__stdout__.write('true')",
        "print(data['output'])",
    ],
)
def test_what_a_scorer_prints_is_no_result(tmp_path: Path, forged: str) -> None:
    assert only(scored(tmp_path, f"{forged}\nreturn 0.25"))["score"] == 0.25
    result = only(scored(tmp_path, f"{forged}\nsys.stdout.flush()\nos._exit(0)"))
    assert (result["status"], result["errorKind"]) == ("skipped", "scorer")


def test_the_least_score_that_passes_is_the_benchmarks(tmp_path: Path) -> None:
    assert only(scored(tmp_path, "return 0.5", passThreshold=0.5))["status"] == "pass"


def test_a_path_says_what_the_function_gets(tmp_path: Path) -> None:
    result = only(scored(tmp_path, "return True", path="/missing"))
    assert (result["status"], result["reason"]) == ("fail", "the answer has no value at /missing")


def test_neighbours_of_the_file_can_be_imported_and_take_no_modules_place(tmp_path: Path) -> None:
    (tmp_path / "near.py").write_text("GOOD = 0.75\n")
    (tmp_path / "json.py").write_text("raise SystemExit('this is not the real one')\n")
    assert only(scored(tmp_path, "import near\nreturn near.GOOD"))["score"] == 0.75


def test_a_scorer_has_no_variable_of_the_users(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("data['n']"))
    (tmp_path / "score.py").write_text(
        "import os\n\ndef score(data):\n    return not [x for x in os.environ.values() if x == 'mine']\n"
    )
    own = task(expectedOutput={"type": "custom", "customScorerPath": "score.py:score"})
    benchmark(tmp_path / "b.json", own)
    words = ("eval", "--skills", "s", "--benchmark", "./b.json", "--json")
    assert only(run(tmp_path, *words, SKILL_SECRET="mine", ANTHROPIC_API_KEY="mine"))["status"] == "pass"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../score.py:score", "is outside"),
        ("/etc/score.py:score", "is outside"),
        ("link.py:score", "is outside"),
        ("missing.py:score", "is not a file"),
        ("score.py", "file.py:function"),
        ("score.js:score", "file.py:function"),
        ("./scorer.js", 'use evaluator.command, such as ["node", "scorer.js"]'),
        ("score.py:os.system", "file.py:function"),
        ("folder.py:score", "is not a file"),
    ],
)
def test_a_path_that_is_no_scorer_is_refused(tmp_path: Path, path: str, words: str) -> None:
    place = tmp_path / "in"
    (tmp_path / "score.py").write_text("def score(data):\n    return True\n")
    (place / "folder.py").mkdir(parents=True)
    (place / "link.py").symlink_to(tmp_path / "score.py")
    done = scored(place, "return True", customScorerPath=path)
    assert done.code == 2
    assert "b.json: tasks[0].evaluator.customScorerPath" in done.err
    assert words in done.err


def test_a_function_that_is_not_there_scores_nothing(tmp_path: Path) -> None:
    done = scored(tmp_path, "return True", customScorerPath="score.py:other")
    assert "has no function other" in only(done)["error"]


def test_programs_that_must_not_start_are_refused_before_anything_runs(tmp_path: Path) -> None:
    done = scored(tmp_path, "open('ran', 'w').write('x')\nreturn True", "--no-allow-exec")
    assert done.code == 2
    assert "programs may not be started: remove --no-allow-exec" in done.err
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("code", "status", "words"),
    [
        ("print(data['output'] == 1)".replace("print(", "print(json.dumps(") + ")", "pass", ""),
        ("print(json.dumps({'score': 0.5, 'reason': 'half'}))", "fail", "half"),
        ("print('noise'); print('true')", "skipped", "is not JSON"),
        ("print('NaN')", "skipped", "is not JSON"),
        ("print(7)", "skipped", "found 7"),
        ("print('true'); sys.exit(3)", "skipped", "exited with code 3"),
        ("pass", "skipped", "wrote no result"),
    ],
)
def test_a_command_scores_by_the_one_value_that_it_writes(tmp_path: Path, code: str, status: str, words: str) -> None:
    skill(tmp_path / "s", answering("data['n']"))
    (tmp_path / "judge.py").write_text(f"import json, sys\ndata = json.load(sys.stdin)\n{code}\n")
    own = task(expectedOutput={"type": "custom"}, evaluator={"command": ["python3", "judge.py"]})
    benchmark(tmp_path / "b.json", own)
    result = only(evaluated(tmp_path))
    assert result["status"] == status
    assert words in (result["error"] or result["reason"] or "")


SCORER_JS = """\
const data = JSON.parse(require("fs").readFileSync(0, "utf8"));
const right = data.output === data.input.n && data.expected === 5;
console.log(JSON.stringify({score: right ? 1 : 0, reason: Object.keys(process.env).join(" ")}));
"""
# How a scorer of eval-skills, the default export of a module, is called.
CALL_MJS = """\
import { readFileSync } from "node:fs";
import score from "./scorer.mjs";
const data = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(await score(data.output, {value: data.expected})));
"""
NODE = shutil.which("node", path="/usr/local/bin:/usr/bin:/bin")


@pytest.mark.skipif(NODE is None, reason="no node that every user can run")
def test_a_scorer_in_javascript(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("data['n']"))
    (tmp_path / "scorer.js").write_text(SCORER_JS)
    expected = {"type": "custom", "value": 5}
    own = task(expectedOutput=expected, evaluator={"command": [NODE, "scorer.js"]})
    benchmark(tmp_path / "b.json", own)
    words = ("eval", "--skills", "s", "--benchmark", "./b.json", "--json")
    result = only(run(tmp_path, *words, SKILL_SECRET="mine", OPENAI_API_KEY="mine"))
    assert result["status"] == "pass", result
    assert "PATH" in result["reason"].split()
    assert not {"SKILL_SECRET", "OPENAI_API_KEY"} & {*result["reason"].split()}
    (tmp_path / "scorer.js").write_text("for (;;) {}")
    benchmark(tmp_path / "b.json", {**own, "evaluator": {"command": [NODE, "scorer.js"], "timeoutMs": 1000}})
    result = only(run(tmp_path, *words))
    assert (result["status"], result["errorKind"]) == ("skipped", "scorer")
    assert "within 1 s" in result["error"]


@pytest.mark.skipif(NODE is None, reason="no node that every user can run")
@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("output.result === 1 && expected.value === 5", "pass"),
        ("({score: 0.5, passed: true, reason: 'half'})", "pass"),
        ("0.5", "fail"),
        ("7", "skipped"),
    ],
)
def test_a_scorer_of_eval_skills_is_called_by_a_command(tmp_path: Path, body: str, status: str) -> None:
    skill(tmp_path / "s", answering("{'result': data['n']}"))
    (tmp_path / "scorer.mjs").write_text(f"export default async (output, expected) => {body};")
    (tmp_path / "call.mjs").write_text(CALL_MJS)
    evaluator = {"command": [NODE, "call.mjs"], "path": ""}
    benchmark(tmp_path / "b.json", task(expectedOutput={"type": "custom", "value": 5}, evaluator=evaluator))
    result = only(evaluated(tmp_path))
    assert result["status"] == status, result


def test_a_command_and_a_file_at_once_are_refused(tmp_path: Path) -> None:
    done = scored(tmp_path, "return True", command=["python3", "judge.py"])
    assert done.code == 2
    assert "tasks[0].evaluator.command" in done.err


def test_a_command_that_is_not_there_scores_nothing(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("data['n']"))
    own = task(expectedOutput={"type": "custom"}, evaluator={"command": ["no-such-program-anywhere"]})
    benchmark(tmp_path / "b.json", own)
    done = evaluated(tmp_path)
    assert (only(done)["status"], done.code) == ("skipped", 3)
    assert "not installed" in only(done)["error"]


def test_answers_of_any_content_arrive_as_they_are(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering("chr(0xd800) + chr(0x2028) + chr(0) + 'é'"))
    (tmp_path / "score.py").write_text(
        "def score(data):\n    return data['output'] == chr(0xd800) + chr(0x2028) + chr(0) + 'é'\n", encoding="utf-8"
    )
    benchmark(tmp_path / "b.json", task(expectedOutput={"type": "custom", "customScorerPath": "score.py:score"}))
    done = evaluated(tmp_path)
    assert only(done)["status"] == "pass", json.dumps(only(done))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only as root has each call its own user")
def test_as_root_a_scorer_runs_as_a_user_of_its_own(tmp_path: Path) -> None:
    assert only(scored(tmp_path, "return os.getuid() > 1000"))["status"] == "pass"


@pytest.mark.parametrize(("path", "seen"), [(None, 1), ("", {"result": 1}), ("/result", 1)])
def test_a_function_gets_what_is_in_a_wrapper_unless_the_path_says_the_whole_answer(
    tmp_path: Path, path: str | None, seen: Any
) -> None:
    skill(tmp_path / "s", answering("{'result': data['n']}"))
    (tmp_path / "own.py").write_text(f"def score(data):\n    return data['output'] == {seen!r}\n", encoding="utf-8")
    evaluator = {"customScorerPath": "own.py:score", **({} if path is None else {"path": path})}
    benchmark(tmp_path / "b.json", task(expectedOutput={"type": "custom"}, evaluator=evaluator))
    done = run(tmp_path, "eval", "--skills", "s", "--benchmark", "./b.json", "--no-store", "--json")
    assert only(done)["status"] == "pass", done.err
