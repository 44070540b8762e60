"""The rules that a judge's problems name: each has a page, and says what the judge met."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from skillgate.judge.subject import PARTLY, SWAYED
from skillgate.model.finding import Severity
from skillgate.model.skill import Frontmatter, Problem, Skill, SkillRoot, Span
from skillgate.skill.tree import DiskTree
from skillgate.static.catalogue import pages
from skillgate.static.defects import JUDGED
from skillgate.static.layer import judged_rule


def test_every_problem_of_the_judge_has_a_rule_and_every_rule_a_problem() -> None:
    assert {rule.id.lower() for rule in JUDGED} == {SWAYED, PARTLY}


@pytest.mark.parametrize("name", [SWAYED, PARTLY])
def test_a_rule_has_the_whole_page(name: str) -> None:
    (page,) = (page for page in pages() if page.rule == judged_rule(name))
    assert page.rule.severity is {SWAYED: Severity.WARNING, PARTLY: Severity.ERROR}[name]
    assert judged_rule(name).blocks_badge is (name == PARTLY)
    assert page.title
    assert set(page.sections) == {"Why", "Bad", "Good", "Source"}
    assert all(page.sections.values())


@pytest.mark.parametrize("name", [SWAYED, PARTLY])
def test_a_rule_gives_the_problems_of_its_name(name: str) -> None:
    root = SkillRoot(DiskTree("."), "a", "SKILL.md", "a", PurePosixPath("a"))
    problems = (Problem(name, Span(7), "said", "a/references/b.md"), Problem("no_body", Span(), "other"))
    (hit,) = judged_rule(name).find(Skill(root, Frontmatter(), problems=problems))
    assert (hit.span.line, hit.message, hit.file) == (7, "said", "a/references/b.md")
