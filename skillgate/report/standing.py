"""The state of each skill of a run, before and after, and the verdict over all of them in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural
from skillgate.model.documents import State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillgate.model.documents import ActionRun, Diff, SkillChange
    from skillgate.model.finding import Finding
    from skillgate.model.report import Report, SkillResult


STEP = 0.05  # points, or of a dimension: a smaller change is not worth a row


class Row(NamedTuple):
    """One skill.

    Attributes:
        change: before and after, None without a base.
        result: the head's result; None for a removed skill.
        fails: whether it is among those that fail the run.
        untouched: whether it was not requested: it only shares something with a skill that the change touches.
    """

    change: SkillChange | None
    result: SkillResult | None
    fails: bool = False
    untouched: bool = False

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
        if self.untouched:
            return self.fails
        return self.fails or self.unscored or self.regressed or self.change is None or _differs(self.change)

    @property
    def came(self) -> tuple[Finding, ...]:
        """The findings that the change adds; without a base, and of a new skill, all that there are."""
        if self.change is not None and (self.change.new or self.state is not State.NEW):
            return self.change.new
        return self.result.findings if self.result and not self.untouched else ()


def _differs(change: SkillChange) -> bool:
    """Whether a reader would call a skill changed: by more than a few hundredths of a point."""
    before, after = change.before, change.after
    if change.state is State.UNCHANGED or before is None or after is None or change.moved:
        return change.moved or change.state is not State.UNCHANGED
    if change.new or change.fixed or change.suppressed or before.badge != after.badge:
        return True
    if change.sampled or change.change is None or abs(change.change) >= STEP:
        return True
    return any(abs(one.change or 0) >= STEP for one in change.dimensions.values())


def standings(run: ActionRun, report: Report | None, diff: Diff | None) -> tuple[Row, ...]:
    """List every skill of a run, those with a change first."""
    results = {result.skill.path: result for result in report.results} if report else {}
    failed, extras = run.result == "fail", frozenset(run.beside)
    drops_fail = failed and diff is not None and diff.gate.passed is False
    rows = []
    for change in diff.skills if diff else ():
        row = Row(change, results.pop(change.after.path, None) if change.after else None)
        rows.append(row._replace(fails=(failed and _gate_failed(row.result)) or (drops_fail and row.regressed)))
    for path, result in results.items():
        rows.append(Row(None, result, fails=failed and _gate_failed(result), untouched=path in extras))
    return tuple(rows)


def title(
    run: ActionRun,
    report: Report | None,
    rows: Sequence[Row],
    *,
    compared: bool,
    show: Callable[[Row], str] | None = None,
) -> str:
    """Say the verdict in a few words, as in ``1 of 3 skills fails``.

    Args:
        run: its result.
        report: None where the run ended before there was one.
        rows: as :func:`standings` gives them.
        compared: whether there is a base.
        show: how a skill is named, where one alone is meant; without it none is named.
    """
    requested = [row for row in rows if not row.untouched]
    there = [row for row in requested if row.result is not None]
    one = show(there[0]) if show and there and len(requested) == 1 else ""
    if run.result == "pass":
        return _passing(run, report, requested, one, compared=compared)
    failing = [row for row in there if row.fails]
    unread = sum(1 for row in there if row.unscored and not row.fails)
    if run.result == "fail":
        named = f": {show(failing[0])}" if show and len(failing) == 1 and not one and not unread else ""
        text = _of(len(failing), len(there), one, "fails", "fail") if failing else _failing(run)
        return f"{text}, {unread} could not be evaluated" if unread else text + named
    if unread:
        return _of(unread, len(there), one, "could not be evaluated", "could not be evaluated")
    return "the evaluation is not complete" if report else "nothing could be evaluated"


def _passing(run: ActionRun, report: Report | None, requested: Sequence[Row], one: str, *, compared: bool) -> str:
    total = sum(1 for row in requested if row.result is not None)
    unscored = sum(1 for row in requested if row.unscored)
    if run.touched == 0:
        return "no skill is touched"
    if unscored:
        verb = "pass" if total - unscored != 1 else "passes"
        return f"{total - unscored} of {_skills(total)} {verb}, {unscored} not measured"
    if total == 0:
        return f"{_skills(len(requested))} removed" if requested else _unscored(run)
    subject, alone = one or _skills(total), total == 1
    if compared and not any(row.listed for row in requested):
        return f"{subject} score{'s' * alone} as before"
    if report is not None and report.gate.passed is None:
        return f"{subject}, no gate was asked for"
    return f"{subject} pass{'es' * alone}"


def _failing(run: ActionRun) -> str:
    """Say the verdict of a run that fails by none of the scored skills."""
    is_benchmark = bool(run.reasons) and all(reason.startswith("benchmark: ") for reason in run.reasons)
    return "the benchmark fails" if is_benchmark else "the gate fails"


def _unscored(run: ActionRun) -> str:
    """Say the verdict of a run that passes and scores no skill."""
    if run.benchmarked:
        alone = run.benchmarked == 1
        return f"{run.benchmarked:,} benchmarked skill{'s' * (not alone)} pass{'es' * alone}"
    return f"{_skills(run.touched)} touched, none left to evaluate" if run.touched else "no skill was asked about"


def _of(count: int, total: int, named: str, one: str, many: str) -> str:
    if total <= 1:
        return f"{named or 'the skill'} {one}"
    return f"{count:,} of {_skills(total)} {one if count == 1 else many}"


def _skills(count: int) -> str:
    return f"{plural(count, 'skill')}"


def _gate_failed(result: SkillResult | None) -> bool:
    return result is not None and result.gate.passed is False
