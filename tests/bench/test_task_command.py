"""The command task: one skill, one input, one exit code."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.architecture.source import ROOT
from tests.bench.made import answering, run, skill

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

CALCULATOR = str(ROOT / "examples/executable/calculator")


def calculated(cwd: Path, *words: str, given: str = '{"expression": "2+3"}') -> Done:
    return run(cwd, "task", "--skill", CALCULATOR, "--input", given, *words)


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        ((), 0, "answered"),
        (("--exact", "5"), 0, "pass"),
        (("--exact", "6"), 1, "fail"),
        (("--exact", "five"), 1, "fail"),
        (("--regex", "^5$", "[0-9]"), 0, "pass"),
        (("--regex", "^5$", "x"), 1, "fail"),
        (("--contains", "5"), 0, "pass"),
        (("--contains", "5", "nothing"), 1, "fail"),
    ],
)
def test_an_answer_is_held_to_what_is_expected(tmp_path: Path, words: tuple[str, ...], code: int, status: str) -> None:
    done = calculated(tmp_path, *words, "--json")
    found = done.json
    assert (done.code, found["status"], found["output"]["value"]) == (code, status, 5), done.err
    assert (found["kind"], found["skillId"]) == ("task", "calculator")
    assert (found["score"] is None) == (status == "answered")
    text = calculated(tmp_path, *words)
    assert text.code == code
    assert text.out.splitlines()[0] == "5"
    assert status in text.out.splitlines()[2]


def test_nothing_is_written(tmp_path: Path) -> None:
    calculated(tmp_path, "--exact", "5")
    assert [path.name for path in tmp_path.iterdir() if path.name != "home"] == []


def test_a_schema_comes_from_a_file(tmp_path: Path) -> None:
    pytest.importorskip("jsonschema")
    (tmp_path / "s.json").write_text('{"type": "integer", "minimum": 6}')
    assert calculated(tmp_path, "--schema", "s.json").code == 1
    (tmp_path / "s.json").write_text('{"type": "integer"}')
    assert calculated(tmp_path, "--schema", "s.json").code == 0
    assert calculated(tmp_path, "--schema", "missing.json").code == 2


def test_a_function_scores(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/score.py").write_text("def score(given):\n    return given['output'] == 5\n")
    assert calculated(tmp_path, "--custom", "own/score.py:score").code == 0
    assert calculated(tmp_path, "--custom", "own/score.py:score", given='{"expression": "1"}').code == 1
    assert calculated(tmp_path, "--custom", "own/missing.py:score").code == 2
    assert calculated(tmp_path, "--custom", "own/score.py:score", "--no-allow-exec").code == 2


@pytest.mark.parametrize(
    ("code", "status"),
    [("raise SystemExit(3)", "error"), ("import time; time.sleep(60)", "timeout"), ("print('hello')", "error")],
)
def test_what_gives_no_answer_is_exit_3(tmp_path: Path, code: str, status: str) -> None:
    skill(tmp_path / "s", code)
    done = run(tmp_path, "task", "--skill", "s", "--input", "{}", "--timeout", "1000", "--json")
    assert (done.code, done.json["status"]) == (3, status)
    assert done.json["error"]


def test_what_cannot_be_scored_is_exit_3(tmp_path: Path) -> None:
    (tmp_path / "score.py").write_text("def score(given):\n    return 7\n")
    done = calculated(tmp_path, "--custom", "score.py:score")
    assert done.code == 3
    assert "skipped" in done.out


def test_an_input_comes_from_a_file_or_from_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in.json").write_text('{"expression": "6*7"}')
    assert calculated(tmp_path, "--exact", "42", given="@in.json").code == 0
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"expression": "6*8"}')))
    assert calculated(tmp_path, "--exact", "48", given="-").code == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("[1]", "a JSON object"),
        ("{", "--input:1:2: not JSON"),
        ("@missing.json", "missing.json does not exist"),
        ('{"a": 1, "a": 2}', "duplicate key"),
    ],
)
def test_an_input_that_is_none_is_refused(tmp_path: Path, given: str, words: str) -> None:
    done = calculated(tmp_path, given=given)
    assert done.code == 2
    assert words in done.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--exact", "5", "--regex", "5"), "only one expectation is possible"),
        (("--regex", "("), "--regex"),
        (("--contains", " "), "empty keyword"),
        (("--timeout", "5"), "at least 100 milliseconds"),
        (("--judge", ""), "--judge"),
    ],
)
def test_what_cannot_be_expected_is_refused(tmp_path: Path, options: tuple[str, ...], words: str) -> None:
    done = calculated(tmp_path, *options)
    assert done.code == 2
    assert words in done.err


def test_several_skills_are_too_many(tmp_path: Path) -> None:
    skill(tmp_path / "all/a")
    skill(tmp_path / "all/b")
    done = run(tmp_path, "task", "--skill", "all", "--input", "{}")
    assert done.code == 2
    assert "2 skills" in done.err


def test_what_the_configuration_says_of_benchmarks_does_not_hold(tmp_path: Path) -> None:
    (tmp_path / ".skillgate.yaml").write_text("runs: 3\nevaluator: regex\nmin-completion: 1\nformats: [csv]\n")
    done = calculated(tmp_path, "--exact", "6", "--json")
    assert (done.code, done.json["status"]) == (1, "fail")
    assert calculated(tmp_path).code == 0


def test_a_variable_is_given_by_name(tmp_path: Path) -> None:
    code = answering("__import__('os').environ.get('MY_TOKEN')")
    skill(tmp_path / "s", code, config={"passEnv": ["MY_TOKEN"]})
    words = ("task", "--skill", "s", "--input", "{}", "--json")
    assert run(tmp_path, *words, MY_TOKEN="x").code == 2
    assert run(tmp_path, *words, "--allow-env", "MY_TOKEN", MY_TOKEN="x").json["output"]["value"] == "x"


def test_hostile_answers_are_shown_safely(tmp_path: Path) -> None:
    skill(tmp_path / "s", answering(r"'\x1b[31mred\x07'"))
    done = run(tmp_path, "task", "--skill", "s", "--input", "{}")
    assert "\x1b" not in done.out
    assert "red" in done.out


def test_a_prose_skill_and_a_judge_ask_a_model(tmp_path: Path) -> None:
    pytest.importorskip("anthropic")
    pytest.importorskip("numpy")
    from tests.bench.prose import prose, rule, rules
    from tests.bench.prose import run as asking
    from tests.standard.asking import model

    prose(tmp_path / "s")
    judged = rule("{json: {reason: fine, score: 9}}", question="benchmark_judgement")
    words: list[Any] = ["task", "--skill", "s", "--input", '{"a": 1, "b": 2}', "--judge", "the sum", "--json"]
    with model(rules(judged, rule('{text: "3"}'))) as demo:
        done = asking(tmp_path, *words, "--max-cost-usd", "1", at=demo)
        assert len(demo.asked) == 2
    assert (done.code, done.json["status"], done.json["score"]) == (0, "pass", 0.9)
    assert done.json["output"]["value"] == 3
    assert done.json["usage"]["total"] > 0
    assert asking(tmp_path, *words, "--no-cache", key="").code == 3
    assert json.loads(asking(tmp_path, *words, "--no-cache", key="").out)["status"] == "skipped"
