"""Advice: what it promises is what doing it brings; the most for the effort first; never for a point already held."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pytest

import skillgate
from skillgate.model.score import Dimension, Evidence, Grade, LayerName, Measured
from skillgate.scoring.composite import EFFORT, WEIGHTS
from skillgate.scoring.result import REMEDIES, Evaluated, advise, most_valuable
from tests.skills import BODY, DESCRIPTION, NAME, PROSE, body_of, filler, score, static, write_skill

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from skillgate.model.report import Advice, SkillResult

TRIGGERLESS = (
    "A collection of tools for spreadsheets, charts and pivot tables that the office has made over many years."
)
WEAK = (
    "Use when asked to merge many spreadsheets of the office into a single table, which has one row for each of them."
)
LONG = body_of(240)


def promised(result: SkillResult, key: str) -> Advice:
    (advice,) = (item for item in result.advice if item.action == REMEDIES[key].action)
    return advice


def keys(result: SkillResult) -> set[str]:
    actions = {remedy.action: key for key, remedy in REMEDIES.items()}
    return {actions[item.action] for item in result.advice if item.action in actions}


class Mended(NamedTuple):
    """A skill before and after one piece of advice was followed to the letter, as bodies, descriptions and files."""

    key: str
    before: Callable[[Path], Path]
    after: Callable[[Path], Path]
    tolerance: float = 0.021  # points; more where what is added says more than was asked for


def _body(body: str, *, name: str = NAME, files: Mapping[str, str] | None = None) -> Callable[[Path], Path]:
    head = f"name: {name}\ndescription: {DESCRIPTION}"
    return lambda base: write_skill(base, body=body, frontmatter=head, files=files)


def _described(description: str) -> Callable[[Path], Path]:
    return lambda base: write_skill(base, body=LONG, description=description)


def _replaced(count: int, added: str) -> str:
    """Give a body of 240 lines in which the last lines of filler are replaced by as many other lines."""
    assert added.count("\n") == count
    return "".join(LONG.splitlines(keepends=True)[:-count]) + added


SECTION = (
    "\n## {0}\n\n"
    "When the header is missing, ask for it. When rows differ in length, list them.\n"
    "When a file is not text, stop there and name it.\n"
)
CODE = "\n```{0}\nx = 1\n```\n\n```{0}\ny = 2\n```\n"
SEE = "\nSee [the columns](references/columns.md) and [the keys](references/keys.md) for all of them.\n"
REFERENCES = _replaced(2, SEE)
MENDED = [
    Mended(
        "troubleshooting",
        _body(_replaced(5, SECTION.format("Notes"))),
        _body(_replaced(5, SECTION.format("Troubleshooting"))),
    ),
    Mended("examples", _body(_replaced(5, SECTION.format("Notes"))), _body(_replaced(5, SECTION.format("Examples")))),
    Mended("tags", _body(_replaced(8, CODE.format(""))), _body(_replaced(8, CODE.format("ini")))),
    Mended(
        "syntax",
        _body(_replaced(4, "\n```json\n{\n```\n")),
        _body(_replaced(4, "\n```json\n2\n```\n")),
    ),
    Mended(
        "orphans",
        _body(REFERENCES, files={"references/keys.md": "All."}),
        _body(REFERENCES, files={"references/keys.md": "All.", "references/columns.md": "All."}),
    ),
    Mended(
        "references",
        _body(body_of(418) + "\nSee the columns and the keys for all of them.\n"),
        _body(body_of(418) + SEE, files={"references/keys.md": "All.", "references/columns.md": "All."}),
    ),
    Mended("table", _body(LONG), _body(_replaced(4, "\n| row | what |\n|---|---|\n| one | it is read first |\n"))),
    Mended("name", _body(LONG, name="other"), _body(LONG)),
    Mended(
        "trigger",
        _described(TRIGGERLESS),
        _described(f"{TRIGGERLESS} Use when merging files, sorting rows, dropping columns or before renaming keys."),
        tolerance=7.0,
    ),
    Mended("repeats", _body(_replaced(9, PROSE * 2 + "\n")), _body(_replaced(9, filler(8, start=900) + "\n"))),
    Mended("directives", _body(_replaced(1, "MUST " * 40 + "\n")), _body(_replaced(1, "It may be so.\n"))),
    Mended("dead-refs", _body(LONG + "\n[x](../gone/SKILL.md)\n"), _body(LONG + "\n[x](#steps)\n")),
]


@pytest.mark.parametrize("mended", MENDED, ids=lambda item: item.key)
def test_following_advice_brings_what_it_promised(mended: Mended, tmp_path: Path) -> None:
    before = score(mended.before(tmp_path / "before"))
    after = score(mended.after(tmp_path / "after"))
    assert before.composite.score is not None
    assert after.composite.score is not None
    promise = promised(before, mended.key)
    assert after.composite.score - before.composite.score == pytest.approx(promise.gain, abs=mended.tolerance)
    assert mended.key not in keys(after)


@pytest.mark.parametrize("body", [BODY, LONG, LONG + CODE.format("python")], ids=["stub", "long", "with code"])
@pytest.mark.parametrize("description", [TRIGGERLESS, WEAK], ids=["without trigger", "weak"])
def test_no_advice_is_given_for_a_point_already_held(body: str, description: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=body, description=description))
    missing = {
        item.advice
        for measured in static(result).sub_checks.values()
        for item in measured.evidence
        if item.advice is not None and item.points < item.possible
    }
    flagged = {"trigger"} if "MISSING_TRIGGER" in static(result).anti_patterns else set()
    assert keys(result) <= missing | flagged
    for item in result.advice:
        assert item.gain >= 0.01
        if item.dimension is not None and item.before is not None and item.after is not None:
            assert item.before < item.after <= 1.0


def test_evidence_of_a_full_point_carries_no_advice(tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=LONG + CODE.format("ini")))
    for measured in static(result).sub_checks.values():
        for item in measured.evidence:
            assert item.advice is None or item.points < item.possible or item.points < 0


def test_the_best_skill_of_the_examples_has_next_to_nothing_left_to_do() -> None:
    (result,) = skillgate.evaluate("examples/skills/csv-quality-report").results
    assert sum(item.gain for item in result.advice) <= 100 - (result.composite.score or 0) + 0.05


@pytest.mark.parametrize("body", [BODY, LONG])
def test_advice_is_sorted_by_points_gained(body: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=body, description=TRIGGERLESS))
    gains = [item.gain for item in result.advice]
    assert len(gains) >= 5
    assert gains == sorted(gains, reverse=True)
    for item in result.advice:
        assert item.gain_per_hour == pytest.approx(item.gain / EFFORT[item.effort], abs=0.02)


def test_what_fixes_an_error_comes_first(tmp_path: Path) -> None:
    first, *others = score(write_skill(tmp_path, body=f"{BODY}\n[x](../gone/SKILL.md)\n")).advice
    assert first.action == REMEDIES["dead-refs"].action
    assert max(item.gain for item in others) > first.gain


@pytest.mark.parametrize("body", [BODY, LONG], ids=["short", "long"])
def test_no_advice_asks_for_more_text_and_a_band_of_sizes_is_a_fact(body: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=body, description="Merges sheets."))
    assert not [item.action for item in result.advice if re.search(r"longer|characters or more|\d+ lines", item.action)]
    if body is BODY:
        size = static(result).sub_checks["progressive_disclosure"].evidence[0]
        assert size.text.endswith("; the method gives 0.20 below 100")
        assert size.advice is None


def test_advice_cites_what_lacks_a_failure_or_a_reason(tmp_path: Path) -> None:
    body = BODY.replace(", because it decides", " that decides").replace(", since", "; for")
    command = "Run `merge one.csv two.csv` when both files have the same header and nothing else is open.\n"
    result = score(write_skill(tmp_path, body=f"{body}\n{command}"))
    (found,) = (item for item in result.advice if "when something fails" in item.action)
    assert "“Run `…` when both files" in found.action
    assert found.line == 14


def _standing(*points: tuple[Dimension, float, str]) -> Evaluated:
    measured = {
        dimension: Measured(0.5, (Evidence(text="x", points=0.0, possible=possible, advice=key),))
        for dimension, possible, key in points
    }
    layers: dict[Dimension, dict[LayerName, float | None]] = {
        dimension: {LayerName.STATIC: found.score} for dimension, found in measured.items()
    }
    return Evaluated(measured=measured, layers=layers, anti_patterns=())


def test_a_gain_is_the_change_of_the_composite() -> None:
    standing = _standing((Dimension.TRIGGERING_ACCURACY, 0.2, "trigger"), (Dimension.TOKEN_EFFICIENCY, 0.3, "repeats"))
    gains = {item.dimension: item.gain for item in advise(standing)}
    assert gains[Dimension.TRIGGERING_ACCURACY] == pytest.approx(100 * 25 * 0.2 / 31, abs=0.01)
    assert gains[Dimension.TOKEN_EFFICIENCY] == pytest.approx(100 * 6 * 0.3 / 31, abs=0.01)


def test_a_gain_stops_at_the_full_score() -> None:
    (found,) = advise(_standing((Dimension.TRIGGERING_ACCURACY, 0.9, "trigger")))
    assert (found.before, found.after, found.gain) == (0.5, 1.0, 50.0)


def test_ties_go_to_the_heavier_dimension() -> None:
    light, heavy = Dimension.CODE_TEMPLATE_QUALITY, Dimension.SCOPE_CALIBRATION
    possible = 0.2
    even = possible * WEIGHTS[heavy] * EFFORT["very low"] / EFFORT["low"] / WEIGHTS[light]
    standing = _standing((light, min(0.5, even), "tags"), (heavy, possible * min(1, 0.5 / even), "shorter"))
    first, second = advise(standing)
    assert first.gain / EFFORT[first.effort] == pytest.approx(second.gain / EFFORT[second.effort], abs=0.05)
    assert first.dimension is heavy


def test_flags_are_mended_together_and_counted() -> None:
    standing = Evaluated(
        measured={},
        layers={Dimension.ROBUSTNESS: {LayerName.JUDGE: 0.8}},
        anti_patterns=(("orphans", 7), ("orphans", 5), ("dead-refs", 9), (None, 1)),
    )
    by_action = {item.action: item for item in advise(standing)}
    orphans = by_action[REMEDIES["orphans"].action]
    assert (orphans.removes, orphans.line) == (2, 5)
    assert orphans.gain == pytest.approx(80 * 0.10)
    assert (orphans.dimension, orphans.before, orphans.after) == (None, None, None)
    assert len(by_action) == 2


def test_beyond_the_floor_of_the_penalty_mending_a_flag_gains_nothing() -> None:
    flags = (*(("orphans", line) for line in range(12)), ("dead-refs", 1))
    standing = Evaluated(measured={}, layers={Dimension.ROBUSTNESS: {LayerName.JUDGE: 0.8}}, anti_patterns=flags)
    assert [item.action for item in advise(standing)] == [REMEDIES["orphans"].action]


def test_a_short_skill_beside_one_that_says_the_same_is_told_to_merge(tmp_path: Path) -> None:
    write_skill(tmp_path, "merge-sheets")
    write_skill(tmp_path, "join-sheets")
    report = skillgate.evaluate(tmp_path)
    first, second = report.results
    assert any(f"merge it with {second.skill.path}" in item.action for item in first.advice)
    assert any(f"merge it with {first.skill.path}" in item.action for item in second.advice)


def test_a_neighbour_that_says_something_else_is_left_alone(tmp_path: Path) -> None:
    write_skill(tmp_path, "merge-sheets")
    write_skill(
        tmp_path, "draw-maps", description="Draws maps of rivers. Use when the user asks for a map of a country."
    )
    for result in skillgate.evaluate(tmp_path).results:
        assert not any(NAME in item.action or "draw-maps" in item.action for item in result.advice)


def test_a_skill_without_a_score_gets_no_advice(tmp_path: Path) -> None:
    directory = write_skill(tmp_path)
    (directory / "SKILL.md").write_bytes(b"\xff\xfe")
    assert score(directory).advice == ()


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("trigger", ("five prompts that should", "five that should not")),
        ("troubleshooting", ("what goes wrong", "in each case")),
        ("returns", ("when it cannot complete",)),
        ("shorter", ("split",)),
    ],
)
def test_advice_carries_the_exercises_of_the_method(key: str, words: tuple[str, ...]) -> None:
    assert all(word in REMEDIES[key].action for word in words)


def test_the_worst_grade_goes_first_among_equals() -> None:
    assert Grade.of(0.5) is Grade.F
    good, bad = Dimension.STRUCTURAL_COMPLETENESS, Dimension.TOKEN_EFFICIENCY
    measured = {
        good: Measured(0.85, (Evidence(text="x", points=0.0, possible=0.12, advice="examples"),)),
        bad: Measured(0.30, (Evidence(text="x", points=0.0, possible=0.06, advice="repeats"),)),
    }
    layers: dict[Dimension, dict[LayerName, float | None]] = {
        key: {LayerName.STATIC: found.score} for key, found in measured.items()
    }
    first, second = advise(Evaluated(measured=measured, layers=layers, anti_patterns=()))
    assert first.gain == second.gain
    assert (first.dimension, second.dimension) == (bad, good)


def test_the_most_valuable_are_the_first(tmp_path: Path) -> None:
    result = score(write_skill(tmp_path))
    assert most_valuable(result.advice, 3) == result.advice[:3]
