"""Benchmark reports, and diffs of them, as HTML pages; in a browser where there is one."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("jinja2")

from skillgate.bench.answers import bounded_output
from skillgate.bench.request import BenchPolicy
from skillgate.model.bench import (
    Attempt,
    BenchChange,
    BenchDiff,
    ErrorKind,
    Flip,
    Metric,
    PairedTest,
    Pairing,
    Rerun,
    RerunOutcome,
    RunSettings,
    Status,
    TaskChange,
)
from skillgate.model.benchmark import NotLoaded
from skillgate.model.report import GateOutcome, Tool, Verdict
from skillgate.model.score import Outcome
from skillgate.report import bench, bench_diff
from skillgate.report.formats.html import LIMIT, write
from tests.bench.made import result
from tests.bench.written import good, mixed, skill_report, whole
from tests.browser import MISSING, Browser, program
from tests.report.pages import EVIL, Page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from skillgate.model.bench import BenchReport

POLICY = BenchPolicy(min_completion=0.8)


def hostile() -> BenchReport:
    """A report with something hostile in every text."""
    reports = []
    for index, text in enumerate(EVIL):
        tried = Attempt(error_kind=ErrorKind.SPAWN, error=text, latency_ms=1.0, waited_ms=1.0)
        results = [
            result(
                f"{text}{number}",
                status,
                number=number + 1,
                reason=text,
                error=text,
                scorer_type=text,
                output=bounded_output({text: [text]}),
                attempts=(tried,),
                tags=(text,),
                golden=True,
            )
            for number, status in enumerate(Status)
        ]
        report = skill_report(results, f"{text}{index}", policy=BenchPolicy(require_tasks=(text,)))
        summary = replace(report.summary, flaky_tasks=(text,), reasons={text: text}, error_kinds={text: 1})
        reports.append(
            replace(
                report,
                summary=summary,
                incomplete=text,
                skill_version=text,
                skill_path=text,
                skill_digest=text,
                adapter=text,
                benchmark_id=text,
                benchmark_version=text,
                model=text,
            )
        )
    run = RunSettings(sandbox=EVIL[0], isolated=EVIL, tasks=EVIL, tags=EVIL, evaluator=EVIL[1], shard=EVIL[2])
    return whole(
        *reports,
        run=run,
        notices=EVIL,
        models=EVIL,
        config_digest=EVIL[0],
        tool=Tool(EVIL[0], EVIL[1]),
        not_loaded=tuple(NotLoaded(text, text) for text in EVIL),
    )


def a_diff(*texts: str) -> BenchDiff:
    """A diff with every kind of change, and these texts in all its places."""
    changes = []
    for text in texts:
        tasks = tuple(
            TaskChange(
                task_id=f"{flip.value} {text}",
                flip=flip,
                a_passed=2,
                a_total=3,
                b_passed=1,
                b_total=3,
                golden=True,
                reason=text,
                error_kind=ErrorKind.CRASH,
            )
            for flip in Flip
        )
        metrics = (
            Metric(name="completionRate", a=0.9, b=0.5, delta=-0.4, better=False),
            Metric(name="p95Ms", a=100.0, b=120.0, delta=20.0, noise=True),
            Metric(name="compositeScore", a=0.4, b=0.95, delta=0.55, better=True),
            Metric(name="consistencyScore", a=None, b=0.5, delta=None),
        )
        test = PairedTest(
            tasks=3,
            fixed=1,
            broken=1,
            mcnemar_p=1.0,
            mean_difference=-0.1,
            ci_low=-0.2,
            ci_high=0.1,
            verdict=Outcome.FAIL,
            reason=text,
        )
        changes.append(
            BenchChange(
                skill_id=text,
                benchmark_id=text,
                pairing=Pairing.BOTH,
                a_version=text,
                b_version=text,
                metrics=metrics,
                tasks=tasks,
                test=test,
                reruns=(Rerun(task_id=f"broken {text}", outcome=RerunOutcome.UNMEASURED, reason=text),),
                gate=Verdict(passed=False, outcomes=(GateOutcome(text, Outcome.FAIL, text),)),
                notices=(text,),
            )
        )
        changes.append(BenchChange(skill_id=f"gone {text}", benchmark_id=text, pairing=Pairing.REMOVED))
    return BenchDiff(
        label_a=texts[0],
        label_b=texts[-1],
        changes=tuple(changes),
        verdict=Outcome.FAIL,
        reasons=texts,
        tool=Tool(texts[0]),
        notices=texts,
    )


def render(report: BenchReport) -> str:
    return write(bench.view(report))


PAGES = {
    "one": render(whole(skill_report(mixed(), policy=POLICY))),
    "many": render(
        whole(
            skill_report(good(), "a", policy=POLICY), skill_report(mixed(), "b", policy=POLICY), skill_report([], "c")
        )
    ),
    "empty": render(whole()),
    "hostile": render(hostile()),
    "diff": write(bench_diff.view(a_diff("calculator"))),
    "hostile-diff": write(bench_diff.view(a_diff(*EVIL))),
}


def words_of(text: str) -> str:
    """What a reader sees, with single blanks."""
    return re.sub(r"\s+", " ", " ".join(Page(text).words))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_markup_of_ours_alone(name: str) -> None:
    page = Page(PAGES[name])
    assert page.unclosed == 0
    assert {element for element, _ in page.elements} <= {
        *("html", "head", "meta", "title", "style", "body", "a", "header", "main", "footer", "p", "section"),
        *("h1", "h2", "h3", "ul", "li", "dl", "dt", "dd", "div", "span", "b", "small", "code"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "i"),
        *("svg", "rect", "line", "circle", "script"),
    }
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on") or key == "style"]
    links = [attributes["href"] or "" for element, attributes in page.elements if element == "a"]
    assert all(link.startswith(("#", "https://")) for link in links)
    assert "default-src &#39;none&#39;" in PAGES[name]


def test_figures_intervals_tags_flaky_tasks_and_tokens_are_told() -> None:
    said = words_of(PAGES["one"])
    for words in (
        "FAIL: calculator (1 skill, 3 results not measured)",
        "69.7 %",
        "41–89",
        "Flaky (passed in some runs only): t04",
        "3,960 tokens (3,300 in, 660 out), $0.0033",
        "crash: signal 11 ended it",
        "try 1: spawn: no such program",
        'expected 25, found "twenty-four"',
        "7 tasks passed in every run",
        "the environment, open files (sandbox none)",
        "pass@3 0.727, pass^3",
    ):
        assert words in said, words
    assert re.search(r"even .*77\.8 %", said)


def test_bars_and_whiskers_stand_where_the_figures_say() -> None:
    found = [attributes for element, attributes in Page(PAGES["one"]).elements if element == "rect"]
    shares = [float((one.get("width") or "0").rstrip("%")) for one in found if one.get("class") == "fair"]
    assert shares[0] == pytest.approx(69.7, abs=0.05)
    lines = [one for element, one in Page(PAGES["one"]).elements if element == "line" and one["class"] == "whisker"]
    assert (lines[0]["x1"], lines[0]["x2"]) == ("40.669%", "88.529%")


def test_what_was_not_measured_is_a_dash_and_says_why() -> None:
    said = words_of(PAGES["many"])
    assert "completionRate is not measured there are no results" in said
    assert "The report has no result of a task." in said


def test_a_page_keeps_to_its_size_however_much_there_is() -> None:
    tasks = [result(f"task {n}", Status.FAIL, reason=f"{n} because " * 200) for n in range(2_000)]
    text = render(whole(*(skill_report(tasks, f"s{n}") for n in range(40))))
    assert len(text.encode()) <= LIMIT
    assert "1,600 more tasks in the JSON report" in words_of(text)
    assert re.search(r"\d+ more parts in the JSON report", words_of(text))


def test_a_diff_says_what_is_better_and_what_is_worse_by_the_direction_of_the_figure() -> None:
    said = words_of(PAGES["diff"])
    for words in (
        "completed",
        "−0.400 meaning worse",
        "+0.550 meaning better",
        "+20 meaning within noise",
        "Gone: only in the first report.",
    ):
        assert words in said, words


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if program() is None:
        pytest.skip(MISSING)
    with Browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.mark.parametrize("name", PAGES)
def test_in_a_browser_nothing_runs_nothing_is_asked_for_and_nothing_is_too_wide(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    file = tmp_path / f"{name}.html"
    file.write_text(PAGES[name], encoding="utf-8")
    for width, scheme in ((390, "light"), (390, "dark"), (1280, "light")):
        browser.screen(width)
        browser.media(scheme=scheme)
        browser.open(file.as_uri())
        browser.run("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert browser.run("window.owned") is None
        assert browser.run("document.querySelectorAll('img, iframe, link, form, object').length") == 0
        assert browser.run("document.scripts.length") == 1
        assert browser.run("getComputedStyle(document.querySelector('.top')).display") == "flex"
        assert browser.run("document.documentElement.scrollWidth") <= width
        assert browser.seen.requests == [file.as_uri()]
        assert browser.seen.problems == []


def test_in_a_browser_a_bar_is_as_long_as_its_share(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "one.html"
    file.write_text(PAGES["one"], encoding="utf-8")
    browser.screen(1280)
    browser.open(file.as_uri())
    drawn = "document.querySelector('td svg rect.fair').getBoundingClientRect().width"
    track = "document.querySelector('td svg rect.track').getBoundingClientRect().width"
    assert browser.run(f"{drawn} / {track}") == pytest.approx(0.697, abs=0.005)
    assert browser.run("getComputedStyle(document.querySelector('td i')).display") == "none"
    browser.screen(390)
    assert browser.run("getComputedStyle(document.querySelector('td i')).display") == "inline"
