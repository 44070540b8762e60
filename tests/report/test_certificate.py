"""What a certificate vouches for, and what it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from skillgate.errors import UsageError
from skillgate.model.documents import Content
from skillgate.model.layers import MonteCarloLayer, RankingLayer, Rating
from skillgate.model.report import Composite, Verdict
from skillgate.model.score import Badge, Dimension
from skillgate.report.certificate import certificate, check, read, render
from tests.report.judged import SONNET, a_judged_skill, a_layer
from tests.report.reports import a_finding, a_report, a_skill, unread

if TYPE_CHECKING:
    from skillgate.model.documents import Certificate, CertifiedSkill
    from skillgate.model.report import SkillResult

NOW, THEN = "2026-11-22T12:30:15Z", "2026-11-23T12:30:15Z"
CONTENT = Content("sha256:1", {"SKILL.md": "sha256:2"})


def of(skill: SkillResult, content: Content = CONTENT) -> CertifiedSkill:
    """Certify one skill."""
    document = certificate(a_report(skill), {"skills/one": content}, issued=NOW, expires=THEN, config_digest="c")
    return document.skills[0]


def test_a_skill_that_was_wholly_measured_and_has_a_badge_is_certified() -> None:
    found = of(a_judged_skill())
    assert (found.certified, found.reason, found.badge, found.composite) == (True, None, Badge.SILVER, 72.5)
    assert (found.judged_by, found.tested, found.elo) == ((SONNET,) * 3, None, None)
    assert found.dimensions[Dimension.ROBUSTNESS] is None
    assert found.prompts == {"triggering": "5f" * 32}


def test_a_certificate_names_the_errors_beside_the_badge() -> None:
    skill = a_judged_skill()._replace(findings=(a_finding(), a_finding(line=9)))
    found = of(skill)
    assert found.errors == 2
    document = certificate(a_report(skill), {"skills/one": CONTENT}, issued=NOW, expires=THEN, config_digest="c")
    again = read(render(document), source="x")
    said = check(again, again.skills[0], CONTENT, today=NOW, tomorrow=NOW)
    assert "certified Silver, 2 errors, 72.50 points" in said.holds


def test_who_tested_graded_and_ranked_is_said() -> None:
    sessions = MonteCarloLayer(1, 50, 50, 0, 0, 0.8, model="a", grader="b", prompts_digest="d")
    ranked = RankingLayer(
        1, 20, Rating(1600, 1500, 1700), Rating(1610, 1500, 1720), 0.7, provisional=True, model="c", corpus="e"
    )
    plain = a_judged_skill()
    skill = plain._replace(layers=(*plain.layers, sessions, ranked), composite=plain.composite._replace(elo=1600.0))
    found = of(skill)
    assert (found.tested, found.graded_by, found.ranked_by, found.corpus) == ("a", "b", "c", "e")
    assert (found.elo, found.provisional, found.prompts["sessions"]) == (1600.0, True, "d")


@pytest.mark.parametrize(
    ("skill", "says"),
    [
        (a_judged_skill(a_layer(live=False, provider="replay")), "not a live model's (replay)"),
        (a_judged_skill(a_layer(reason="the provider was down")), "not all was measured: the provider was down"),
        (a_judged_skill()._replace(composite=Composite(40.0, None)), "no badge"),
        (a_judged_skill()._replace(composite=Composite(80.0, None, badge_reason="no badge: 9 words")), "9 words"),
        (a_judged_skill()._replace(gate=Verdict(passed=False)), "its gate failed"),
        (a_skill(), "no model was asked"),
        (unread("skills/one"), "Permission denied"),
    ],
)
def test_what_is_not_certified_stands_in_it_with_the_reason(skill: SkillResult, says: str) -> None:
    found = of(skill)
    assert not found.certified
    assert found.reason is not None
    assert says in found.reason
    assert (found.composite, found.badge) == (skill.composite.score, skill.composite.badge)


@pytest.mark.parametrize("content", [Content(None, reason="it cannot be read"), CONTENT._replace(reason="a link")])
def test_files_that_no_digest_covers_are_not_certified(content: Content) -> None:
    assert of(a_judged_skill(), content).reason == content.reason


def test_a_report_s_own_digest_stands_for_files_that_nobody_listed() -> None:
    report = a_report(a_judged_skill()._replace(content="sha256:1"))
    document = certificate(report, {}, issued=NOW, expires=THEN, config_digest="c")
    (skill,) = document.skills
    assert (skill.certified, skill.content) == (True, Content("sha256:1"))
    assert check(document, skill, CONTENT, today=NOW, tomorrow=THEN).fails == ()
    moved = check(document, skill, CONTENT._replace(digest="sha256:9"), today=NOW, tomorrow=THEN)
    assert moved.fails == ("its files are others; which, a certificate of joined shards does not say",)


def test_without_any_digest_nothing_is_certified() -> None:
    document = certificate(a_report(a_judged_skill()), {}, issued=NOW, expires=THEN, config_digest="c")
    (skill,) = document.skills
    assert (skill.certified, skill.content.digest) == (False, None)
    assert "its report holds no digest of its files" in (skill.reason or "")


def test_files_that_are_not_those_of_the_report_are_not_certified() -> None:
    found = of(a_judged_skill()._replace(content="sha256:9"))
    assert (found.certified, found.reason) == (False, "its files were not those that its report says were scored")
    assert of(a_judged_skill()._replace(content=CONTENT.digest)).certified


def a_document() -> Certificate:
    """Give the certificate of one skill."""
    skill = a_judged_skill()
    return certificate(a_report(skill), {"skills/one": CONTENT}, issued=NOW, expires=THEN, config_digest="c")


def test_a_certificate_is_read_back_as_it_was_written() -> None:
    assert read(render(a_document()), source="c.json") == a_document()


@pytest.mark.parametrize("time", ["2026-11-22", "tomorrow", "2026-11-22T12:30:15+05:00", "٢026-11-22T12:30:15Z"])
def test_times_of_another_form_are_refused_since_they_would_not_compare(time: str) -> None:
    with pytest.raises(UsageError, match="expected a time"):
        read(render(replace(a_document(), expires=time)), source="c.json")


def test_it_holds_up_to_its_last_second_and_not_at_it() -> None:
    document = a_document()
    (skill,) = document.skills
    last = check(document, skill, CONTENT, today="2026-11-23T12:30:14Z", tomorrow="2026-11-24T12:30:14Z")
    assert last.fails == ()
    over = check(document, skill, CONTENT, today=THEN, tomorrow="2026-11-24T12:30:15Z")
    assert over.fails == ("it expired on 2026-11-23",)


def test_equal_lists_with_another_digest_do_not_hold() -> None:
    document = a_document()
    found = check(document, document.skills[0], CONTENT._replace(digest="sha256:9"), today=NOW, tomorrow=THEN)
    assert found.fails == ("its files are others: the list and its digest do not agree",)
