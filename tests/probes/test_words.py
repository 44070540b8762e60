"""Probes of words: what reads as an instruction counts, and a word alone earns or costs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.skills import (
    BODY,
    PROSE_LINES,
    STUB_COMPOSITE,
    STUB_LINES,
    STUB_SCORES,
    anti_patterns,
    body_of,
    earned,
    filler,
    findings,
    from_table,
    score,
    sub_check,
    sub_scores,
    write_skill,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_p02_lower_case_directives_are_not_counted_and_their_repetition_is(tmp_path: Path) -> None:
    # The study would flag them; the method's rule counts the words in capitals alone.
    forms = (
        "You must always check it and never skip it, as you must always do.",
        "- You must always check it and never skip it, as you must always do.",
        "2. you must always  check it and never skip it, as you must always do.",
    )
    lines = "\n\n".join(forms[n % 3] for n in range(60))
    result = score(write_skill(tmp_path, body=f"{BODY}\n{lines}\n"))
    assert anti_patterns(result) == ()
    assert earned(result, "token_efficiency", "0 MUST, NEVER or ALWAYS") == 0.0
    # One of the sixty says something new: 59 of 64 lines of prose are repeated.
    assert from_table(result, "token_efficiency") == pytest.approx(1 - 0.40 * 59 / (60 + PROSE_LINES), abs=5e-5)


def test_p02_lines_that_differ_inside_are_no_repetition(tmp_path: Path) -> None:
    lines = "Keep 5 - 3 of the rows that are left.\nKeep 53 of the rows that are left.\n"
    assert from_table(score(write_skill(tmp_path, body=f"{BODY}\n{lines}")), "token_efficiency") == 1.0


def test_p03_sixteen_directives_are_flagged_however_long_the_file(tmp_path: Path) -> None:
    # The study's density rule gives way to the method's absolute one: more than fifteen.
    orders = "".join(f"Column {n} MUST be there before the file is read.\n" for n in range(16))
    rest = 577 - STUB_LINES - 1 - 16
    result = score(write_skill(tmp_path, body=f"{BODY}\n{orders}{filler(rest)}"))
    assert anti_patterns(result) == ("OVER_CONSTRAINED",)
    (finding,) = findings(result, "OVER_CONSTRAINED")
    assert (finding.line, finding.severity.value) == (STUB_LINES + 1 + 16, "warning")
    assert result.composite.penalty == 0.95
    assert from_table(result, "token_efficiency") == 1.0  # 16 in 577 lines is below a tenth


def test_p03_fifteen_directives_are_within_the_limit(tmp_path: Path) -> None:
    orders = "".join(f"Column {n} MUST be there before the file is read.\n" for n in range(15))
    result = score(write_skill(tmp_path, body=f"{BODY}\n{orders}"))
    assert anti_patterns(result) == ()
    assert from_table(result, "token_efficiency") == 0.60  # 15 in 28 lines is above a half


@pytest.mark.parametrize(
    "text",
    [
        "Plot x and y coordinates of each station on the map.",
        "Call dispatch(action) in the reducer and let it run.",
        "Call `dispatch(action)` in the reducer for each of the agents.",
        "This skill does NOT orchestrate other agents.",
        "This skill does not coordinate sub-agents, and it never dispatches tasks to them.",
        "Check the coordinates that the agent gives you.",
    ],
)
def test_p26_coordinates_code_and_denials_are_no_orchestration(text: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=f"{BODY}\n{text}\n"))
    assert from_table(result, "orchestration_wiring") == 0.70


@pytest.mark.parametrize(
    "text",
    [
        "Orchestrate the three reviewer agents and wait for each of them.",
        "Coordinate the agents until all of them are done.",
        "Dispatch each of the sub-tasks to a sub-agent.",
        "Delegate the review to the other agents in your team.",
        "Then manage the workflow from its start to its end.",
    ],
)
def test_p26_instructions_that_orchestrate_cost_points(text: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=f"{BODY}\n{text}\n"))
    assert from_table(result, "orchestration_wiring") == 0.55


@pytest.mark.parametrize(
    "text", ["input output format returns", "input, output, format, returns", "- input\n- output format\n- returns"]
)
def test_p27_a_row_of_keywords_earns_nothing(text: str, tmp_path: Path) -> None:
    result = score(write_skill(tmp_path, body=f"{BODY}\n{text}\n"))
    assert from_table(result, "orchestration_wiring") == 0.70
    assert from_table(result, "ecosystem_coherence") == 0.50
    assert result.composite.score is not None
    assert result.composite.score <= STUB_COMPOSITE + 0.1


def test_p27_sentences_that_say_the_same_earn_all_of_it(tmp_path: Path) -> None:
    text = "It accepts two files as input. It returns one table.\nThe output has the format of the first file."
    result = score(write_skill(tmp_path, body=f"{BODY}\n{text}\n"))
    assert from_table(result, "orchestration_wiring") == 0.95  # 0.70 + 0.10 + 0.05 + 0.10


@pytest.mark.parametrize(
    ("lines", "points"), [(99, 0.20), (100, 0.50), (199, 0.50), (200, 0.60), (600, 0.60), (601, 0.40)]
)
def test_p48_size_bands_count_physical_lines(lines: int, points: float, tmp_path: Path) -> None:
    path = write_skill(tmp_path, body=body_of(lines))
    assert (path / "SKILL.md").read_bytes().count(b"\n") == lines
    result = score(path)
    assert sub_check(result, "progressive_disclosure").score == points
    assert earned(result, "progressive_disclosure", f"{lines} lines") == points


@pytest.mark.parametrize(("lines", "points", "flags"), [(800, 0.40, ()), (801, 0.15, ("BLOATED_SKILL",))])
def test_p48_bloat_begins_after_eight_hundred_lines(
    lines: int, points: float, flags: tuple[str, ...], tmp_path: Path
) -> None:
    result = score(write_skill(tmp_path, body=body_of(lines)))
    assert sub_check(result, "progressive_disclosure").score == points
    assert anti_patterns(result) == flags


@pytest.mark.parametrize("files", [{}, {"references/empty.md": ""}])
def test_p49_an_empty_references_directory_hides_no_bloat(files: dict[str, str], tmp_path: Path) -> None:
    body = f"{body_of(899)}See [more](references/empty.md).\n" if files else body_of(900)
    path = write_skill(tmp_path, body=body, files=files)
    (path / "references").mkdir(exist_ok=True)
    result = score(path)
    assert anti_patterns(result) == ("BLOATED_SKILL",)
    assert sub_check(result, "progressive_disclosure").score == 0.15


def test_p49_a_linked_file_with_content_is_what_counts(tmp_path: Path) -> None:
    body = f"{body_of(899)}See [more](references/more.md).\n"
    result = score(write_skill(tmp_path, body=body, files={"references/more.md": "# More\n\nWhat is rare.\n"}))
    assert anti_patterns(result) == ()
    assert sub_check(result, "progressive_disclosure").score == 0.40  # 0.15 + 0.25


def test_p46_blank_lines_change_nothing(tmp_path: Path) -> None:
    plain = score(write_skill(tmp_path / "a"))
    padded = score(write_skill(tmp_path / "b", body=BODY.replace("## Steps\n", "## Steps\n" + "\n" * 190)))
    assert sub_scores(padded) == sub_scores(plain) == STUB_SCORES
    assert padded.composite == plain.composite


def test_p47_long_lines_do_not_hide_the_size(tmp_path: Path) -> None:
    lines = "".join((f"Row {n} comes before row {n + 1}. " * 200)[:3999] + ".\n" for n in range(250))
    result = score(write_skill(tmp_path, body=BODY + lines))
    assert (sub_check(result, "progressive_disclosure").score or 0) <= 0.15
    assert anti_patterns(result) == ("BLOATED_SKILL",)
