"""A benchmark in a pull request whose tasks a model judges: kept verdicts serve only where they are signed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("anthropic")
pytest.importorskip("numpy")
pytest.importorskip("scipy")

from tests.action.pull_request import PullRequest, skill
from tests.action.test_benchmarks import DOUBLES, program
from tests.standard.asking import KEY, model
from tests.standard.forging import best, forge

if TYPE_CHECKING:
    from pathlib import Path

TASK = {"id": "polite", "inputData": {"n": 1}, "expectedOutput": {"type": "llm_judge", "judgePrompt": "It is polite."}}
BENCHMARK = {"id": "polite", "name": "Polite", "version": "1.0.0", "tasks": [TASK]}
RULES = 'rules: [{match: {question: benchmark_judgement}, reply: {json: {reason: "rude", score: 1}}}]'
INPUTS = {"benchmark": "polite", "skills": "programs", "allow_exec": "true", "cache_dir": "kept", "max_cost_usd": "5"}


def test_a_forged_verdict_on_a_task_is_not_used_with_a_key_or_without(tmp_path: Path) -> None:
    repository = PullRequest(folder=tmp_path / "work")
    repository.base({**skill("merge-sheets"), **program(), "benchmarks/polite.json": json.dumps(BENCHMARK)})
    repository.change(program(f"{DOUBLES}# as before\n"))
    with model(RULES) as demo:
        repository.environ = {"ANTHROPIC_BASE_URL": demo.server.base_url, "ANTHROPIC_API_KEY": KEY}
        first = repository.run(**INPUTS)
        assert first.outputs["completion"] == "0.0000", first.outputs["reasons"]
        assert forge(repository.folder / "kept", best) == 1
        demo.take()
        again = repository.run(**INPUTS)
        assert (again.outputs["completion"], len(demo.take())) == ("0.0000", 1)
        assert any("1 cached answer was ignored" in notice for notice in again.run["notices"])
        forge(repository.folder / "kept", best)
        repository.environ["ANTHROPIC_API_KEY"] = ""
        without = repository.run(**INPUTS)
    assert without.outputs["completion"] != "1.0000"
    assert any("1 cached answer was ignored: without" in notice for notice in without.run["notices"])
