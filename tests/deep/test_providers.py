"""A provider that can never run the depth asked for is refused before anything is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("anthropic")

from tests.action.pull_request import PullRequest, skill
from tests.standard.asking import model, run, write_skill

if TYPE_CHECKING:
    from pathlib import Path

CERTIFY = ("certify", "invoices", "--simulations", "5")
DEEP = ("score", "invoices", "--depth", "deep", "--simulations", "5")


@pytest.mark.parametrize("words", [
    CERTIFY,
    (*CERTIFY, "--depth", "deep"),
    (*CERTIFY, "--dry-run"),
    DEEP,
    (*DEEP, "--dry-run"),
    (*DEEP, "--lift"),
    ("score", "invoices", "--layers", "static,judge,montecarlo"),
    ("compare", "invoices", "tickets", "--depth", "deep"),
])  # fmt: skip
def test_sessions_with_a_provider_without_tools_are_refused_before_any_call(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    write_skill(tmp_path / "work", "invoices")
    write_skill(tmp_path / "work", "tickets")
    with model() as demo:
        base = f"{demo.server.base_url}/v1"
        done = run(tmp_path / "work", *words, "--provider", "openai-compatible", "--base-url", base)
        assert demo.asked == []
    assert (done.code, done.out) == (2, "")
    assert "openai-compatible cannot run depth" in done.err


def test_a_provider_without_tools_judges_and_a_recording_answers_in_its_place(tmp_path: Path) -> None:
    write_skill(tmp_path / "work", "invoices")
    record = ("--record", "run.jsonl", "--provider", "scripted", "--no-cache")
    assert run(tmp_path / "work", *DEEP, *record).code == 0
    with model() as demo:
        at = ("--provider", "openai-compatible", "--base-url", f"{demo.server.base_url}/v1")
        assert run(tmp_path / "work", "score", "invoices", "--depth", "standard", *at).code == 0
        assert len(demo.take()) == 6
        config = tmp_path / "work-home/.config/skillgate/config.yaml"
        config.parent.mkdir(parents=True)
        config.write_text(f"provider: openai-compatible\nbase-url: {demo.server.base_url}/v1\n")
        assert run(tmp_path / "work", *DEEP).code == 2
        done = run(tmp_path / "work", *DEEP, "--replay", "run.jsonl")
        assert (done.code, demo.take()) == (0, []), done.err


def test_the_action_refuses_a_provider_that_cannot_run_its_depth(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    repository = PullRequest(folder=tmp_path / "repository")
    repository.base(skill("merge-sheets"))
    repository.change(skill("merge-sheets", body="\nMore of it.\n"))
    with model() as demo:
        base = f"{demo.server.base_url}/v1"
        ran = repository.run(depth="deep", provider="openai-compatible", base_url=base, on_unmeasured="pass")
        assert demo.asked == []
    assert (ran.code, ran.outputs["result"]) == (2, "error")
    assert "openai-compatible cannot run depth deep" in ran.outputs["reasons"]
