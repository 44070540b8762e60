"""The paired test: what it refuses, what is certain, and how often it is wrong or blind."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

from skillgate.model.layers import Assessment, MonteCarloLayer  # noqa: E402
from skillgate.model.report import Composite, StaticLayer  # noqa: E402
from skillgate.model.score import Dimension  # noqa: E402
from skillgate.scoring.paired import Paired, paired  # noqa: E402
from tests.scoring.judged import RATED, STATIC, a_layer, a_result, f1_of, prompts  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.layers import JudgeLayer
    from skillgate.model.report import SkillResult

OUTPUT, SCOPE, CODE = Dimension.OUTPUT_QUALITY, Dimension.SCOPE_CALIBRATION, Dimension.CODE_TEMPLATE_QUALITY
GOOD = prompts([(True,)] * 5, [(False,)] * 5)
BAD = prompts([(True,)] * 2 + [(False,)] * 3, [(False,)] * 3 + [(True,)] * 2)


def rated(rating: int, judges: int = 1, **others: int) -> dict[Dimension, Sequence[int]]:
    """Give every dimension one rating of each judge, but for those named."""
    return {name: [others.get(name.value, rating)] * judges for name in RATED}


def a_judged(rating: int = 8, **changes: Any) -> SkillResult:
    return a_result(a_layer(rated(rating), GOOD, **changes))


def test_the_same_answers_prove_nothing() -> None:
    found = paired(a_judged(), a_judged())
    assert found == Paired(0.0, certain=0.0, p=1.0, units=19, smallest_detectable=None, flip_rate=0.0)
    assert found.real() is False


def test_what_layer_1_takes_is_certain() -> None:
    before, after = a_judged(), a_result(a_layer(rated(8), GOOD), anti_patterns=2)
    found = paired(before, after)
    assert found.drop == found.certain == pytest.approx(0.1 * (before.composite.score or 0), abs=0.01)
    assert found.p == 1.0
    assert found.real() is True
    assert found.real(max_drop=50) is False


def test_a_worse_static_score_is_certain_and_a_worse_rating_is_not() -> None:
    worse = {**STATIC, SCOPE: 0.1}
    found = paired(a_judged(8), a_result(a_layer(rated(7), GOOD), static=worse))
    alone = paired(a_judged(8), a_result(a_layer(rated(8), GOOD), static=worse))
    assert found.certain == alone.certain == alone.drop
    assert (found.drop or 0) > (found.certain or 0) > 0


def test_ratings_that_all_fall_are_a_real_drop() -> None:
    found = paired(a_judged(9), a_judged(6))
    assert found.p == pytest.approx(1 / 2**9, abs=1e-6)
    assert found.certain == 0.0
    assert found.units == 19
    assert found.real() is True


def test_a_gain_is_no_regression() -> None:
    found = paired(a_judged(6), a_judged(9))
    assert (found.drop or 0) < 0
    assert (found.p or 0) > 0.9
    assert found.real() is False


def test_ratings_that_fall_and_rise_are_noise() -> None:
    mixed: dict[Dimension, Sequence[int]] = {name: [8 + (-1) ** index] for index, name in enumerate(RATED)}
    found = paired(a_judged(8), a_result(a_layer(mixed, GOOD)))
    assert (found.p or 0) > 0.05
    assert found.real(max_drop=0.0) is False


def test_the_p_is_that_of_every_exchange_counted_by_hand() -> None:
    """Two ratings and one prompt differ: eight exchanges, each scored by the composite of the pipeline."""
    names = (OUTPUT, SCOPE)
    asked = (prompts([(True,), (True,)], [(False,)]), prompts([(True,), (False,)], [(False,)]))
    given = ({names[0]: [9], names[1]: [5]}, {names[0]: [6], names[1]: [6]})
    sides = [a_result(a_layer(given[side], asked[side])) for side in (0, 1)]
    drops = []
    for first, second, third in product((0, 1), repeat=3):
        scores = []
        for flip in (0, 1):
            picks = [flip ^ first, flip ^ second, flip ^ third]
            ratings = {names[0]: given[picks[0]][names[0]], names[1]: given[picks[1]][names[1]]}
            scores.append(a_result(a_layer(ratings, asked[picks[2]])).composite.score or 0)
        drops.append(scores[0] - scores[1])
    assert f1_of(asked[0]) > f1_of(asked[1])
    found = paired(sides[0], sides[1])
    assert found.p == sum(drop >= drops[0] - 1e-6 for drop in drops) / 8
    assert found.drop == pytest.approx(drops[0], abs=0.011)
    assert found.smallest_detectable is None  # one in eight is not rare


def test_prompts_that_no_longer_trigger_count_as_units() -> None:
    found = paired(a_judged(8), a_result(a_layer(rated(8), BAD)))
    assert found.certain == 0.0
    assert 1 / 2**5 <= (found.p or 0) <= 2 / 2**5
    assert found.units == 19


def test_judges_are_paired_by_their_place() -> None:
    one, two = a_layer({OUTPUT: [9, 5]}, GOOD), a_layer({OUTPUT: [5, 9]}, GOOD)
    found = paired(a_result(one), a_result(two))
    assert (found.drop, found.units) == (0.0, 12)
    assert found.p == 0.75  # of four exchanges one gives less than none


def test_code_that_went_away_takes_its_rating_with_it() -> None:
    without = {name: given for name, given in rated(8).items() if name is not CODE}
    found = paired(a_judged(8), a_result(a_layer(without, GOOD), static={**STATIC, CODE: None}))
    assert found.reason is None
    assert found.units == 18
    assert found.p == 1.0
    worse = {name: [5] for name in without}
    assert paired(a_judged(8), a_result(a_layer(worse, GOOD), static={**STATIC, CODE: None})).real() is True


def test_a_whole_judgement_by_chance_exchanges_is_the_same_for_a_seed() -> None:
    rng = np.random.default_rng(1)
    rng = np.random.default_rng(1)
    one, two = (noisy(rng, 0.75, 3) for _ in range(2))
    assert paired(one, two, seed=4) == paired(one, two, seed=4)
    assert paired(one, two).p == pytest.approx(paired(one, two, seed=9).p, abs=0.03)


def unscored() -> SkillResult:
    return a_judged()._replace(composite=Composite(score=None, badge=None, reason="too long"))


def without_detail() -> SkillResult:
    result = a_judged()
    static, judge = result.layers
    assert isinstance(static, StaticLayer)
    return result._replace(layers=(static._replace(sub_checks={}), judge))


def simulated() -> SkillResult:
    result = a_judged()
    return result._replace(layers=(*result.layers, MonteCarloLayer(0, 50, 50, 0, 0, 0.5)))


def unasked() -> SkillResult:
    result = a_judged()
    return result._replace(layers=result.layers[:1])


def without(name: Dimension) -> SkillResult:
    layer = a_layer(rated(8), GOOD)
    return a_result(layer._replace(assessments={**layer.assessments, name: Assessment(None, reason="refused")}))


def with_prompts(**changes: Any) -> JudgeLayer:
    layer = a_layer(rated(8), GOOD)
    assert layer.triggering is not None
    return layer._replace(triggering=layer.triggering._replace(**changes))


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (unscored(), "after, there is no score: too long"),
        (without_detail(), "after, the report does not hold the scores of layer 1"),
        (unasked(), "after, no judge was asked"),
        (simulated(), "sessions were simulated on one side only"),
        (a_judged(models=("m-2",)), "models differ: m-1 before, m-2 after"),
        (a_judged(answered_by=("m-9",)), "the models that answered differ: those asked for before, m-9 after"),
        (a_judged(judges=2), "judges differ: 1 before, 2 after"),
        (a_judged(live=False), "live and made-up answers differ"),
        (a_judged(prompt_version="p2"), "prompt version differ: p1 before, p2 after"),
        (a_judged(rubric_version="r2"), "rubric version differ"),
        (a_judged(triggering=None), "trigger prompts were not measured"),
        (a_result(with_prompts(digest="d2")), "the trigger prompts differ"),
        (a_result(with_prompts(digest=None)), "trigger prompts were not measured"),
        (a_result(with_prompts(prompts=())), "predictions on trigger prompts were not measured"),
        (without(OUTPUT), "output_quality was judged on one side only"),
    ],
)
def test_what_is_not_the_same_measurement_is_refused(after: SkillResult, reason: str) -> None:
    found = paired(a_judged(), after)
    assert reason in (found.reason or "")
    assert (found.certain, found.p, found.smallest_detectable, found.flip_rate) == (None, None, None, None)
    assert found.real() is None


def test_a_judge_that_did_not_answer_is_not_guessed() -> None:
    full = a_layer({OUTPUT: [8, 8], SCOPE: [8, 8]}, GOOD)
    holed = a_layer({OUTPUT: [8, 8], SCOPE: [8]}, GOOD)
    assert "not every judge answered for scope_calibration" in (paired(a_result(full), a_result(holed)).reason or "")


def noisy(rng: Any, centre: float, judges: int) -> SkillResult:
    """Judge a text once more: a part of the noise is common to what one reply rates."""
    reply = rng.normal(0, 0.04, judges)
    ratings: dict[Dimension, Sequence[int]] = {}
    for index, name in enumerate(RATED):
        common = reply if index > 2 else rng.normal(0, 0.04, judges)
        marks = 10 * (centre + common + rng.normal(0, 0.05, judges))
        ratings[name] = np.clip(np.rint(marks), 0, 10).astype(int).tolist()
    hits, alarms = ([(rng.random(judges) < 0.9) == (index < loads) for index in range(5)] for loads in (4, 1))
    return a_result(a_layer(ratings, prompts(hits, alarms)))


@pytest.mark.parametrize("judges", [1, 3])
def test_two_judgings_of_one_text_rarely_differ_for_real(judges: int) -> None:
    rng = np.random.default_rng(judges)
    found = [paired(noisy(rng, 0.75, judges), noisy(rng, 0.75, judges), seed=seed) for seed in range(150)]
    wrong = sum(one.real() is True for one in found) / len(found)
    foretold = sum(one.flip_rate or 0 for one in found) / len(found)
    assert wrong <= 0.08
    assert foretold == pytest.approx(wrong, abs=0.03)


def test_the_smallest_detectable_drop_is_found_in_most_cases() -> None:
    rng = np.random.default_rng(8)
    level = [paired(noisy(rng, 0.75, 3), noisy(rng, 0.75, 3)).smallest_detectable or 0 for _ in range(25)]
    least = float(np.median(level))
    assert 2.0 < least < 8.0
    fall = 0.75 - least / 47  # a rating's share in the composite, all of them together, is a little under one half
    found = [paired(noisy(rng, 0.75, 3), noisy(rng, fall, 3), seed=seed) for seed in range(80)]
    assert float(np.mean([one.drop for one in found])) == pytest.approx(least, abs=0.8)
    assert 0.6 <= sum(one.real() is True for one in found) / len(found) <= 0.95
