"""Scripted answers are recognised behind a gateway that renames the model, in everything that rests on them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("anthropic")

from tests.llm.gateway import Keeps, gateway
from tests.standard.asking import model, run, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

BANNER = "SCRIPTED OR REPLAYED ANSWERS"
MARKED = pytest.mark.parametrize("keeps", [Keeps(headers=False), Keeps(ids=False)], ids=["ids", "headers"])


def _is_recognised(done: Done, folder: Path) -> None:
    document = done.json
    answered = [layer for layer in document["layers"] if layer["name"] in ("judge", "montecarlo")]
    assert answered
    assert not any(layer["live"] for layer in answered)
    assert document["composite"]["badge"] is None
    assert document["usage"]["cost_usd"] == 0.0
    report = folder / "report.json"
    report.write_text(done.out)
    shown = run(folder, "report", "convert", "report.json", "--format", "text")
    assert BANNER in shown.out, shown.err


@MARKED
def test_a_certified_skill_earns_nothing_by_scripted_answers_behind_a_gateway(tmp_path: Path, keeps: Keeps) -> None:
    folder = tmp_path / "work"
    write_skill(folder, "invoices")
    words = ("certify", "invoices", "--simulations", "5", "--max-cost-usd", "9", "--json", "--certificate", "c.json")
    with model() as demo, gateway(demo.server.base_url, keeps) as at:
        first = run(folder, *words, "--record", "run.jsonl", at=at)
        demo.take()
        again = run(folder, *words, at=at)
        assert demo.take() == []
    for done in (first, again):
        assert done.code == 0, done.err
        _is_recognised(done, folder)
    (certified,) = json.loads((folder / "c.json").read_text())["skills"]
    assert certified["certified"] is False
    assert "not a live model's" in certified["reason"]
    models = {json.loads(line)["reply"]["model"] for line in (folder / "run.jsonl").read_text().splitlines()}
    assert models == {"scripted-claude-sonnet-5-5"}


@MARKED
def test_chats_of_a_scripted_model_behind_a_gateway_earn_nothing(tmp_path: Path, keeps: Keeps) -> None:
    folder = tmp_path / "work"
    write_skill(folder, "invoices")
    with model() as demo, gateway(demo.server.base_url, keeps) as at:
        chats = ("--provider", "openai-compatible", "--base-url", f"{at}/v1")
        done = run(folder, "score", "invoices", "--depth", "standard", "--json", *chats)
    assert done.code == 0, done.err
    _is_recognised(done, folder)


def test_sessions_in_the_harness_behind_a_gateway_earn_nothing(tmp_path: Path) -> None:
    pytest.importorskip("claude_agent_sdk", reason="the harness is not installed (extra agent-sdk)")
    folder = tmp_path / "work"
    write_skill(folder, "invoices")
    words = ("score", "invoices", "--depth", "deep", "--simulations", "5", "--runner", "agent-sdk", "--json")
    with model() as demo, gateway(demo.server.base_url, Keeps(headers=False)) as at:
        done = run(folder, *words, "--max-cost-usd", "20", at=at)
    assert done.code == 0, done.err
    _is_recognised(done, folder)


def test_a_model_that_marks_nothing_is_a_live_one(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    write_skill(folder, "invoices")
    with model() as demo, gateway(demo.server.base_url, Keeps(ids=False, headers=False)) as at:
        done = run(folder, "score", "invoices", "--depth", "standard", "--json", at=at)
    assert [layer["live"] for layer in done.json["layers"] if "live" in layer] == [True]
    assert BANNER not in done.err
