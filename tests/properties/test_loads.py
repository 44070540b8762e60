"""More sessions that load the skill never lower what sessions measure of it, nor the composite."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

from skillgate.model.layers import COMPLETED, FAILED, Simulation  # noqa: E402
from skillgate.model.score import Dimension, LayerName  # noqa: E402
from skillgate.montecarlo.measures import Measured, measured  # noqa: E402
from skillgate.scoring.composite import blend, composite  # noqa: E402
from skillgate.scoring.sampled import dimensions, measures, table  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping

CI = settings(max_examples=60, deadline=None)
SHARES = st.floats(0, 1).map(lambda value: round(value, 3))


class World(NamedTuple):
    """What every session that loads the skill gives, and what else there is.

    A session that does not load it covers a request only where one that does would: what a skill does worse than none
    is no matter of how often it is loaded.
    """

    fitting: int
    failed: int
    near: int
    false_alarms: int
    quality: float
    tokens: int
    delivers: bool
    covers: bool
    covers_without: bool

    def runs(self, loads: int) -> list[Simulation]:
        """Give the sessions of which so many that completed loaded the skill."""
        given: dict[str, Any] = {"quality": self.quality, "tokens": self.tokens, "delivers": self.delivers}
        completed = self.fitting - self.failed
        with_it = [
            Simulation(f"fit {at}", True, "direct", COMPLETED, None, True, covers=self.covers, **given)
            for at in range(loads)
        ]
        without = [
            Simulation(f"fit {at}", True, "direct", COMPLETED, None, False, covers=self.covers and self.covers_without)
            for at in range(loads, completed)
        ]
        failed = [Simulation(f"failed {at}", True, "direct", FAILED, "refusal", False) for at in range(self.failed)]
        alarms = min(self.false_alarms, self.near)
        near = [
            Simulation(f"near {at}", False, "direct", COMPLETED, None, at < alarms, **(given if at < alarms else {}))
            for at in range(self.near)
        ]
        return [*with_it, *without, *failed, *near]

    def measured(self, loads: int) -> Measured:
        """Measure them."""
        return measured(self.runs(loads), simulations=self.fitting, near_misses=self.near, seed=1)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Draw a world of at least one session that completes."""
    fitting = draw(st.integers(1, 40))
    return World(
        fitting=fitting,
        failed=draw(st.integers(0, fitting - 1)),
        near=draw(st.integers(0, 12)),
        false_alarms=draw(st.integers(0, 12)),
        quality=draw(SHARES.filter(lambda value: value > 0)),
        tokens=draw(st.integers(0, 9_000)),
        delivers=draw(st.booleans()),
        covers=draw(st.booleans()),
        covers_without=draw(st.booleans()),
    )


def total(found: Measured, others: Mapping[Dimension, float]) -> float:
    """Give the composite of a skill of which the other layers say the same whatever the sessions do."""
    scores = {
        dimension: blend(
            dimension,
            {
                LayerName.STATIC: others[dimension],
                LayerName.JUDGE: others[dimension],
                LayerName.MONTECARLO: found.scores[dimension].value if dimension in found.scores else None,
            },
        )
        for dimension in Dimension
    }
    value = composite(scores, 0)
    assert value is not None
    return value


@CI
@given(worlds(), st.data())
def test_with_equal_results_more_loads_never_lower_a_score(world: World, data: st.DataObject) -> None:
    others = {dimension: data.draw(SHARES) for dimension in Dimension}
    completed = world.fitting - world.failed
    found = [world.measured(loads) for loads in range(min(completed, 8) + 1)]
    for fewer, more in pairwise(found):
        assert fewer.mc_score is not None
        assert more.mc_score is not None
        assert more.mc_score >= fewer.mc_score
        assert total(more, others) >= total(fewer, others)
        for dimension, score in more.scores.items():
            was = fewer.scores[dimension].value
            assert was is not None
            assert score.value is not None
            assert score.value >= was - 1e-6, dimension


@CI
@given(worlds(), st.data())
def test_each_share_but_triggering_is_what_it_would_be_times_loads_by_five(world: World, data: st.DataObject) -> None:
    completed = world.fitting - world.failed
    loads = data.draw(st.integers(0, completed))
    found = world.measured(loads)
    factor = min(1.0, loads / min(5, completed))
    assert found.loads is not None
    assert found.loads[:3] == (loads, completed, world.fitting)
    assert found.loads.factor == pytest.approx(factor, abs=1e-6)
    shares = {
        Dimension.OUTPUT_QUALITY: found.measures["quality"].value,
        Dimension.ORCHESTRATION_FITNESS: found.measures["orchestration"].value,
        Dimension.SCOPE_CALIBRATION: found.measures["scope"].value,
        Dimension.TOKEN_EFFICIENCY: found.measures["efficiency"].value,
        Dimension.ROBUSTNESS: 1 - (found.measures["failure_rate"].value or 0.0),
    }
    for dimension, share in shares.items():
        score = found.scores[dimension]
        assert score.value == pytest.approx((share or 0.0) * factor, abs=2e-6), dimension
        assert score.value is not None
        assert score.ci_low is not None
        assert score.ci_high is not None
        assert score.ci_low <= score.value <= score.ci_high
    name = "f1" if world.near else "activation_rate"
    assert found.scores[Dimension.TRIGGERING_ACCURACY] == found.measures[name]
    terms = [found.measures[name].value for name in ("activation_rate", "quality_cv", "failure_rate", "efficiency")]
    activation, variation, failure, efficiency = (0.0 if term is None else term for term in terms)
    rest = 0.3 * (1 - min(1.0, variation)) + 0.2 * (1 - failure) + 0.1 * efficiency
    assert found.mc_score == pytest.approx(0.4 * activation + (factor * rest if factor else 0.0), abs=1e-4)


@CI
@given(worlds(), st.data())
def test_draws_and_exchanges_apply_the_factor_that_the_scores_do(world: World, data: st.DataObject) -> None:
    """A weight of 1 for each session gives the scores themselves: there is no second way to a number."""
    loads = data.draw(st.integers(0, world.fitting - world.failed))
    runs = world.runs(loads)
    found = dimensions(measures(table(runs), np.ones((1, len(runs)))), near_misses=bool(world.near))
    for dimension, score in world.measured(loads).scores.items():
        assert score.value == pytest.approx(float(found[dimension][0]), abs=1e-5), dimension
