"""The page of a score: the verdict first, a row for each skill, what they are together, then each by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.documents import State
from skillgate.model.score import Badge
from skillgate.report.findings import bounded
from skillgate.report.html_charts import Bar, Histogram, Share, bar, histogram, shares
from skillgate.report.html_parts import PATH, Found, Some, first, found
from skillgate.report.html_shell import LIMIT, macro, render_within
from skillgate.report.html_skill import Row, StepText, next_steps, skill_part, skill_row
from skillgate.report.html_verdict import Decision, decide
from skillgate.report.judge_page import method
from skillgate.report.judge_words import answers_warning
from skillgate.report.lists import ListOf, lists_of
from skillgate.report.simulated_page import method as simulated_method
from skillgate.report.tally import worst_first
from skillgate.scoring.composite import summarise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.model.documents import ActionRun, Diff, SkillChange
    from skillgate.model.finding import ListingUse
    from skillgate.model.report import Report, SkillResult
    from skillgate.report.links import Links

_ROWS = 400
_LISTS = 12
_ADVISED = 5
_CHARTED = 5  # scores from which on their distribution says something
_MOST_NOTES = 50


class Next(NamedTuple):
    """What to do first about one skill."""

    row: Row
    step: StepText


class Listed(NamedTuple):
    """What one list of skills takes of the clients' budget; ``cut`` are skills whose own description is too long."""

    use: ListingUse
    clients: str
    place: str
    bar: Bar | None
    change: int | None
    cut: Some[str]


class Gap(NamedTuple):
    """A dimension that was not measured, why, and for how many skills."""

    name: str
    reason: str
    skills: int


class Score(NamedTuple):
    """All that the page shows but the skills' own parts.

    ``warning`` stands before anything else; ``judged`` says how it was judged, each line with what it is called.
    """

    report: Report
    decision: Decision
    rows: Some[Row]
    advised: tuple[Next, ...]
    badges: tuple[Share, ...]
    histogram: Histogram | None
    listing: Some[Listed]
    across_new: Some[Found]
    across_fixed: Some[Found]
    removed: Some[str]
    outside: Some[Found]
    gaps: tuple[Gap, ...]
    warning: str = ""
    judged: tuple[tuple[str, str], ...] = ()


def score_page(
    report: Report, links: Links, *, diff: Diff | None = None, run: ActionRun | None = None, limit: int = LIMIT
) -> str:
    """Write the page of a report, beside its baseline where ``diff`` is given; ``run`` tells how it came about."""
    changes = {item.after.path: item for item in diff.skills if item.after} if diff else {}
    report = _requested(report, run)
    ranked = worst_first(report.results)
    rows = [skill_row(result, changes.get(result.skill.path), f"skill-{n}") for n, result in enumerate(ranked, 1)]
    part = macro("skill.html.j2", "part")
    alone = len(rows) == 1
    parts = (part(skill_part(row, changes.get(row.result.skill.path), links, alone=alone)) for row in rows)

    def whole(shown: int) -> Score:
        unlinked = [row._replace(anchor="") for row in rows[shown:]]
        return _score(report, [*rows[:shown], *unlinked], links, diff=diff, run=run)

    return render_within("score.html.j2", parts, len(rows), whole, limit=limit, links=links, run=run, diff=diff)


def _requested(report: Report, run: ActionRun | None) -> Report:
    """Leave out what nobody asked about and what does not fail: it is there only for what it shares with another."""
    extras = frozenset(run.beside) if run else frozenset()
    requested = [item for item in report.results if item.skill.path not in extras or item.gate.passed is False]
    if len(requested) == len(report.results):
        return report
    return report._replace(results=tuple(requested), summary=summarise(requested, found=report.summary.found))


def _score(report: Report, rows: Sequence[Row], links: Links, *, diff: Diff | None, run: ActionRun | None) -> Score:
    scores = [row.result.composite.score for row in rows if row.result.composite.score is not None]
    across = report.across or (diff.across if diff else None)
    listing = lists_of(diff.listing if diff and diff.listing else report.listing)
    listed_budgets = [one for one in listing if diff is None or one.change or one.is_full]
    return Score(
        report,
        decision=decide(report, rows, run, links, diff),
        rows=first(rows, _ROWS),
        advised=_advised(rows, diff),
        badges=shares(_badges(report)),
        histogram=histogram(scores) if len(scores) >= _CHARTED else None,
        listing=_listing(listed_budgets),
        across_new=found(across.new if across else (), links),
        across_fixed=found(across.fixed if across else (), links.nowhere),
        removed=removed(diff),
        outside=found(report.outside, links),
        gaps=_gaps(report.results),
        warning=answers_warning(report.results),
        judged=(*method(report), *simulated_method(report)),
    )


def _advised(rows: Sequence[Row], diff: Diff | None) -> tuple[Next, ...]:
    """Say what to do first about the skills that need it most: those that fail, those that got worse, the others."""
    changes = {item.after.path: item for item in diff.skills if item.after} if diff else {}
    found = []
    for row in sorted(rows, key=lambda row: (row.mark != "fail", not _is_worse(changes.get(row.result.skill.path)))):
        steps = next_steps(row.result, changes.get(row.result.skill.path), most=1).items
        found += [Next(row, step) for step in steps]
        if len(found) == _ADVISED:
            break
    return tuple(found)


def _is_worse(change: SkillChange | None) -> bool:
    return change is not None and ((change.change or 0) < 0 or bool(change.new))


def _badges(report: Report) -> list[tuple[str, int]]:
    return [
        (name, report.summary.by_badge.get(name, 0)) for name in ("none", *(badge.value for badge in reversed(Badge)))
    ]


def listed(listing: Sequence[ListingUse]) -> Some[Listed]:
    """Give the fullest lists first, each with what a change did to it."""
    return _listing(lists_of(listing))


def _listing(lists: Sequence[ListOf]) -> Some[Listed]:
    cut = first(sorted(lists, key=lambda one: (-one.share, one.clients, one.use.place)), _LISTS)
    return Some(tuple(map(_listed, cut.items)), cut.left)


def _listed(one: ListOf) -> Listed:
    use, share = one.use, 100 * one.share
    tone = "poor" if share > 100 else "fair" if share > 90 else "good"
    return Listed(
        use,
        clients=", ".join(one.clients),
        place=bounded(use.place, PATH) if use.place not in ("", ".") else "here",
        bar=bar(share, tone),
        change=one.change,
        cut=first([bounded(path, PATH) for path in use.cut], 5),
    )


def removed(diff: Diff | None) -> Some[str]:
    """List the skills that went."""
    gone: Sequence[SkillChange] = [item for item in diff.skills if item.state is State.REMOVED] if diff else []
    return first([bounded(item.path, PATH) for item in gone], _MOST_NOTES)


def _gaps(results: Sequence[SkillResult]) -> tuple[Gap, ...]:
    counted: dict[tuple[str, str], int] = {}
    for result in results:
        for key, score in result.dimensions.items():
            if score.score is None:
                gap = key.value, score.reason or "not measured"
                counted[gap] = counted.get(gap, 0) + 1
    ranked: Mapping[tuple[str, str], int] = dict(sorted(counted.items(), key=lambda item: -item[1])[:_MOST_NOTES])
    return tuple(Gap(*gap, count) for gap, count in ranked.items())
