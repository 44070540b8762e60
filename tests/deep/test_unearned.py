"""What earns no badge, whatever the score: matches that a text may have prevented, sessions that failed on purpose."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from skillgate.evaluation.models import LayerResults
from skillgate.evaluation.sampled import deeper
from skillgate.judge.subject import Judged, Ratings
from skillgate.model.layers import Estimate, JudgeLayer, MonteCarloLayer, RankingLayer
from skillgate.model.score import Dimension
from skillgate.model.skill import SkillRoot
from skillgate.montecarlo.subject import Simulated
from skillgate.ranking.layer import Ranked
from skillgate.skill.tree import DiskTree

if TYPE_CHECKING:
    from pathlib import Path

JUDGED = Judged(JudgeLayer(0, 1, None), Ratings())
MEASURED = MonteCarloLayer(0, 50, 60, 0, 0, 0.8, scores={Dimension.ROBUSTNESS: Estimate(0.9, n=50)})
UNRANKED = RankingLayer(0, 0, None, None, None, reason="no corpus")


@pytest.fixture
def root(tmp_path: Path) -> SkillRoot:
    return SkillRoot(DiskTree(str(tmp_path)), "", "SKILL.md", "invoices", PurePosixPath("invoices"))


def test_matches_that_were_lost_leave_no_badge_by_the_composite_alone(root: SkillRoot) -> None:
    lost = Ranked(UNRANKED, failure="16 of 16 matches have no result: the model refused to answer")
    assert deeper(LayerResults(JUDGED, Simulated(MEASURED), lost), None, root).no_badge == f"not ranked: {lost.failure}"


def test_without_a_corpus_the_composite_alone_decides(root: SkillRoot) -> None:
    assert deeper(LayerResults(JUDGED, Simulated(MEASURED), Ranked(UNRANKED)), None, root).no_badge is None


def test_sessions_that_failed_too_often_leave_no_badge(root: SkillRoot) -> None:
    why = "12 of 40 sessions that loaded the skill failed"
    assert deeper(LayerResults(JUDGED, Simulated(MEASURED, no_badge=why)), None, root).no_badge == why


def test_a_dimension_that_sessions_do_not_tell_leaves_no_score(root: SkillRoot) -> None:
    few = Estimate(None, reason="only 3 of 5 answers have a grade")
    partly = MEASURED._replace(scores={**MEASURED.scores, Dimension.OUTPUT_QUALITY: few})
    found = deeper(LayerResults(JUDGED._replace(failure=None), Simulated(partly)), None, root)
    assert found.failure is not None
    assert Dimension.OUTPUT_QUALITY not in found.simulated
