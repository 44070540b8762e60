"""What sessions measure: denominators, what is missing and why, early ends, and how wide intervals are."""

from __future__ import annotations

from typing import Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

from benchmarks.coverage_worlds import SKILLS, sessions  # noqa: E402
from skillgate.model.layers import COMPLETED, FAILED, NOT_MEASURED, NOT_RUN, Simulation  # noqa: E402
from skillgate.model.score import Dimension  # noqa: E402
from skillgate.montecarlo.measures import NAMES, Measured, measured  # noqa: E402
from skillgate.stats.intervals import clopper_pearson, wilson  # noqa: E402


def fit(index: int = 0, **changes: Any) -> Simulation:
    """Give a session that loaded the skill and did well."""
    given = Simulation(
        prompt=f"fit {index}",
        should_trigger=True,
        style="direct" if index % 2 else "indirect",
        outcome=COMPLETED,
        activated=True,
        quality=0.8,
        tokens=2_000,
        delivers=True,
        covers=True,
    )
    return given._replace(**changes)


def near(index: int = 0, **changes: Any) -> Simulation:
    """Give a near miss that did not load the skill."""
    return Simulation(f"near {index}", False, "direct", COMPLETED, activated=False)._replace(**changes)


UNLOADED: dict[str, Any] = {"activated": False, "quality": None, "tokens": None, "delivers": None}
FAILURE: dict[str, Any] = {"outcome": FAILED, "quality": None, "tokens": None, "delivers": None, "covers": None}


def fits(count: int, start: int = 0, **changes: Any) -> list[Simulation]:
    return [fit(index, **changes) for index in range(start, start + count)]


def nears(count: int, start: int = 0, **changes: Any) -> list[Simulation]:
    return [near(index, **changes) for index in range(start, start + count)]


def measure(runs: list[Simulation], **changes: Any) -> Measured:
    asked = {
        "simulations": sum(run.should_trigger for run in runs),
        "near_misses": sum(not run.should_trigger for run in runs),
        "seed": 3,
    }
    return measured(runs, **{**asked, **changes})


def test_every_figure_has_its_own_denominator() -> None:
    runs = [
        *fits(30),
        *fits(8, 30, **UNLOADED, covers=False),
        *fits(2, 38, **FAILURE),
        *nears(8),
        *nears(2, 8, activated=True, quality=0.2, tokens=4_000, delivers=False),
    ]
    found = measure(runs).measures
    assert tuple(found) != ()
    assert set(found) == set(NAMES)
    assert {name: item.n for name, item in found.items()} == {
        "activation_rate": 40,
        "activation_rate_wilson": 40,
        "false_activation_rate": 10,
        "precision": 34,
        "f1": 50,
        "quality": 32,
        "quality_cv": 32,
        "failure_rate": 50,
        "tokens": 32,
        "efficiency": 32,
        "orchestration": 32,
        "scope": 38,
    }
    assert found["activation_rate"].value == 0.8  # the two that failed had loaded it
    assert found["f1"].value == pytest.approx(2 * 0.8 / (1 + 0.8 + 0.2))
    assert found["precision"].value == pytest.approx(32 / 34, abs=1e-6)
    assert found["quality"].value == pytest.approx((30 * 0.8 + 2 * 0.2) / 32, abs=1e-6)
    assert found["failure_rate"].value == 0.04
    assert found["tokens"].value == 2_000
    assert found["scope"].value == pytest.approx(30 / 38, abs=1e-6)
    assert found["orchestration"].value == pytest.approx(30 / 32, abs=1e-6)
    assert all(item.reason is None for item in found.values())


def test_rates_have_exact_intervals_and_wilsons_beside() -> None:
    found = measure([*fits(40), *fits(10, 40, **UNLOADED), *nears(10)]).measures
    assert found["activation_rate"][1:3] == pytest.approx(clopper_pearson(40, 50), abs=1e-6)
    assert found["activation_rate_wilson"][1:3] == pytest.approx(wilson(40, 50), abs=1e-6)
    assert found["failure_rate"][:3] == pytest.approx((0.0, *clopper_pearson(0, 60)), abs=1e-6)
    assert found["false_activation_rate"].ci_high == pytest.approx(clopper_pearson(0, 10).high, abs=1e-6)


def test_the_score_is_the_methods_formula() -> None:
    runs = [*fits(24, quality=0.6), *fits(16, 24, quality=1.0), *fits(8, 40, **UNLOADED), *fits(2, 48, **FAILURE)]
    found = measure([*runs, *nears(10)])
    qualities = [0.6] * 24 + [1.0] * 16
    cv = float(np.std(qualities) / np.mean(qualities))
    expected = 0.4 * 42 / 50 + 0.3 * (1 - cv) + 0.2 * (1 - 2 / 60) + 0.1 * (1 - 2_000 / 8_000)
    assert found.mc_score == pytest.approx(expected, abs=1e-4)
    assert found.reason is None
    assert found.scores[Dimension.ROBUSTNESS].value == pytest.approx(1 - 2 / 60, abs=1e-6)
    assert found.scores[Dimension.OUTPUT_QUALITY] == found.measures["quality"]
    assert found.scores[Dimension.TRIGGERING_ACCURACY] == found.measures["f1"]


def test_sessions_that_were_not_measured_leave_every_denominator() -> None:
    kept = [*fits(41), *fits(1, 41, **FAILURE), *nears(8)]
    lost = [fit(50, outcome=NOT_MEASURED, activated=None, quality=None), near(9, outcome=NOT_MEASURED, activated=None)]
    assert measure([*kept, *lost]).measures == measure(kept).measures


@pytest.mark.parametrize(
    ("count", "reason"),
    [(13, "only 47 of 60 sessions were measured"), (11, "only 39 of 50 sessions with a fitting prompt were measured")],
)
def test_too_many_of_them_leave_nothing(count: int, reason: str) -> None:
    lost = [fit(50 + index, outcome=NOT_MEASURED, activated=None) for index in range(count)]
    found = measure([*fits(50 - count), *lost, *nears(10)])
    assert found.scores == {}
    assert found.mc_score is None
    assert found.reason == reason
    assert {(item.value, item.ci_low, item.reason) for item in found.measures.values()} == {(None, None, found.reason)}


def test_near_misses_that_were_lost_are_not_near_misses_that_were_not_asked_for() -> None:
    lost = nears(3, 7, outcome=NOT_MEASURED, activated=None)
    found = measure([*fits(50), *nears(7), *lost])
    triggering = found.scores[Dimension.TRIGGERING_ACCURACY]
    assert (triggering.value, triggering.reason) == (None, "only 7 of 10 near misses were measured")
    assert found.measures["activation_rate"].value == 1.0
    without = measure(fits(50))
    assert without.scores[Dimension.TRIGGERING_ACCURACY] == without.measures["activation_rate"]
    assert without.measures["f1"].reason == "no near misses were asked for"
    assert without.mc_score is not None


LOADED = (
    Dimension.ORCHESTRATION_FITNESS,
    Dimension.OUTPUT_QUALITY,
    Dimension.SCOPE_CALIBRATION,
    Dimension.TOKEN_EFFICIENCY,
    Dimension.ROBUSTNESS,
)


@pytest.mark.parametrize(("loaded", "factor"), [(0, 0.0), (2, 0.4), (4, 0.8), (5, 1.0), (50, 1.0)])
def test_what_few_sessions_loaded_counts_for_their_share_of_five(loaded: int, factor: float) -> None:
    found = measure([*fits(loaded), *fits(50 - loaded, loaded, **UNLOADED), *nears(10)])
    assert found.loads == (loaded, 50, 50, factor)
    assert found.loads.words == f"loaded in {loaded} of 50 sessions"
    assert found.loads.few is (loaded < 5)
    expected = dict(zip(LOADED, (1.0, 0.8, 1.0, 0.75, 1.0), strict=True))
    assert {name: found.scores[name].value for name in LOADED} == pytest.approx(
        {name: share * factor for name, share in expected.items()}
    )
    assert found.mc_score == pytest.approx(0.4 * loaded / 50 + factor * (0.3 + 0.2 + 0.1 * 0.75))
    assert found.measures["quality"].value == (0.8 if loaded else None)
    assert found.measures["quality"].reason == (None if loaded else "no session loaded the skill and completed")


def test_of_less_than_five_sessions_all_must_load_the_skill() -> None:
    assert measure([*fits(2), *fits(1, 2, **UNLOADED), *fits(2, 3, **FAILURE)]).loads == (2, 3, 5, 0.666667)
    full = measure([*fits(3), *fits(2, 3, **FAILURE)])
    assert full.loads == (3, 3, 5, 1.0)
    assert not full.loads.few


def test_few_loads_widen_every_interval_that_rests_on_them() -> None:
    few = measure([*fits(4), *fits(46, 4, **UNLOADED), *nears(10)]).scores
    for name in LOADED:
        low, high = few[name].ci_low, few[name].ci_high
        assert low is not None
        assert high is not None
        assert low < (few[name].value or 0.0) < high
        assert high - low > 0.3, name
    never = measure([*fits(50, **UNLOADED), *nears(10)]).scores[Dimension.OUTPUT_QUALITY]
    assert never[:2] == (0.0, 0.0)
    assert never.ci_high == pytest.approx(clopper_pearson(0, 50).high * 50 / 5, abs=1e-6)


@pytest.mark.parametrize("loaded", [1, 2, 3, 4])
def test_of_few_counts_of_tokens_the_interval_is_drawn(loaded: int) -> None:
    found = measure([*fits(loaded), *fits(50 - loaded, loaded, **UNLOADED), *nears(10)])
    tokens = found.measures["tokens"]
    assert tokens.value == 2_000
    assert tokens.ci_low is not None
    assert tokens.ci_high is not None
    assert tokens.ci_low < 2_000 < tokens.ci_high
    assert found.tokens is not None
    assert found.tokens.n == loaded


@pytest.mark.parametrize(("lost", "known"), [(8, True), (9, False)])
def test_grades_lost_in_over_a_fifth_leave_quality_unmeasured(lost: int, known: bool) -> None:
    runs = [*fits(40 - lost), *fits(lost, 40 - lost, quality=None, delivers=None, ungraded="refused"), *nears(5)]
    found = measure(runs).measures
    assert (found["quality"].value is not None) is known
    assert (found["quality_cv"].value is not None) is known
    assert (found["orchestration"].value is not None) is known
    assert found["quality"].n == 40 - lost
    assert found["tokens"].value == 2_000


def test_replies_without_usage_leave_tokens_unmeasured_and_no_score() -> None:
    found = measure([*fits(50, tokens=None), *nears(10)])
    assert found.measures["tokens"].reason == "only 0 of 50 answers came with a count of tokens"
    assert found.scores[Dimension.TOKEN_EFFICIENCY].value is None
    assert found.mc_score is None


def test_grades_of_zero_have_no_variation() -> None:
    found = measure([*fits(50, quality=0.0), *nears(10)])
    assert found.measures["quality"].value == 0.0
    assert found.measures["quality_cv"].value is None
    assert "every grade is 0" in (found.reason or "")


def test_silent_failures_are_no_perfect_score() -> None:
    found = measure([*fits(50, **FAILURE), *nears(10, **FAILURE)])
    assert found.measures["failure_rate"].value == 1.0
    assert found.scores[Dimension.ROBUSTNESS][:3] == pytest.approx(
        (0.0, 0.0, 1 - clopper_pearson(60, 60).low), abs=1e-6
    )
    assert found.mc_score == pytest.approx(0.4)
    assert found.loads == (0, 0, 50, 0.0)
    assert {found.scores[name].value for name in LOADED} == {0.0}


def test_more_tokens_than_the_limit_leave_no_efficiency() -> None:
    found = measure(fits(50, tokens=20_000)).measures["efficiency"]
    assert found[:3] == (0.0, 0.0, 0.0)


def test_tokens_come_with_quartiles_and_outliers() -> None:
    found = measure([fit(index, tokens=1_000 + 10 * index) for index in range(39)] + [fit(40, tokens=9_000)])
    assert found.tokens is not None
    assert found.tokens.n == 40
    assert found.tokens.outliers == 1
    assert found.tokens.q1 < found.tokens.median < found.tokens.q3
    assert measure(fits(50)).tokens == (2_000.0, 2_000.0, 2_000.0, 50, None)


def test_a_run_that_ended_early_gives_bounds_and_no_scores() -> None:
    left = [
        *(fit(index, outcome=NOT_RUN, activated=None) for index in range(20, 50)),
        *nears(10, outcome=NOT_RUN, activated=None),
    ]
    lost = fit(19, outcome=NOT_MEASURED, activated=None)
    found = measure([*fits(4), *fits(14, 4, **UNLOADED), fit(18, **FAILURE), lost, *left], stopped=True)
    rate = found.measures["activation_rate"]
    assert rate[:4] == pytest.approx((5 / 19, 5 / 49, 35 / 49, 19), abs=1e-6)
    assert "not an interval" in (rate.reason or "")
    assert found.measures["failure_rate"][:4] == pytest.approx((1 / 19, 1 / 59, 41 / 59, 19), abs=1e-6)
    assert found.measures["false_activation_rate"][:4] == (None, 0.0, 1.0, 0)
    assert found.measures["quality"].value is None
    assert (found.scores, found.mc_score, found.tokens, found.spread) == ({}, None, None, {})
    assert found.reason == "the run ended early"


def test_a_narrow_interval_is_stable_and_a_wide_one_names_where_it_comes_from() -> None:
    runs = [*fits(470), *(fit(470 + index, style="indirect", **UNLOADED) for index in range(30))]
    assert measure(runs).spread["activation_rate"].label == "stable"
    few = [fit(index, style="direct") for index in range(25)]
    few += [fit(25 + index, style="indirect") for index in range(20)]
    few += [fit(45 + index, style="indirect", **UNLOADED) for index in range(5)]
    spread = measure(few).spread["activation_rate"]
    assert spread.label == "wide"
    assert 0.05 <= spread.half_width < 0.2
    assert spread.style == "indirect"
    assert spread.prompts == ("fit 45", "fit 46", "fit 47")


def test_one_bad_answer_stands_out_by_its_prompt() -> None:
    runs = [fit(index, quality=0.8 + 0.1 * (-1) ** index) for index in range(15)] + [fit(15, quality=0.0)]
    spread = measure(runs).spread["quality"]
    assert (spread.label, spread.prompts) == ("wide", ("fit 15",))
    assert measure([fit(index, quality=0.3 + 0.6 * (index % 2)) for index in range(16)]).spread["quality"].prompts == ()


def test_the_same_seed_gives_the_same_numbers_and_the_order_of_sessions_does_not_matter_to_values() -> None:
    runs = list(sessions(SKILLS[0], 50, 10, np.random.default_rng(5)))
    assert measure(runs) == measure(runs)
    turned = measure(runs[::-1]).measures
    for name, item in measure(runs).measures.items():
        assert turned[name].value == pytest.approx(item.value, abs=2e-6)
        assert turned[name].n == item.n


@pytest.mark.parametrize("skill", SKILLS)
@pytest.mark.parametrize("asked", [(50, 10), (8, 2)])
def test_every_value_is_inside_of_its_interval(skill: Any, asked: tuple[int, int]) -> None:
    for seed in range(4):
        runs = list(sessions(skill, *asked, np.random.default_rng(seed)))
        for item in measure(runs, seed=seed).measures.values():
            if item.value is None:
                assert item.reason
            else:
                assert item.ci_low is not None
                assert item.ci_high is not None
                assert item.ci_low <= item.value <= item.ci_high
