"""What a comment says of gates on recorded invocations: how many failed in sight, all of it folded away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillgate.action.comment.fit import Section
from skillgate.format import plural
from skillgate.report import invocation_lists, invocations
from skillgate.report.escape import inert
from skillgate.report.findings import bounded
from skillgate.report.formats import markdown

if TYPE_CHECKING:
    from skillgate.model.invocation import InvocationReport

_TITLE = "gates on recorded invocations"
_TEXT = 200  # characters of what it rests on


def gates(report: InvocationReport, *, limit: int) -> Section:
    """Show what came of each gate, then a row for each skill, the worst first.

    Args:
        report: the figures and the gates.
        limit: bytes that the table may take, at least 20,000.
    """
    if not report.gates:
        return Section(_TITLE)
    bad = sum(check.status in invocations.BROKEN for check in report.gates)
    undecided = sum(check.status in invocations.UNDECIDED for check in report.gates)
    counted = ((bad, "failed"), (undecided, "not decided"), (len(report.gates) - bad - undecided, "passed"))
    counts = ", ".join(f"{count:,} {what}" for count, what in counted if count)
    rated = f"{plural(report.rated, 'invocation')} rated by rubric {report.rubric_version}"
    about = inert(bounded(f"{rated}, of {report.invocations:,} in {invocations.of_window(report)}", _TEXT))
    table = markdown.write(invocation_lists.gates(report.gates), limit=limit, level=4).rstrip("\n").split("\n")
    head = ("", f"<details><summary>Gates on recorded invocations: {counts}</summary>", "", *table)
    return Section(_TITLE, (*head, "", f"<sub>{about}</sub>", "", "</details>"), rank=7)
