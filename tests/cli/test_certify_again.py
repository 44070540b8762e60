"""The same command, the same cache, nothing changed: nothing is asked, and every figure stays, good or bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("numpy")

from tests.standard.asking import model, run, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.running import Done

CERTIFY = ("certify", "--simulations", "20", "--max-cost-usd", "50", "--json")
DEEP = ("score", "--depth", "deep", "--simulations", "10", "--max-cost-usd", "50", "--json")
FAILING = """
world:
  seed: 5
  varies: true
  activation: {{should: 0.9, near_miss: 0.1}}
  failures: {{refusal: {refusal}, truncated: {truncated}, empty: {empty}, max_turns: {max_turns}}}
rules: {rules}
"""
A_THIRD = {"refusal": 0.1, "truncated": 0.1, "empty": 0.05, "max_turns": 0.1}
NEVER = dict.fromkeys(A_THIRD, 0.0)
ALL = NEVER | {"refusal": 1.0}


def world(failures: dict[str, float], rules: str = "[]") -> str:
    """Write a world in which sessions fail, each time other ones."""
    return FAILING.format(**failures, rules=rules)


def figures(done: Done) -> dict[str, Any]:
    """Give a report without what differs from run to run by design: times, and how often an answer was kept."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            left_out = ("usage", "duration_ms", "generated_at")
            return {name: bare(item) for name, item in value.items() if name not in left_out}
        return [bare(item) for item in value] if isinstance(value, list) else value

    found: dict[str, Any] = bare(done.json)
    return found


def sessions(done: Done) -> dict[str, Any]:
    """Give the simulated sessions of the only skill."""
    found: dict[str, Any] = next(layer for layer in done.json["layers"] if layer["name"] == "montecarlo")
    return found


def test_sessions_that_failed_are_not_drawn_again_by_the_next_run(tmp_path: Path) -> None:
    write_skill(tmp_path, "late-invoices")
    with model(world(A_THIRD)) as server:
        runs = []
        for _ in range(3):
            done = run(tmp_path, *CERTIFY, "--max-failure-rate", "0.1", "late-invoices", at=server)
            runs.append((done.code, len(server.take()), figures(done)))
    assert [code for code, _, _ in runs] == [1, 1, 1]
    assert runs[0][1] > 0
    assert [asked for _, asked, _ in runs[1:]] == [0, 0]
    assert runs[1][2] == runs[0][2] == runs[2][2]
    kinds = sessions(done)["kinds"]
    assert {"refusal", "truncated", "empty answer", "max turns"} >= set(kinds)
    assert sum(kinds.values()) >= 5


def test_refresh_draws_all_of_it_anew(tmp_path: Path) -> None:
    write_skill(tmp_path, "late-invoices")
    with model(world(A_THIRD)) as server:
        first = run(tmp_path, *DEEP, "late-invoices", at=server)
        asked = len(server.take())
        again = run(tmp_path, *DEEP, "--refresh", "late-invoices", at=server)
        assert len(server.take()) > asked / 2
        kept = run(tmp_path, *DEEP, "late-invoices", at=server)
        assert server.take() == []
    outcomes = [[one["outcome"] for one in sessions(done)["runs"]] for done in (first, again, kept)]
    assert outcomes[0] != outcomes[1] == outcomes[2]
    assert "--refresh" in kept.err
    assert "--refresh" not in first.err


OUTGROWN = "[{match: {question: simulation, contains: Base directory for this skill}, reply: {status: 413}}]"
UNUSABLE = (
    "[{match: {question: [orchestration_fitness, grade, simulation_prompts], times: 1}, reply: {text: not JSON}}]"
)


@pytest.mark.parametrize(
    ("failures", "rules"),
    [
        (
            NEVER,
            "[{match: {contains: 'Base directory for this skill', not_contains: 'Question:'}, reply: {status: 413}}]",
        ),
        (NEVER, "[{match: {question: grade, times: 9}, reply: {stop_reason: refusal}}]"),
        (NEVER, "[{match: {question: [orchestration_fitness, grade], times: 1}, reply: {text: not JSON}}]"),
        (NEVER, "[{match: {question: orchestration_fitness, times: 2}, reply: {text: not JSON}}]"),
        (NEVER, "[{match: {question: trigger_predictions, times: 1}, reply: {stop_reason: refusal}}]"),
        (ALL, "[]"),
    ],
    ids=["context exceeded", "refused grades", "corrected answers", "unusable ratings", "refused predictions", "all"],
)
def test_no_layer_asks_again_for_what_a_model_did(tmp_path: Path, failures: dict[str, float], rules: str) -> None:
    """In a world that would answer well the second time."""
    write_skill(tmp_path, "late-invoices")
    with model(world(failures, rules)) as server:
        first = run(tmp_path, *DEEP, "late-invoices", at=server)
        assert server.take()
        again = run(tmp_path, *DEEP, "late-invoices", at=server)
        assert server.take() == []
    assert (again.code, figures(again)) == (first.code, figures(first))


def test_lift_takes_the_seconds_of_kept_answers_from_the_run_that_asked(tmp_path: Path) -> None:
    """Else an edited skill would seem slower than its absence, whose answers are kept."""
    place = write_skill(tmp_path, "late-invoices")
    with model(world(NEVER), latency_s=0.02) as server:
        first, again = (run(tmp_path, *DEEP, "--lift", "late-invoices", at=server) for _ in range(2))
        main = place / "SKILL.md"
        main.write_text(main.read_text() + "\nMore of it.\n")
        edited = run(tmp_path, *DEEP, "--lift", "late-invoices", at=server)
    assert figures(again) == figures(first)
    for done in (first, edited):
        arms = [task[arm] for task in done.json["lift"]["tasks"] for arm in ("with_skill", "without_skill")]
        assert all(arm["duration_s"] >= 0.02 for arm in arms)


def test_what_was_not_measured_is_asked_again_and_nothing_else(tmp_path: Path) -> None:
    write_skill(tmp_path, "late-invoices")
    outage = "[{match: {contains: 'Base directory for this skill', times: 1}, reply: {status: 400}}]"
    with model(world(A_THIRD, outage)) as server:
        first = run(tmp_path, *DEEP, "late-invoices", at=server)
        server.take()
        again = run(tmp_path, *DEEP, "late-invoices", at=server)
        asked = server.take()
    was, now = sessions(first)["runs"], sessions(again)["runs"]
    lost = [number for number, one in enumerate(was) if one["outcome"] == "not measured"]
    assert len(lost) == 1
    assert [one for number, one in enumerate(now) if number not in lost] == [
        one for number, one in enumerate(was) if number not in lost
    ]
    assert 1 <= len(asked) <= 11
