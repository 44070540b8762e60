"""The page of a score: the verdict first, a row for each skill, what they are together, then each by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.diff import State
from skillgate.model.score import Badge
from skillgate.report.findings import bounded
from skillgate.report.html_charts import Bar, Histogram, Share, bar, histogram, shares
from skillgate.report.html_parts import PATH, Found, Some, first, found
from skillgate.report.html_shell import macro, render_within
from skillgate.report.html_skill import Row, skill_part, skill_row
from skillgate.report.html_verdict import Decision, decide
from skillgate.report.text import worst_first
from skillgate.scoring.listing import LIMITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from skillgate.model.across import ListingUse
    from skillgate.model.diff import Diff, SkillChange
    from skillgate.model.report import Advice, Report, SkillResult
    from skillgate.model.run import ActionRun
    from skillgate.report.html_links import Links

_ROWS = 400
_LISTS = 12
_ADVISED = 5
_CHARTED = 5  # scores from which on their distribution says something
_TOLD = 50


class Next(NamedTuple):
    """What to do first about one skill."""

    row: Row
    advice: Advice


class Listed(NamedTuple):
    """What one list of skills takes of a client's budget; ``cut`` are skills whose own description is too long."""

    use: ListingUse
    client: str
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
    """All that the page shows but the skills' own parts."""

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


def score_page(report: Report, links: Links, *, diff: Diff | None = None, run: ActionRun | None = None) -> str:
    """Write the page of a report, beside its baseline where ``diff`` is given; ``run`` tells how it came about."""
    changes = {item.after.path: item for item in diff.skills if item.after} if diff else {}
    ranked = worst_first(report.results)
    rows = [skill_row(result, changes.get(result.skill.path), f"skill-{n}") for n, result in enumerate(ranked, 1)]
    part = macro("skill.html.j2", "part")
    alone = len(rows) == 1
    parts = (part(skill_part(row, changes.get(row.result.skill.path), links, alone=alone)) for row in rows)

    def whole(shown: int) -> Score:
        unlinked = [row._replace(anchor="") for row in rows[shown:]]
        return _score(report, [*rows[:shown], *unlinked], links, diff=diff, run=run)

    return render_within("score.html.j2", parts, len(rows), whole, links=links, run=run, diff=diff)


def _score(report: Report, rows: Sequence[Row], links: Links, *, diff: Diff | None, run: ActionRun | None) -> Score:
    scores = [row.result.composite.score for row in rows if row.result.composite.score is not None]
    across = report.across or (diff.across if diff else None)
    listing = diff.listing if diff and diff.listing else report.listing
    return Score(
        report,
        decision=decide(report, rows, run, links),
        rows=first(rows, _ROWS),
        advised=tuple(Next(row, row.result.advice[0]) for row in rows if row.result.advice)[:_ADVISED],
        badges=shares(_badges(report)),
        histogram=histogram(scores) if len(scores) >= _CHARTED else None,
        listing=listed(listing),
        across_new=found(across.new if across else (), links),
        across_fixed=found(across.fixed if across else (), links),
        removed=removed(diff),
        outside=found(report.outside, links),
        gaps=_gaps(report.results),
    )


def _badges(report: Report) -> list[tuple[str, int]]:
    return [
        (name, report.summary.by_badge.get(name, 0)) for name in ("none", *(badge.value for badge in reversed(Badge)))
    ]


def listed(listing: Sequence[ListingUse]) -> Some[Listed]:
    """Give the fullest lists first, each with what a change did to it."""
    ranked = sorted(listing, key=lambda use: (-use.characters / use.budget, use.client.value, use.place))
    cut = first(ranked, _LISTS)
    return Some(tuple(_listed(use) for use in cut.items), cut.left)


def _listed(use: ListingUse) -> Listed:
    share = 100 * use.characters / use.budget
    tone = "poor" if share > 100 else "fair" if share > 90 else "good"
    known = LIMITS.get(use.client)
    return Listed(
        use,
        client=known.title if known else use.client.value,
        place=bounded(use.place, PATH) if use.place not in ("", ".") else "here",
        bar=bar(share, tone),
        change=None if use.before is None else use.characters - use.before,
        cut=first([bounded(path, PATH) for path in use.cut], 5),
    )


def removed(diff: Diff | None) -> Some[str]:
    """List the skills that went."""
    gone: Sequence[SkillChange] = [item for item in diff.skills if item.state is State.REMOVED] if diff else []
    return first([bounded(item.path, PATH) for item in gone], _TOLD)


def _gaps(results: Sequence[SkillResult]) -> tuple[Gap, ...]:
    counted: dict[tuple[str, str], int] = {}
    for result in results:
        for key, score in result.dimensions.items():
            if score.score is None:
                gap = key.value, score.reason or "not measured"
                counted[gap] = counted.get(gap, 0) + 1
    ranked: Mapping[tuple[str, str], int] = dict(sorted(counted.items(), key=lambda item: -item[1])[:_TOLD])
    return tuple(Gap(*gap, count) for gap, count in ranked.items())
