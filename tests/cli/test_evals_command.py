"""The command that lints and lists eval sets, run as people run it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from skillgate.model.codec import decode, schema
from skillgate.model.evals import EvalsReport
from tests.cli.running import Done, run
from tests.evals.sets import SHOULD, SHOULD_NOT, labelled, write_evals
from tests.skills import run as spawn
from tests.skills import run_python, write_skill

DATA = os.environ.get("SKILLGATE_TEST_DATA", "")
MANY = (tuple(f"Join export {n}" for n in range(20)), tuple(f"Draw the export {n}" for n in range(20)))


def skill(base: Path, files: dict[str, Any] | None = None) -> Path:
    """Write a skill whose prompts are many enough and fine, unless other files are given."""
    return write_evals(base, {"t.json": labelled(*MANY)} if files is None else files)


def document(done: Done) -> Any:
    """Give the document, which has to be what its type says."""
    shape = schema(EvalsReport, title="EvalsReport", schema_id="")
    jsonschema.Draft202012Validator(shape).validate(done.json)
    assert decode(EvalsReport, done.json).tool.name == "skillgate"
    return done.json


def test_a_set_that_can_tell_passes(tmp_path: Path) -> None:
    skill(tmp_path)
    done = run(tmp_path, "evals", "lint", ".")
    assert (done.code, done.err) == (0, "")
    assert done.out == "No findings. 1 eval set with 40 trigger prompts and 0 tasks, in 1 skill.\n"


def test_findings_stand_with_their_place_and_what_to_do(tmp_path: Path) -> None:
    skill(tmp_path, {"t.json": labelled(SHOULD, ())})
    done = run(tmp_path, "evals", "lint", "merge-sheets")
    assert done.code == 1
    first, fix, *_ = done.out.split("\n")
    assert first.startswith("merge-sheets/evals/t.json:3:1: error NO_NEAR_MISSES all 6 prompts should trigger")
    assert fix.startswith("    fix: add prompts")
    assert "gate failed: 1 finding of severity error\n" in done.out


@pytest.mark.parametrize(("level", "code"), [("error", 0), ("warning", 1), ("never", 0)])
def test_the_level_decides_what_fails(tmp_path: Path, level: str, code: int) -> None:
    skill(tmp_path, {"t.json": labelled()})  # small: a warning
    assert run(tmp_path, "evals", "lint", "--fail-on", level).code == code


@pytest.mark.parametrize(("threshold", "code"), [("0.5", 0), ("0.8", 1)])
def test_a_threshold_that_the_set_cannot_show_fails(tmp_path: Path, threshold: str, code: int) -> None:
    skill(tmp_path, {"t.json": labelled()})
    assert run(tmp_path, "evals", "lint", ".", "--threshold", threshold).code == code


def test_the_document_is_what_its_type_says(tmp_path: Path) -> None:
    skill(tmp_path, {"t.json": labelled(SHOULD, SHOULD_NOT), "x.json": "{"})
    write_skill(tmp_path, "bare")
    done = run(tmp_path, "evals", "lint", "--json")
    found = document(done)
    assert done.code == 1
    assert (found["kind"], found["skills"], found["threshold"], found["gate"]["passed"]) == ("evals", 2, 0.8, False)
    (one,) = found["sets"]
    assert (one["name"], one["should"], one["should_not"], one["judged"]) == ("merge-sheets", 6, 6, True)
    assert done.ids == ["TOO_SMALL", "TOO_SMALL", "UNREAD"]
    assert found["findings"][0]["url"].endswith("docs/how-to/eval-sets.md#too_small")
    assert one["cases"] == []


def test_files_are_written_in_the_format_of_their_suffix(tmp_path: Path) -> None:
    skill(tmp_path)
    done = run(tmp_path, "evals", "lint", ".", "--output-file", "a.json", "--output-file", "a.txt")
    assert done.code == 0
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["kind"] == "evals"
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == done.out


def test_show_lists_prompts_with_their_labels(tmp_path: Path) -> None:
    skill(tmp_path, {"t.json": labelled(), "evals.json": {"evals": [{"prompt": "Merge", "expectations": ["a", "b"]}]}})
    done = run(tmp_path, "evals", "show", ".", "-v")
    assert done.code == 0
    assert f"  yes   {SHOULD[0]}\n" in done.out
    assert f"  no    {SHOULD_NOT[0]}\n" in done.out
    assert "  task  Merge\n" in done.out
    assert "6 should trigger, 6 should not; score predicts on them" in done.out
    assert "1 task with 2 checks" in done.out
    shown = document(run(tmp_path, "evals", "show", ".", "--json"))["sets"][0]["cases"]
    assert [case["should_trigger"] for case in shown] == [True] * 6 + [False] * 6 + [None]


def test_show_says_what_was_not_read(tmp_path: Path) -> None:
    skill(tmp_path, {"t.json": labelled(), "x.json": "[1,"})
    done = run(tmp_path, "evals", "show", ".")
    assert done.code == 0
    assert "1 place not read" in done.out
    assert "evals/x.json:1:1: error UNREAD invalid JSON" in done.out


def test_recorded_results_may_lie_elsewhere(tmp_path: Path) -> None:
    skill(tmp_path)
    made = [
        {"eval_id": case, "configuration": arm, "result": {"passed": 1, "total": 1}}
        for case in (1, 2)
        for arm in ("with_skill", "without_skill")
    ]
    (tmp_path / "benchmark.json").write_text(json.dumps({"runs": made}), encoding="utf-8")
    done = run(tmp_path, "evals", "lint", ".", "--results", "benchmark.json", "--fail-on", "warning")
    assert done.code == 1
    assert done.out.startswith("benchmark.json:1:1: warning SATURATED all 2 cases pass in every run of both arms")


def test_the_cases_of_a_plugin_are_linted_where_the_plugin_is_meant(tmp_path: Path) -> None:
    plugin = tmp_path / "tools"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / ".claude-plugin/plugin.json").write_text('{"name": "tools"}', encoding="utf-8")
    write_skill(plugin / "skills")
    (plugin / "evals/joins").mkdir(parents=True)
    (plugin / "evals/joins/prompt.md").write_text("Join them\n", encoding="utf-8")
    done = run(tmp_path, "evals", "lint", "tools", "--json")
    assert [one["path"] for one in document(done)["sets"]] == ["tools"]
    assert [(one["id"], one["path"]) for one in done.json["findings"]] == [
        ("TOO_SMALL", "tools/evals/joins/prompt.md"),
        ("WEAK_ASSERTION", "tools/evals/joins/prompt.md"),
    ]
    assert run(tmp_path, "evals", "lint", "tools/skills/merge-sheets").code == 2


USAGE = [
    (("evals",), "lint|show"),
    (("evals", "lint", "nowhere"), "does not exist"),
    (("evals", "lint", "empty"), "no eval set found in empty"),
    (("evals", "lint", ".", "--threshold", "80"), "between 0 and 1"),
    (("evals", "lint", ".", "--threshold", "nan"), "between 0 and 1"),
    (("evals", "lint", ".", "--fail-on", "badge"), "--fail-on"),
    (("evals", "lint", ".", "--output", "sarif"), "--output"),
    (("evals", "lint", ".", "--json", "--output", "text"), "two formats"),
    (("evals", "lint", ".", "--results", "none.json"), "does not exist"),
    (("evals", "lint", ".", "--results", "odd.json"), "has no results in a known format"),
    (("evals", "lint", ".", "--results", "bad.json"), "invalid JSON"),
    (("evals", "show", ".", "--threshold", "0.8"), "--threshold"),
]


@pytest.mark.parametrize(("words", "said"), USAGE)
def test_wrong_usage_is_said_and_nothing_runs(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    skill(tmp_path / "good")
    write_skill(tmp_path / "empty")
    (tmp_path / "odd.json").write_text("{}", encoding="utf-8")
    (tmp_path / "bad.json").write_text("{", encoding="utf-8")
    done = run(tmp_path, *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err


def test_no_eval_set_may_be_accepted(tmp_path: Path) -> None:
    write_skill(tmp_path)
    done = run(tmp_path, "evals", "lint", ".", "--allow-empty")
    assert (done.code, done.out) == (0, "No findings. 0 eval sets with 0 trigger prompts and 0 tasks, in 1 skill.\n")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_what_the_system_refuses_is_exit_3_and_no_pass(tmp_path: Path) -> None:
    made = skill(tmp_path)
    os.mkfifo(made / "evals/pipe.json")
    done = run(tmp_path, "evals", "lint", ".", "--fail-on", "never")
    assert done.code == 3
    assert "pipe.json:1:1: error UNREAD" in done.out
    assert "Not everything could be read." in done.out


def test_hostile_text_is_written_out(tmp_path: Path) -> None:
    prompt = "\x1b[2J‮::error::join" + " export" * 3_000
    files = {"a\x1bb.json": labelled((prompt, prompt), ()), "::warning::.json": "{"}
    skill(tmp_path, files)
    for words in (("lint", "."), ("show", "."), ("show", ".", "-v"), ("lint", ".", "-v")):
        done = run(tmp_path, "evals", *words)
        assert "\x1b" not in done.out
        assert "‮" not in done.out
        assert not [line for line in done.out.split("\n") if line.startswith("::")]
        assert max(len(line) for line in done.out.split("\n")) < 600


def test_it_runs_as_a_process_and_loads_nothing_of_the_model(tmp_path: Path) -> None:
    skill(tmp_path)
    done = spawn("evals", "lint", ".", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    code = (
        "import sys; from skillgate.cli.main import main; code = main(['evals', 'lint', '.'])\n"
        "heavy = {'numpy', 'scipy', 'anthropic', 'jsonschema', 'httpx2', 'skillgate.llm.port', 'skillgate.judge'}\n"
        "print(code, sorted(heavy & set(sys.modules)))"
    )
    assert run_python(code, cwd=tmp_path).stdout.endswith("\n0 []\n")


@pytest.mark.skipif(not Path(DATA, "corpus").is_dir(), reason="SKILLGATE_TEST_DATA names no test data")
def test_public_skills_are_linted(tmp_path: Path) -> None:
    done = run(tmp_path, "evals", "lint", str(Path(DATA, "corpus").resolve()), "--json", "--allow-empty")
    found = document(done)
    assert found["skills"] > 200
    assert done.code in (0, 1)


def test_the_example_can_tell() -> None:
    done = run(
        Path(__file__).parents[2], "evals", "lint", "examples/skills", "--threshold", "0.8", "--fail-on", "warning"
    )
    assert done.code == 0, done.out
