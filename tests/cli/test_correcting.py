"""What is corrected where shards are joined is what one run over all skills would have decided, or it is refused."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from skillgate.errors import UsageError
from skillgate.evaluation.compare import corrected
from skillgate.model.layers import DropTest
from skillgate.model.report import Composite
from skillgate.model.score import Badge, Outcome
from skillgate.report.joining import Joined
from skillgate.scoring.gate import REAL, Policy, judge
from tests.report.judged import a_judged_skill
from tests.report.reports import a_report

pytest.importorskip("numpy")  # of the correction

if TYPE_CHECKING:
    from skillgate.model.report import Report, SkillResult

FAILS = Policy(fail_on=frozenset({"regression"}))
ALONE = 0.03  # two tests like this are sure each by itself, and not beside one another


def scored(score: float, badge: Badge | None = None, *, badge_reason: str | None = None) -> SkillResult:
    """Give a judged skill with a score; its badge is what the score earns unless one is given."""
    given = badge or (None if badge_reason else Badge.from_scores(score))
    return a_judged_skill(composite=Composite(score, given, badge_reason=badge_reason))


def pair(before: SkillResult, after: SkillResult, policy: Policy, certain: float, p: float | None) -> SkillResult:
    """Give what a shard says of a skill whose drop has this p."""
    assert before.composite.score is not None
    assert after.composite.score is not None
    lost = round(before.composite.score - after.composite.score, 2)
    drop = DropTest(lost, certain, p, 20, 5.0, 0.01, p_alone=p)
    gate = judge(after, policy, before, compared=True, drop=drop)
    return after._replace(drop=drop, gate=gate)


def of(*results: SkillResult) -> Joined:
    """Give a joined report of skills at different paths."""
    placed = [
        one._replace(skill=one.skill._replace(path=f"skills/{index}"))  # in their order
        for index, one in enumerate(results)
    ]
    return Joined(a_report(*placed), frozenset())


def joined(*results: SkillResult, policy: Policy = FAILS, insisted: bool = False) -> Report:
    """Correct them."""
    return corrected(of(*results), lambda _: policy, insisted=insisted)


CASES = [
    pytest.param(before, after, policy, certain, id=f"{number}")
    for number, ((before, after), policy, certain) in enumerate(
        product(
            [
                (scored(75), scored(66)),  # loses Silver
                (scored(71), scored(69.5)),  # loses it, by less than is allowed
                (scored(79), scored(72)),  # keeps it
                (scored(75), scored(74.5)),
                (scored(66), scored(75)),
                (scored(82, Badge.BRONZE), scored(55)),  # the Elo kept it from Gold
                (scored(75), scored(75, badge_reason="no badge: 9 words")),
                (scored(92), scored(50)),
            ],
            [
                FAILS,
                FAILS._replace(on_inconclusive="fail"),
                FAILS._replace(max_drop=8),
                Policy(fail_on=frozenset({"threshold"}), threshold=70),
                Policy(fail_on=frozenset({"regression"}), threshold=70),
                Policy(fail_on=frozenset({"regression", "unmeasured"}), min_badge=Badge.GOLD, on_inconclusive="warn"),
                Policy(),
            ],
            [-1.0, 3.0, 9.0],
        )
    )
]


@pytest.mark.parametrize("p", [ALONE, 0.2])
@pytest.mark.parametrize(("before", "after", "policy", "certain"), CASES)
def test_with_the_gates_of_the_shards_every_verdict_is_that_of_the_whole(
    before: SkillResult, after: SkillResult, policy: Policy, certain: float, p: float
) -> None:
    one = pair(before, after, policy, certain, p)
    for insisted in (True, False):
        found = joined(one, one, policy=policy, insisted=insisted).results[0]
        assert one.drop is not None
        drop = one.drop._replace(p=2 * p)
        assert found.drop == drop
        assert found.gate == judge(after, policy, before, compared=True, drop=drop)


@pytest.mark.parametrize("p", [ALONE, 0.2])
@pytest.mark.parametrize(("before", "after", "policy", "certain"), CASES)
def test_without_the_gates_of_the_shards_a_verdict_is_that_of_the_whole_unless_a_failure_is_undone(
    before: SkillResult, after: SkillResult, policy: Policy, certain: float, p: float
) -> None:
    one = pair(before, after, policy, certain, p)
    assert one.drop is not None
    true = judge(after, policy, before, compared=True, drop=one.drop._replace(p=2 * p))
    other = Policy(fail_on=frozenset({"dimension"}), min_dimension={"robustness": 0.9}, max_drop=77)
    (said,) = [outcome for outcome in one.gate.outcomes if outcome.gate == "regression"]
    failed = said.verdict is Outcome.FAIL
    undone = failed and said not in true.outcomes
    # Of a badge that the rest kept, the outcome does not say how far the rest may fall.
    untold = failed and said.reason.startswith("it lost its badge") and certain > policy.max_drop and p <= REAL < 2 * p
    if undone or (untold and _kept_by_the_rest(before, after, certain)):
        with pytest.raises(UsageError, match="Pass the gate options of the shards"):
            joined(one, one, policy=other)
    else:
        assert joined(one, one, policy=other).results[0].gate == true


def _kept_by_the_rest(before: SkillResult, after: SkillResult, certain: float) -> bool:
    was, now = before.composite, after.composite
    assert was.score is not None
    assert was.badge is not None
    return was.score - certain >= was.badge.composite and not (now.badge_reason or "").startswith("no badge: ")


def test_a_baseline_that_only_the_shards_were_given_asks_for_the_regression() -> None:
    before, after = scored(75), scored(66)
    one = pair(before, after, FAILS, 0.0, ALONE)
    assert one.gate.passed is False
    found = joined(one, one, policy=Policy())
    assert found.results[0].gate.passed is True
    assert found.gate.passed is True  # as the run's verdict is made anew


def test_a_fall_of_what_is_not_sampled_fails_whatever_is_known_of_the_gates() -> None:
    one = pair(scored(79), scored(72), FAILS, 3.0, ALONE)
    other = Policy(threshold=99.0)
    assert joined(one, one, policy=other).results[0].gate == one.gate


def test_gates_that_were_said_for_this_command_are_not_ignored() -> None:
    one = pair(scored(75), scored(75), FAILS, 0.0, None)
    for other in (FAILS._replace(threshold=60.0), FAILS._replace(max_drop=3.0), Policy(fail_on=frozenset({"error"}))):
        with pytest.raises(UsageError, match="the gates of skills/0 differ from those"):
            joined(one, policy=other, insisted=True)
        assert joined(one, policy=other).results[0].gate == one.gate


def test_gates_of_a_skill_that_could_not_be_compared_are_not_ignored_either() -> None:
    before = a_judged_skill(composite=Composite(None, None, reason="it was empty"))
    one = scored(75)
    one = one._replace(drop=DropTest(None, reason="before, there is no score"))
    one = one._replace(gate=judge(one, FAILS, before, compared=True, drop=one.drop))
    assert joined(one, insisted=True).results[0].gate == one.gate
    with pytest.raises(UsageError, match="the gates of skills/0 differ from those"):
        joined(one, policy=FAILS._replace(threshold=60.0), insisted=True)


def test_a_report_without_p_before_the_correction_cannot_be_corrected() -> None:
    one = pair(scored(75), scored(66), FAILS, 0.0, ALONE)
    assert one.drop is not None
    with pytest.raises(UsageError, match="p_alone is missing"):
        joined(one._replace(drop=one.drop._replace(p_alone=None)))


def test_a_single_test_is_as_sure_as_it_was() -> None:
    one = pair(scored(75), scored(66), FAILS, 0.0, ALONE)
    still = pair(scored(75), scored(75), FAILS, 0.0, None)
    assert [found.gate for found in joined(one, still).results] == [one.gate, still.gate]
