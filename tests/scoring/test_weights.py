"""The tables of the method: what they sum to, and that every cell of the blend has a source."""

from __future__ import annotations

import pytest

from skillgate.model.score import Dimension, LayerName
from skillgate.scoring.composite import BLEND, EFFORT, PRIORITIES, SIZE_BANDS, WEIGHTS
from skillgate.settings import SETTINGS
from skillgate.static import layer


def test_the_weights_are_those_of_the_method_and_sum_to_100() -> None:
    assert [WEIGHTS[dimension] for dimension in Dimension] == [25, 20, 15, 12, 10, 6, 5, 3, 2, 2]
    assert sum(WEIGHTS.values()) == 100
    assert all(isinstance(weight, int) for weight in WEIGHTS.values())


def test_dimensions_stand_by_falling_weight() -> None:
    weights = [WEIGHTS[dimension] for dimension in Dimension]
    assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize(
    ("dimension", "shares"),
    [
        ("triggering_accuracy", (15, 25, 60)),
        ("orchestration_fitness", (10, 70, 20)),
        ("output_quality", (0, 40, 60)),
        ("scope_calibration", (30, 55, 15)),
        ("progressive_disclosure", (80, 20, 0)),
        ("token_efficiency", (40, 10, 50)),
        ("robustness", (0, 20, 80)),
        ("structural_completeness", (90, 10, 0)),
        ("code_template_quality", (30, 70, 0)),
        ("ecosystem_coherence", (85, 15, 0)),
    ],
)
def test_the_blend_is_that_of_the_method_and_each_row_sums_to_100(dimension: str, shares: tuple[int, ...]) -> None:
    row = BLEND[Dimension(dimension)]
    assert tuple(row[name] for name in LayerName) == shares
    assert sum(row.values()) == 100


def test_every_dimension_has_a_row() -> None:
    assert set(BLEND) == set(WEIGHTS) == set(Dimension)


WITHOUT_SOURCE = {Dimension.SCOPE_CALIBRATION}  # its cell is 30, and the method's text knows no static measure for it


def test_each_static_cell_but_that_of_scope_has_one_sub_check_and_no_sub_check_feeds_an_empty_one() -> None:
    fed = [check.dimension for _, check in layer.subchecks()]
    assert len(fed) == len(set(fed))
    cells = {dimension for dimension in Dimension if BLEND[dimension][LayerName.STATIC] > 0}
    assert set(fed) == cells - WITHOUT_SOURCE


def test_quick_depth_covers_068_of_the_weight() -> None:
    assert sum(WEIGHTS[check.dimension] for _, check in layer.subchecks()) == 68


def test_the_displayed_layer_score_weighs_six_sub_checks() -> None:
    assert {name: check.weight for name, check in layer.subchecks() if check.weight} == {
        "frontmatter_quality": 0.35,
        "orchestration_wiring": 0.25,
        "progressive_disclosure": 0.15,
        "structural_completeness": 0.10,
        "token_efficiency": 0.10,
        "ecosystem_coherence": 0.05,
    }


def test_the_settings_name_the_dimensions() -> None:
    (setting,) = (item for item in SETTINGS if item.key == "min-dimension")
    assert setting.choices == tuple(dimension.value for dimension in Dimension)


def test_size_bands_rise() -> None:
    assert all(50 < low < high for low, high in SIZE_BANDS.values())


def test_every_dimension_says_when_to_fix_it_first() -> None:
    assert list(PRIORITIES) == list(Dimension)
    assert all(priority.effort in EFFORT and priority.fix_first_if for priority in PRIORITIES.values())


def test_more_effort_takes_longer() -> None:
    assert EFFORT["very low"] < EFFORT["low"] < EFFORT["medium"]
