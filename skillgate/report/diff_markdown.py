"""What differs between two reports as Markdown: verdict first, one row a skill, regressions before anything else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.format import plural
from skillgate.model.documents import State
from skillgate.model.finding import rule_url
from skillgate.model.score import Dimension, Outcome
from skillgate.report.across import change_lines
from skillgate.report.diff_text import badges, by_chance, gravest_first, summary, undecided, unread, worst
from skillgate.report.escape import code, inert
from skillgate.report.judge_compared import first_hint
from skillgate.report.moves import arrow, what_moved
from skillgate.report.tally import counts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.documents import Diff, DiffSide, Side, SkillChange
    from skillgate.model.finding import Finding

_ROWS = 50  # skills before "more" is said
_FOUND = 200  # findings of a kind likewise
_COLUMNS = 6  # skills whose dimensions fit a page side by side


def lines(diff: Diff) -> Iterator[str]:
    """Write a diff."""
    changes = gravest_first(diff)
    warning, hints = first_hint(diff)
    yield from (f"> **⚠️ {inert(warning)}**", "") if warning else ()
    yield f"### {_headline(diff)}"
    yield ""
    yield inert(summary(diff)) + "."
    yield from _table(changes)
    yield from _regressed(changes)
    yield from _by_chance(changes)
    yield from _findings("New findings", [finding for change in changes for finding in change.new])
    yield from _findings("Fixed findings", [finding for change in changes for finding in change.fixed])
    yield from _suppressed(changes)
    yield from _dimensions(changes)
    yield from _sampled(changes)
    yield from _together(diff, hints)
    yield ""
    yield _footer(diff)


def _headline(diff: Diff) -> str:
    if diff.summary.regressions:
        mark = "❌ " if diff.gate.passed is False else ""
        return f"{mark}skillgate: {plural(diff.summary.regressions, 'regression')}"
    if any(map(unread, diff.skills)):
        return "⚠️ skillgate: not every skill could be evaluated"
    if any(map(undecided, diff.skills)):
        return "⚠️ skillgate: not every skill could be compared"
    if diff.gate.passed:
        return "✅ skillgate: no regression"
    differ = diff.summary.changed + diff.summary.new + diff.summary.removed
    return f"skillgate: {differ} of {len(diff.skills)} skills differ" if differ else "skillgate: no skill differs"


def _table(changes: Sequence[SkillChange]) -> Iterator[str]:
    if not changes:
        return
    yield from ("", "| | skill | score | badge | what moved |", "|:-:|---|--:|---|---|")
    for change in changes[:_ROWS]:
        cells = (_mark(change), code(change.path), _scores(change), badges(change), inert(what_moved(change)))
        yield f"| {' | '.join(cells)} |"
    if len(changes) > _ROWS:
        yield from ("", f"{len(changes) - _ROWS} more skills differ.")


def _mark(change: SkillChange) -> str:
    if change.regressed:
        return "❌"
    if unread(change) or undecided(change):
        return "⚠️"
    return {State.NEW: "🆕", State.REMOVED: "➖"}.get(change.state, "✅")


def _scores(change: SkillChange) -> str:
    if change.before is None or change.after is None:
        side = change.after or change.before
        return f"**{_number(side)}**" if change.after else _number(side)
    if change.change == 0:
        return f"{_number(change.after)} ="
    drawn = f" {arrow(change.change)}" if change.change is not None else ""
    return f"{_number(change.before)} → **{_number(change.after)}**{drawn}"


def _number(side: Side | None) -> str:
    return "—" if side is None or side.score is None else f"{side.score:.2f}"


def _regressed(changes: Sequence[SkillChange]) -> Iterator[str]:
    """Say why skills regressed, and of which that could not be decided."""
    gated = [(change.path, change.regression) for change in changes if change.regression is not None]
    open_ones = (Outcome.UNMEASURED, Outcome.INCONCLUSIVE)
    for title, verdicts in (("Regressions", (Outcome.FAIL,)), ("Could not be decided", open_ones)):
        reasons = [(path, outcome.reason) for path, outcome in gated if outcome.verdict in verdicts]
        if reasons:
            yield from ("", f"**{title}**", "")
        yield from (f"- {code(path)}: {inert(reason)}" for path, reason in reasons[:_ROWS])
        if len(reasons) > _ROWS:
            yield f"- {len(reasons) - _ROWS} more"


def _by_chance(changes: Sequence[SkillChange]) -> Iterator[str]:
    """List the drops that pass since they may be chance."""
    found = by_chance(changes)
    if found:
        yield from ("", "**Drops that may be chance**", "")
    yield from (f"- {code(path)}: {inert(text)}" for path, text in found[:_ROWS])
    if len(found) > _ROWS:
        yield f"- {len(found) - _ROWS} more"


def _sampled(changes: Sequence[SkillChange]) -> Iterator[str]:
    if any(change.sampled for change in changes):
        from skillgate.report.sampled_moves_markdown import moved  # only where sessions or matches were asked for

        yield from moved(changes)


def _findings(title: str, findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        return
    yield from ("", f"<details><summary>{title}: {counts(findings)}</summary>", "")
    yield from ("| where | | rule | what |", "|---|---|---|---|")
    for finding in worst(findings)[:_FOUND]:
        where = code(f"{finding.path}:{finding.line}")
        yield f"| {where} | {finding.severity.value} | {_rule(finding)} | {inert(finding.message)} |"
    if len(findings) > _FOUND:
        yield from ("", f"{len(findings) - _FOUND} more.")
    yield from ("", "</details>")


def _rule(finding: Finding) -> str:
    """Name a rule, with its page where it is one of ours; the address that a document holds is not led to."""
    ours = finding.tool == "skillgate" and re.fullmatch("[A-Z][A-Z_]{,60}", finding.id)
    return f"[{inert(finding.id)}]({rule_url(finding.id)})" if ours else inert(finding.id)


def _suppressed(changes: Sequence[SkillChange]) -> Iterator[str]:
    items = [item for change in changes for item in change.suppressed]
    if not items:
        return
    yield from ("", f"<details><summary>Newly suppressed: {len(items)}</summary>", "")
    for item in items[:_FOUND]:
        where = code(f"{item.finding.path}:{item.finding.line}")
        reason = f": {inert(item.reason)}" if item.reason else ""
        yield f"- {where} {inert(item.finding.id)} by {inert(item.by)}{reason}"
    if len(items) > _FOUND:
        yield from ("", f"{len(items) - _FOUND} more.")
    yield from ("", "</details>")


def _dimensions(changes: Sequence[SkillChange]) -> Iterator[str]:
    """Set the dimensions that moved side by side, for the first few skills."""
    comparable = [change for change in changes if change.change is not None or not undecided(change)]
    moved = [change for change in comparable if any(item.a != item.b for item in change.dimensions.values())][:_COLUMNS]
    if not moved:
        return
    names = {key for change in moved for key, item in change.dimensions.items() if item.a != item.b}
    yield from ("", "<details><summary>Dimensions that moved</summary>", "")
    yield f"| | {' | '.join(code(change.path) for change in moved)} |"
    yield f"|---|{'--:|' * len(moved)}"
    for name in (dimension for dimension in Dimension if dimension in names):
        cells = []
        for change in moved:
            item = change.dimensions.get(name)
            pair = [] if item is None else [_ratio(item.a), _ratio(item.b)]
            cells.append(" → ".join(dict.fromkeys(pair)))
        yield f"| {name.value} | {' | '.join(cells)} |"
    yield from ("", "</details>")


def _ratio(value: float | None) -> str:
    return "—" if value is None else f"{value:.4f}"


def _together(diff: Diff, hints: Sequence[str]) -> Iterator[str]:
    notes = [f"- {inert(line)}" for line in change_lines(diff)]
    if notes:
        yield from ("", "Across skills:", "", *notes[:_ROWS])
    for hint in hints:
        yield from ("", f"> {inert(hint)}")


def _footer(diff: Diff) -> str:
    sides = f"from {_side(diff.a)} to {_side(diff.b)}"
    return (
        f"<sub>{diff.depth.value} depth · {sides} · skillgate {diff.tool.version}, scoring {diff.scoring_version}</sub>"
    )


def _side(side: DiffSide) -> str:
    commit = f" {code(side.commit[:10])}" if side.commit else ""
    return f"{code(side.label)}{commit}"
