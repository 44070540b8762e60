"""Every skill of a run, worst first, and the table that shows them: one row a skill, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.github.fit import folding
from skillgate.github.links import link, shown_path
from skillgate.model.diff import State
from skillgate.report.findings import bounded
from skillgate.report.markdown import code, inert
from skillgate.report.moves import arrow, what_moved
from skillgate.report.skill_block import counts

if TYPE_CHECKING:
    from skillgate.github.fit import Section
    from skillgate.github.links import Links
    from skillgate.github.subject import Subject
    from skillgate.model.diff import Side, SkillChange
    from skillgate.model.finding import Finding
    from skillgate.model.report import Composite, SkillResult

_CELL = 200  # characters of what moved


class Row(NamedTuple):
    """One skill.

    Attributes:
        change: before and after, None without a base.
        result: the head's result; None for a removed skill.
        fails: whether it is among those that fail the run.
    """

    change: SkillChange | None
    result: SkillResult | None
    fails: bool = False

    @property
    def path(self) -> str:
        """The shown path: now, or where it was."""
        return self.result.skill.path if self.result else self.change.path if self.change else ""

    @property
    def name(self) -> str:
        """As it calls itself."""
        return self.result.skill.name if self.result else self.change.name if self.change else ""

    @property
    def state(self) -> State | None:
        """What became of it, None where it is not known."""
        return self.change.state if self.change else None

    @property
    def unscored(self) -> bool:
        """Whether it is there and has no score."""
        return self.result is not None and self.result.composite.score is None

    @property
    def regressed(self) -> bool:
        """Whether it fell by more than is allowed, or lost its badge."""
        return self.change is not None and self.change.regressed

    @property
    def listed(self) -> bool:
        """Whether there is anything to say of it."""
        differs = self.change is None or self.change.moved or self.state is not State.UNCHANGED
        return self.fails or self.unscored or self.regressed or differs

    @property
    def came(self) -> tuple[Finding, ...]:
        """The findings that the change brings; without a base, and of a new skill, all that there are."""
        if self.change is not None and (self.change.new or self.state is not State.NEW):
            return self.change.new
        return self.result.findings if self.result else ()


def rows_of(subject: Subject) -> tuple[Row, ...]:
    """List every skill of a run, worst first.

    Failing ones come first, then regressions, those without a score, what fell most, what is new, and the others.
    """
    results = {result.skill.path: result for result in subject.report.results} if subject.report else {}
    failed = subject.run.result == "fail"
    drops_fail = failed and subject.diff is not None and subject.diff.gate.passed is False
    rows = []
    for change in subject.diff.skills if subject.diff else ():
        row = Row(change, results.pop(change.after.path, None) if change.after else None)
        rows.append(row._replace(fails=(failed and _gate_failed(row.result)) or (drops_fail and row.regressed)))
    rows += [Row(None, result, fails=failed and _gate_failed(result)) for result in results.values()]
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


def _gate_failed(result: SkillResult | None) -> bool:
    return result is not None and result.gate.passed is False


def _worst_first(row: Row) -> tuple[int, float, str]:
    change = row.change.change if row.change else None
    signs = (row.fails, row.regressed, row.unscored, (change or 0) < 0, row.state is State.NEW)
    group = next((index for index, sign in enumerate(signs) if sign), len(signs))
    if row.state is State.REMOVED:
        group += 1
    score = row.result.composite.score if row.result and row.change is None else None
    return group, change or score or 0.0, row.path


def _line(row: Row, links: Links, *, compared: bool) -> str:
    before = row.change.before if row.change else None
    now = row.result.composite if row.result else row.change.after if row.change else None
    removed = row.state is State.REMOVED
    skill = code(shown_path(row.path)) if removed else skill_link(row.path, row.name, links)
    cells = (_mark(row), skill, _score(before, now, row), _badge(before, now), _said(row, compared=compared))
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
    shown = f"**{score:.2f}**" if score is not None else "—"
    if before is None or was == score:
        return shown
    change = row.change.change if row.change else None
    moved = f" {arrow(change)}" if change else ""
    return f"{was:.2f} → {shown}{moved}" if was is not None else f"— → {shown}"


def _badge(before: Side | None, now: Composite | Side | None) -> str:
    was, badge = (side.badge.value if side and side.badge else "—" for side in (before, now))
    return badge if before is None or was == badge else f"{was} → {badge}"


def _said(row: Row, *, compared: bool) -> str:
    if row.change is not None:
        return inert(what_moved(row.change))
    parts = [counts(row.came)]
    if row.unscored and row.result:
        parts.insert(0, inert(bounded(f"no score: {row.result.composite.reason or 'no reason is given'}", _CELL)))
    if compared:
        parts.insert(0, "no baseline")
    return "; ".join(filter(None, parts))
