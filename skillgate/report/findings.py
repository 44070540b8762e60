"""What the reports for machines share: every finding of a report, worst first, each with its own fingerprint."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from skillgate.format import printable
from skillgate.named_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.model.finding import Finding, Suppressed
    from skillgate.model.report import Report

MESSAGE = 1000  # characters of any text that comes from a skill or another tool; enough for every message of ours
_FIX = 280  # of them for the instruction where both are written as one text


class Marked(NamedTuple):
    """A finding with what it is recognised by in later reports.

    ``fingerprint`` is 32 hexadecimal digits, unique in its report; it stays when lines or numbers in messages move, and
    for a finding across skills as long as it is about the same skills.
    ``suppressed`` is None if the finding is active.
    """

    finding: Finding
    fingerprint: str
    suppressed: Suppressed | None = None


def order(finding: Finding) -> tuple[int, str, int, int, str]:
    """Order findings as every report does: worst first, then by place."""
    return finding.severity.rank, str(finding.path), finding.line, finding.column, finding.id


def marked(report: Report) -> tuple[Marked, ...]:
    """List every finding of a report: active ones, worst first, then suppressed ones in the same order."""
    standing = [finding for result in report.results for finding in result.findings] + list(report.outside)
    aside = [item for result in report.results for item in result.suppressed]
    prints = _fingerprints([*standing, *(item.finding for item in aside)])
    found = [Marked(finding, prints[id(finding)]) for finding in sorted(standing, key=order)]
    found += [
        Marked(item.finding, prints[id(item.finding)], item) for item in sorted(aside, key=lambda it: order(it.finding))
    ]
    return tuple(found)


def _fingerprints(findings: Iterable[Finding]) -> dict[int, str]:
    """Give each finding's fingerprint by its identity; equal ones are numbered from the top of their file.

    Whether a finding is suppressed does not enter, so that suppressing one does not make its neighbours look new.
    """
    from skillgate.model.skill import sha256_of  # only for reports to machines
    from skillgate.report.known import folded

    counts: dict[tuple[str, ...], int] = {}
    prints = {}
    for finding in sorted(findings, key=lambda it: (place(it) if it.skills else "", it.line, it.column)):
        key: tuple[str, ...] = (finding.tool, finding.id, place(finding), folded(finding.message))
        if finding.skills:
            key = (finding.tool, finding.id, *sorted(map(posixpath.normpath, finding.skills)))
        counts[key] = counts.get(key, 0) + 1
        text = "\0".join((*key, str(counts[key])))
        prints[id(finding)] = sha256_of(text)[:32]
    return prints


def place(finding: Finding) -> str:
    """Give a finding's path as other programs know it: ``/`` between names, neither ``./`` nor an inner ``..``."""
    return posixpath.normpath(str(finding.path))


def bounded(text: str, limit: int = MESSAGE) -> str:
    """Write a text on one line with nothing invisible in it, and not longer than ``limit`` characters."""
    shown = printable(text[: 2 * limit])  # a line break of two characters becomes one: half of them may go
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def with_fix(finding: Finding) -> tuple[str, str]:
    """Give the message and the instruction of a finding as two sentences, both bounded; the second may be empty."""
    message, fix = bounded(finding.message, MESSAGE - _FIX - 20), bounded(finding.fix, _FIX)
    return _sentence(message), _sentence(f"To fix: {fix}") if fix else ""


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
