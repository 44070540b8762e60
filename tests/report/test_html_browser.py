"""The HTML page in a browser: it is drawn as meant, nothing in it runs, and it serves phones, keyboards and print."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from skillgate.model.codec import decode
from skillgate.model.report import Report
from skillgate.report.compare import compare
from tests.browser import Browser
from tests.cli.running import run
from tests.report.pages import (
    EVIL,
    REPOSITORY,
    RUN_URL,
    a_diff,
    a_measured_skill,
    a_run,
    hostile_report,
    many,
)
from tests.report.reports import a_report, a_skill, unread
from tests.report.written import html, page

_DATA = os.environ.get("SKILLGATE_TEST_DATA")
_HOSTILE = hostile_report()
_SEVERAL = a_report(a_measured_skill(40), a_measured_skill(path="skills/b"), unread(), a_skill(path="skills/c"))
PAGES = {
    "one": html(a_report(a_measured_skill()), "score"),
    "many": html(many(60), "score"),
    "action": page(
        report=_SEVERAL,
        diff=a_diff(_SEVERAL.results),
        run=a_run(),
        repository_url=REPOSITORY,
        run_url=RUN_URL,
    ),
    "hostile": page(
        report=_HOSTILE,
        diff=a_diff(_HOSTILE.results, label=EVIL[0]),
        run=a_run(EVIL[1], event=EVIL[0]),
        repository_url=REPOSITORY,
    ),
    "hostile-diff": html(a_diff(_HOSTILE.results, label=EVIL[7]), "diff"),
    "diff": html(a_diff(_SEVERAL.results), "diff"),
    "compare": html(compare(a_measured_skill(50, "a"), a_measured_skill(91, "b"), version="1", digest=""), "compare"),
    "no-report": page(report=None, run=a_run(result="error", exit_code=3)),
}
_UNFOLD = "document.querySelectorAll('details').forEach(each => { each.open = true })"
# Every text with its contrast against what is painted behind it, by the formula of WCAG 2; the worst ones come first.
_CONTRAST = """
(() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([red, green, blue]) => [red, green, blue].map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const painted = numbers(getComputedStyle(at).backgroundColor);
      if (painted.length < 4 || painted[3] > 0) return painted;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll('body *')) {
    const text = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data).join('').trim();
    if (!text || !element.checkVisibility() || element.closest('title, desc')) continue;
    const style = getComputedStyle(element);
    const drawn = element.namespaceURI.endsWith('svg') ? style.fill : style.color;
    const [one, other] = [light(numbers(drawn)), light(behind(element))].sort((a, b) => b - a);
    found.push([(one + 0.05) / (other + 0.05), element.className.baseVal ?? element.className, text.slice(0, 40)]);
  }
  return found.sort((a, b) => a[0] - b[0]);
})()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("pages")
    for name, text in PAGES.items():
        (place / f"{name}.html").write_text(text, encoding="utf-8")
    return place


def show(browser: Browser, file: Path, *, width: int = 1280, scheme: str = "light", medium: str = "screen") -> None:
    browser.screen(width)
    browser.media(scheme=scheme, medium=medium)
    browser.open(file.as_uri())


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_styled_runs_nothing_and_asks_for_nothing(browser: Browser, folder: Path, name: str) -> None:
    show(browser, folder / f"{name}.html")
    browser.run(_UNFOLD)
    assert browser.run("window.owned") is None
    assert browser.run("document.querySelectorAll('img, iframe, link, form, object, embed').length") == 0
    assert browser.run("document.scripts.length") == 1
    assert browser.run("getComputedStyle(document.querySelector('.top')).display") == "flex"
    assert browser.seen.requests == [(folder / f"{name}.html").as_uri()]
    assert browser.seen.problems == []


def test_what_would_run_is_seen_and_stopped(browser: Browser, tmp_path: Path) -> None:
    extra = '<script>window.owned = 1</script><img src="https://evil.invalid/x.png" onerror="window.owned = 2"></body>'
    (tmp_path / "page.html").write_text(PAGES["one"].replace("</body>", extra), encoding="utf-8")
    show(browser, tmp_path / "page.html")
    assert browser.run("window.owned") is None
    told = " ".join(browser.seen.problems)
    assert "violates script-src-elem" in told
    assert "violates img-src" in told


@pytest.mark.parametrize("width", [320, 360, 768])
@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_wider_than_its_window(browser: Browser, folder: Path, name: str, width: int) -> None:
    show(browser, folder / f"{name}.html", width=width)
    for unfold in ("0", _UNFOLD):
        browser.run(unfold)
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.run("innerWidth") == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["one", "many", "action", "diff", "compare", "no-report"])
def test_every_text_stands_out(browser: Browser, folder: Path, name: str, scheme: str) -> None:
    show(browser, folder / f"{name}.html", scheme=scheme)
    browser.run(_UNFOLD)
    found: list[list[Any]] = browser.run(_CONTRAST)
    assert len(found) > 10
    assert not [item for item in found if item[0] < 4.5]


def test_dark_and_light_differ(browser: Browser, folder: Path) -> None:
    colours = []
    for scheme in ("light", "dark"):
        show(browser, folder / "many.html", scheme=scheme)
        colours.append(
            browser.run("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
        )
    (paper, ink), (night, chalk) = colours
    assert paper != night
    assert ink != chalk


def test_every_part_is_reached_and_unfolded_by_keyboard(browser: Browser, folder: Path) -> None:
    show(browser, folder / "action.html")
    wanted = browser.run(
        "(window.parts = [...document.querySelectorAll('summary')].filter(each => each.checkVisibility())).length"
    )
    assert wanted >= 3
    assert browser.run("document.activeElement === document.body")
    browser.press("Tab")
    assert browser.run("document.activeElement.className") == "skip"
    assert browser.run("document.activeElement.getBoundingClientRect().left") >= 0
    reached = set()
    for _ in range(200):
        browser.press("Tab")
        place = browser.run("window.parts.indexOf(document.activeElement)")
        if place >= 0 and place not in reached:
            reached.add(place)
            assert browser.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
            was = browser.run("document.activeElement.parentElement.open")
            browser.press("Enter")
            assert browser.run("document.activeElement.parentElement.open") is not was
            browser.press("Enter") if was else None
        if len(reached) == wanted:
            break
    assert reached == set(range(wanted))


def test_a_link_to_a_skill_unfolds_it(browser: Browser, folder: Path) -> None:
    show(browser, folder / "many.html")
    part = "document.getElementById('skill-7').closest('details')"
    assert not browser.run(f"{part}.open")
    browser.run("document.querySelector('a[href=\"#skill-7\"]').click()")
    assert browser.run(f"new Promise(done => requestAnimationFrame(() => done({part}.open)))")
    top = browser.run(f"{part}.getBoundingClientRect().top")
    assert 0 <= top < 200


def test_print_shows_what_is_folded_away(browser: Browser, folder: Path) -> None:
    seen = "[...document.querySelectorAll('.below .items li')].filter(each => each.checkVisibility()).length"
    show(browser, folder / "many.html")
    assert browser.run(seen) == 0
    show(browser, folder / "many.html", medium="print")
    assert browser.run(seen) == browser.run("document.querySelectorAll('.below .items li').length") > 100


def test_a_bar_is_as_long_as_its_score(browser: Browser, folder: Path) -> None:
    show(browser, folder / "many.html")
    drawn = """[...document.querySelectorAll('tr:has(+ .below)')].map(row => [
      parseFloat(row.querySelector('.number').innerText),
      row.querySelectorAll('.chart rect')[1].getBoundingClientRect().width /
      row.querySelector('.chart rect').getBoundingClientRect().width * 100])"""
    rows = browser.run(drawn)
    assert len(rows) == 60
    assert all(abs(score - shown) < 1 for score, shown in rows)


def test_a_table_is_sorted_and_filtered(browser: Browser, folder: Path) -> None:
    show(browser, folder / "many.html")
    names = "[...document.querySelectorAll('tr:has(+ .below)')].filter(row => row.checkVisibility())"
    names += ".map(row => row.cells[0].innerText)"
    before = browser.run(names)
    click = "[...document.querySelectorAll('th button')].find(one => one.innerText.startsWith('Score')).click()"
    browser.run(f"{click}; {click}")
    assert browser.run(names) == list(reversed(before)) != before
    browser.run("document.querySelector('input').value = 'skill-7'")
    browser.run("document.querySelector('input').dispatchEvent(new Event('input'))")
    assert browser.run(names) == [name for name in reversed(before) if "skill-7" in name]


@pytest.mark.skipif(_DATA is None, reason="SKILLGATE_TEST_DATA names no directory of public skills")
def test_real_skills_make_a_page_like_the_others(browser: Browser, tmp_path: Path) -> None:
    done = run(Path(str(_DATA)) / "corpus", "score", "--output", "json", "--threshold", "70", ".")
    report = decode(Report, json.loads(done.out))
    text = html(report, "score")
    assert len(text.encode()) < 3_000_000
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    show(browser, tmp_path / "page.html", width=360)
    assert browser.run("document.documentElement.scrollWidth") <= 360
    assert browser.run("document.querySelectorAll('tr:has(+ .below)').length") == len(report.results)
    assert browser.seen.problems == []
