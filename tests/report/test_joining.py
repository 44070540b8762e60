"""Joining shards where only some of the skills were asked about, and what is said of all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.errors import UsageError
from skillgate.model.layers import Agreement, Resumed, Usage
from skillgate.model.report import Composite, GateOutcome, Report, Verdict
from skillgate.model.score import Outcome
from skillgate.report.joining import Part, join
from skillgate.scoring.composite import summarise
from tests.report.judged import a_judged_skill, a_layer
from tests.report.reports import a_finding, a_report, a_skill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.layers import JudgeLayer, Trust
    from skillgate.model.report import SkillResult

POOLED = Agreement(judges=3, items=99, kappa=0.5)


def agree(layers: Sequence[JudgeLayer], judges: int) -> Agreement:
    """Give an agreement that says of how many layers it is."""
    return POOLED._replace(judges=judges, predictions=len(layers))


def calibrate(known: Trust, _: Sequence[JudgeLayer]) -> Trust:
    """Give what is known."""
    return known


def part(shard: str, *results: SkillResult, found: int = 9, **changes: object) -> Part:
    """Give a shard's report, of a run in which not all skills were asked about."""
    report: Report = a_report(*results)._replace(shard=shard, summary=summarise(results, found=found))
    return Part(f"{shard[0]}.json", report._replace(**changes))  # type: ignore[arg-type]


def joined(*parts: Part) -> Report:
    """Join them."""
    return join(parts, agree=agree, calibrate=calibrate).report


def beside(*findings: object) -> SkillResult:
    """Give a skill that was not asked about, with what it shares with one that was."""
    reason = "not judged: it is not asked about"
    gate = Verdict(False, (GateOutcome("error", Outcome.FAIL, "1 error"),))
    skill = a_skill(path="skills/shared", composite=Composite(None, None, reason=reason), gate=gate)
    return skill._replace(findings=tuple(findings))  # type: ignore[arg-type]


def test_results_stand_in_the_order_in_which_skills_are_found() -> None:
    whole = joined(
        part("2/2", a_judged_skill(path="b/a"), a_judged_skill(path="a-b")),
        part("1/2", a_judged_skill(path="b-a"), a_judged_skill(path="a/z")),
    )
    assert [one.skill.path for one in whole.results] == ["a/z", "a-b", "b/a", "b-a"]
    assert (whole.shard, whole.summary.skills, whole.summary.found) == (None, 4, 9)


def test_of_a_skill_that_no_shard_asked_about_all_that_any_shows_is_kept() -> None:
    one, two = a_finding(message="like one"), a_finding(message="like two", line=3)
    both = part("1/2", a_judged_skill(path="skills/a"), beside(one)), part("2/2", a_judged_skill(), beside(two))
    whole = join(both, agree=agree, calibrate=calibrate)
    (shared,) = (result for result in whole.report.results if result.skill.path == "skills/shared")
    assert shared.findings == (two, one)
    assert shared.gate.outcomes == (GateOutcome("error", Outcome.FAIL, "2 errors"),)
    assert whole.extras == {"skills/shared"}
    assert whole.report.gate.passed is False


def test_the_shard_that_asked_goes_before_one_that_only_shows() -> None:
    asked = a_judged_skill(path="skills/shared")
    whole = joined(part("1/2", beside(a_finding())), part("2/2", asked))
    assert whole.results == (asked,)


def test_a_skill_that_two_shards_asked_about_is_refused() -> None:
    with pytest.raises(UsageError, match=r"1\.json and 2\.json both asked about skills/one"):
        joined(part("1/2", a_judged_skill()), part("2/2", a_judged_skill()))


def test_the_agreement_of_the_run_stands_in_every_layer() -> None:
    first = part("1/2", a_judged_skill(path="skills/a"), agreement=Agreement(3))
    whole = joined(first, part("2/2", a_judged_skill(), agreement=Agreement(3)))
    assert whole.agreement == POOLED._replace(predictions=2)
    assert {result.layers[1].kappa for result in whole.results} == {0.5}  # type: ignore[union-attr]


def test_what_was_asked_and_gone_on_from_is_added_up() -> None:
    spent = Usage(calls=3, cached=1, cost_usd=0.1)
    unknown = Usage(calls=2, cost_usd=None, cost_reason="no price of x")
    whole = joined(
        part("1/2", usage=spent, resumed=Resumed(4, 1, 0.2)), part("2/2", usage=spent, resumed=Resumed(5, 0, 0.1))
    )
    assert whole.usage == Usage(calls=6, cached=2, cost_usd=0.2)
    assert whole.resumed == Resumed(9, 1, 0.3)
    other = joined(part("1/2", usage=spent), part("2/2", usage=unknown))
    assert (other.usage.cost_usd, other.usage.cost_reason, other.resumed) == (None, "no price of x", None)


def test_answers_of_different_providers_are_not_joined() -> None:
    made_up = a_judged_skill(a_layer(provider="scripted", live=False), path="skills/a")
    with pytest.raises(UsageError, match="different providers"):
        joined(part("1/2", made_up), part("2/2", a_judged_skill()))
