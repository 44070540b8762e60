"""Recorded invocations in every format: trees, widths, colours, bounds; no name is obeyed."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("jinja2")

from skillgate.format import Style
from skillgate.model.invocation import DayFigures, Direction, InvocationReport, Tier
from skillgate.model.report import Verdict
from skillgate.report import charts
from skillgate.report.formats import html, markdown, text
from skillgate.report.formats.text import columns
from skillgate.report.invocations import dashboard, lists, skill_page
from skillgate.report.invocations.dashboard import stretches, view
from tests.report import invocations_made as made
from tests.report.pages import Page
from tests.report.test_html_browser import _CONTRAST, _UNFOLD
from tests.report.tree import dump, matches_golden

if TYPE_CHECKING:
    from pathlib import Path

    from skillgate.report.view import View
    from tests.browser import Browser

REPORTS = {
    "gated": made.gated(),
    "eight": made.eight(),
    "empty": made.empty(),
    "unrated": made.unrated(),
    "hostile": made.hostile(),
    "many": made.many(60),
    "grouped": made.with_groups(made.eight()),
    "year": replace(made.eight(), daily=made.days(70.0, 400, gaps=range(30, 90))),
}
SCORED = [made.an_invocation(), made.an_invocation(invocation_id=made.BAD[0], skill_name=made.BAD[8], total=None)]
LISTS = {
    "scores": lists.scores(SCORED),
    "score": lists.scores(SCORED[:1], made.PARTS),
    "list": lists.listed(SCORED),
    "record": lists.record(*SCORED[0], made.PARTS, {"origin": None}, {"model": ("m", True)}),
    "stats": lists.stats(made.report(*made.unrated().skills, *made.eight().skills)),
    "trends": lists.trends(made.eight().trends),
    "gates": lists.gates(made.gated().gates),
    "hostile-stats": lists.stats(made.hostile()),
    "hostile-trends": lists.trends(made.hostile().trends),
    "hostile-gates": lists.gates(made.hostile().gates),
}
SKILLS = {
    "skill": skill_page.view(made.skill_page()),
    "hostile-skill": skill_page.view(made.skill_page(made.BAD[0], made.hostile())),
}
VIEWS = {name: view(report) for name, report in REPORTS.items()} | LISTS | SKILLS
PAGES = {name: html.write(VIEWS[name]) for name in (*REPORTS, *SKILLS)}
CODE = re.compile(r"\x1b\[[0-9;]*m")


def shown(what: View | InvocationReport, width: int = 100, *, color: bool = False, verbose: bool = True) -> str:
    tree = view(what) if isinstance(what, InvocationReport) else what
    return text.write(tree, Style(width, color=color), verbose=verbose)


def words_of(page: str) -> str:
    """What a reader sees, with single spaces."""
    return re.sub(r"\s+", " ", " ".join(Page(page).words))


def row(what: View | InvocationReport, skill: str, **options: Any) -> str:
    lines = shown(what, 160, **options).splitlines()
    return next(line for line in lines if CODE.sub("", line).startswith(f"{skill} "))


@pytest.mark.parametrize("name", ["gated", "unrated", "grouped", "skill", "lists"])
def test_what_is_namesis_what_was_shown(name: str) -> None:
    names = ("score", "record", "stats", "trends") if name == "lists" else (name,)
    assert matches_golden(f"invocations-{name}.tree", "\n".join(dump(VIEWS[each]) for each in names))


@pytest.mark.parametrize("width", [60, 72, 80, 120, 160])
@pytest.mark.parametrize("name", VIEWS)
def test_no_line_is_wider_than_the_terminal_and_colours_add_nothing(name: str, width: int) -> None:
    for verbose in (True, False):
        plain, painted = (shown(VIEWS[name], width, color=color, verbose=verbose) for color in (False, True))
        assert max(map(columns, plain.splitlines())) <= width
        assert "\x1b" not in plain
        assert CODE.sub("", painted) == plain


@pytest.mark.parametrize(
    "name", ["hostile", "hostile-skill", "hostile-gates", "hostile-stats", "hostile-trends", "scores", "list"]
)
def test_nothing_of_a_name_is_obeyed(name: str) -> None:
    said = shown(VIEWS[name], 80)
    assert not {each for each in said if ord(each) < 32 and each != "\n"}
    assert not {"\u202e", "\u2066", "\u2028"} & set(said)
    assert not [line for line in said.splitlines() if line.lstrip().startswith("::")]
    assert "##[" not in said


def test_an_average_has_the_colour_of_its_tier_and_a_trend_that_of_its_direction() -> None:
    found = row(made.eight(), "csv-import", color=True, verbose=False)
    assert re.search(r"\x1b\[31m *58\.4 \(55\.2–61\.6\)", found)
    assert re.search(r"\x1b\[31m↘ −15\.6", found)
    assert re.search(r"\x1b\[32m *93\.4", row(made.eight(), "pdf-forms", color=True, verbose=False))


def test_the_largest_decline_is_first_and_low_averages_follow() -> None:
    lines = shown(made.eight(), 200).splitlines()
    assert lines[0] == "2 skills declining, 1 skill Poor, 1 skill Below Average"
    named = [line[4:].partition(" ")[0] for line in lines if line.startswith("  - ")]
    assert named == ["csv-import", "docs-tools:report-writer", "legacy-migration", "csv-import"]


def test_without_bad_news_the_average_is_the_headline() -> None:
    calm = replace(made.report(made.figures("a", 80.0, 10), made.figures("b", 70.0, 30)), gates=())
    assert shown(calm).startswith("No skill is declining or below average; the average is 72.5\n")


def test_figures_over_all_skills_are_not_taken_from_a_part_of_them() -> None:
    whole = made.report(made.figures("a", 80.0, 10), made.figures("b", 70.0, 30))
    part = shown(replace(whole, rated=100, invocations=104, below_minimum=7))
    assert "skills over 2 · " in part
    assert "average — · " in part
    assert "7 skills have fewer than 5 rated invocations\n" in part


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"avg_score": 69.96, "error_rate": 1 / 3000, "coverage": 0.9996}, ("69.96", "0.03 %", "99.96 %")),
        ({"avg_score": 89.96}, ("89.96",)),
        ({"shares": (0.6996, 0.9, 0.4999, 0.7)}, ("69.96 %", "49.99 %", "70 %")),
    ],
)
def test_no_figure_reads_as_one_that_it_does_not_reach(changes: dict[str, Any], words: tuple[str, ...]) -> None:
    shares = {"shares": changes.pop("shares")} if "shares" in changes else {}
    figures = replace(made.figures("near", 60.0, **shares), **changes)
    assert all(word in shown(lists.stats(made.report(figures)), 160).split("\n\n", 1)[1] for word in words)


def test_what_was_not_measured_is_a_dash_with_its_reason() -> None:
    assert row(LISTS["stats"], "a").split() == ["a", "12", "0", *["—"] * 3, "20.0", "%"]
    assert "- a: avg_score: too little was observed of all 12 to be rated" in shown(LISTS["stats"])
    assert "a is not rated: too little was observed of all 12 to be rated" in words_of(PAGES["unrated"])
    assert "quality 72 % satisfaction —" in words_of(PAGES["eight"])
    assert "skillgate log import" in words_of(PAGES["empty"])


def test_all_six_tiers_and_the_unrated_are_counted() -> None:
    said = re.search(r"All skills: (.*(?:\n .*)*)", shown(made.eight(), 160))
    assert said is not None
    counted = [int(number) for number in re.findall(r"\d+", said[1].partition("\n  skill")[0])]
    assert len(counted) == len(Tier) + 1
    assert sum(counted) == made.eight().invocations


def test_of_many_skills_the_first_are_namesand_the_others_counted() -> None:
    said = shown(made.many(200), verbose=False)
    assert "… 170 more skills; -v shows them" in said
    assert len(said.splitlines()) < 200
    assert re.search(r"^skill-199 ", shown(made.many(200)), re.MULTILINE)


def test_gates_are_the_verdict_and_their_skills_are_worst_first() -> None:
    said = shown(LISTS["gates"])
    assert said.startswith("FAILED publish: 4 of 9 skills, 1 no data; TRIGGERED deprecation: 1 of 7 skills\n")
    states = re.findall(r"^ +[\w:-]+ +(failed|no data|passed|triggered|clear)  ", said, re.MULTILINE)
    assert states == ["failed"] * 4 + ["no data"] + ["passed"] * 4 + ["triggered"] + ["clear"] * 6
    assert re.search(r"log-triage +failed .* 3 invocations, 10 are", said, re.MULTILINE)
    assert "✗ publish · 4 failed, 1 no data, 4 passed\n  what a skill needs to be published\n" in said


def test_the_verdict_of_gates() -> None:
    good = made.figures("a", 91.0)
    passed = made.check(good, "publish", "passed")
    idle = made.check(good, "deprecation", "insufficient_data", "12 invocations of 20", kind="trigger")
    clear = made.check(made.figures("b", 80.0), "deprecation", "clear", kind="trigger")
    gap = made.check(good, "publish", "no_data")
    failed = [made.check(good, name, "failed") for name in "abcde"]
    for checks, title, mark in (
        ([passed], "PASSED publish: 1 of 1 skill", "pass"),
        ([idle], "INSUFFICIENT DATA deprecation: 1 of 1 skill", "pass"),
        ([idle, clear], "CLEAR deprecation: 1 of 2 skills, 1 insufficient data", "pass"),
        ([passed, gap], "NO DATA publish: 1 of 2 skills", "error"),
        (failed, "FAILED a: 1 of 1 skill; FAILED b: 1 of 1 skill; FAILED c: 1 of 1 skill; 2 more gates", "fail"),
        ([], "No skill was checked: no invocation is recorded here", "none"),
    ):
        found = lists.gates(checks)
        assert (found.title, found.mark) == (title, mark)
    whole = view(made.report(good, gates=(gap,), gate=Verdict(passed=False)))
    assert (whole.mark, whole.title) == ("fail", "NO DATA publish: 1 of 1 skill")


def test_a_trend_says_what_it_rests_on() -> None:
    said = shown(lists.trends([made.trend("x", 80.0, 70.0, Direction.DECLINING)]), 200)
    for words in (
        "↘ declining  x\n",
        "last 7 days 70.0 (n 12), before 80.0 (n 28), change −10.0 points, −12.5 %; 95 % −14.1 to −5.9, resampled",
        "95 %       Welch\nresampled  bootstrap\n",
    ):
        assert words in said
    few = shown(lists.trends([made.trend("x", 80.0, 70.0, None)]), 200)
    assert "· too few to compare" in few
    assert "3 of 5 in the last 7 days" in few


def test_nothing_recorded_is_said() -> None:
    for found in (lists.stats(made.empty()), lists.trends([]), lists.scores([]), lists.listed([])):
        assert shown(found) == "No invocation is recorded here\n"


def test_an_id_is_never_cut() -> None:
    identifier = "5f0c2a1e-8a55-4fd4-8f8c-2d38c9a4a8d1"
    found = lists.listed([made.an_invocation(invocation_id=identifier, skill_name="a-long-name-" * 9)])
    assert all(identifier in shown(found, width) for width in (60, 80, 100, 120))


def test_markdown_is_bounded_and_inert_whatever_it_holds() -> None:
    checks = made.hostile().gates * 200
    for limit in (20_000, 30_000):
        said = markdown.write(lists.gates(checks), limit=limit)
        assert len(said.encode()) <= limit
        assert re.search(r"more (parts|skills) in the JSON report", said)
    whole = markdown.write(view(made.hostile()))
    whole = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", whole)  # but for code, which is inert
    whole = re.sub(r"<summary>[^<\n]*(<code>[^<\n]*</code>[^<\n]*)*</summary>|</?details>|<br>", "", whole)
    assert "<" not in whole
    assert "](" not in re.sub(r"\\.", "", whole)
    assert "@team" not in whole
    assert "https:" not in whole


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_markup_of_ours_alone(name: str) -> None:
    page = Page(PAGES[name])
    assert page.unclosed == 0
    assert {element for element, _ in page.elements} <= {
        *("html", "head", "meta", "title", "style", "body", "a", "header", "main", "footer", "p", "section", "script"),
        *("h1", "h2", "h3", "ol", "ul", "li", "dl", "dt", "dd", "div", "span", "b", "i", "small", "code"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure", "figcaption"),
        *("svg", "rect", "line", "circle", "text"),
    }
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on") or key == "style"]
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    known = {f"#{each}" for each in ids}
    assert all(link in known or link.startswith("https://github.com/") for link in page.all("href"))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h\d", tag)]
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_every_figure_of_a_skill_is_in_words() -> None:
    said = words_of(PAGES["eight"])
    for words in (
        "average 58.4 55.2–61.6 tier Below Average trend ↘ −15.6",
        "Invocations 52, 47 rated Errors 7.5 %, 95 % interval 2–20 %",
        "41 % csv-import efficiency: very weak, over 47 invocations",
        "69.7 % docs-tools:report-writer efficiency: weak, over 38 invocations",
        "Rated 367 of 393 (93.4 %)",
        "Excellent 100 Good 133 Acceptable 72 Below Average 41 Poor 17 Failing 4 unrated 26",
        "1 skill has fewer than 5 rated invocations: log-triage",
        "95 %, of averages by t; of error rates by Clopper–Pearson; of changes by Welch",
        "26 invocations without a total",
        "4 skills without a change",
        "Good 75 to under 90: watch for changes",
    ):
        assert words.lower() in said.lower(), words


def test_bars_and_whiskers_are_where_the_figures_say() -> None:
    shapes = [one for tag, one in Page(PAGES["eight"]).elements if tag in {"rect", "line"}]
    bars = [one["width"] for one in shapes if one["class"] in {"good", "fair", "poor"}]
    assert bars == ["93.4%", "88.2%", "81.7%", "76.1%", "69.3%", "58.4%", "33.9%"]
    whiskers = [one for one in shapes if one["class"] == "whisker"]
    assert (whiskers[0]["x1"], whiskers[0]["x2"]) == ("90.2%", "96.6%")


def test_a_course_has_gaps_where_no_day_is_and_describes_itself() -> None:
    found, step = stretches(made.days(70.0, 10, gaps=(3, 4)), 120)
    assert step == 1
    assert [one.average is None for one in found] == [False] * 5 + [True] * 2 + [False] * 3
    drawn = charts.course([charts.Point(one.average, one.n, "") for one in found], [(90.0, "Excellent")], [(0, "a")])
    paths = [shape for shape in drawn.shapes if shape.style == "path"]
    dots = [shape for shape in drawn.shapes if shape.style == "dot"]
    assert (len(paths), len(dots)) == (4 + 2, 8)
    assert paths[0].x + paths[0].width == pytest.approx(dots[1].x)
    assert dots[0].y == pytest.approx(2 + 200 * (1 - 0.73), abs=0.1)
    alone = charts.spark([50.0, None, 40.0, 30.0])
    assert [shape.kind for shape in alone.shapes] == ["line", "circle"]
    gaps = replace(made.eight(), daily=made.days(70.0, 10, gaps=(3, 4)))
    assert "2 gaps without rated invocations" in " ".join(shown(gaps, 160).split())


def test_a_long_course_is_in_steps_that_keep_every_invocation() -> None:
    daily = made.days(70.0, 1000)
    found, step = stretches(daily, 120)
    assert (len(found), step) == (112, 9)
    assert sum(one.n for one in found) == sum(day.n for day in daily)
    mean = sum(day.n * (day.average or 0) for day in daily[:9]) / sum(day.n for day in daily[:9])
    assert found[0].average == pytest.approx(mean)
    assert "every 4 days" in words_of(PAGES["year"])


def test_days_that_are_none_are_left_out() -> None:
    odd = [DayFigures(day=day, n=1, average=50.0) for day in ("", "<b>", "2026-02-30", "2026-07-01", "9999-12-31")]
    assert sum(one.n for one in stretches(odd, 120)[0]) == 2
    assert stretches(odd[:3], 120) == ((), 1)


@pytest.mark.parametrize("name", ["skill-{}", '"' * 190 + "{}", "\U0001f600" * 190 + "{}"])
def test_a_page_keeps_to_its_size_however_much_there_is(name: str) -> None:
    assert len(html.write(view(made.many(400, name))).encode()) <= html.LIMIT
    limited = html.write(view(made.many(400)), limit=400_000)
    assert len(limited.encode()) <= 400_000
    assert re.search(r"\d+ more parts in the JSON report", words_of(limited))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pages")
    for name, page in PAGES.items():
        (place / f"{name}.html").write_text(page, encoding="utf-8")
    return place


def show(browser: Browser, file: Path, *, width: int = 1280, scheme: str = "light") -> None:
    browser.screen(width)
    browser.media(scheme=scheme)
    browser.open(file.as_uri())
    browser.run(_UNFOLD)


@pytest.mark.parametrize("name", PAGES)
def test_in_a_browser_nothing_runs_and_nothing_is_too_wide(browser: Browser, folder: Path, name: str) -> None:
    for width, scheme in ((320, "light"), (390, "dark"), (768, "light"), (1280, "light")):
        show(browser, folder / f"{name}.html", width=width, scheme=scheme)
        assert browser.run("window.owned") is None
        assert browser.run("document.querySelectorAll('img, iframe, link, form, object').length") == 0
        assert browser.run("document.scripts.length") == 1
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.seen.requests == [(folder / f"{name}.html").as_uri()]
        assert browser.seen.problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["gated", "empty", "unrated"])
def test_in_a_browser_every_text_stands_out(browser: Browser, folder: Path, name: str, scheme: str) -> None:
    for width in (1280, 390):
        show(browser, folder / f"{name}.html", scheme=scheme, width=width)
        found: list[list[Any]] = browser.run(_CONTRAST)
        assert len(found) > 10
        assert not [item for item in found if item[0] < 4.5]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_the_tiers_differ_and_a_dot_is_where_its_figure_is(
    browser: Browser, folder: Path, scheme: str
) -> None:
    show(browser, folder / "eight.html", scheme=scheme)
    tiers = [f"tier-{tier.value.lower().replace(' ', '-')}" for tier in Tier] + ["tier-unrated"]
    fills = {browser.run(f"getComputedStyle(document.querySelector('figure svg .{tier}')).fill") for tier in tiers}
    assert len(fills) == len(Tier) + 1
    assert browser.run("getComputedStyle(document.querySelector('figure .path')).stroke") != "none"
    first, levels = browser.run("""(() => {
      const at = document.querySelector('figure circle').getBoundingClientRect();
      const lines = [...document.querySelector('figure').querySelectorAll('.limit')];
      const level = lines.map(each => each.getBoundingClientRect().top);
      return [(level[1] - at.top - at.height / 2) / (level[1] - level[0]) * 15 + 75, level.length];
    })()""")
    assert first == pytest.approx(REPORTS["eight"].daily[0].average, abs=0.5)
    assert levels == 5


def test_in_a_browser_every_chart_has_a_name_or_is_passed_over(browser: Browser, folder: Path) -> None:
    show(browser, folder / "gated.html")
    names = browser.run("[...document.querySelectorAll('svg[role=img]')].map(each => each.ariaLabel)")
    course = "Average and number of rated invocations, every day"
    assert [name.partition(":")[0] for name in names] == [*[course] * 8, "All skills"]  # of all, and of each skill
    assert browser.run("document.querySelectorAll('svg:not([role=img], [aria-hidden=true])').length") == 0


def test_in_a_browser_a_link_leads_to_the_details_of_its_skill(browser: Browser, folder: Path) -> None:
    browser.screen(1280)
    browser.open((folder / "gated.html").as_uri())
    browser.run("document.querySelector('.verdict a[href=\"#skill-7\"]').click()")
    assert browser.run("document.querySelector(':target').innerText").startswith("Invocations")
    row = "document.querySelector(':target').closest('tr').previousElementSibling"
    assert browser.run(f"{row}.querySelector('code').innerText") == "legacy-migration"
    assert -1 <= browser.run("document.querySelector(':target').getBoundingClientRect().top") < 900


def test_in_a_browser_120_skills_have_their_chart_at_the_top_and_are_filtered(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "many.html"
    page.write_text(html.write(view(made.with_groups(made.many(120)))), encoding="utf-8")
    for width in (1280, 390):
        browser.screen(width)
        browser.open(page.as_uri())
        assert browser.run("document.querySelector('figure').getBoundingClientRect().top") < 1_500
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.run("document.documentElement.scrollHeight") < 12_000
    browser.screen(1280)
    browser.open(page.as_uri())
    rows = "[...document.querySelectorAll('.scrolls')].at(-2).querySelectorAll(':scope > table > tbody > tr')"
    shown_rows = (
        f"[...{rows}].filter(each => !each.hidden && !each.matches('.below')).map(each => each.cells[0].innerText)"
    )
    assert len(browser.run(shown_rows)) == 120
    browser.run("""(() => {
      const field = [...document.querySelectorAll('.scrolls')].at(-2).previousElementSibling;
      field.value = 'skill-11'; field.dispatchEvent(new Event('input'));
    })()""")
    names = browser.run(shown_rows)
    assert [name.split()[0] for name in names] == ["skill-11", *(f"skill-{n}" for n in range(110, 120))]


def test_the_tier_is_in_the_row_at_80_columns() -> None:
    lines = shown(made.with_groups(made.eight()), 80, verbose=False).splitlines()
    assert any(
        re.fullmatch(r"csv-import +58\.4 \(55\.2–61\.6\)  Below Average  ↘ −15\.6 +47 +7\.5 %", one) for one in lines
    )
    assert any(re.fullmatch(r"csv-import +5\.5k · 22\.0k +34\.0 s · 2\.3 min +≈ .*", one) for one in lines)


def test_versions_are_compared_and_what_may_be_chance_says_so() -> None:
    said = shown(made.with_groups(made.eight()), 120)
    assert "↗  pdf-forms 0.3.2 → 0.4.0: +17.2\n   77.2 (n 34) → 94.4 (n 10); 95 % +12.2 to +22.2\n" in said
    assert re.search(r"→  release-notes 0\.3\.2 → 0\.4\.0: −1\.4\n.*; this may be chance", said)
    assert "·  code-review 0.3.2 → 0.4.0: too few to compare" in said
    assert "5 other changes of version without a difference beyond chance" in said


def test_one_value_of_a_dimension_has_no_table_and_several_are_weighed_by_their_rated_uses() -> None:
    whole = made.with_groups(made.report(made.figures("a", 80.0), made.figures("b", 60.0)))
    said = shown(whole, 120)
    assert re.search(r"claude-sonnet-5 +2 +42 +40 +70\.0", said)
    alone = replace(
        whole, skills=tuple(replace(one, groups={"model": (made.group("m", 70.0),)}) for one in whole.skills)
    )
    assert "\nModels\n" in said
    assert "\nModels\n" not in shown(alone, 120)


def test_a_cost_that_is_unknown_is_not_zero_and_an_estimate_is_marked() -> None:
    cost = made.spread_of(0.25, 10, total=2.5, estimated=4)
    groups = {"model": (made.group("dear", 70.0, 29, cost_usd=cost), made.group("unpriced", 70.0))}
    skill = made.figures("a", 80.0, 50, groups=groups, cost_usd=cost, tokens=made.spread_of(3_200))
    said = shown(made.report(skill), 120)
    assert re.search(r"dear +1 +30 +29 +70\.0 +≈ \$2\.50 \(10 of 30\)", said)
    assert re.search(r"unpriced +1 +21 +20 +70\.0 +—", said)
    assert "sum of cost, known for 10 of 52" in said
    assert "$0.00" not in said


def test_a_use_without_a_recorded_ending_shows_what_its_ending_scored() -> None:
    uses = (made.use("x", "a", 9.0, ending=None, completion=0.0), made.use("y", "a", 9.5, ending=None, completion=None))
    said = shown(made.report(made.figures("a", 20.0), worst=uses), 160)
    assert "UTC · 0 of 25 for its ending (user rejected)" in said
    assert "UTC · no known ending (user rejected)" in said


def test_a_known_outcome_is_not_called_unknown() -> None:
    reserved = dashboard.reservations
    assert [*reserved(made.figures("a", 80.0, 28, unrated=0, errors_known=0))] == [
        "the number of errors of 28 of 28 is unknown"
    ]
    assert [*reserved(made.figures("a", 80.0, 28, unrated=0, endings_known=20))] == [
        "the outcome of 8 of 28 is unknown"
    ]


def test_a_window_that_ends_at_midnight_ends_with_the_day_before() -> None:
    from datetime import UTC, datetime, timedelta

    until = datetime(2026, 11, 21, tzinfo=UTC)
    report = replace(made.eight(), until=until, since=until - timedelta(days=30))
    assert "2026-10-22 to 2026-11-20" in shown(report)
