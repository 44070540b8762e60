"""Recorded invocations as an HTML page; in a browser where there is one."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("jinja2")

from skillgate.model.invocation import DayFigures, InvocationReport, Tier
from skillgate.report.html_shell import LIMIT
from skillgate.report.invocations_charts import course, divided, spans, spark
from skillgate.report.invocations_html import render
from tests.browser import Browser
from tests.report import invocations_made as made
from tests.report.pages import Page
from tests.report.test_html_browser import _CONTRAST, _UNFOLD

if TYPE_CHECKING:
    from pathlib import Path

REPORTS = {
    "gated": made.gated(),
    "eight": made.eight(),
    "empty": made.empty(),
    "unrated": made.unrated(),
    "hostile": made.hostile(),
    "many": made.many(60),
    "year": replace(made.eight(), daily=made.days(70.0, 400, gaps=range(30, 90))),
}
PAGES = {name: render(report) for name, report in REPORTS.items()}
ROW = "[...document.querySelectorAll('.board tbody tr')]"


def words_of(text: str) -> str:
    """What a reader sees, with single blanks."""
    return re.sub(r"\s+", " ", " ".join(Page(text).words))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_markup_of_ours_alone(name: str) -> None:
    page = Page(PAGES[name])
    assert page.unclosed == 0
    assert {element for element, _ in page.elements} <= {
        *("html", "head", "meta", "title", "style", "body", "a", "header", "main", "footer", "p", "section"),
        *("h1", "h2", "h3", "ol", "ul", "li", "dl", "dt", "dd", "div", "span", "b", "small", "code"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary"),
        *("svg", "rect", "line", "circle", "path", "text", "tspan", "desc"),
    }
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on") or key == "style"]
    assert all(re.fullmatch(r"[ML\d .h]*", path) for path in page.all("d"))
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    known = {f"#{each}" for each in ids}
    assert all(link in known or link.startswith("https://github.com/") for link in page.all("href"))
    assert {each for names in page.all("aria-labelledby") for each in names.split()} <= set(ids)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == tags.count("caption")
    assert "default-src &#39;none&#39;" in PAGES[name]


@pytest.mark.parametrize("name", PAGES)
def test_headings_are_in_order(name: str) -> None:
    levels = [int(tag[1]) for tag, _ in Page(PAGES[name]).elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_gates_are_the_verdict_and_what_they_say_stands_below_it() -> None:
    said = words_of(PAGES["gated"])
    for words in (
        "FAILED publish: 4 of 9 skills, 1 no data; TRIGGERED deprecation: 1 of 7 skills",
        "legacy-migration failed publish: average 33.9 is under 70",
        "csv-import is declining: 66.2 before, 50.6 in the last 7 days (−15.6)",
        "✕ triggered",
        "? no data",
        "10 results with nothing to be done",
    ):
        assert words in said, words


def test_without_gates_the_worst_news_is_the_headline() -> None:
    page = Page(PAGES["eight"])
    assert "2 skills declining, 1 skill Poor" in page.text
    reasons = page.text[: page.text.index("Invocations 393")]
    assert reasons.index("csv-import") < reasons.index("docs-tools:report-writer") < reasons.index("legacy-migration")


def test_every_figure_of_a_skill_is_told_in_words() -> None:
    said = words_of(PAGES["eight"])
    for words in (
        "average 58.4 55.2–61.6 Below Average ↘ declining −15.6",
        "rated 47 of 52 errors 7.5 % 2–20 %",
        "efficiency 41 % very weak",
        "efficiency 69.7 % weak",
        "Rated 93.4 % of 393",
        "Excellent 100 Good 133 Acceptable 72 Below Average 41 Poor 17 Failing 4 Unrated 26",
        "1 skill with too few rated invocations to be listed",
        "95 %, of averages by t; of error rates by Clopper–Pearson; of changes by Welch",
        "26 invocations without a total",
        "3 more weak components",
        "Good 75 to under 90: watch for changes",
    ):
        assert words in said, words
    assert re.search(r"30 % legacy-migration efficiency : move what is seldom needed", said)


def test_what_was_not_measured_is_a_dash_and_nothing_is_drawn_of_it() -> None:
    said = words_of(PAGES["eight"])
    assert "output quality 72 % satisfaction — csv-import" in said
    assert words_of(PAGES["empty"]).count("—") == 4
    assert "a is not rated: too little was observed of all 12 to be rated" in words_of(PAGES["unrated"])
    assert "svg" not in {tag for tag, _ in Page(PAGES["unrated"]).elements}
    assert "skillgate log import" in words_of(PAGES["empty"])


def test_bars_and_whiskers_stand_where_the_figures_say() -> None:
    text = PAGES["eight"]
    board = Page(text[text.index('<table class="skills bench board">') :].partition("</table>")[0])
    bars = [one for tag, one in board.elements if tag == "rect" and one["class"] != "track"]
    assert [one["width"] for one in bars] == ["93.4%", "88.2%", "81.7%", "76.1%", "69.3%", "58.4%", "33.9%"]
    lines = [one for tag, one in board.elements if tag == "line" and "class" not in one]
    assert (lines[0]["x1"], lines[0]["x2"]) == ("90.2%", "96.6%")


def test_a_course_has_gaps_where_no_day_is_and_says_itself_in_words() -> None:
    found = course(made.days(70.0, 10, gaps=(3, 4)))
    assert found is not None
    assert [point.y is None for point in found.points] == [False] * 5 + [True] * 2 + [False] * 3
    assert len(found.segments) == 4 + 2
    assert found.segments[0].x2 == found.points[1].x
    assert found.points[0].y == pytest.approx(200 * (1 - 0.73), abs=0.1)
    assert "2 gaps without rated invocations" in found.said
    assert [text for _, text, _ in found.ticks][::4] == ["Jul 11", "Jul 20"]


def test_a_long_course_is_told_in_steps_that_keep_every_invocation() -> None:
    daily = made.days(70.0, 1000)
    found, step = spans(daily, 120)
    assert (len(found), step) == (112, 9)
    assert sum(span.n for span in found) == sum(day.n for day in daily)
    first = daily[:9]
    assert found[0].average == pytest.approx(
        sum(day.n * (day.average or 0) for day in first) / sum(day.n for day in first)
    )
    assert "of every 4 days" in words_of(PAGES["year"])


def test_days_that_are_none_are_left_out() -> None:
    odd = [DayFigures(day=day, n=1, average=50.0) for day in ("", "<b>", "2026-02-30", "2026-07-01", "9999-12-31")]
    found = course(odd)
    assert found is not None
    assert sum(point.span.n for point in found.points) == 2
    assert course(odd[:3]) is None
    assert spark((), None, None) is None


def test_a_day_alone_is_still_seen() -> None:
    found = spark(made.days(50.0, 1), None, None)
    assert found is not None
    assert found.path == "M2.0 19.6h.01"


def test_the_parts_of_a_bar_fill_it() -> None:
    parts = divided([("Good", 1), ("Poor", 0), ("unrated", 2)])
    assert [part.name for part in parts] == ["tier-good", "tier-unrated"]
    assert parts[-1].left + parts[-1].width == pytest.approx(100, abs=0.02)
    assert divided([("Good", 0)]) == ()


@pytest.mark.parametrize("name", ["skill-{}", '"' * 190 + "{}", "\U0001f600" * 190 + "{}"])
def test_a_page_keeps_to_its_size_however_much_there_is(name: str) -> None:
    report = made.many(400, name)
    shortest = len(render(report, limit=0).encode())
    assert shortest <= LIMIT - 20_000
    text = render(report, limit=shortest + 20_000)
    assert len(text.encode()) <= shortest + 20_000
    assert re.search(r"3[0-9]{2} more skills in the JSON report", words_of(text))
    assert re.search(r"3[0-9]{2} more results in the JSON report", words_of(text))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pages")
    for name, text in PAGES.items():
        (place / f"{name}.html").write_text(text, encoding="utf-8")
    return place


def show(browser: Browser, file: Path, *, width: int = 1280, scheme: str = "light") -> None:
    browser.screen(width)
    browser.media(scheme=scheme)
    browser.open(file.as_uri())


@pytest.mark.parametrize("name", PAGES)
def test_in_a_browser_nothing_runs_nothing_is_asked_for_and_nothing_is_too_wide(
    browser: Browser, folder: Path, name: str
) -> None:
    for width, scheme in ((320, "light"), (390, "dark"), (768, "light"), (1280, "light")):
        show(browser, folder / f"{name}.html", width=width, scheme=scheme)
        browser.run(_UNFOLD)
        assert browser.run("window.owned") is None
        assert browser.run("document.querySelectorAll('script, img, iframe, link, form, object').length") == 0
        assert browser.run("getComputedStyle(document.querySelector('.top')).display") == "flex"
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.seen.requests == [(folder / f"{name}.html").as_uri()]
        assert browser.seen.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["gated", "empty", "unrated", "many"])
def test_in_a_browser_every_text_stands_out(browser: Browser, folder: Path, name: str, scheme: str) -> None:
    for width in (1280, 390):
        show(browser, folder / f"{name}.html", scheme=scheme, width=width)
        browser.run(_UNFOLD)
        found: list[list[Any]] = browser.run(_CONTRAST)
        assert len(found) > 10
        assert not [item for item in found if item[0] < 4.5]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_the_line_and_neighbouring_tiers_are_told_apart(
    browser: Browser, folder: Path, scheme: str
) -> None:
    show(browser, folder / "eight.html", scheme=scheme)
    fills = {
        browser.run(f"getComputedStyle(document.querySelector('.divided .{name}')).fill")
        for name in (f"tier-{tier.value.lower().replace(' ', '-')}" for tier in Tier)
    }
    fills.add(browser.run("getComputedStyle(document.querySelector('.divided .tier-unrated')).fill"))
    assert len(fills) == len(Tier) + 1
    assert browser.run("getComputedStyle(document.querySelector('.course .drawn')).stroke") != "none"
    assert browser.run("getComputedStyle(document.querySelector('.spark path')).fill") == "none"


def test_in_a_browser_everything_is_reached_and_unfolded_by_keyboard(browser: Browser, folder: Path) -> None:
    show(browser, folder / "gated.html")
    wanted = browser.run(
        "(window.parts = [...document.querySelectorAll('main summary, main a, main .scroll')]"
        ".filter(each => each.checkVisibility())).length"
    )
    assert wanted > 20
    browser.press("Tab")
    assert browser.run("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(wanted + 60):
        browser.press("Tab")
        place = browser.run("window.parts.indexOf(document.activeElement)")
        if place >= 0 and place not in reached:
            reached.add(place)
            assert browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
            if browser.run("document.activeElement.tagName") == "SUMMARY":
                browser.press("Enter")
                assert browser.run("document.activeElement.parentElement.open")
        if len(reached) == wanted:
            break
    assert reached == set(range(wanted))


@pytest.mark.parametrize("name", ["gated", "year"])
def test_in_a_browser_every_chart_has_a_name_or_is_passed_over(browser: Browser, folder: Path, name: str) -> None:
    show(browser, folder / f"{name}.html")
    browser.run(_UNFOLD)
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    pictures = [node["name"]["value"] for node in nodes if node["role"]["value"] in ("image", "img") and "name" in node]
    charts = browser.run("document.querySelectorAll('svg[role=img]').length")
    assert charts == 8
    assert sum(picture.startswith("Averages over time") for picture in pictures) == 1
    assert sum(picture.startswith("Average of each day from") for picture in pictures) == 7
    assert browser.run("document.querySelectorAll('svg:not([role=img], [aria-hidden=true])').length") == 0
    regions = [node["name"]["value"] for node in nodes if node["role"]["value"] == "region"]
    assert {"Leaderboard", "Over time", "Invocations by tier", "How sure is this?"} <= set(regions)


def test_in_a_browser_a_bar_a_part_and_a_point_are_where_their_figures_are(browser: Browser, folder: Path) -> None:
    show(browser, folder / "eight.html")
    box = "getBoundingClientRect()"
    drawn = f"""{ROW}.map(row => [parseFloat(row.querySelector('.number').innerText),
      100 * row.querySelector('rect:not(.track)').{box}.width / row.querySelector('rect.track').{box}.width])"""
    rows = browser.run(drawn)
    assert len(rows) == 7
    assert all(abs(average - shown) < 0.5 for average, shown in rows)
    part = f"""(one => 100 * one.querySelector('rect').{box}.width / one.{box}.width)(
      document.querySelector('.divided'))"""
    assert browser.run(part) == pytest.approx(100 * 46 / 61, abs=1)
    chart = f"""(() => {{
      const at = document.querySelector('.course circle').{box};
      const level = [...document.querySelectorAll('.course .limit')].map(each => each.{box}.top);
      return [(level[1] - at.top - at.height / 2) / (level[1] - level[0]) * 15 + 75, level.length];
    }})()"""
    first, levels = browser.run(chart)
    assert first == pytest.approx(REPORTS["eight"].daily[0].average, abs=0.5)
    assert levels == 5


def test_in_a_browser_a_link_leads_to_the_row_of_its_skill(browser: Browser, folder: Path) -> None:
    show(browser, folder / "gated.html")
    browser.run("document.querySelector('.verdict a').click()")
    place = "document.querySelector('tr:target')"
    assert browser.run(f"{place}.querySelector('code').innerText") == "legacy-migration"
    top = browser.run(f"{place}.getBoundingClientRect().top")
    assert 0 <= top < 900


def test_in_a_browser_a_phone_has_labels_and_no_empty_tiers(browser: Browser, folder: Path) -> None:
    shown = "getComputedStyle(document.querySelector('{}')).display"
    show(browser, folder / "eight.html")
    assert browser.run(shown.format(".board .label")) == "none"
    assert browser.run(shown.format(".tiered .zero")) == "table-cell"
    show(browser, folder / "eight.html", width=390)
    assert browser.run(shown.format(".board .label")) == "inline"
    assert browser.run(shown.format(".tiered .zero")) == "none"


def test_a_report_is_the_only_thing_a_page_is_made_of() -> None:
    again: InvocationReport = made.gated()
    assert render(again) == PAGES["gated"]


def test_figures_over_all_skills_are_not_taken_from_a_part_of_them() -> None:
    whole = made.report(made.figures("a", 80.0, 10), made.figures("b", 70.0, 30))
    part = replace(whole, rated=100, invocations=104, below_minimum=7)
    assert "Skills over 2" in words_of(render(part))
    assert "Average —" in words_of(render(part))
    assert "7 skills with too few rated invocations" in words_of(render(part))
    days = (DayFigures(day="2026-07-19", n=60, average=50.0), DayFigures(day="2026-07-20", n=40, average=75.0))
    assert "Average 60.0 Acceptable" in words_of(render(replace(part, daily=days)))
    assert "Average 72.5 Acceptable" in words_of(render(whole))
    assert "Skills 2" in words_of(render(whole))
