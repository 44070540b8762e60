"""How often the gate on benchmarks fails a change that changed nothing, and whether it sees one that broke a task."""

from __future__ import annotations

import pytest

pytest.importorskip("scipy")

from benchmarks.flaky_gate import World, action, gate_of_action, reports
from skillgate.model.bench import Basis
from skillgate.model.score import Outcome


@pytest.mark.parametrize("chance", [0.9, 0.5])
def test_twenty_unchanged_flaky_tasks_fail_at_most_one_change_in_twenty(chance: float) -> None:
    found = action(20, chance, runs=1, times=200)
    assert found.of == 200
    assert found.failed <= 10


def test_three_runs_of_each_side_alone_would_call_a_task_broken_in_more_than_one_change_in_ten() -> None:
    """Why a skill that has shown itself flaky needs six."""
    found = action(20, 0.5, runs=1, times=60)
    assert found.three_alone > 6
    assert found.broken <= 2


@pytest.mark.parametrize("chance", [1.0, 0.9, 0.5])
def test_a_broken_task_among_flaky_ones_fails_every_change(chance: float) -> None:
    world = World.of(20)
    for seed in range(20):
        test = gate_of_action(world, seed, chance, 1, broken="t007").changes[0].test
        assert test is not None
        assert (test.verdict, test.basis, "t007" in test.broken_tasks) == (Outcome.FAIL, Basis.BROKEN, True)
        assert "broken in " in test.reason


def test_two_reports_with_two_runs_call_flaky_tasks_broken_more_often_than_with_three() -> None:
    """What the page about benchmarks says of the rule: its figures come from the same script."""
    two, three = (reports(20, 0.9, runs, 60) for runs in (2, 3))
    assert two.broken > 3
    assert three.broken <= 3
