"""What is called a change, and what is not."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.model.codec import encode
from skillgate.model.documents import Change, PastEvaluation, PastScore, Trend
from skillgate.report.history import bars
from skillgate.report.trends import bench_trends, score_trends
from skillgate.stats.plain import wilson_ends
from tests.store.made import NOON

if TYPE_CHECKING:
    from collections.abc import Sequence

TASKS = 20


def past(index: int, passed: int, total: int = TASKS, **changes: Any) -> PastEvaluation:
    low, high = wilson_ends(passed, total)
    values: dict[str, Any] = dict.fromkeys(PastEvaluation.__dataclass_fields__)
    values |= {"id": index, "started_at": NOON + timedelta(days=index), "skill_id": "s", "benchmark_id": "b"}
    values |= {"benchmark_version": "1", "benchmark_digest": "d1", "comparable": "{}", "adapter": "subprocess"}
    values |= {"completion_rate": passed / total, "completion_low": low, "completion_high": high, "skipped": 0}
    return PastEvaluation(**values | changes)


def score(index: int, composite: float | None, **changes: Any) -> PastScore:
    values: dict[str, Any] = dict.fromkeys(PastScore.__dataclass_fields__)
    values |= {"id": index, "scored_at": NOON + timedelta(days=index), "skill_name": "s", "skill_path": "skills/s"}
    values |= {"depth": "quick", "scoring_version": 1, "models": (), "composite": composite}
    return PastScore(**values | changes)


def course(counts: Sequence[int], **changes: Any) -> Trend:
    found = [past(index, passed, **changes) for index, passed in enumerate(counts)]
    (trend,) = bench_trends(reversed(found))
    return trend


@pytest.mark.parametrize(
    ("counts", "change"),
    [
        ([10], Change.UNKNOWN),
        ([10, 12], Change.NONE),
        ([5, 18], Change.HIGHER),
        ([18, 5], Change.LOWER),
        ([18, 5, 6], Change.NONE),
        ([20, 20, 20, 20, 20, 20], Change.NONE),
        ([10, 11, 12, 13, 14], Change.RISING),
        ([14, 13, 12, 11, 10], Change.FALLING),
        ([14, 10, 13, 11, 12, 12], Change.NONE),
        ([10, 11, 12, 13], Change.NONE),
    ],
)
def test_a_change_is_called_where_it_is_more_than_chance(counts: list[int], change: Change) -> None:
    found = course(counts)
    assert found.change is change
    assert (found.first, found.last, found.best) == tuple(x / TASKS for x in (counts[0], counts[-1], max(counts)))
    assert (found.p is None) == (len(counts) < 5)
    assert [time.day for time in found.times] == list(range(1, len(counts) + 1))


@pytest.mark.parametrize("runs", [5, 8, 15])
@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
def test_of_skills_that_do_not_change_few_are_called(runs: int, rate: float) -> None:
    chance = random.Random(runs)
    called = 0
    for _ in range(1000):
        counts = [sum(chance.random() < rate for _ in range(TASKS)) for _ in range(runs)]
        called += course(counts).change is not Change.NONE
    assert called <= 50


@pytest.mark.parametrize(
    "other",
    [
        {"benchmark_digest": "d2"},
        {"benchmark_id": "c"},
        {"skill_id": "t"},
        {"comparable": '{"tags": ["x"]}'},
        {"model": "m"},
        {"adapter": "http"},
    ],
)
def test_what_is_not_comparable_never_stands_in_one_line(other: dict[str, Any]) -> None:
    found = bench_trends([past(1, 20, **other), past(0, 1)])
    assert [one.change for one in found] == [Change.UNKNOWN, Change.UNKNOWN]


def test_another_version_of_the_skill_does() -> None:
    (found,) = bench_trends([past(1, 20, skill_version="2.0.0", skill_digest="y"), past(0, 1, skill_version="1.0.0")])
    assert found.change is Change.HIGHER


def test_runs_that_say_nothing_are_left_out_and_counted() -> None:
    runs = [past(0, 19), past(1, 1, incomplete="interrupted"), past(2, 1, skipped=3), past(3, 0, completion_rate=None)]
    (found,) = bench_trends(reversed(runs))
    assert (found.values, found.left_out, found.change) == ((0.95,), 3, Change.UNKNOWN)
    (empty,) = bench_trends(runs[1:])
    assert (empty.values, empty.last, empty.reason) == ((), None, "no run that counts")


def test_a_score_without_a_model_has_no_chance_in_it() -> None:
    def changed(a: float, b: float, **changes: Any) -> Change:
        (found,) = score_trends([score(1, b, **changes), score(0, a, **changes)])
        return found.change

    assert changed(80.0, 80.01) is Change.HIGHER
    assert changed(80.0, 79.5) is Change.LOWER
    assert changed(80.001, 80.0) is Change.NONE
    sampled = {"depth": "standard", "models": ("m",)}
    assert changed(80.0, 90.0, **sampled) is Change.NONE  # without intervals nothing can be said
    assert changed(80.0, 90.0, **sampled, ci_low=70.0, ci_high=95.0) is Change.NONE


def test_sampled_scores_are_told_apart_by_their_intervals_and_models() -> None:
    before = score(0, 60.0, depth="deep", models=("m",), ci_low=55.0, ci_high=65.0)
    after = replace(before, id=1, scored_at=NOON + timedelta(days=1), composite=80.0, ci_low=75.0, ci_high=85.0)
    assert [one.change for one in score_trends([after, before])] == [Change.HIGHER]
    assert len(score_trends([replace(after, models=("n",)), before])) == 2
    assert len(score_trends([replace(after, scoring_version=2), before])) == 2
    assert encode(score_trends([after, before])[0])["change"] == "higher"


def test_bars_are_drawn_on_the_whole_scale() -> None:
    assert bars((0.0, 0.5, 1.0), 1.0) == "▁▅█"
    assert bars((0.98, 1.0), 1.0) == "██"
