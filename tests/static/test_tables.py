"""Anti-patterns, rules and defects against their case tables."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest

from skillgate.scoring.selection import EXPIRED, UNUSED, Selection, settle
from skillgate.static import layer
from tests.static.cases import Case, declared, skill_of, tables

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.finding import Claim
    from skillgate.model.skill import Skill

ROOMS = ("antipatterns", "rules", "defects")
TABLES = {room: tables(room) for room in ROOMS}
TODAY = "2026-11-22"  # what the cases of the rules about comments are held against
CASES = [case for room in TABLES.values() for cases in room.values() for case in cases]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_a_check_says_what_its_table_expects(case: Case, tmp_path: Path) -> None:
    rule = declared(case.room)[case.check]
    skill = skill_of(case, tmp_path)
    claims = layer.run(skill).claims
    if rule.id in (EXPIRED, UNUSED):
        claims = _standing(skill, claims)
    said = [_said(item) for item in claims if item.id == rule.id]
    assert _shortened(said, case.expected) == list(case.expected)


def _standing(skill: Skill, claims: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """Leave out what does not come true: comments are judged beside all claims, on a certain day."""
    waivers = [item._replace(file=item.file.removeprefix(f"{skill.root.directory}/")) for item in skill.waivers]
    standing = settle(claims, waivers, Selection(today=TODAY), directory=PurePosixPath()).findings
    kept = {(str(item.path), item.line, item.id, item.message) for item in standing}
    return tuple(claim for claim in claims if (claim.file, claim.line, claim.id, claim.message) in kept)


def _said(claim: Claim) -> str:
    """Write a claim as a table does: with its file first where it is not the main one."""
    place = "" if claim.file.upper() == "SKILL.MD" else f"{claim.file}:"
    return f"{place}{claim.line}:{claim.column} {claim.id} {claim.message}"


def _shortened(said: list[str], expected: tuple[str, ...]) -> list[str]:
    """Cut what an expected line that ends in … leaves open."""
    starts = [line.removesuffix("…") for line in expected if line.endswith("…")]
    return [next((f"{start}…" for start in starts if line.startswith(start)), line) for line in said]


@pytest.mark.parametrize("room", ROOMS)
def test_every_check_has_a_table_and_every_table_a_check(room: str) -> None:
    assert set(TABLES[room]) == set(declared(room))


@pytest.mark.parametrize(("room", "check"), [(room, check) for room in ROOMS for check in TABLES[room]])
def test_every_table_has_a_case_that_fires_and_one_that_is_silent(room: str, check: str) -> None:
    cases = TABLES[room][check]
    assert any(case.expected for case in cases), "no case fires"
    assert any(not case.expected for case in cases), "no case is silent"
