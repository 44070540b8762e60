"""What a page says first: whether the gate passed, and why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural
from skillgate.report.findings import bounded
from skillgate.report.html_numbers import sentence
from skillgate.report.html_parts import PATH, Some, first
from skillgate.report.judge_doubt import warnings
from skillgate.report.judge_words import let_through
from skillgate.report.standing import Row as Standing
from skillgate.report.standing import standings, title
from skillgate.report.tally import counts, spread_of
from skillgate.report.tally import unread as unread_groups
from skillgate.report.text import blamed_outside, failures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.documents import ActionRun, Diff
    from skillgate.model.report import Report
    from skillgate.report.html_skill import Row
    from skillgate.report.links import Links

_MOST_NOTES = 50
_LENGTH = 300  # characters of a reason


class Reason(NamedTuple):
    """Why it did not pass; ``row`` is the skill it is about, None where it is about none."""

    text: str
    row: Row | None = None


class Decision(NamedTuple):
    """The verdict.

    ``mark`` is ``pass``, ``fail``, ``error`` (not evaluated in full) or ``none`` (no gate was asked for); ``notes`` are
    what else has to be known before the rest is read, ``own_gate`` what the change does to its own gate.
    """

    mark: str
    title: str
    reasons: Some[Reason] = Some(())
    notes: Some[str] = Some(())
    own_gate: Some[str] = Some(())


def decide(
    report: Report | None, rows: Sequence[Row], run: ActionRun | None, links: Links, diff: Diff | None = None
) -> Decision:
    """Say what came of a run: its own word where there is one, else the report's gate."""
    failed = [row for row in rows if row.mark == "fail"]
    unread = [row for row in rows if row.mark == "error"]
    mark = _mark_of(report, run)
    reasons = [Reason("; ".join(failures(row.result)), row) for row in failed]
    reasons += _unread(unread)
    reasons += [Reason(text) for text in (blamed_outside(report) if report and mark == "fail" else ())]
    texts = [reason.text for reason in reasons]
    own = [text for text in (run.reasons if run else ()) if not any(part and part in text for part in texts)]
    every = [*(Reason(text) for text in own), *reasons]
    return Decision(
        mark,
        _title(mark, report, len(failed), len(unread)) if run is None else _verdict(run, report, diff),
        first([reason._replace(text=bounded(reason.text, _LENGTH)) for reason in every], _MOST_NOTES),
        first([*_let_through(run, report), *_doubts(report, rows), *_notes(run, links)], _MOST_NOTES),
        first(run.policy_changes if run else (), _MOST_NOTES),
    )


def _unread(rows: Sequence[Row]) -> Iterator[Reason]:
    """Give the reasons why skills could not be read: one for all that share it."""
    by_path = {row.result.skill.path: row for row in rows}
    for group in unread_groups(row.result for row in rows):
        if len(group.paths) == 1:
            yield Reason(f"not evaluated: {group.reason}", by_path[group.paths[0]])
            continue
        shown = group.named()
        left = f" and {len(group.paths) - len(shown)} more" if len(group.paths) > len(shown) else ""
        named = ", ".join(bounded(path, PATH) for path in shown)
        yield Reason(f"{plural(len(group.paths), 'skill')} not evaluated: {group.reason}: {named}{left}")


def _verdict(run: ActionRun, report: Report | None, diff: Diff | None) -> str:
    """Say the verdict in the words of the comment."""
    rows = standings(run, report, diff)
    heading = title(run, report, rows, compared=diff is not None, show=_shown)
    return (
        heading if any(heading.startswith(_shown(row)) for row in rows) else sentence(heading)
    )  # a path stays as it is


def _shown(row: Standing) -> str:
    return bounded(row.name if row.path in ("", ".") else row.path, PATH)


def _mark_of(report: Report | None, run: ActionRun | None) -> str:
    if run is not None:
        return run.result if run.result in ("pass", "fail") else "error"
    if report is None or (report.gate.passed is not False and report.summary.not_evaluated):
        return "error"
    return {True: "pass", False: "fail", None: "none"}[report.gate.passed]


def _title(mark: str, report: Report | None, failed: int, unread: int) -> str:
    total = len(report.results) if report else 0
    skills = plural(total, "skill")
    alone = bounded(report.results[0].skill.path, PATH) if report and total == 1 else ""
    if mark == "fail":
        if failed:
            return f"{alone} fails" if alone else f"{failed} of {skills} fail{'s' * (failed == 1)}"
        outside = counts(report.outside) if report else ""
        return f"{outside} outside the skills" if outside else "The gate failed"
    if mark == "error":
        unread_ones = alone or f"{unread} of {skills}"
        return f"{unread_ones} could not be evaluated" if unread else "The evaluation is not complete"
    if mark == "pass":
        return f"{alone or skills} pass{'es' * (total == 1)}" if total else "Passed: no skill was asked about"
    if report is None or not report.summary.findings.get("error"):
        return alone or f"{skills}, without a gate"
    return f"{alone or skills}, without a gate: {spread_of(report.results)}"


def _let_through(run: ActionRun | None, report: Report | None) -> list[str]:
    note = let_through(report.results) if run is not None and report is not None and run.result == "pass" else ""
    return [note] if note else []


def _doubts(report: Report | None, rows: Sequence[Row]) -> Iterator[str]:
    """Say what the verdict alone would hide: a judge that people do not bear out, and drops that may be chance."""
    return warnings(report.calibration if report else None, (row.result for row in rows))


def _notes(run: ActionRun | None, links: Links) -> list[str]:
    notes = []
    if not links.trusted:
        notes.append(
            "This page repeats what a workflow without any rights of its own has found. Nothing in it was checked."
        )
    if run is not None:
        notes += run.notices
    return notes
