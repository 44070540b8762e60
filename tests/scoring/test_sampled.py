"""Intervals of blended scores: what they rest on, and how often they hold the true score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

from skillgate.model.layers import Assessment  # noqa: E402
from skillgate.model.score import Dimension, LayerName  # noqa: E402
from skillgate.scoring.composite import blend, composite  # noqa: E402
from skillgate.scoring.sampled import (  # noqa: E402
    composite_interval,
    composites,
    dimension_interval,
    outcomes,
)
from skillgate.stats.intervals import balanced, mean_t  # noqa: E402
from tests.scoring.judged import RATED, STATIC, a_layer, a_result, prompts  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.layers import JudgeLayer

OUTPUT, TRIGGER = Dimension.OUTPUT_QUALITY, Dimension.TRIGGERING_ACCURACY
ASKED = prompts([(True, True, True)] * 4 + [(False, True, False)], [(False, False, False)] * 4 + [(True, True, False)])


def a_varied_layer(seed: int = 1, judges: int = 3) -> JudgeLayer:
    rng = np.random.default_rng(seed)
    ratings: dict[Dimension, Sequence[int]] = {name: rng.integers(5, 10, judges).tolist() for name in RATED}
    return a_layer(ratings, prompts([(True,) * judges] * 4 + [(False,) * judges], [(False,) * judges] * 5))


@pytest.mark.parametrize("anti_patterns", [0, 3, 30])
@pytest.mark.parametrize("left_out", [(), (Dimension.CODE_TEMPLATE_QUALITY,), (TRIGGER, OUTPUT)])
def test_many_composites_at_once_are_those_of_one_at_a_time(
    anti_patterns: int, left_out: tuple[Dimension, ...]
) -> None:
    rng = np.random.default_rng(5)
    static = {**STATIC, **dict.fromkeys(left_out)}
    judged = {name: rng.uniform(0, 1, 20) for name in Dimension if name not in left_out}
    many = composites(static, judged, anti_patterns)
    for index in range(20):
        scores = {
            name: blend(
                name,
                {
                    LayerName.STATIC: static[name],
                    LayerName.JUDGE: float(judged[name][index]) if name in judged else None,
                },
            )
            for name in Dimension
        }
        assert round(float(many[index]), 2) == pytest.approx(composite(scores, anti_patterns), abs=0.011)


def test_nothing_measured_gives_no_number() -> None:
    assert np.isnan(composites({}, {}, 0))


def test_a_dimension_takes_the_judges_interval_by_its_share() -> None:
    assessment = Assessment(0.7, ci_low=0.6, ci_high=0.8)
    assert dimension_interval(OUTPUT, None, assessment) == ((0.6, 0.8), None)
    low, high = 0.3 * 0.9 + 0.55 * 0.6, 0.3 * 0.9 + 0.55 * 0.8
    found, why = dimension_interval(Dimension.SCOPE_CALIBRATION, 0.9, assessment)
    assert found == pytest.approx((low / 0.85, high / 0.85), abs=1e-4)
    assert why is None


def test_a_dimension_without_the_judges_interval_says_why() -> None:
    assert dimension_interval(OUTPUT, 0.9, Assessment(0.7, ci_reason="why")) == (None, "why")
    assert dimension_interval(OUTPUT, 0.9, Assessment(None, reason="refused")) == (None, "refused")
    assert dimension_interval(OUTPUT, 0.9, Assessment(0.7)) == (None, "one judge gives no interval")


def test_one_judge_gives_no_interval() -> None:
    layer = a_layer({name: [7] for name in RATED}, prompts([(True,)] * 5, [(False,)] * 5))
    assert composite_interval(STATIC, layer, 0) == (None, "one judge gives no interval")


@pytest.mark.parametrize(
    ("layer", "reason"),
    [
        (a_layer({}, judges=3, reason="no key"), "no key"),
        (a_layer({}, judges=3), "no judge measured anything"),
        (a_layer({OUTPUT: [7, 8, 9], Dimension.ROBUSTNESS: [4]}), "only one judge answered for robustness"),
        (a_layer({OUTPUT: [7, 8]}, ASKED, triggering=None), "predictions on trigger prompts are not known"),
    ],
)
def test_what_cannot_be_told_has_no_interval_and_a_reason(layer: JudgeLayer, reason: str) -> None:
    found, why = composite_interval(STATIC, layer, 0)
    assert found is None
    assert reason in (why or "")


def test_one_rated_dimension_alone_has_the_interval_of_its_mean() -> None:
    """The draws are those of the t distribution: what is asked of one dimension by itself must come out of them."""
    layer = a_layer({OUTPUT: [5, 6, 7, 6, 5]})
    found, why = composite_interval({}, layer, 0)
    low, high = mean_t([0.5, 0.6, 0.7, 0.6, 0.5], 0.05)
    assert why is None
    assert found == pytest.approx((100 * low, 100 * high), abs=1.2)  # 2,000 draws of a t with four degrees


def test_equal_ratings_keep_half_a_step_to_each_side() -> None:
    found, _ = composite_interval({}, a_layer({OUTPUT: [6, 6, 6]}), 0)
    assert found == pytest.approx((55, 65), abs=0.6)


def test_judges_are_drawn_with_all_that_they_gave() -> None:
    """A judge who is mild throughout moves every dimension at once; one who is not, cancels out."""
    names = (OUTPUT, Dimension.ORCHESTRATION_FITNESS)
    mild, _ = composite_interval({}, a_layer({name: [4, 6, 8] for name in names}), 0)
    mixed, _ = composite_interval({}, a_layer({names[0]: [4, 6, 8], names[1]: [8, 6, 4]}), 0)
    assert mild is not None
    assert mixed is not None
    assert mild[1] - mild[0] > 4 * (mixed[1] - mixed[0])


def test_the_penalty_narrows_the_interval_with_the_score() -> None:
    clean, _ = composite_interval(STATIC, a_varied_layer(), 0)
    flawed, _ = composite_interval(STATIC, a_varied_layer(), 4)
    assert clean is not None
    assert flawed == pytest.approx((0.8 * clean[0], 0.8 * clean[1]), abs=0.011)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("judges", [2, 3, 9])
def test_the_score_is_inside_of_its_interval_and_the_interval_of_the_scale(seed: int, judges: int) -> None:
    layer = a_varied_layer(seed, judges)
    found, why = composite_interval(STATIC, layer, 1, seed)
    score = a_result(layer, anti_patterns=1).composite.score
    assert why is None
    assert found is not None
    assert score is not None
    assert 0 <= found[0] <= score <= found[1] <= 100
    assert found == composite_interval(STATIC, layer, 1, seed)[0]


def test_a_perfect_skill_is_inside_of_its_interval() -> None:
    layer = a_layer({name: [10, 10] for name in RATED}, prompts([(True, True)] * 5, [(False, False)] * 5))
    found, _ = composite_interval(dict.fromkeys(Dimension, 1.0), layer, 0)
    assert found is not None
    assert found[1] == 100.0
    assert found[0] < 97


def test_prompts_that_no_judge_answered_count_for_nothing() -> None:
    asked = (*prompts([(True, False)], [(False, False)]), ASKED[0]._replace(predicted=(None, None)))
    assert outcomes(asked) == ((0.5,), (0.0,))


@pytest.mark.parametrize(
    ("judges", "common", "own"), [(2, 0.05, 0.05), (3, 0.08, 0.1), (3, 0.0, 0.05), (9, 0.05, 0.05)]
)
def test_the_interval_holds_the_true_score(judges: int, common: float, own: float) -> None:
    """Judges with a mildness of their own and noise, ratings rounded to the scale, ten prompts."""
    rng = np.random.default_rng(judges)
    centre: dict[Dimension, float] = {name: 0.72 + 0.05 * np.sin(2 * index) for index, name in enumerate(RATED)}
    rates = {True: 0.9, False: 0.1}
    truth: dict[Dimension, float] = {**centre, TRIGGER: balanced(rates[True], rates[False])}
    true = float(composites(STATIC, {name: np.asarray(value) for name, value in truth.items()}, 1))
    held = 0
    for seed in range(150):
        mildness = rng.normal(0, common, judges)
        ratings: dict[Dimension, Sequence[int]] = {}
        for name, value in centre.items():
            marks = np.rint(10 * (value + mildness + rng.normal(0, own, judges)))
            ratings[name] = np.clip(marks, 0, 10).astype(int).tolist()
        hits, alarms = ([(rng.random() < rates[kind],) * judges for _ in range(5)] for kind in (True, False))
        found, _ = composite_interval(STATIC, a_layer(ratings, prompts(hits, alarms)), 1, seed)
        assert found is not None
        held += found[0] <= true <= found[1]
    assert held >= 0.92 * 150
