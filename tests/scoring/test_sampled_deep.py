"""Intervals at depth deep: judges and sessions drawn together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

from benchmarks.coverage_worlds import SKILLS, composite_cells, sessions  # noqa: E402
from skillgate.model.layers import MonteCarloLayer, RankingLayer  # noqa: E402
from skillgate.model.report import StaticLayer  # noqa: E402
from skillgate.model.score import Dimension  # noqa: E402
from skillgate.montecarlo.measures import measured  # noqa: E402
from skillgate.scoring.sampled import blended, composite_interval, composites, dimension_interval, intervals  # noqa: E402
from skillgate.stats.intervals import mean_t  # noqa: E402
from tests.scoring.judged import RATED, STATIC, a_layer, prompts  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.layers import JudgeLayer

TRIGGER, OUTPUT, STRUCTURE = (
    Dimension.TRIGGERING_ACCURACY,
    Dimension.OUTPUT_QUALITY,
    Dimension.STRUCTURAL_COMPLETENESS,
)
SIMULATED = {
    TRIGGER,
    OUTPUT,
    Dimension.ORCHESTRATION_FITNESS,
    Dimension.SCOPE_CALIBRATION,
    Dimension.TOKEN_EFFICIENCY,
    Dimension.ROBUSTNESS,
}


def a_run(seed: int = 1, fits: int = 50, near: int = 10, **changes: Any) -> MonteCarloLayer:
    runs = sessions(SKILLS[0], fits, near, np.random.default_rng(seed))
    found = measured(runs, simulations=fits, near_misses=near, seed=seed)
    layer = MonteCarloLayer(0, fits, 0, 0, 0, found.mc_score, scores=found.scores, runs=runs, near_misses=near)
    return layer._replace(**changes)


def judged(judges: int) -> JudgeLayer:
    ratings: dict[Dimension, Sequence[int]] = {
        name: [7 + (index + judge) % 3 for judge in range(judges)] for index, name in enumerate(RATED)
    }
    layer = a_layer(ratings, prompts([(True,) * judges] * 4 + [(False,) * judges], [(False,) * judges] * 5))
    if judges < 2:
        return layer
    assessments = dict(layer.assessments)
    for name, given in ratings.items():
        low, high = mean_t([rating / 10 for rating in given], 0.05)
        assessments[name] = assessments[name]._replace(ci_low=low, ci_high=high)
    return layer._replace(assessments=assessments)


def test_with_judges_and_sessions_every_dimension_has_an_interval_around_its_point() -> None:
    judge, run = judged(3), a_run()
    found = intervals(STATIC, (StaticLayer(0, ()), judge, run), 1)
    assert found.reason is None
    assert set(found.dimensions) == set(Dimension)
    opinions = {name: np.asarray(item.score) for name, item in judge.assessments.items()}
    told = {name: np.asarray(item.value) for name, item in run.scores.items()}
    assert found.composite is not None
    assert found.composite[0] < float(composites(STATIC, opinions, 1, told)) < found.composite[1]
    for name, ends in found.dimensions.items():
        point = float(np.asarray(blended(name, STATIC[name], opinions.get(name), told.get(name))))
        assert not isinstance(ends, str)
        assert ends[0] - 1e-4 <= point <= ends[1] + 1e-4
        assert 0 <= ends[0] < ends[1] <= 1


def test_a_dimension_without_sessions_keeps_the_judges_interval() -> None:
    judge = judged(3)
    found = intervals(STATIC, (judge, a_run()), 0).dimensions[STRUCTURE]
    assert found == dimension_interval(STRUCTURE, STATIC[STRUCTURE], judge.assessments[STRUCTURE])[0]


def test_sessions_narrow_what_judges_alone_leave_open() -> None:
    alone, _ = composite_interval(STATIC, judged(2), 0)
    both = intervals(STATIC, (judged(2), a_run()), 0).composite
    assert alone is not None
    assert both is not None
    assert both[1] - both[0] < alone[1] - alone[0]


def test_more_sessions_narrow_the_interval() -> None:
    few, many = (intervals(STATIC, (judged(9), a_run(2, *asked)), 0).composite for asked in ((15, 5), (200, 60)))
    assert few is not None
    assert many is not None
    assert many[1] - many[0] < 0.75 * (few[1] - few[0])


def test_one_judge_gives_no_interval_wherever_it_has_a_share() -> None:
    found = intervals(STATIC, (judged(1), a_run()), 0)
    assert found.composite is None
    assert found.reason == "one judge gives no interval"
    assert {found.dimensions[name] for name in SIMULATED} == {"one judge gives no interval"}


def test_sessions_alone_have_intervals() -> None:
    found = intervals(STATIC, (a_run(),), 0)
    assert found.composite is not None
    assert set(found.dimensions) == SIMULATED


def test_a_perfect_run_keeps_its_doubt() -> None:
    runs = tuple(
        run._replace(
            outcome="completed", activated=run.should_trigger, quality=1.0, tokens=0, delivers=True, covers=True
        )
        for run in a_run().runs
    )
    found = measured(runs, simulations=50, near_misses=10, seed=0)
    layer = a_run(runs=runs, scores=found.scores)
    ends = intervals(dict.fromkeys(Dimension, 1.0), (layer,), 0)
    assert ends.composite is not None
    assert ends.composite[1] == 100.0
    assert 90 < ends.composite[0] < 99
    for name in SIMULATED - {Dimension.TOKEN_EFFICIENCY}:  # of a median that fifty sessions share there is no doubt
        both = ends.dimensions[name]
        assert not isinstance(both, str)
        assert both[0] < 1.0 == both[1]


@pytest.mark.parametrize(
    ("layers", "reason"),
    [
        ((), "nothing was sampled"),
        ((StaticLayer(0, ()), RankingLayer(0, 0, None, None, None)), "nothing was sampled"),
        ((judged(3), a_run(scores={}, reason="no key")), "no key"),
        ((judged(3), a_run(scores={}, stopped_early="decided")), "decided"),
        ((judged(3), a_run(runs=())), "the simulated sessions are not in the report"),
    ],
)
def test_what_cannot_be_told_has_a_reason(layers: Any, reason: str) -> None:
    found = intervals(STATIC, layers, 0)
    assert (found.composite, found.reason) == (None, reason)


def test_a_measure_that_is_missing_is_left_out_of_its_dimension_as_in_the_blend() -> None:
    run = a_run()
    scores = {name: item for name, item in run.scores.items() if name is not OUTPUT}
    judge = judged(3)
    found = intervals(STATIC, (judge, run._replace(scores=scores)), 0).dimensions[OUTPUT]
    assert found == dimension_interval(OUTPUT, None, judge.assessments[OUTPUT])[0]


def test_draws_are_those_of_the_seed() -> None:
    layers = (judged(3), a_run())
    assert intervals(STATIC, layers, 0, 5) == intervals(STATIC, layers, 0, 5)
    assert intervals(STATIC, layers, 0, 5) != intervals(STATIC, layers, 0, 6)


def test_composites_are_covered() -> None:
    """Over all worlds of the documented table, some few repetitions each."""
    cells = composite_cells(3)
    assert sum(held for held, _ in cells) / len(cells) >= 0.93
