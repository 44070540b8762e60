"""Trends: the last seven days beside those before, what is called, and how often chance is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

from skillgate.invocations.figures import (  # noqa: E402
    LEAST_PERCENT,
    LEAST_POINTS,
    corrected,
    recommendation,
    tally_of,
    trend,
    trend_json,
    with_bootstrap,
)
from skillgate.invocations.groups import corrected_versions  # noqa: E402
from skillgate.model.codec import encode  # noqa: E402
from skillgate.model.invocation import (  # noqa: E402
    Component,
    Direction,
    InvocationTrend,
)
from tests.invocations.observed import NOW, at, columns, history, seen  # noqa: E402
from tests.report import invocations_made as made  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from skillgate.invocations.figures import Tally
    from tests.invocations.observed import Observation

STEADY = (70.0, 72.0, 68.0, 71.0, 69.0)
SEEDS_KEYS = {
    *("status", "current_avg", "previous_avg", "trend", "change_percent", "weak_component", "component_scores"),
    "recommendation",
}
OUR_KEYS = {"skill", "recent", "previous", "change", "interval", "bootstrap", "reason", "p", "p_adjusted", "compared"}


def counted(some: Iterable[Observation], days: int | None = 30) -> Tally:
    return tally_of(columns(some), now=NOW, days=days)


def of(some: Iterable[Observation], days: int | None = 30) -> InvocationTrend:
    return trend(counted(some, days), now=NOW, days=days)


def between(before: Sequence[float], after: Sequence[float]) -> InvocationTrend:
    return of(history(before, after))


def test_r20_windows_are_of_time_and_not_of_rows() -> None:
    found = between((50.0, 52.0, 48.0, 51.0, 49.0, 50.0), tuple(value + 20 for value in STEADY))
    # 540 − … : STEADY has a mean of 70, so the recent one is 90; the earlier one is 300 ÷ 6.
    assert (found.status, found.trend) == ("ok", Direction.IMPROVING)
    assert (found.current_avg, found.previous_avg, found.change, found.change_percent) == (90.0, 50.0, 40.0, 80.0)
    assert (found.recent.n, found.previous.n, found.recent.median, found.previous.median) == (5, 6, 90.0, 50.0)
    assert (found.recent.since.timestamp(), found.recent.until) == (at(7), NOW)
    assert (found.previous.since.timestamp(), found.previous.until) == (at(30), found.recent.since)
    assert found.interval is not None
    assert found.interval.low < 40 < found.interval.high


@pytest.mark.parametrize(("before", "after"), [(0, 12), (4, 30), (30, 4), (12, 0), (0, 0)])
def test_r20_a_window_under_five_rated_is_insufficient_data_with_both_counts(before: int, after: int) -> None:
    found = between([10.0] * before, [90.0] * after)
    assert (found.status, found.trend, found.change, found.interval) == ("insufficient_data", None, None, None)
    assert (found.previous.n, found.recent.n) == (before, after)
    assert f"{after} rated in the last 7 days and {before} before" in found.reason


def test_r20_unrated_ones_fill_no_window() -> None:
    some = [*history(STEADY, STEADY[:4]), *(seen(None, days_ago=0.1) for _ in range(9))]
    assert of(some).status == "insufficient_data"


def test_r20_of_all_history_everything_before_the_last_week_is_compared() -> None:
    some = [*(seen(value, days_ago=200) for value in STEADY), *(seen(value - 40, days_ago=2) for value in STEADY)]
    assert of(some).status == "insufficient_data"
    found = of(some, days=None)
    assert (found.trend, found.previous.n) == (Direction.DECLINING, 5)
    assert found.previous.since.timestamp() == at(200)


def test_a_window_of_a_week_leaves_nothing_to_compare_with() -> None:
    found = of(history(STEADY, STEADY), days=7)
    assert found.status == "insufficient_data"
    assert "has no days before" in found.reason


@pytest.mark.parametrize(
    ("before", "after", "called"),
    [
        (2.0, 4.99, Direction.STABLE),  # 149 %, and under three points
        (2.0, 5.0, Direction.IMPROVING),
        (80.0, 87.99, Direction.STABLE),  # eight points, and under ten per cent
        (80.0, 88.0, Direction.IMPROVING),
        (80.0, 72.0, Direction.DECLINING),
        (0.0, 3.0, Direction.IMPROVING),
        (0.0, 0.0, Direction.STABLE),
    ],
)
def test_r21_a_change_counts_from_ten_per_cent_and_three_points(before: float, after: float, called: Direction) -> None:
    """Without any spread; a jump between equal values is called, and divides by nothing."""
    found = between([before] * 5, [after] * 5)
    assert (found.trend, found.interval) == (called, None)
    assert (found.change_percent is None) == (before == 0)
    assert (LEAST_PERCENT, LEAST_POINTS) == (10, 3)


def test_r20_what_chance_may_do_is_stable_and_says_so() -> None:
    found = between((40.0, 95.0, 60.0, 20.0, 85.0), (75.0, 99.0, 30.0, 90.0, 80.0))
    assert found.change == pytest.approx(14.8)
    assert (found.trend, found.interval is not None and found.interval.low < 0) == (Direction.STABLE, True)
    assert found.reason.endswith("this may be chance")


def test_a_change_that_is_too_small_does_not_read_as_if_it_were_enough() -> None:
    found = between([20.0] * 5, [22.97] * 5)
    assert (found.trend, "+2.97 points" in found.reason) == (Direction.STABLE, True)


def scored(share: float, n: int = 6, **shares: Any) -> list[Observation]:
    points: dict[str, Any] = {part.value: part.points * shares.get(part.value, share) for part in Component}
    return [seen(70.0, days_ago=20 - index, **points) for index in range(n)]


@pytest.mark.parametrize("component", Component)
@pytest.mark.parametrize(("share", "level"), [(0.1, "low"), (0.499, "low"), (0.5, "medium"), (0.699, "medium")])
def test_r18_the_level_of_advice_is_by_the_share_of_the_points(component: Component, share: float, level: str) -> None:
    shares: dict[str, Any] = {component.value: share}
    found = of(scored(0.9, **shares))
    assert found.weak_component == component.value
    assert found.recommendation == recommendation(component, 0.2 if level == "low" else 0.6)


def test_r18_all_eight_pieces_of_advice_differ() -> None:
    words = {recommendation(component, share) for component in Component for share in (0.2, 0.6)}
    assert len(words) == 8
    assert None not in words


@pytest.mark.parametrize("share", [0.7, 0.95, 1.0])
def test_r18_r19_a_component_with_seven_tenths_of_its_points_is_not_weak(share: float) -> None:
    found = of(scored(share))
    assert (found.weak_component, found.recommendation) == (None, None)
    assert found.component_scores["quality"] == pytest.approx(30 * share)


def test_r19_the_smallest_share_is_weak_and_not_the_fewest_points() -> None:
    # Efficiency has 13.6 of 20 points, quality 15 of 30.
    assert of(scored(0.9, efficiency=0.68, quality=0.5)).weak_component == "quality"


def test_r19_a_component_that_four_invocations_measure_is_not_called_weak() -> None:
    assert of(scored(0.1, n=4)).weak_component is None


def test_an_object_of_a_trend_has_the_rubrics_keys_and_ours() -> None:
    for found in (between(STEADY, STEADY), between(STEADY, ())):
        assert set(trend_json(found)) == SEEDS_KEYS | OUR_KEYS
    assert trend_json(between(STEADY, STEADY))["component_scores"].keys() == {part.value for part in Component}


def test_a_bootstrap_stands_beside_only_where_it_is_asked_for_and_decides_nothing() -> None:
    tally = counted(history((40.0, 95.0, 60.0, 20.0, 85.0), (75.0, 99.0, 30.0, 90.0, 80.0)))
    plain = trend(tally, now=NOW, days=30)
    found = with_bootstrap(plain, tally)
    assert plain.bootstrap is None
    assert found.bootstrap is not None
    assert (found.trend, found.interval) == (plain.trend, plain.interval)
    assert encode(found) == encode(with_bootstrap(plain, tally))
    few = between(STEADY, ())
    assert with_bootstrap(few, tally) is few


SHAPES: dict[str, Callable[[Any, int], Any]] = {
    "normal": lambda rng, n: np.clip(rng.normal(50, 20, n), 0, 100),
    "normal, high": lambda rng, n: np.clip(rng.normal(70, 12, n), 0, 100),
    "skewed to the left": lambda rng, n: np.clip(100 - rng.exponential(15, n), 0, 100),
    "skewed to the right": lambda rng, n: np.clip(rng.lognormal(3, 1, n), 0, 100),
    "0 or 100, evenly": lambda rng, n: 100.0 * (rng.random(n) < 0.5),
    "0 or 100, one in ten fails": lambda rng, n: 100.0 * (rng.random(n) < 0.9),
    "0 or 100, one in ten succeeds": lambda rng, n: 100.0 * (rng.random(n) < 0.1),
    "49 or 95": lambda rng, n: np.where(rng.random(n) < 0.8, 95.0, 49.0),
    "heavy ties": lambda rng, n: rng.choice([20.0, 60.0, 70.0, 95.0], n, p=[0.1, 0.2, 0.4, 0.3]),
    "constant": lambda rng, n: np.full(n, 70.0),
}


@pytest.mark.parametrize("counts", [(5, 5), (60, 10), (30, 30)], ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_r20_of_a_thousand_histories_in_which_nothing_changes_at_most_fifty_are_called(
    shape: str, counts: tuple[int, int]
) -> None:
    rng = np.random.default_rng(2026)
    drawn = ([SHAPES[shape](rng, n).round(2).tolist() for n in counts] for _ in range(1_000))
    called = sum(between(before, after).trend is not Direction.STABLE for before, after in drawn)
    assert called <= 50


@pytest.mark.parametrize(("mean", "change"), [(60.0, 15.0), (75.0, -15.0)])
def test_r20_fifteen_points_are_called_over_thirty_and_thirty(mean: float, change: float) -> None:
    rng = np.random.default_rng(2026)
    wanted = Direction.IMPROVING if change > 0 else Direction.DECLINING
    called = 0
    for _ in range(300):
        before, after = (np.clip(rng.normal(at_mean, 12, 30), 0, 100).round(2) for at_mean in (mean, mean + change))
        called += between(before.tolist(), after.tolist()).trend is wanted
    assert called >= 270


def test_r20_a_bootstrap_would_call_chance_a_trend_over_five_and_five() -> None:
    """Why it does not decide: it takes the spread of five values for that of what they come from."""
    rng = np.random.default_rng(2026)
    called = 0
    for _ in range(400):
        tally = counted(history(*(SHAPES["normal"](rng, 5).round(2).tolist() for _ in range(2))))
        found = with_bootstrap(trend(tally, now=NOW, days=30), tally)
        assert found.bootstrap is not None
        called += not found.bootstrap.low <= 0 <= found.bootstrap.high
    assert called > 0.08 * 400


def drawn(rng: Any, changes: Sequence[float]) -> list[InvocationTrend]:
    """Give the trends of skills of which each changed by so many points, alone."""
    samples = ((rng.normal(60, 9, 20), rng.normal(60 + change, 9, 9)) for change in changes)
    return [between(before.round(2).tolist(), after.round(2).tolist()) for before, after in samples]


def called(found: Iterable[InvocationTrend]) -> int:
    return sum(one.trend is not Direction.STABLE for one in found)


def test_of_many_stores_of_skills_that_do_not_change_few_call_any() -> None:
    rng = np.random.default_rng(2026)
    stores = [drawn(rng, [0.0] * 40) for _ in range(60)]
    assert sum(called(each) > 0 for each in stores) > 20  # each skill alone
    assert sum(called(corrected(each)) > 0 for each in stores) <= 6


def test_large_changes_are_called_among_many_skills_too() -> None:
    trends = drawn(np.random.default_rng(7), [*[-30.0] * 10, *[0.0] * 110])
    alone, found = called(trends), corrected(trends)
    assert all(one.trend is Direction.DECLINING for one in found[:10])
    assert called(found) <= 11 < alone
    lost = next(one for one, was in zip(found, trends, strict=True) if one.trend is not was.trend)
    assert (lost.compared, lost.p is not None and lost.p < 0.05) == (120, True)
    assert "; among 120 skills compared together this may be chance (adjusted p = " in lost.reason


def test_one_trend_alone_is_not_adjusted_and_too_few_invocations_count_for_none() -> None:
    one, few = between((50.0, 52.0, 48.0, 51.0, 49.0), STEADY), between(STEADY, STEADY[:2])
    assert corrected([few, one]) == (few, replace(one, p_adjusted=one.p, compared=1))
    assert (few.p, few.p_adjusted) == (None, None)


def test_changes_of_version_are_adjusted_over_all_skills() -> None:
    ps = (0.01, 0.04, None, 0.03, 0.5)
    skills = [
        replace(
            made.figures(f"s{n}", 70.0), versions=(replace(made.version_change("1", "2", 9.0), p=p, p_adjusted=None),)
        )
        for n, p in enumerate(ps)
    ]
    found = [one.versions[0].p_adjusted for one in corrected_versions([*skills, made.figures("none", 70.0)])[:5]]
    assert found == [pytest.approx(0.04), pytest.approx(0.16 / 3), None, pytest.approx(0.16 / 3), pytest.approx(0.5)]
