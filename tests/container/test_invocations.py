"""Gates on recorded invocations in the Action's container: the image has what they need, and leaves nothing behind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.action.recorded import log
from tests.container.pull_request import Change, skill
from tests.container.runner import Runner

if TYPE_CHECKING:
    from pathlib import Path

    from tests.container.engine import Engine


@pytest.fixture
def runner(engine: Engine, image: str, tmp_path: Path) -> Runner:
    return Runner(engine=engine, image=image, folder=tmp_path)


def test_a_gate_on_a_downloaded_log_fails_the_step(runner: Runner) -> None:
    base = {**skill("tidy"), "logs/runs.jsonl": log("tidy")}
    change = Change(runner.workspace, base, {"skills/tidy/notes.txt": "more\n"})
    (runner.workspace / "downloaded.jsonl").write_text(log("tidy", 20, well=False, days_ago=2), encoding="utf-8")
    inputs = {"comment": "never", "invocations": "logs", "gate": "publish"}
    passed = runner.run("pull_request", change.payload(), inputs=inputs, network="none")
    assert passed.code == 0, passed.said
    assert json.loads(passed.outputs["gates"]) == {"skills/tidy": {"publish": "passed"}}
    inputs |= {"invocations": "logs\ndownloaded.jsonl"}
    failed = runner.run("pull_request", change.payload(), inputs=inputs, network="none")
    assert failed.code == 1, failed.said
    assert "the gate publish on recorded invocations failed" in failed.outputs["reasons"]
    assert failed.root_owned == ()
    document = json.loads((runner.workspace / "skillgate-report" / "invocations.json").read_text(encoding="utf-8"))
    assert document["invocations"] == 32
