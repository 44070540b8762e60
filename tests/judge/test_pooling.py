"""Agreement over a run: what is pooled, what it must be, and what is too little to say."""

from __future__ import annotations

from itertools import combinations

import pytest

pytest.importorskip("numpy")

from skillgate.judge.calibration import LEAST_ITEMS, agreement
from skillgate.judge.subject import Ratings
from skillgate.model.score import Dimension
from tests.stats.oracles import pingouin_icc, sklearn_kappa, table

JUDGED = tuple(dimension for dimension in Dimension if dimension is not Dimension.TRIGGERING_ACCURACY)


def a_run(skills: int, judges: int, *, seed: int = 1, spread: float = 1.5) -> list[Ratings]:
    """Make what judges gave a number of skills: nine ratings and ten predictions each."""
    rated = table(skills * len(JUDGED), judges, seed=seed, spread=spread)
    predicted = table(skills * 10, judges, seed=seed + 100, spread=spread)
    return [
        Ratings(
            tuple(zip(JUDGED, rated[index * 9 : index * 9 + 9], strict=True)),
            tuple(tuple(int(value >= 5) for value in row) for row in predicted[index * 10 : index * 10 + 10]),
        )
        for index in range(skills)
    ]


def ratings_of(run: list[Ratings]) -> list[tuple[int, ...]]:
    return [tuple(value for value in row if value is not None) for skill in run for _, row in skill.rated]


@pytest.mark.parametrize(("skills", "judges"), [(5, 2), (5, 3), (12, 3), (30, 5)])
def test_a_run_agrees_as_scikit_learn_and_pingouin_say(skills: int, judges: int) -> None:
    run = a_run(skills, judges)
    found = agreement(run, judges)
    rows = ratings_of(run)
    columns = list(zip(*rows, strict=True))
    pairs = list(combinations(columns, 2))
    kappas = [sklearn_kappa(one, two, "quadratic") for one, two in pairs]
    apart = [abs(x - y) for one, two in pairs for x, y in zip(one, two, strict=True)]
    predicted = list(zip(*[row for skill in run for row in skill.predicted], strict=True))
    triggers = [
        sklearn_kappa([x or 0 for x in one], [y or 0 for y in two], None) for one, two in combinations(predicted, 2)
    ]
    assert found.items == len(rows) == 9 * skills
    assert found.predictions == 10 * skills
    assert found.kappa == pytest.approx(sum(kappas) / len(kappas), abs=1e-4)
    assert found.kappa_trigger == pytest.approx(sum(triggers) / len(triggers), abs=1e-4)
    assert found.icc == pytest.approx(pingouin_icc(rows), abs=1e-4)
    assert found.agreement == pytest.approx(apart.count(0) / len(apart), abs=1e-4)
    assert found.within_one == pytest.approx(sum(gap <= 1 for gap in apart) / len(apart), abs=1e-4)
    assert None not in (found.kappa, found.kappa_ci_low, found.kappa_ci_high)
    assert (found.kappa_ci_low or 0) < (found.kappa or 0) < (found.kappa_ci_high or 0)
    assert (found.kappa_reason, found.kappa_trigger_reason, found.icc_reason) == (None, None, None)


def test_one_judge_has_nobody_to_agree_with() -> None:
    found = agreement(a_run(12, 1), 1)
    assert (found.kappa, found.kappa_trigger, found.icc, found.agreement) == (None, None, None, None)
    assert found.kappa_reason == found.kappa_trigger_reason == found.icc_reason
    assert "two judges" in (found.kappa_reason or "")


def test_few_ratings_give_shares_and_no_kappa() -> None:
    found = agreement(a_run(2, 3), 3)
    assert (found.kappa, found.kappa_reason) == (None, "18 of 40 ratings")
    assert (found.kappa_trigger, found.kappa_trigger_reason) == (None, "20 of 40 predictions")
    assert (found.icc, found.icc_reason) == (None, "18 of 40 ratings")
    assert found.agreement is not None
    assert found.within_one is not None
    assert found.within_one >= found.agreement


def test_the_fortieth_rating_gives_a_kappa() -> None:
    rows = table(LEAST_ITEMS, 2, seed=3)

    def run(count: int) -> list[Ratings]:
        return [Ratings(rated=tuple((Dimension.OUTPUT_QUALITY, row) for row in rows[:count]))]

    assert agreement(run(39), 2).kappa is None
    assert agreement(run(40), 2).kappa is not None


def test_what_a_judge_did_not_answer_is_in_no_figure() -> None:
    run = a_run(6, 3)
    holed = [
        *run[:-1],
        Ratings(
            tuple((name, (None, *row[1:])) for name, row in run[-1].rated),
            tuple((*row[:2], None) for row in run[-1].predicted),
        ),
    ]
    assert agreement(holed, 3) == agreement(run[:-1], 3)


def test_ratings_that_are_all_equal_agree_without_a_kappa() -> None:
    run = [Ratings(tuple((name, (7, 7, 7)) for name in JUDGED), tuple((1, 1, 1) for _ in range(10))) for _ in range(6)]
    found = agreement(run, 3)
    assert (found.agreement, found.within_one) == (1.0, 1.0)
    assert (found.kappa, found.kappa_trigger, found.icc) == (None, None, None)
    assert "same" in (found.kappa_reason or "")
    assert "same" in (found.kappa_trigger_reason or "")
    assert found.icc_reason


def test_nothing_judged_is_nothing_measured() -> None:
    found = agreement([], 3)
    assert (found.items, found.predictions) == (0, 0)
    assert (found.kappa, found.icc, found.agreement, found.within_one) == (None, None, None, None)
    assert found.kappa_reason == "0 of 40 ratings"


def test_skills_whose_ratings_are_alike_are_drawn_whole() -> None:
    """Each skill nine times the same ratings: as many facts as skills, and the interval says so."""
    rows = table(12, 2, seed=8)
    alike = [Ratings(rated=tuple((name, row) for name in JUDGED)) for row in rows]
    apart = [Ratings(rated=item.rated * 12) for item in alike[:1]] + [Ratings()] * 11
    mixed = [Ratings(rated=tuple(zip(JUDGED * 12, rows * 9, strict=True)))]
    clustered, single = agreement(alike, 2), agreement(mixed, 2)
    assert clustered.kappa == single.kappa
    assert None not in (clustered.kappa_ci_low, single.kappa_ci_low)
    wide = (clustered.kappa_ci_high or 0) - (clustered.kappa_ci_low or 0)
    narrow = (single.kappa_ci_high or 0) - (single.kappa_ci_low or 0)
    assert wide > 1.8 * narrow
    assert agreement(apart, 2).items == 108


def test_the_same_run_gives_the_same_interval() -> None:
    assert agreement(a_run(12, 3), 3) == agreement(a_run(12, 3), 3)
