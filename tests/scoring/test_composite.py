"""The composite, its coverage and penalty, grades and badges."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillgate
from skillgate.model.score import Badge, Dimension, Grade, LayerName
from skillgate.scoring.composite import award, blend, composite, composite_score, coverage, penalty
from tests.skills import BODY, DESCRIPTION, PROSE, ids, score, write_skill

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [dimension.value for dimension in Dimension]
WEIGHTS = dict(zip(NAMES, (0.25, 0.20, 0.15, 0.12, 0.10, 0.06, 0.05, 0.03, 0.02, 0.02), strict=True))
RATIOS = st.floats(0, 1)
SAMPLED = ("output_quality", "robustness", "scope_calibration")
QUICK = {dimension: 1.0 for dimension in Dimension if dimension.value not in SAMPLED}


GERMAN = """\
Lies zuerst den Kopf jeder Datei, denn er entscheidet, welche Spalten sich verbinden lassen.

Sortiere die Zeilen nach dem Datum und behalte die neueste, wenn zwei von ihnen denselben Schlüssel haben.

Schreibe auf, was weggefallen ist und warum, damit der Besitzer der Daten es prüfen kann.
"""


def reference(scores: dict[str, float], count: int = 0) -> float:
    """The method's formula, written anew: a plain weighted sum of what is there, and 5 % off for each flag."""
    total = sum(WEIGHTS[name] * value for name, value in scores.items())
    return round(total * 100 * max(0.5, 1.0 - 0.05 * count), 2)


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, RATIOS)), st.integers(0, 30))
def test_the_public_formula_is_the_methods_plain_sum(scores: dict[str, float], count: int) -> None:
    assert composite_score(scores, count) == reference(scores, count)


@given(st.dictionaries(st.sampled_from(NAMES), RATIOS), st.integers(0, 30))
def test_dimensions_left_out_of_the_public_formula_add_nothing(scores: dict[str, float], count: int) -> None:
    assert composite_score(scores, count) == reference(scores, count)


def test_the_example_of_the_method() -> None:
    scores = {"triggering_accuracy": 0.65, "orchestration_fitness": 0.85, "output_quality": 0.80}
    assert composite_score(scores, anti_pattern_count=1) == 42.99


def test_the_formula_is_public() -> None:
    assert skillgate.composite_score is composite_score


@pytest.mark.parametrize(
    ("scores", "count", "words"),
    [
        ({"trigger_accuracy": 0.5}, 0, "unknown dimension 'trigger_accuracy'"),
        ({"robustness": 1.5}, 0, "robustness must be between 0 and 1"),
        ({"robustness": -0.1}, 0, "robustness must be between 0 and 1"),
        ({"robustness": math.nan}, 0, "robustness must be between 0 and 1"),
        ({"robustness": None}, 0, "robustness is unmeasured"),
        ({"robustness": 0.5}, -1, "cannot be negative"),
    ],
)
def test_the_public_formula_refuses_what_is_no_score(scores: dict[str, float | None], count: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        composite_score(scores, count)


def test_what_is_unmeasured_can_be_left_out_of_the_public_formula() -> None:
    scores = {"triggering_accuracy": 0.8, "orchestration_fitness": 0.4, "robustness": None}
    assert composite_score(scores, 0, renormalise=True) == pytest.approx(
        100 * (0.25 * 0.8 + 0.2 * 0.4) / 0.45, abs=0.005
    )
    with pytest.raises(ValueError, match="no dimension was measured"):
        composite_score({"robustness": None}, renormalise=True)


@given(st.fixed_dictionaries(dict.fromkeys(NAMES, RATIOS)), st.integers(0, 12))
def test_with_every_dimension_renormalising_changes_nothing(scores: dict[str, float], count: int) -> None:
    assert composite_score(scores, count, renormalise=True) == pytest.approx(composite_score(scores, count), abs=0.01)


@given(st.dictionaries(st.sampled_from(list(Dimension)), st.none() | RATIOS), st.integers(0, 12))
def test_the_composite_is_the_mean_of_what_was_measured(scores: dict[Dimension, float | None], count: int) -> None:
    measured = {key.value: value for key, value in scores.items() if value is not None}
    weight = math.fsum(WEIGHTS[name] for name in measured)
    expected = reference(measured, count) / weight if weight else None
    found = composite(scores, count)
    assert found is None if expected is None else found == pytest.approx(expected, abs=0.01 / weight + 0.01)


def test_quick_depth_covers_068_and_without_code_066() -> None:
    assert coverage(QUICK) == pytest.approx(0.68)
    assert coverage({**QUICK, Dimension.CODE_TEMPLATE_QUALITY: None}) == pytest.approx(0.66)
    assert coverage({}) == 0.0


def test_the_coverage_of_a_real_skill(tmp_path: Path) -> None:
    without = score(write_skill(tmp_path, "without", body=BODY))
    with_code = score(write_skill(tmp_path, "with-code", body=BODY + "\n```python\nx = 1\n```\n"))
    assert without.coverage == pytest.approx(0.66)
    assert with_code.coverage == pytest.approx(0.68)


@pytest.mark.parametrize(
    ("description", "body", "covered"),
    [
        ("处理表格文件，当用户需要生成图表时使用。", PROSE, 0.41),
        (DESCRIPTION, GERMAN, 0.35),
        ("Führt Tabellen zusammen. Nur verwenden, wenn der Nutzer mehrere Dateien hat.", GERMAN, 0.10),
    ],
    ids=["description", "body", "both"],
)
def test_what_rests_on_english_is_not_measured_in_another_language(
    description: str, body: str, covered: float, tmp_path: Path
) -> None:
    result = score(write_skill(tmp_path, "sheets", description=description, body=body))
    assert result.coverage == pytest.approx(covered)
    assert result.composite.score is None
    assert result.composite.badge is None
    assert "language that is not recognised" in (result.composite.reason or "")
    assert result.quality_estimate.value is None
    assert "language that is not recognised" in (result.quality_estimate.reason or "")
    assert "FILLER_TEXT" not in ids(result)


@pytest.mark.parametrize(("count", "factor"), [(0, 1), (1, 0.95), (9, 0.55), (10, 0.5), (11, 0.5), (1000, 0.5)])
def test_each_flag_costs_five_per_cent_down_to_one_half(count: int, factor: float) -> None:
    assert penalty(count) == pytest.approx(factor)


def test_layers_are_blended_by_their_shares() -> None:
    scores = {LayerName.STATIC: 1.0, LayerName.JUDGE: 0.5, LayerName.MONTECARLO: 0.0}
    assert blend(Dimension.TRIGGERING_ACCURACY, scores) == pytest.approx(0.15 + 0.125)
    assert blend(Dimension.PROGRESSIVE_DISCLOSURE, scores) == pytest.approx(0.8 + 0.1)


def test_a_layer_that_measured_nothing_leaves_its_share_to_the_others() -> None:
    scores = {LayerName.STATIC: 1.0, LayerName.JUDGE: 0.5, LayerName.MONTECARLO: None}
    assert blend(Dimension.TRIGGERING_ACCURACY, scores) == pytest.approx((15 * 1.0 + 25 * 0.5) / 40)
    assert blend(Dimension.TRIGGERING_ACCURACY, {LayerName.STATIC: 0.3}) == pytest.approx(0.3)
    assert blend(Dimension.TRIGGERING_ACCURACY, {LayerName.STATIC: None}) is None


def test_a_layer_without_a_share_is_not_heard() -> None:
    assert blend(Dimension.OUTPUT_QUALITY, {LayerName.STATIC: 1.0}) is None
    assert blend(Dimension.ROBUSTNESS, {LayerName.STATIC: 1.0, LayerName.JUDGE: 0.5}) == pytest.approx(0.5)
    assert blend(Dimension.CODE_TEMPLATE_QUALITY, {LayerName.MONTECARLO: 1.0}) is None


@pytest.mark.parametrize(
    ("value", "letter"),
    [
        (1.0, "A"),
        (0.90, "A"),
        (0.8999, "B"),
        (0.895, "B"),
        (0.80, "B"),
        (0.7999, "C"),
        (0.70, "C"),
        (0.6999, "D"),
        (0.60, "D"),
        (0.5999, "F"),
        (0.0, "F"),
    ],
)
def test_grades_are_half_open(value: float, letter: str) -> None:
    assert Grade.of(value).value == letter


@pytest.mark.parametrize(
    ("points", "elo", "name"),
    [
        (100, None, "Platinum"),
        (90, None, "Platinum"),
        (89.99, None, "Gold"),
        (80, None, "Gold"),
        (79.99, None, "Silver"),
        (70, None, "Silver"),
        (69.99, None, "Bronze"),
        (60, None, "Bronze"),
        (59.99, None, None),
        (0, None, None),
        (None, None, None),
        (None, 2000, None),
        (95, 1600, "Platinum"),
        (95, 1599.9, "Gold"),
        (95, 1500, "Gold"),
        (95, 1499, "Silver"),
        (95, 1400, "Silver"),
        (95, 1300, "Bronze"),
        (95, 1299, None),
        (75, 2000, "Silver"),
        (59, 2000, None),
    ],
)
def test_a_badge_needs_its_points_and_where_there_is_one_its_rating(
    points: float | None, elo: float | None, name: str | None
) -> None:
    badge = Badge.from_scores(points, elo)
    assert (badge.value if badge else None) == name


@given(st.floats(0, 100), st.floats(0, 100), st.none() | st.floats(1000, 2000))
def test_more_points_never_cost_a_badge(one: float, other: float, elo: float | None) -> None:
    rank = [*Badge, None]
    less, more = sorted((one, other))
    assert rank.index(Badge.from_scores(more, elo)) <= rank.index(Badge.from_scores(less, elo))


def test_badges_have_stars_and_a_meaning() -> None:
    assert [badge.stars for badge in Badge] == ["★★★★★", "★★★★", "★★★", "★★"]
    assert all(badge.meaning for badge in Badge)
    assert all(grade.meaning for grade in Grade)


@pytest.mark.parametrize(
    ("points", "elo", "withheld", "badge", "words"),
    [
        (95.0, None, None, Badge.PLATINUM, None),
        (72.5, None, None, Badge.SILVER, "Gold needs 7.50 more points"),
        (12.0, None, None, None, "Bronze needs 48.00 more points"),
        (95.0, 1550.0, None, Badge.GOLD, "Platinum needs an Elo of 1600, and has 1550"),
        (95.0, 1000.0, None, None, "Bronze needs an Elo of 1300, and has 1000"),
        (95.0, None, "there is no body", None, "no badge: there is no body"),
        (None, None, "the file is empty", None, "no badge: the file is empty"),
    ],
)
def test_the_report_says_what_held_the_next_badge_back(
    points: float | None, elo: float | None, withheld: str | None, badge: Badge | None, words: str | None
) -> None:
    assert award(points, elo, withheld=withheld) == (badge, words)
