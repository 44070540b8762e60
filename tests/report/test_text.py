"""The text report: worst first, what to do next, inert and within its width whatever a skill is called."""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

import pytest

from skillgate.evaluation import pipeline
from skillgate.format import Style
from skillgate.model.report import Composite
from skillgate.model.score import Badge
from skillgate.report.formats.text import columns
from skillgate.report.tally import worst_first
from skillgate.scoring.gate import Policy
from skillgate.skill.find import discover, read
from tests.report.reports import FAILED, PASSED, a_report, a_skill
from tests.report.written import text as written
from tests.skills import BODY, RICH_FILES, body_of, rich_body, write_bytes, write_skill

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.model.report import Report

NOTHING = Policy()


def render_score(report: Report, style: Style, **options: Any) -> str:
    return written(report, "score", style, **options)


def render_check(report: Report, style: Style, **options: Any) -> str:
    return written(report, "check", style, **options)


LONG = body_of(240)
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def evaluated(path: Path, policy: Policy = NOTHING) -> Report:
    evaluator = pipeline.Evaluator(criteria=pipeline.Criteria(policy=lambda _: policy))
    return pipeline.evaluate((read(root) for root in discover(["."], cwd=str(path)).roots), evaluator).report


@pytest.fixture
def three(tmp_path: Path) -> Report:
    """Evaluate a good skill, a stub, and one that is broken."""
    write_skill(tmp_path, "good", body=rich_body(), files=RICH_FILES)
    write_skill(tmp_path, "poor", body=BODY + "\nSee [x](references/gone.md) and [y](../gone/SKILL.md).\n")
    write_bytes(tmp_path, "none", b"\xff\xfe")
    return evaluated(tmp_path)


def test_the_worst_stands_first_and_what_has_no_score_before_it(three: Report) -> None:
    assert [result.skill.path for result in worst_first(three.results)] == ["none", "poor", "good"]
    text = render_score(three, Style())
    places = [re.search(rf"^(. )?{name} ", text, re.MULTILINE) for name in ("none", "poor", "good")]
    starts = [place.start() for place in places if place]
    assert len(starts) == 3
    assert starts == sorted(starts)


def test_what_fails_a_gate_stands_before_what_scores_less() -> None:
    scores = {"s/low": 20.0, "s/bad": 70.0, "s/worse": 60.0, "s/high": 90.0}
    results = [
        a_skill(path=path, composite=Composite(score, None), gate=FAILED if path in ("s/bad", "s/worse") else PASSED)
        for path, score in scores.items()
    ]
    order = ["s/worse", "s/bad", "s/low", "s/high"]
    assert [result.skill.path for result in worst_first(results)] == order
    text = render_score(a_report(*results, gate=FAILED), Style())
    assert sorted(order, key=text.index) == order


def test_a_row_has_score_badge_with_stars_and_counts(three: Report) -> None:
    good = next(result for result in three.results if result.skill.path == "good")
    assert good.composite.badge is not None
    assert good.composite.badge is Badge.from_scores(good.composite.score)
    text = render_score(three, Style())
    label = f"{good.composite.badge.value} {good.composite.badge.stars}"
    assert re.search(rf"^good +█+░* +{good.composite.score:.2f} +{label} +none", text, re.MULTILINE)
    assert re.search(r"^none +— +— +1 error", text, re.MULTILINE)
    assert re.search(r"^poor .* 2 errors", text, re.MULTILINE)


def test_it_says_why_and_what_to_do_next(three: Report) -> None:
    text = render_score(three, Style())
    assert "SKILL.md:14" in text
    assert "references/gone.md does not exist" in text
    assert re.search(r"Do next \(the first step of each skill: errors first, then most points\)\n\d\. +\S", text)
    assert re.search(r"^ +\d\. \+\d", text, re.MULTILINE)
    assert "more points" in text
    assert "not UTF-8" in text


def test_it_sums_up_what_it_measured(three: Report) -> None:
    flat = " ".join(render_score(three, Style()).split())
    assert "3 skills" in flat
    assert "lowest" in flat
    assert "quick depth measures 66 % of the weight" in flat
    assert "without a badge" in flat


def test_a_single_skill_shows_every_dimension_with_its_reason(tmp_path: Path) -> None:
    write_skill(tmp_path, "good", body=LONG)
    report = evaluated(tmp_path)
    text = render_score(report, Style())
    for dimension, found in report.results[0].dimensions.items():
        *_, line = (line for line in text.splitlines() if line.startswith(f"  {dimension.value}"))
        if found.score is None:
            assert "—" in line
            assert (found.reason or "")[:20] in line
        else:
            assert found.grade is not None
            assert re.search(rf"{found.score:.4f} +\d+ % +{found.grade.value}$", line)


def test_without_colour_there_is_no_escape_code_and_with_it_the_same_text(three: Report) -> None:
    plain, painted = render_score(three, Style()), render_score(three, Style(color=True))
    assert "\x1b" not in plain
    assert "\x1b[" in painted
    assert ESCAPE.sub("", painted) == plain
    assert "\x1b" not in render_check(three, Style())
    assert ESCAPE.sub("", render_check(three, Style(color=True))) == render_check(three, Style())


@pytest.mark.parametrize("width", [40, 50, 80, 120])
@pytest.mark.parametrize("verbose", [False, True], ids=["short", "verbose"])
@pytest.mark.parametrize("seconds", [None, 1.25])
def test_no_line_is_wider_than_the_terminal(three: Report, width: int, seconds: float | None, *, verbose: bool) -> None:
    text = render_score(three, Style(width=width), verbose=verbose, seconds=seconds)
    assert not [line for line in text.splitlines() if columns(line) > width]


@pytest.mark.parametrize("width", [50, 80, 120])
def test_long_and_wide_names_are_shortened(width: int, tmp_path: Path) -> None:
    write_skill(tmp_path, "a" * 100, body=LONG)
    write_skill(tmp_path, "表格" * 20, body=BODY)
    write_skill(tmp_path / ("nested-" * 10), "deep", body=BODY)
    text = render_score(evaluated(tmp_path), Style(width=width))
    assert not [line for line in text.splitlines() if columns(line) > width]
    assert "…" in text


@pytest.mark.parametrize("width", [50, 80, 120])
def test_a_gate_that_fails_is_said_within_the_width(width: int, tmp_path: Path) -> None:
    write_skill(tmp_path, "poor")
    write_skill(tmp_path, "good", body=LONG)
    policy = Policy(fail_on=frozenset({"threshold", "badge"}), threshold=99.0, min_badge=Badge.PLATINUM)
    text = render_score(evaluated(tmp_path, policy), Style(width=width))
    assert "2 of 2 skills fail" in text
    assert "is below 99" in " ".join(text.split())
    assert not [line for line in text.splitlines() if columns(line) > width]


def test_a_gate_is_silent_where_none_was_asked_and_short_where_it_passed(three: Report, tmp_path: Path) -> None:
    assert "pass" not in render_score(three, Style()).splitlines()[-2]
    write_skill(tmp_path / "alone", "good", body=LONG)
    policy = Policy(fail_on=frozenset({"error"}))
    assert "\ngood passes: no findings\n" in render_score(evaluated(tmp_path / "alone", policy), Style())


def test_many_skills_are_cut_short_with_a_count(tmp_path: Path) -> None:
    for number in range(40):
        write_skill(tmp_path, f"skill-{number:02}", body=body_of(20 + 5 * number))
    report = evaluated(tmp_path)
    text = render_score(report, Style())
    rows = re.findall(r"^(skill-\d\d) ", text, re.MULTILINE)
    assert len(set(rows)) < 40
    hidden = re.search(r"… (\d+) more skills without errors, all at (\d+\.\d\d) or above; -v shows them", text)
    assert hidden is not None
    shown = {result.skill.path for result in worst_first(report.results)[: 40 - int(hidden[1])]}
    assert set(rows) == shown
    least = min(result.composite.score or 0 for result in report.results if result.skill.path not in shown)
    assert float(hidden[2]) == pytest.approx(least, abs=0.05)
    assert "40 skills" in text
    whole = render_score(report, Style(), verbose=True)
    assert len(set(re.findall(r"\bskill-\d\d\b", whole))) == 40


def test_no_skill_at_all_is_said(tmp_path: Path) -> None:
    assert "0 skills" in render_score(evaluated(tmp_path), Style())
    assert "0 skills" in render_check(evaluated(tmp_path), Style())


HOSTILE = "x\x1b[31mred\x1b]0;title\x07\u202egnp.\u2066\x9b\u200b"


def _inert(text: str) -> bool:
    return all(
        character == "\n" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in text
    )


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
@pytest.mark.parametrize("verbose", [False, True], ids=["short", "verbose"])
def test_hostile_names_and_messages_do_nothing(tmp_path: Path, *, verbose: bool) -> None:
    head = 'name: "x\\e[31m\\u202e"\ndescription: "Use when asked \\e]0;x\\a.\\u2028"\n"\\e[2J": 1'
    example = f"## Examples {HOSTILE}\n\n{HOSTILE} and so on it goes for eight words.\n"
    body = f"{BODY}\n[x](references/{HOSTILE}.md)\n\n{example}"
    write_skill(tmp_path, f"a{HOSTILE}", frontmatter=head, body=body)
    write_skill(tmp_path, "b\ngate passed\nc", body=body)
    write_bytes(tmp_path, f"d{HOSTILE}", f"---\n{HOSTILE}: [\n---\nText {HOSTILE}.\n".encode())
    policy = Policy(fail_on=frozenset({"error", "threshold"}), threshold=99.0)
    report = evaluated(tmp_path, policy)
    assert len(report.results) == 3
    for width in (50, 100):
        assert _inert(render_score(report, Style(width=width), verbose=verbose))
    check = render_check(report, Style(), verbose=verbose)
    assert _inert(check)
    for text in (render_score(report, Style(), verbose=verbose), check):
        assert "gate passed" not in [line.strip() for line in text.splitlines()]


def test_check_writes_one_line_for_each_finding_and_each_fix_once(three: Report) -> None:
    lines = render_check(three, Style()).splitlines()
    found = [line for line in lines if re.match(r"\S+/SKILL\.md:\d+:\d+: (error|warning|info) [A-Z_0-9]+ \S", line)]
    assert len(found) == sum(len(result.findings) for result in three.results)
    fixes = [line for line in lines if line.startswith("    fix: ")]
    assert len(fixes) == len({finding.id for result in three.results for finding in result.findings})
    assert all("skillgate explain " in line for line in fixes)


def test_check_sums_up_and_names_the_lowest(three: Report) -> None:
    flat = " ".join(render_check(three, Style()).split())
    assert "3 errors" in flat
    assert "in 2 of 3 skills." in flat


def test_check_of_a_clean_skill_is_one_line(tmp_path: Path) -> None:
    write_skill(tmp_path, "good", body=LONG)
    assert render_check(evaluated(tmp_path), Style()) == "No findings in 1 skill.\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a named pipe")
def test_a_skill_that_could_not_be_read_is_said_in_both(tmp_path: Path) -> None:
    write_skill(tmp_path, "good", body=LONG)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "SKILL.md")
    report = evaluated(tmp_path)
    assert [result.evaluated for result in report.results] == [True, False]
    told = {render_score(report, Style()): "not evaluated 1", render_check(report, Style()): "1 not evaluated"}
    for text, words in told.items():
        flat = " ".join(text.split())
        assert words in flat
        assert "is not a regular file" in flat


def test_the_same_report_is_the_same_text(three: Report) -> None:
    assert render_score(three, Style()) == render_score(three, Style())
