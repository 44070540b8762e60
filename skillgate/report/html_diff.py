"""The page of a difference: what became of every skill, what moved in it, which findings came and went."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural
from skillgate.model.documents import Diff, DiffSide, Side, SkillChange, State
from skillgate.model.score import Outcome
from skillgate.report.findings import bounded
from skillgate.report.html_charts import Bar, bar
from skillgate.report.html_numbers import direction, tone
from skillgate.report.html_parts import (
    PATH,
    Aside,
    Found,
    Measure,
    Some,
    changed_measures,
    first,
    found,
    set_aside,
)
from skillgate.report.html_score import Listed, listed
from skillgate.report.html_shell import LIMIT, macro, render_within
from skillgate.report.html_verdict import Decision, Reason
from skillgate.report.judge_compared import first_hint
from skillgate.report.judge_doubt import in_words
from skillgate.report.judge_page import compared
from skillgate.report.judge_words import answers_warning
from skillgate.report.sampled_moves import SampledRow, reasons
from skillgate.report.sampled_moves import rows as sampled_rows
from skillgate.report.simulated_compared import sampled_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.model.documents import Comparison
    from skillgate.model.report import SkillResult
    from skillgate.model.score import Dimension
    from skillgate.report.judge_compared import Sides
    from skillgate.report.links import Links

_ROWS = 400
_MOST_NOTES = 50
_SIDES = ("Before", "After")


class Changed(NamedTuple):
    """One skill on both sides, and its part of the page.

    ``regressed`` is the reason where the regression gate does not let it pass; ``what`` says in words what moved;
    ``apart`` which figures of sessions, matches and lift are not compared, and why.
    """

    change: SkillChange
    path: str
    moved_from: str
    mark: str
    bar: Bar | None
    regressed: str
    what: str
    measures: tuple[Measure, ...]
    new: Some[Found]
    fixed: Some[Found]
    aside: Some[Aside]
    sides: tuple[str, str] = _SIDES
    open: bool = False
    anchor: str = ""
    judged: tuple[tuple[Dimension, Sides], ...] = ()
    sampled: tuple[SampledRow, ...] = ()
    apart: tuple[str, ...] = ()


class Difference(NamedTuple):
    """All that the page shows but the skills' own parts."""

    title: str
    decision: Decision
    a: DiffSide
    b: DiffSide
    rows: Some[Changed]
    unchanged: int
    hints: tuple[str, ...]
    listing: Some[Listed]
    across_new: Some[Found]
    across_fixed: Some[Found]
    sides: tuple[str, str] = _SIDES
    warning: str = ""


def diff_page(diff: Diff, links: Links, *, limit: int = LIMIT) -> str:
    """Write the page of a diff in at most ``limit`` bytes: regressions first, then by falling loss."""
    changed = [item for item in diff.skills if item.state is not State.UNCHANGED or item.moved]
    gate = diff.gate.passed
    mark = {True: "pass", False: "fail", None: "none"}[gate]
    warning, hints = first_hint(diff)
    page = Difference(
        title="What changed",
        decision=Decision(mark, _diff_title(diff), first(_reasons(diff), _MOST_NOTES)),
        a=diff.a,
        b=diff.b,
        rows=Some(()),
        unchanged=len(diff.skills) - len(changed),
        hints=hints,
        listing=listed([use for use in diff.listing if use.before not in (None, use.characters)]),
        across_new=found(diff.across.new if diff.across else (), links),
        across_fixed=found(diff.across.fixed if diff.across else (), links.nowhere),
        warning=warning,
    )
    return _page(page, sorted(changed, key=_worst_first), links, diff, limit)


def compare_page(comparison: Comparison, links: Links) -> str:
    """Write the page of a comparison of two skills: a diff of one."""
    a, b = comparison.a, comparison.b
    outcome = comparison.gate.outcomes[0] if comparison.gate.outcomes else None
    change = SkillChange(
        name=b.skill.name,
        state=State.CHANGED,
        before=_side(a),
        after=_side(b),
        change=comparison.change,
        dimensions=comparison.dimensions,
        new=comparison.new,
        fixed=comparison.fixed,
        kept=max(0, len(b.findings) - len(comparison.new)),
        regression=outcome,
        sampled=sampled_changes(a, b),
    )
    mark = {True: "pass", False: "fail", None: "none"}[comparison.gate.passed]
    page = Difference(
        title=f"{bounded(a.skill.path, PATH)} against {bounded(b.skill.path, PATH)}",
        decision=Decision(mark, _compared(a, b, comparison.change), first(_blamed(change), _MOST_NOTES)),
        a=DiffSide(bounded(a.skill.path, PATH)),
        b=DiffSide(bounded(b.skill.path, PATH)),
        rows=Some(()),
        unchanged=0,
        hints=comparison.hints,
        listing=Some(()),
        across_new=Some(()),
        across_fixed=Some(()),
        sides=("A", "B"),
        warning=answers_warning((a, b)),
    )
    return _page(page, [change], links, comparison, judged=compared(comparison))


def _page(
    page: Difference,
    changes: Sequence[SkillChange],
    links: Links,
    document: Diff | Comparison,
    limit: int = LIMIT,
    *,
    judged: tuple[tuple[Dimension, Sides], ...] = (),
) -> str:
    built = [_changed(item, links, f"skill-{n}") for n, item in enumerate(changes, 1)]
    rows = [row._replace(sides=page.sides, open=len(built) == 1, judged=judged) for row in built]
    if page.sides != _SIDES:  # two skills, of which none has moved
        rows = [row._replace(moved_from="") for row in rows]
    part = macro("skill.html.j2", "changed_part")
    with_more = [row for row in rows if row.anchor]

    def whole(shown: int) -> Difference:
        unlinked = {row.anchor for row in with_more[shown:]}
        built = [row._replace(anchor="") if row.anchor in unlinked else row for row in rows]
        return page._replace(rows=first(built, _ROWS))

    parts = (part(row) for row in with_more)
    return render_within("diff.html.j2", parts, len(with_more), whole, limit=limit, links=links, document=document)


def _side(result: SkillResult) -> Side:
    score = result.composite
    return Side(result.skill.path, score.score, score.badge, score.reason, result.coverage, result.evaluated)


def _changed(change: SkillChange, links: Links, anchor: str) -> Changed:
    before, after = change.before, change.after
    score = after.score if after else None
    blamed = _blamed(change)
    measured = changed_measures(change.dimensions) if before and after else ()
    unscored = [side for side in (before, after) if side is not None and side.score is None]
    more = bool(measured or change.new or change.fixed or change.suppressed or blamed or unscored or change.sampled)
    return Changed(
        change,
        path=bounded(change.path, PATH),
        moved_from=bounded(before.path, PATH) if before and change.moved else "",
        mark="fail" if blamed else "none",
        bar=bar(score, tone(score), before.score if before else None),
        regressed="; ".join(reason.text for reason in blamed),
        what=_what(change),
        measures=measured,
        new=found(change.new, links, within=change.path),
        fixed=found(change.fixed, links.nowhere, within=before.path if before else ""),
        aside=set_aside(change.suppressed),
        anchor=anchor if more else "",
        sampled=sampled_rows(change.sampled),
        apart=tuple(reasons(change.sampled)),
    )


def _blamed(change: SkillChange) -> list[Reason]:
    """Give the reason for which the regression gate fails a skill."""
    return [Reason(change.regression.reason)] if change.regression is not None and change.regressed else []


def _what(change: SkillChange) -> str:
    if change.state is State.NEW:
        return "new: no baseline"
    if change.state is State.REMOVED:
        return "removed"
    parts = []
    badges = [side.badge.value if side and side.badge else "no badge" for side in (change.before, change.after)]
    if badges[0] != badges[1]:
        parts.append(f"{badges[0]} → {badges[1]}")
    moves = [item for item in changed_measures(change.dimensions) if item.change][:2]
    parts += [f"{item.dimension.value.replace('_', ' ')} {direction(item.change)}" for item in moves]
    if change.regression is not None and change.regression.verdict not in (Outcome.PASS, Outcome.FAIL):
        parts.append(change.regression.reason)
    else:
        parts += filter(None, (in_words(change.regression),))  # it passes, since it may be chance
    return "; ".join(parts)


def _worst_first(change: SkillChange) -> tuple[bool, bool, float, str]:
    return not _blamed(change), change.change is None, change.change or 0.0, change.path


def _reasons(diff: Diff) -> list[Reason]:
    per_skill = [Reason(f"{item.path}: {reason.text}") for item in diff.skills for reason in _blamed(item)]
    return per_skill or [
        Reason(outcome.reason) for outcome in diff.gate.outcomes if outcome.verdict is not Outcome.PASS
    ]


def _diff_title(diff: Diff) -> str:
    summary = diff.summary
    if summary.regressions:
        return f"{plural(summary.regressions, 'regression')} in {plural(len(diff.skills), 'skill')}"
    parts = [f"{count} {word}" for word, count in _kinds(diff) if count]
    return f"{', '.join(parts)} of {plural(len(diff.skills), 'skill')}" if parts else "Nothing changed"


def _kinds(diff: Diff) -> tuple[tuple[str, int], ...]:
    summary = diff.summary
    return (("changed", summary.changed), ("new", summary.new), ("removed", summary.removed), ("moved", summary.moved))


def _compared(a: SkillResult, b: SkillResult, change: float | None) -> str:
    if change is None and None not in (a.composite.score, b.composite.score):
        return "The two were judged otherwise and are not compared"
    if change is None:
        return "No score to compare on one side"
    if round(change, 2) == 0:
        return "Both score the same"
    return f"B scores {abs(change):.2f} points {'more' if change > 0 else 'less'} than A"
