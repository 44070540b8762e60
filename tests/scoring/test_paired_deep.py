"""The paired test at depth deep: sessions exchanged prompt by prompt, beside the judges' answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

from benchmarks.coverage_worlds import SKILLS, sessions  # noqa: E402
from skillgate.model.layers import NOT_MEASURED, MonteCarloLayer, RankingLayer, Simulation  # noqa: E402
from skillgate.model.report import Composite  # noqa: E402
from skillgate.model.score import Dimension, LayerName  # noqa: E402
from skillgate.montecarlo.measures import measured  # noqa: E402
from skillgate.scoring.composite import blend, composite  # noqa: E402
from skillgate.scoring.gate import sampled_drops  # noqa: E402
from skillgate.scoring.paired import paired  # noqa: E402
from tests.scoring.judged import RATED, STATIC, a_layer, a_result, prompts  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.report import SkillResult

JUDGE = a_layer({name: [8, 8] for name in RATED}, prompts([(True, True)] * 5, [(False, False)] * 5))
GOOD = SKILLS[0]
BAD = GOOD._replace(loads=0.5, misfires=0.6, fails=0.3, grades="0.9 or 0.2", delivers=0.4, covers=0.4)


def a_deep(asked: Sequence[Simulation], anti_patterns: int = 0, **changes: Any) -> SkillResult:
    """Give a result of two judges who rate everything 8, and of sessions, its composite computed as the blend does."""
    fits = sum(run.should_trigger for run in asked)
    found = measured(asked, simulations=fits, near_misses=len(asked) - fits, seed=0)
    layer = MonteCarloLayer(
        0,
        fits,
        0,
        0,
        0,
        None,
        scores=found.scores,
        runs=tuple(asked),
        near_misses=len(asked) - fits,
        prompts_digest="p",
    )._replace(**changes)
    judged = a_result(JUDGE, anti_patterns=anti_patterns)
    dimensions = {
        name: blend(
            name,
            {
                LayerName.STATIC: STATIC[name],
                LayerName.JUDGE: JUDGE.assessments[name].score,
                LayerName.MONTECARLO: found.scores[name].value if name in found.scores else None,
            },
        )
        for name in Dimension
    }
    return judged._replace(
        composite=Composite(score=composite(dimensions, anti_patterns), badge=None), layers=(*judged.layers, layer)
    )


def drawn(skill: Any, seed: int) -> tuple[Simulation, ...]:
    return sessions(skill, 50, 10, np.random.default_rng(seed))


def test_the_same_sessions_prove_nothing() -> None:
    found = paired(a_deep(drawn(GOOD, 1)), a_deep(drawn(GOOD, 1)))
    assert (found.reason, found.drop, found.certain, found.p) == (None, 0.0, 0.0, 1.0)
    assert found.units == 2 * 9 + 10 + 60
    assert found.real() is False


def test_sessions_that_are_worse_throughout_are_a_real_drop() -> None:
    found = paired(a_deep(drawn(GOOD, 1)), a_deep(drawn(BAD, 2)))
    assert found.reason is None
    assert (found.drop or 0) > 5
    assert found.certain == 0.0
    assert (found.p or 1) < 0.01
    assert found.real() is True


def test_what_layer_1_takes_is_certain_at_this_depth_too() -> None:
    found = paired(a_deep(drawn(GOOD, 1)), a_deep(drawn(GOOD, 1), anti_patterns=2))
    assert found.drop == found.certain
    assert found.real() is True


def test_the_p_is_that_of_every_exchange_counted_by_hand() -> None:
    """Three sessions differ: eight exchanges, each scored by the measures and the blend of a report."""
    before = list(drawn(GOOD, 1))
    after = list(before)
    for index in (3, 7, 55):
        after[index] = after[index]._replace(activated=not after[index].activated, quality=0.1, tokens=7_000)
    drops = []
    for choice in range(8):
        picks = [bool(choice >> bit & 1) for bit in range(3)]
        sides = []
        for flip in (False, True):
            runs = list(before)
            for place, pick in zip((3, 7, 55), picks, strict=True):
                runs[place] = (after if pick != flip else before)[place]
            sides.append(a_deep(runs).composite.score or 0.0)
        drops.append(sides[0] - sides[1])
    found = paired(a_deep(before), a_deep(after))
    assert found.drop == pytest.approx(drops[0], abs=0.011)
    assert found.p == sum(drop >= drops[0] - 0.011 for drop in drops) / 8


def test_a_session_that_was_not_measured_on_a_side_is_left_out_on_both() -> None:
    before, after = list(drawn(GOOD, 1)), list(drawn(GOOD, 2))
    lost = before[4]._replace(outcome=NOT_MEASURED, activated=None)
    found = paired(a_deep([*before[:4], lost, *before[5:]]), a_deep(after))
    assert found.units == 2 * 9 + 10 + 59
    assert found.p == pytest.approx(
        paired(a_deep(before[:4] + before[5:]), a_deep(after[:4] + after[5:])).p or 0, abs=1e-9
    )


def test_matches_do_not_enter() -> None:
    before, after = a_deep(drawn(GOOD, 1)), a_deep(drawn(BAD, 2))
    ranked = after._replace(layers=(*after.layers, RankingLayer(0, 0, None, None, None)))
    assert paired(before, ranked) == paired(before, after)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"prompts_digest": "other"}, "the prompts of the sessions differ"),
        ({"prompts_digest": None}, "after, the report does not hold the simulated sessions"),
        ({"runs": ()}, "after, the report does not hold the simulated sessions"),
        ({"model": "m-2"}, "models under test differ"),
        ({"grader": "m-2"}, "graders differ"),
        ({"provider": "other"}, "providers of sessions differ"),
        ({"live": False}, "live and made-up sessions differ"),
        ({"runner": "agent-sdk"}, "runners differ"),
        ({"prompt_version": "2"}, "prompt versions of sessions differ"),
        ({"rubric_version": "2"}, "rubric versions of sessions differ"),
        ({"siblings_source": "corpus"}, "the skills listed in sessions differ"),
        ({"answered_by": ("m-9",)}, "the models that answered sessions differ"),
        ({"max_turns": 4}, "turns allowed differ"),
        ({"near_misses": 0}, "near misses asked for differ"),
        ({"stopped_early": "decided"}, "after, the sessions ended early: decided"),
        ({"scores": {}}, "on one side only"),
    ],
)
def test_what_is_not_the_same_measurement_is_refused(changes: dict[str, Any], reason: str) -> None:
    found = paired(a_deep(drawn(GOOD, 1)), a_deep(drawn(GOOD, 1), **changes))
    assert reason in (found.reason or "")
    assert (found.certain, found.p) == (None, None)


def test_sessions_on_one_side_only_are_refused() -> None:
    assert "one side only" in (paired(a_deep(drawn(GOOD, 1)), a_result(JUDGE)).reason or "")


def test_two_runs_of_one_skill_rarely_differ_for_real() -> None:
    found = [paired(a_deep(drawn(GOOD, 2 * seed)), a_deep(drawn(GOOD, 2 * seed + 1)), seed=seed) for seed in range(12)]
    assert sum((one.p or 1) <= 0.05 for one in found) <= 3
    assert sum(one.real() is True for one in found) <= 3


def test_sessions_that_differ_count_among_the_skills_that_are_corrected_for() -> None:
    before, worse = a_deep(drawn(GOOD, 1)), a_deep(drawn(BAD, 2))
    alone = sampled_drops([(before, worse)])[0]
    beside = sampled_drops([(before, worse), (before, a_deep(drawn(GOOD, 3))), (before, before)])[0]
    assert alone is not None
    assert beside is not None
    assert beside.p == pytest.approx(2 * (alone.p or 0))
