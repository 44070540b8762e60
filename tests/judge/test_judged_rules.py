"""The rules that a judge's problems name: each has a page, and says what the judge met."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from skillgate.judge.trouble import PARTLY, SWAYED
from skillgate.model.finding import Severity
from skillgate.model.skill import Frontmatter, Problem, Skill, SkillRoot, Span
from skillgate.registry import Room
from skillgate.skill.tree import DiskTree
from skillgate.static.catalogue import read_docstring

ROOM = Room("skillgate.static.judged")


def test_every_problem_of_the_judge_has_a_rule_and_every_rule_a_problem() -> None:
    assert set(ROOM.names()) == {SWAYED, PARTLY}


@pytest.mark.parametrize("name", ROOM.names())
def test_a_rule_has_the_name_of_its_file_and_a_whole_page(name: str) -> None:
    module = ROOM.load(name)
    title, sections = read_docstring(module.__doc__ or "")
    assert module.RULE.id == name.upper()
    assert module.RULE.severity is {SWAYED: Severity.WARNING, PARTLY: Severity.ERROR}[name]
    assert module.RULE.blocks_badge is (name == PARTLY)
    assert title
    assert set(sections) == {"Why", "Bad", "Good", "Source"}
    assert all(sections.values())


@pytest.mark.parametrize("name", ROOM.names())
def test_a_rule_gives_the_problems_of_its_name(name: str) -> None:
    root = SkillRoot(DiskTree("."), "a", "SKILL.md", "a", PurePosixPath("a"))
    problems = (Problem(name, Span(7), "said", "a/references/b.md"), Problem("no_body", Span(), "other"))
    (hit,) = ROOM.load(name).RULE.find(Skill(root, Frontmatter(), problems=problems))
    assert (hit.span.line, hit.message, hit.file) == (7, "said", "a/references/b.md")
