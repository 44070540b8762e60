"""Measures of sessions under many weightings: each is what a plain computation over those sessions gives."""

from __future__ import annotations

import statistics

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

from benchmarks.coverage_worlds import SKILLS, sessions  # noqa: E402
from skillgate.model.layers import COMPLETED, FAILED  # noqa: E402
from skillgate.model.score import Dimension  # noqa: E402
from skillgate.scoring.sampled import dimensions, draws, measures, table  # noqa: E402
from skillgate.stats.intervals import balanced  # noqa: E402


def test_whole_numbers_of_weights_are_sessions_so_many_times() -> None:
    rng = np.random.default_rng(3)
    runs = sessions(SKILLS[2], 30, 10, rng)
    times = rng.integers(0, 3, (25, len(runs)))
    found = measures(table(runs), times.astype(float))
    for index, row in enumerate(times.tolist()):
        drawn = [run for run, count in zip(runs, row, strict=True) for _ in range(count)]
        done = [run for run in drawn if run.outcome == COMPLETED and run.activated]
        qualities = [run.quality or 0.0 for run in done]
        activation = statistics.mean(bool(run.activated) for run in drawn if run.should_trigger)
        misfires = statistics.mean(bool(run.activated) for run in drawn if not run.should_trigger)
        answered = [run for run in drawn if run.outcome == COMPLETED and run.should_trigger]
        tokens = statistics.median(run.tokens or 0 for run in done)
        assert found.activation[index] == pytest.approx(activation)
        assert found.false_activation[index] == pytest.approx(misfires)
        assert found.f1[index] == pytest.approx(balanced(activation, misfires))
        assert found.quality[index] == pytest.approx(statistics.mean(qualities))
        assert found.quality_cv[index] == pytest.approx(statistics.pstdev(qualities) / statistics.mean(qualities))
        assert found.failure[index] == pytest.approx(statistics.mean(run.outcome == FAILED for run in drawn))
        assert found.tokens[index] == pytest.approx(tokens)
        assert found.efficiency[index] == pytest.approx(max(0, 1 - tokens / 8_000))
        assert found.orchestration[index] == pytest.approx(statistics.mean(bool(run.delivers) for run in done))
        assert found.scope[index] == pytest.approx(statistics.mean(bool(run.covers) for run in answered))


def test_what_no_session_tells_of_is_undefined_and_not_zero() -> None:
    runs = [run._replace(activated=False) for run in sessions(SKILLS[0], 6, 0, np.random.default_rng(1))]
    found = measures(table(runs), np.ones((1, 6)))
    for name in ("false_activation", "precision", "f1", "quality", "quality_cv", "tokens", "efficiency"):
        assert np.isnan(getattr(found, name)[0]), name
    assert found.activation[0] == 0.0


def test_triggering_is_the_activation_rate_without_near_misses() -> None:
    found = measures(table(sessions(SKILLS[0], 20, 5, np.random.default_rng(1))), np.ones((1, 25)))
    trigger = Dimension.TRIGGERING_ACCURACY
    assert dimensions(found, near_misses=True)[trigger] == found.f1
    assert dimensions(found, near_misses=False)[trigger] == found.activation
    assert dimensions(found, near_misses=True)[Dimension.ROBUSTNESS] == 1 - found.failure


def test_draws_lean_to_either_side_in_every_dimension() -> None:
    rows = table(sessions(SKILLS[0], 50, 10, np.random.default_rng(1)))
    point = dimensions(measures(rows, np.ones((1, 60))), near_misses=True)
    worst, best = (dimensions(one, near_misses=True) for one in draws(rows, np.random.default_rng(2)))
    for name, value in point.items():
        assert np.quantile(worst[name], 0.025) < value[0] < np.quantile(best[name], 0.975)
        assert worst[name].mean() < best[name].mean()
        assert 0 <= worst[name].min() <= best[name].max() <= 1


def test_sessions_that_were_all_right_keep_a_doubt_below_and_none_above() -> None:
    runs = [run._replace(outcome=COMPLETED) for run in sessions(SKILLS[1], 50, 10, np.random.default_rng(1))]
    worst, best = draws(table(runs), np.random.default_rng(2))
    assert 0.02 < np.quantile(worst.failure, 0.975) < 0.08
    assert np.quantile(best.failure, 0.025) < 1e-3
