"""Sub-checks against their case tables: the score, and the evidence that matters.

Expected is ``score 0.35``, or ``score none`` with the beginning of the reason; then a line for each piece of evidence
that the case is about: its points, its line after ``@`` where it has one, and the beginning of its text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from skillgate.static import layer
from tests.static.cases import Case, skill_of, tables

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.score import Evidence, Measured

TABLES = tables("subchecks")
CASES = [case for cases in TABLES.values() for case in cases]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.label)
def test_a_sub_check_measures_what_its_table_expects(case: Case, tmp_path: Path) -> None:
    measured = dict(layer.subchecks())[case.check].measure(skill_of(case, tmp_path))
    score, *evidence = case.expected
    assert _score(measured, score) == score
    for line in evidence:
        assert any(_is(item, line) for item in measured.evidence), f"{line!r} not in {measured.evidence}"


def _score(measured: Measured, expected: str) -> str:
    if measured.score is None:
        said = f"score none {measured.reason}"
        return expected if said.startswith(expected) else said
    decimals = len(expected.partition(".")[2])
    return f"score {measured.score:.{decimals or 4}f}"


def _is(item: Evidence, line: str) -> bool:
    points, _, text = line.partition(" ")
    if text.startswith("@"):
        place, _, text = text.partition(" ")
        if item.line != int(place[1:]):
            return False
    elif item.line is not None:
        return False
    return item.text.startswith(text) and abs(item.points - float(points)) < 0.00005


def test_every_sub_check_has_a_table_and_every_table_a_sub_check() -> None:
    assert set(TABLES) == {name for name, _ in layer.subchecks()}


@pytest.mark.parametrize("check", TABLES)
def test_every_table_has_a_high_and_a_low_score(check: str) -> None:
    numbers = [case.expected[0].split()[1] for case in TABLES[check]]
    scores = [float(number) for number in numbers if number != "none"]
    assert min(scores) == 0.0
    assert max(scores) >= 0.97
