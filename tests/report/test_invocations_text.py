"""Recorded invocations in a terminal and in a comment: golden files, widths, colours; no name is obeyed."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from skillgate.model.invocation import Direction
from skillgate.model.report import Verdict
from skillgate.report.invocations_markdown import gates_markdown
from skillgate.report.invocations_text import render, render_gates, render_scores, render_stats, render_trends
from skillgate.report.terminal import Style, columns
from tests.report import invocations_made as made

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDEN = Path(__file__).parent / "golden"
PIECES: dict[str, Callable[[Style], str]] = {
    "dashboard": lambda style: render(made.gated(), style),
    "ungated": lambda style: render(made.eight(), style),
    "verbose": lambda style: render(made.gated(), style, verbose=True),
    "empty": lambda style: render(made.empty(), style),
    "unrated": lambda style: render(made.unrated(), style),
    "many": lambda style: render(made.many(200), style),
    "hostile": lambda style: render(made.hostile(), style, verbose=True),
    "stats": lambda style: render_stats(made.unrated().skills + made.eight().skills, style),
    "trends": lambda style: render_trends(made.eight().trends, style),
    "gates": lambda style: render_gates(made.gated().gates, style),
    "hostile-gates": lambda style: render_gates(made.hostile().gates, style),
    "hostile-stats": lambda style: render_stats(made.hostile().skills, style),
    "hostile-trends": lambda style: render_trends(made.hostile().trends, style),
    "scores": lambda style: render_scores(
        [made.an_invocation(), made.an_invocation(invocation_id=made.BAD[0], skill_name=made.BAD[8], total=None)], style
    ),
    "score": lambda style: render_scores([made.an_invocation()], style, parts=made.PARTS),
}
CODE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("name", ["dashboard", "empty", "unrated", "stats", "trends", "gates", "score"])
def test_what_is_shown_is_what_was_shown(name: str, width: int) -> None:
    text = PIECES[name](Style(width))
    file = GOLDEN / f"invocations-{name}-{width}.txt"
    if os.environ.get("SKILLGATE_GOLDEN") == "write":
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 60, 72, 100, 160])
@pytest.mark.parametrize("name", PIECES)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    for style in (Style(width), Style(width, color=True)):
        lines = CODE.sub("", PIECES[name](style)).splitlines()
        assert max(map(columns, lines)) <= width
        assert not [line for line in lines if line != line.rstrip()]


@pytest.mark.parametrize("name", PIECES)
def test_colours_add_nothing_that_is_not_in_words(name: str) -> None:
    plain, painted = PIECES[name](Style(90)), PIECES[name](Style(90, color=True))
    assert "\x1b" not in plain
    assert CODE.sub("", painted) == plain


def test_an_average_has_the_colour_of_its_tier_and_a_trend_that_of_its_direction() -> None:
    text = render(made.eight(), Style(100, color=True))
    row = next(line for line in text.splitlines() if line.startswith("csv-import") and "52" in line)
    assert "\x1b[31m58.4\x1b[0m" in row
    assert "\x1b[31m↘ −15.6\x1b[0m" in row
    assert "\x1b[32m93.4\x1b[0m" in text


@pytest.mark.parametrize("name", ["hostile", "hostile-gates", "hostile-stats", "hostile-trends", "scores"])
def test_nothing_of_a_name_is_obeyed(name: str) -> None:
    text = PIECES[name](Style(80))
    assert not {each for each in text if ord(each) < 32 and each != "\n"}
    assert not {"\u202e", "\u2066", "\u2028"} & set(text)
    assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]
    assert "##[" not in text


def test_what_declines_most_is_told_before_what_rates_low() -> None:
    lines = render(made.eight(), Style(200)).splitlines()
    assert lines[0] == "2 skills declining, 1 skill Poor"
    told = [line[2:].partition(" ")[0] for line in lines if line.startswith("- ")]
    assert told == ["csv-import", "docs-tools:report-writer", "legacy-migration"]


def test_no_figure_reads_as_one_that_it_does_not_reach() -> None:
    close = replace(made.figures("a", 69.96, 3000), error_rate=1 / 3000, coverage=0.9996)
    text = render_stats([close], Style(160))
    assert all(figure in text for figure in ("69.96", "0.03 %", "99.96 %"))
    assert "70.0" not in text


def test_without_bad_news_the_average_is_the_headline() -> None:
    calm = replace(made.report(made.figures("a", 80.0, 10), made.figures("b", 70.0, 30)), gates=())
    assert render(calm, Style(100)).startswith("No skill is declining or poor; the average is 72.5\n")


def test_what_was_not_measured_is_a_dash() -> None:
    row = next(line for line in PIECES["stats"](Style(160)).splitlines() if line.startswith("a "))
    assert row.split() == ["a", "12", "0", *["—"] * 8, "20.0", "%"]


def test_all_six_tiers_and_the_unrated_are_counted() -> None:
    text = render(made.eight(), Style(100))
    assert re.search(r"^skill +Exc +Good +Acc +Below +Poor +Fail +unrated$", text, re.MULTILINE)
    whole = next(line for line in text.splitlines() if line.startswith("all skills"))
    counted = [int(word) for word in whole.split()[2:]]
    assert len(counted) == 7
    assert sum(counted) == made.eight().invocations


def test_a_figure_is_never_rounded_over_a_limit() -> None:
    near = made.figures("near", 89.96, shares=(0.6996, 0.9, 0.4999, 0.7))
    row = next(line for line in render_stats([near], Style(160)).splitlines() if line.startswith("near"))
    assert "89.96" in row
    assert "69.96 %" in row
    assert "49.99 %" in row


def test_columns_without_room_are_named() -> None:
    assert "no room for: tier\n" in render(made.eight(), Style(100))
    assert "no room for:" not in render(made.eight(), Style(140))


def test_of_many_skills_the_best_and_the_worst_are_shown() -> None:
    text = render(made.many(200), Style(100))
    assert "… 170 skills more; -v shows them" in text
    assert re.search(r"^skill-0 ", text, re.MULTILINE)
    assert re.search(r"^skill-199 ", text, re.MULTILINE)
    assert not re.search(r"^skill-100 ", text, re.MULTILINE)
    assert len(text.splitlines()) < 200
    assert re.search(r"^skill-100 ", render(made.many(200), Style(100), verbose=True), re.MULTILINE)


def test_gates_say_first_what_came_of_them() -> None:
    lines = render_gates(made.gated().gates, Style(100)).splitlines()
    assert lines[0] == "FAILED publish: 4 of 9 skills, 1 no data"
    assert "TRIGGERED deprecation: 1 of 7 skills" in lines
    states = [line.split("  ")[1] for line in lines if line.startswith("  ") and " n " in line]
    assert states == ["failed"] * 4 + ["no data"] + ["passed"] * 4 + ["triggered"] + ["clear"] * 6
    assert "      3 invocations, 10 are needed" in lines


def test_a_gate_that_nobody_fails_is_passed() -> None:
    good = made.figures("a", 91.0)
    assert render_gates([made.check(good, "publish", "passed")], Style(80)).startswith("PASSED publish: 1 of 1 skill\n")
    idle = made.check(good, "deprecation", "insufficient_data", "12 invocations of 20", kind="trigger")
    assert render_gates([idle], Style(80)).startswith("INSUFFICIENT DATA deprecation: 1 of 1 skill\n")
    clear = made.check(made.figures("b", 80.0), "deprecation", "clear", kind="trigger")
    said = "CLEAR deprecation: 1 of 2 skills, 1 insufficient data"
    assert render_gates([idle, clear], Style(80)).startswith(f"{said}\n")
    assert render(made.report(good, gates=(idle, clear)), Style(80, color=True)).startswith(f"\x1b[32m{said}")
    text = render(made.report(good, gates=(made.check(good, "publish", "passed"),), gate=Verdict(passed=True)), Style())
    assert text.startswith("PASSED publish: 1 of 1 skill\n")
    assert "1 more skill: 1 passed; -v shows each" in text


def test_a_trend_says_what_it_rests_on() -> None:
    lines = render_trends([made.trend("x", 80.0, 70.0, Direction.DECLINING)], Style(200)).splitlines()
    assert lines[0] == "x  ↘ declining"
    said = "last 7 days 70.0 (n 12), before 80.0 (n 28), change −10.0 points, −12.5 %"
    assert lines[1].strip() == f"{said}; 95 % −14.1 to −5.9, resampled −14.1 to −5.9"
    assert lines[-2:] == ["95 %: Welch", "resampled: bootstrap"]
    few = render_trends([made.trend("x", 80.0, 70.0, None)], Style(200))
    assert "· too few to tell" in few
    assert "3 of 5 in the last 7 days" in few


def test_nothing_recorded_is_said() -> None:
    assert render_stats([], Style()) == render_trends([], Style()) == render_scores([], Style())
    assert render_gates([], Style()).endswith("no invocation is recorded here\n")


def test_a_score_says_what_each_point_comes_from() -> None:
    text = PIECES["score"](Style(100))
    assert re.search(r"^  tokens +— of 8  nobody counted tokens$", text, re.MULTILINE)
    assert re.search(r"^  edits +7\.25 of 8  9\.4 % was changed$", text, re.MULTILINE)
    assert "efficiency — of 20" in text


def test_a_comment_has_a_row_for_each_skill_the_worst_first() -> None:
    text = gates_markdown(made.gated().gates)
    assert text.startswith(
        "- **FAILED publish: 4 of 9 skills, 1 no data**\n- **TRIGGERED deprecation: 1 of 7 skills**\n"
    )
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(made.gated().gates)
    assert [row[2] for row in rows[:7]] == ["❌ failed"] * 4 + ["❔ no data", "❌ triggered", "✅ passed"]
    assert rows[0][3:] == ["33.9 (30.7–37.1)", "12", "7.5 %", "average 33.9 is under 70 |"]
    assert rows[4][3:6] == ["—", "0", "—"]


def test_a_comment_is_bounded_and_inert_whatever_it_holds() -> None:
    checks = made.hostile().gates * 200
    for limit in (20_000, 30_000):
        text = gates_markdown(checks, limit)
        assert len(text.encode()) <= limit
        assert re.search(r"[\d,]+ rows more in the JSON report\.\n$", text)
    whole = gates_markdown(made.hostile().gates, 1_000_000)
    assert "<" not in whole
    assert "](" not in re.sub(r"\\.", "", whole)
    assert "@team" not in whole
    assert "https:" not in whole
    table = [line for line in whole.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {8}
    assert gates_markdown([]) == "No skill was checked: no invocation is recorded.\n"
