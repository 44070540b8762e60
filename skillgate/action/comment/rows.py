"""Every skill of a run, worst first, and the table that shows them: one row a skill, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.action.comment.fit import folding
from skillgate.action.comment.links import link, shown_path
from skillgate.format import plural
from skillgate.model.documents import State
from skillgate.report.escape import code, inert
from skillgate.report.findings import bounded
from skillgate.report.judge_doubt import in_words, inconclusive
from skillgate.report.judge_words import spread
from skillgate.report.moves import arrow, what_moved
from skillgate.report.standing import Row, standings
from skillgate.report.tally import counts

if TYPE_CHECKING:
    from skillgate.action.comment.fit import Section
    from skillgate.action.comment.links import Links
    from skillgate.action.comment.subject import Subject
    from skillgate.model.documents import Side
    from skillgate.model.report import Composite

_CELL = 200  # characters of what moved
_WITHHELD = 80  # characters of why there can be no badge


def rows_of(subject: Subject) -> tuple[Row, ...]:
    """List every skill of a run, worst first.

    Failing ones come first, then regressions, those without a score, what fell most, what is new, and the others; among
    equals those with errors. What could not be read comes last.
    """
    rows = standings(subject.run, subject.report, subject.diff)
    return tuple(sorted(rows, key=_worst_first))


def table(rows: tuple[Row, ...], links: Links, *, compared: bool, most: int, folded: int) -> tuple[Section, ...]:
    """Show the skills that there is something to say of: the worst in sight, the next ones folded away."""
    last = "what moved" if compared else "findings"
    head = (f"| | skill | score | badge | {last} |", "|:-:|---|--:|---|---|")
    listed = [row for row in rows if row.listed]
    shown = [_line(row, links, compared=compared) for row in listed[: most + folded]]
    return folding("skills", (), head, shown, most=most, total=len(listed), rank=2)


def skill_link(path: str, name: str, links: Links) -> str:
    """Show a skill by its path as code, linked where that can be; one that is the whole repository by its name."""
    if path in (".", ""):
        return link(code(bounded(name, 80)), links.directory(".")) + " (the repository itself)"
    return link(code(shown_path(path)), links.directory(path))


def _worst_first(row: Row) -> tuple[bool, int, bool, float, float, str]:
    change = row.change.change if row.change else None
    signs = (row.fails, row.regressed, row.unscored, (change or 0) < 0, row.state is State.NEW)
    group = next((index for index, sign in enumerate(signs) if sign), len(signs))
    if row.state is State.REMOVED:
        group += 1
    score = row.result.composite.score if row.result else None
    unread, clean = row.result is not None and not row.result.evaluated, row.result is None or not row.result.errors
    return unread, group, clean, change or 0.0, -1.0 if score is None else score, row.path


def _line(row: Row, links: Links, *, compared: bool) -> str:
    before = row.change.before if row.change else None
    now = row.result.composite if row.result else row.change.after if row.change else None
    removed = row.state is State.REMOVED
    skill = code(shown_path(row.path)) if removed else skill_link(row.path, row.name, links)
    cells = (_mark(row), skill, _score(before, now, row), _badge(before, now, row), _note(row, compared=compared))
    return f"| {' | '.join(cells)} |"


def _mark(row: Row) -> str:
    if row.fails:
        return "❌"
    if row.unscored:
        return "⚠️"
    if row.regressed:
        return "🔻"
    if row.state in (State.NEW, State.REMOVED):
        return "🆕" if row.state is State.NEW else "🗑️"
    return "✅" if row.result is not None and row.result.gate.passed else ""


def _score(before: Side | None, now: Composite | Side | None, row: Row) -> str:
    was, score = before.score if before else None, now.score if now else None
    shown = f"**{score:.2f}**{_interval(row)}" if score is not None else "—"
    if before is None or was == score:
        return shown
    change = row.change.change if row.change else None
    moved = f" {arrow(change)}" if change else ""
    return f"{was:.2f} → {shown}{moved}" if was is not None else f"— → {shown}"


def _interval(row: Row) -> str:
    composite = row.result.composite if row.result else None
    written = spread(composite.score, composite.ci_low, composite.ci_high) if composite else ""
    return f" {written}" if written else ""


def _badge(before: Side | None, now: Composite | Side | None, row: Row) -> str:
    was, badge = (side.badge.value if side and side.badge else "—" for side in (before, now))
    text = badge if before is None or was == badge else f"{was} → {badge}"
    if row.result is not None and row.result.composite.badge is not None and row.result.errors:
        text += f", {plural(row.result.errors, 'error')}"
    elo = row.result.composite.elo if row.result else None
    return text if elo is None else f"{text}, Elo {elo:,.0f}"


def _note(row: Row, *, compared: bool) -> str:
    withheld = _withheld(row)
    if row.change is not None:
        return "; ".join(filter(None, (_undecided(row), inert(what_moved(row.change)), withheld)))
    parts = [_undecided(row), counts(row.result.findings if row.result else ()), withheld]
    if row.unscored and row.result:
        parts.insert(0, inert(bounded(f"no score: {row.result.composite.reason or 'no reason is given'}", _CELL)))
    if compared:
        parts.insert(0, "not touched by the change" if row.untouched else "no baseline")
    return "; ".join(filter(None, parts))


def _undecided(row: Row) -> str:
    """Say why two scores were not compared, or that one may have fallen by chance; ``""`` where neither is so."""
    text = inconclusive(row.result) if row.result else ""
    return inert(bounded(text or (in_words(row.change.regression) if row.change else ""), _CELL))


def _withheld(row: Row) -> str:
    """Say why there is no badge whatever the score; that a better one needs more points is no news."""
    now = row.result.composite if row.result else None
    if now is None or now.score is None or now.badge is not None or not now.badge_reason:
        return ""
    reason = now.badge_reason.partition("; ")[0]
    return inert(bounded(reason, _WITHHELD)) if reason.startswith("no badge: ") else ""
