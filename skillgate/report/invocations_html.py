"""Recorded invocations as one HTML page: what is to be acted on, the leaderboard, charts, and what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeVar

from skillgate.format import plural
from skillgate.model.invocation import Direction, Tier
from skillgate.report import invocations_words as words
from skillgate.report.findings import bounded
from skillgate.report.html_parts import Some, first
from skillgate.report.html_shell import LIMIT
from skillgate.report.html_shell import render as shell
from skillgate.report.invocations_charts import Course, course
from skillgate.report.invocations_page import (
    Advised,
    Changed,
    Checked,
    Components,
    Counted,
    Place,
    Row,
    Rows,
    Tiers,
    in_tiers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from skillgate.model.invocation import InvocationReport

Source = TypeVar("Source")
Shown = TypeVar("Shown")

_MOST = (400, 200, 100, 50, 25)  # rows of each table: as many as keep the page below its limit
_SEEN = 6  # pieces of advice that are not folded away
_MOST_NOTES = 50
_FEW = 300  # characters of a reason in the verdict
_EACH = {"1.0": "as written: what was not observed earns points too", "1.1": "what was not observed earns nothing"}


class Tile(NamedTuple):
    """One figure: what it is called, how it is written, a detail in small print, and the class of its colour."""

    name: str
    value: str
    detail: str = ""
    tone: str = ""


class Reason(NamedTuple):
    """Something to act on, and the skill it is about."""

    text: str
    row: Place | None = None


class Headline(NamedTuple):
    """What the page says first; see :class:`~skillgate.report.html_verdict.Decision`."""

    mark: str
    title: str
    reasons: Some[Reason]
    notes: Some[str] = Some(())
    own_gate: Some[str] = Some(())


class Page(NamedTuple):
    """All that the page shows."""

    headline: Headline
    facts: str
    tiles: tuple[Tile, ...]
    checks: Some[Checked]
    met: Some[Checked]
    rows: Some[Row]
    few: Some[Place]
    course: Course | None
    tiers: Some[Tiers]
    all_tiers: tuple[Counted, ...]
    components: Some[Components]
    advised: Some[Advised]
    folded: Some[Advised]
    called: Some[Changed]
    others: Some[Changed]
    settings: tuple[tuple[str, str], ...]
    notices: Some[str]


def render(report: InvocationReport, *, limit: int = LIMIT) -> str:
    """Write the page with as many rows as keep it below ``limit`` bytes."""
    for most in _MOST:
        text = shell("invocations.html.j2", page=_page(report, most))
        if len(text.encode()) <= limit:
            break
    return text


def _page(report: InvocationReport, most: int) -> Page:
    rows, board = Rows(report, most), words.on_the_board(report)
    worst, names = words.worst(report.opportunities), set(report.leaderboard)
    called = [one for one in report.trends if one.trend in (Direction.DECLINING, Direction.IMPROVING)]
    called.sort(key=lambda one: (one.trend is not Direction.DECLINING, -abs(one.change or 0.0)))
    others = [one for one in report.trends if one.trend not in (Direction.DECLINING, Direction.IMPROVING)]
    checks = [check for group in words.by_gate(report.gates) for check in group]
    open_checks, met = ([one for one in checks if words.is_good(one) is good] for good in (False, True))
    few = _some([one.skill for one in report.skills if one.skill not in names], rows.place, most // 2)
    return Page(
        headline=_headline(report, rows),
        facts=f"{words.of_window(report)} · rubric {bounded(report.rubric_version, _MOST_NOTES)}",
        tiles=tuple(_tiles(report)),
        checks=_some(open_checks, rows.checked, most),
        met=_some(met, rows.checked, most),
        rows=_some(board, rows.row, most),
        few=Some(few.items, max(few.left, report.below_minimum - len(few.items))),
        course=course(report.daily),
        tiers=_some(board, rows.tiers, most),
        all_tiers=in_tiers(words.in_tiers(report.tiers, report.invocations, report.rated)),
        components=_some(board, rows.components, most),
        advised=_some(worst[:_SEEN], rows.advised, most),
        folded=_some(worst[_SEEN:], rows.advised, most // 4),
        called=_some(called, rows.changed, most),
        others=_some(others, rows.changed, most),
        settings=tuple(_settings(report)),
        notices=first([bounded(notice, _FEW) for notice in report.notices[: 2 * _MOST_NOTES]], _MOST_NOTES),
    )


def _some(found: Sequence[Source], row: Callable[[Source], Shown], most: int) -> Some[Shown]:
    """Make rows of the first of many."""
    cut = first(found, most)
    return Some(tuple(map(row, cut.items)), cut.left)


def _headline(report: InvocationReport, rows: Rows) -> Headline:
    mark = words.gate_mark(report.gates, passed=report.gate.passed)
    failed = [
        Reason(
            bounded(f"{words.status(one.status)} {one.gate}: {'; '.join(one.failures) or 'no reason is given'}", _FEW)
        )._replace(row=rows.place(one.skill))
        for group in words.by_gate(report.gates)
        for one in group
        if not words.is_good(one)
    ]
    news = [Reason(bounded(text, _FEW), rows.place(skill)) for skill, text in words.news(report)]
    none = f"There is none of {words.of_window(report)}. skillgate log import FILE… records some."
    notes = () if report.invocations else (none,)
    return Headline(
        mark, bounded(words.headline(report), _FEW), first([*failed, *news], _MOST_NOTES // 5), first(notes, 1)
    )


def _tiles(report: InvocationReport) -> Iterator[Tile]:
    mean = words.overall(report)
    tier = words.tier(mean)
    yield Tile("Invocations", f"{report.invocations:,}")
    yield Tile("Skills", words.skills(report).rpartition(" ")[0])
    yield Tile("Average", words.average(mean), tier.value if tier else "", words.TONES[tier] if tier else "")
    share = report.rated / report.invocations if report.invocations else None
    yield Tile("Rated", words.rate(share), f"of {report.invocations:,}" if report.invocations else "")
    for called, name, tone in ((Direction.IMPROVING, "Improving", "good"), (Direction.DECLINING, "Declining", "poor")):
        known = [one.trend for one in report.trends if one.trend is not None]
        number = known.count(called)
        detail = f"of {len(known):,}" if known else ""
        yield Tile(name, f"{number:,}" if known else words.NOTHING, detail, tone if number else "")


def _settings(report: InvocationReport) -> Iterator[tuple[str, str]]:
    rubric = bounded(report.rubric_version, _MOST_NOTES)
    yield "Time", f"{words.of_window(report)}, days in UTC"
    yield "Rubric", f"{rubric}{f', {_EACH[rubric]}' if rubric in _EACH else ''}; scores by another do not compare"
    left = report.invocations - report.rated
    if left > 0:
        yield (
            "Not rated",
            f"{plural(left, 'invocation')} without a total: in no average score, trend or gate",
        )
    if report.coverage is not None:
        yield "Observed", f"{words.rate(report.coverage)} of the points that can apply, on average"
    how = (
        ("averages", words.methods(one.interval for one in report.skills)),
        ("error rates", words.methods(one.error_interval for one in report.skills)),
        ("changes", words.methods(one.interval for one in report.trends)),
    )
    methods = [f"of {name} by {method}" for name, method in how if method]
    if methods:
        yield "Intervals", f"95 %, {'; '.join(methods)}"
    yield "Listed", f"skills with {words.LEAST} rated invocations or more"
    rule = "the change is 10 % or more and 3 points or more, and its interval excludes 0"
    yield "Trends", f"the last 7 days beside those before, {words.LEAST} rated invocations in each; called where {rule}"
    yield (
        "Weak",
        f"a component that gives under {100 * words.WEAK:.0f} % of its points; very weak under {100 * words.LOW:.0f} %",
    )
    yield "Tiers", "; ".join(f"{tier.value} {words.range_of(tier)}: {tier.action}" for tier in Tier)
    gates = {one.gate: one.description for one in report.gates}
    if gates:
        yield (
            "Gates",
            bounded("; ".join(f"{name}: {text}" for name, text in list(gates.items())[:_MOST_NOTES]), 2 * _FEW),
        )
    yield "Store", bounded(report.store, _FEW)
    yield "Program", f"{report.tool.name} {report.tool.version}"
    if report.config_digest:
        yield "Configuration", report.config_digest[:24]
