"""The figures of lift, held against sums by hand, another implementation of the test, and a known truth."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from skillgate.model.layers import COMPLETED, NOT_MEASURED, Arm, LiftTask
from skillgate.montecarlo.measures import LEAST_TASKS, paired


def rows(*scores: tuple[float | None, float | None]) -> tuple[LiftTask, ...]:
    """Make tasks with other prompts."""
    return tuple(_row(f"task {number}", one, two) for number, (one, two) in enumerate(scores))


def _row(prompt: str, one: float | None, two: float | None) -> LiftTask:
    return LiftTask(prompt, prompt, _arm(one), _arm(two))


def _arm(score: float | None) -> Arm:
    return Arm(COMPLETED, score) if score is not None else Arm(NOT_MEASURED, None, reason="server: 529")


def test_the_lift_is_the_mean_of_the_paired_differences() -> None:
    found = paired(rows((1.0, 0.5), (0.5, 0.5), (1.0, 0.0), (0.75, 1.0), (1.0, 0.25), (0.5, 0.0)), seed=0)
    differences = np.array([0.5, 0.0, 1.0, -0.25, 0.75, 0.5])
    assert found.lift.value == pytest.approx(differences.mean(), abs=1e-6)
    assert found.with_skill.value == pytest.approx(4.75 / 6, abs=1e-6)
    assert found.without_skill.value == pytest.approx(2.25 / 6, abs=1e-6)
    assert (found.lift.n, found.with_skill.n, found.without_skill.n, found.reason) == (6, 6, 6, None)
    half = stats.t.ppf(0.975, 5) * differences.std(ddof=1) / math.sqrt(6)
    assert found.lift.ci_low is not None
    assert found.lift.ci_high is not None
    assert -1 <= found.lift.ci_low <= found.lift.value - half + 1e-6
    assert found.lift.value + half - 1e-6 <= found.lift.ci_high <= 1


def test_the_test_is_that_of_all_signs() -> None:
    differences = (0.5, -0.25, 1.0, 0.25, 0.75, -0.5, 0.25)
    found = paired(rows(*((0.5 + value / 2, 0.5 - value / 2) for value in differences)), seed=0)
    sums = [abs(sum(sign * one for sign, one in zip(signs, differences, strict=True)))
            for signs in itertools.product((1, -1), repeat=len(differences))]  # fmt: skip
    assert found.p == pytest.approx(np.mean(np.array(sums) >= abs(sum(differences)) - 1e-9))


def test_arms_that_change_places_change_the_sign_and_nothing_else() -> None:
    scores = ((1.0, 0.5), (0.5, 0.75), (1.0, 0.0), (0.75, 1.0), (1.0, 0.25), (0.5, 0.0))
    one, two = paired(rows(*scores), seed=3), paired(rows(*((b, a) for a, b in scores)), seed=3)
    assert one.lift.value is not None
    assert one.lift.ci_low is not None
    assert two.lift.value == -one.lift.value
    assert two.lift.ci_high == pytest.approx(-one.lift.ci_low)
    assert one.p == two.p


def test_equal_arms_have_no_p_and_an_interval_that_proves_nothing() -> None:
    found = paired(rows(*[(1.0, 1.0)] * 10), seed=0)
    assert (found.lift.value, found.p) == (0.0, None)
    assert found.lift.ci_low is not None
    assert found.lift.ci_high is not None
    assert found.lift.ci_low < -0.2
    assert found.lift.ci_high > 0.2


def test_a_task_with_one_score_is_in_no_figure() -> None:
    found = paired(rows(*[(1.0, 0.5)] * 8, (None, 0.0), (0.0, None)), seed=0)
    assert (found.lift.value, found.with_skill.value, found.without_skill.value) == (0.5, 1.0, 0.5)
    assert found.lift.n == 8


@pytest.mark.parametrize(("lost", "kept", "told"), [(2, 8, True), (3, 8, False), (1, 0, False), (0, 0, False)])
def test_the_rest_speaks_for_all_up_to_a_fifth(lost: int, kept: int, *, told: bool) -> None:
    found = paired(rows(*[(1.0, 0.5)] * kept, *[(None, 0.5)] * lost), seed=0)
    assert (found.lift.value is not None) is told
    assert (found.reason is None) is told
    if not told:
        assert f"{lost} of {lost + kept} tasks were not measured" in str(found.reason)
        assert (found.with_skill.value, found.p) == (None, None)


def test_under_five_prompts_no_lift_is_told() -> None:
    few = paired(rows(*[(1.0, 0.0)] * (LEAST_TASKS - 1)), seed=0)
    assert (few.lift.value, few.lift.n, few.p) == (None, LEAST_TASKS - 1, None)
    assert (few.with_skill.value, few.without_skill.value) == (1.0, 0.0)
    same = tuple(_row(f"Same, task {number % 4}!", 1.0, 0.0) for number in range(8))
    assert paired(same, seed=0).lift.value is None
    assert paired(rows(*[(1.0, 0.0)] * LEAST_TASKS), seed=0).lift.value == 1.0


def test_tasks_with_one_prompt_are_one_draw() -> None:
    scores = ((1.0, 0.25), (0.5, 0.75), (1.0, 0.0), (0.75, 0.5), (0.5, 0.0), (0.25, 0.5))
    alone = rows(*scores)
    thrice = tuple(task for task in alone for _ in range(3))
    one, three = paired(alone, seed=0), paired(thrice, seed=0)
    assert (three.lift.value, three.p) == (one.lift.value, one.p)
    assert three.lift.ci_low == pytest.approx(one.lift.ci_low)


@pytest.mark.parametrize(("tasks", "gain", "rejects"), [(5, 0.0, (0, 0.05)), (10, 0.3, (0.3, 1)), (30, 0.2, (0.5, 1))])
def test_the_interval_holds_the_truth_and_the_test_its_level(
    tasks: int, gain: float, rejects: tuple[float, float]
) -> None:
    rng = np.random.default_rng(7)
    held = rejected = 0
    trials = 300
    for _ in range(trials):
        ease = rng.uniform(0.2, 0.8 - gain, tasks)
        scores = (rng.binomial(3, ease + gain) / 3, rng.binomial(3, ease) / 3)
        found = paired(rows(*zip(*(one.tolist() for one in scores), strict=True)), seed=1)
        assert found.lift.ci_low is not None
        assert found.lift.ci_high is not None
        held += found.lift.ci_low <= gain <= found.lift.ci_high
        rejected += found.p is not None and found.p <= 0.05
    assert held / trials >= 0.93
    assert rejects[0] <= rejected / trials <= rejects[1]
