"""The report as workflow commands: annotations in a GitHub run, then a summary in plain text.

Source of the syntax: the runner's ``ActionCommand``; of the limits: its ``ExecutionContext`` (ten annotations of a
level in a step, and no more than 4,096 characters each).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.format import plural, printable
from skillgate.model.finding import Severity
from skillgate.report.findings import bounded, marked, place, with_fix
from skillgate.report.tally import answers_warning, blamed_outside, counts, failures, suppressed_in_words, worst_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.finding import Finding
    from skillgate.model.report import Report

POSITION = 8
WRITERS = {"score": "render", "check": "render"}

EACH = 10  # annotations of one level
_FAILED = 20  # skills whose failed gates are told
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


class Annotation(NamedTuple):
    """One workflow command: ``error``, ``warning`` or ``notice``, what it is about, and its text."""

    command: str
    properties: tuple[tuple[str, str], ...]
    text: str

    def __str__(self) -> str:
        """Write the command on one line, whatever its values hold."""
        properties = ",".join(f"{name}={_escaped_property(value)}" for name, value in self.properties)
        # Some runners know no blank where there are no properties.
        return f"::{self.command}{' ' * bool(properties)}{properties}::{_escaped(self.text)}"


def render(report: Report) -> str:
    """Write at most ten annotations of each level, worst first, a count of the others, and a summary."""
    findings = _shown(report)
    lines = [*(str(item) for item in _annotations(report, findings)), *_summary(report, findings)]
    return "".join(f"{line}\n" for line in lines)


def render_annotations(report: Report) -> str:
    """Write at most ten annotations of each level, worst first, and a count of the others, a line each."""
    return "".join(f"{item}\n" for item in _annotations(report, _shown(report)))


def _shown(report: Report) -> list[Finding]:
    return [item.finding for item in marked(report) if item.suppressed is None]


def _annotations(report: Report, findings: Sequence[Finding]) -> Iterator[Annotation]:
    unread = [
        Annotation("error", (_file(result.skill.path), ("title", "skillgate")), bounded(result.composite.reason or ""))
        for result in report.results
        if not result.evaluated
    ]
    found = [_annotation(finding) for finding in findings]
    by_command = {name: [item for item in unread + found if item.command == name] for name in _COMMANDS.values()}
    left = sum(len(items[EACH:]) for items in by_command.values())
    if left and len(by_command["notice"]) >= EACH:
        left += len(by_command["notice"][EACH - 1 : EACH])  # the count is a notice too
        del by_command["notice"][EACH - 1 :]
    for items in by_command.values():
        yield from items[:EACH]
    if left:
        text = f"{plural(left, 'more finding')} without an annotation; skillgate check lists them all."
        yield Annotation("notice", (("title", "skillgate"),), text)


def _annotation(finding: Finding) -> Annotation:
    line = str(max(1, finding.line))
    where = (_file(place(finding)), ("line", line), ("endLine", line), ("col", str(max(1, finding.column))))
    title = finding.id if finding.tool != "skillgate" else f"skillgate {finding.id}"
    text = "\n".join(filter(None, with_fix(finding)))
    return Annotation(_COMMANDS[finding.severity], (*where, ("title", bounded(title, 200))), text)


def _file(path: str) -> tuple[str, str]:
    shown = printable(path)
    return "file", f"./{shown}" if shown.startswith("=") else shown  # the runner would lose a leading equals sign


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escaped_property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _summary(report: Report, findings: Sequence[Finding]) -> Iterator[str]:
    yield from answers_warning(report.results)
    total = report.summary.skills
    parts = [f"{counts(findings) or 'no findings'} in {plural(total, 'skill')}"]
    if report.summary.not_evaluated:
        parts.append(f"{report.summary.not_evaluated} not evaluated")
    if report.summary.suppressed:
        parts.append(printable(suppressed_in_words(report.summary.suppressed)))
    if report.gate.passed is not None:
        parts.append("gate passed" if report.gate.passed else "gate FAILED")
    yield f"skillgate: {'; '.join(parts)}"
    failed = [result for result in worst_first(report.results) if result.gate.passed is False]
    for result in failed[:_FAILED]:
        yield f"  fails: {printable(result.skill.path)}: {bounded('; '.join(failures(result)))}"
    if len(failed) > _FAILED:
        yield f"  {len(failed) - _FAILED} more skills fail"
    for reason in blamed_outside(report):
        yield f"  fails: {bounded(reason)}"
