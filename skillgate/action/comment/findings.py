"""Findings in a comment: those that came, with a place to click; those that went, counted; those of other tools."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from skillgate.action.comment.fit import Section, folding
from skillgate.action.comment.links import rule
from skillgate.report.escape import inert
from skillgate.report.findings import bounded, order
from skillgate.report.tally import counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.action.comment.links import Links
    from skillgate.action.comment.subject import Subject
    from skillgate.model.finding import Finding, Suppressed
    from skillgate.report.standing import Row

MESSAGE = 300  # characters of a message
_IDS = 8  # rules that are named in a count
_TABLE = ("| where | | rule | what |", "|---|---|---|---|")


def new_findings(rows: Sequence[Row], links: Links, *, compared: bool, most: int, folded: int) -> tuple[Section, ...]:
    """Show the findings that came: the worst in sight, the next ones folded away, the others counted."""
    found = sorted((finding for row in rows for finding in row.came), key=order)
    title = "New findings" if compared else "Findings"
    shown = [_line(finding, links) for finding in found[: most + folded]]
    head = (f"**{title}**: {counts(found)}", "")
    return folding(title.lower(), head, _TABLE, shown, most=most, total=len(found), rank=4)


def fixed(rows: Sequence[Row]) -> Section:
    """Count the findings that went, by rule, and those that stay."""
    fixed = Counter(finding.id for row in rows if row.change for finding in row.change.fixed)
    staying = sum(row.change.kept for row in rows if row.change and row.listed)
    parts = []
    if fixed:
        named = [_times(name, times) for name, times in fixed.most_common(_IDS)]
        others = f" and {len(fixed) - _IDS} rules more" if len(fixed) > _IDS else ""
        parts.append(f"**Fixed**: {sum(fixed.values()):,} ({', '.join(named)}{others})")
    if staying:
        parts.append(f"{staying:,} finding{'s stay' if staying != 1 else ' stays'} as before")
    return Section("fixed findings", ("", " · ".join(parts)) if parts else (), rank=3)


def suppressed(rows: Sequence[Row], links: Links, *, most: int) -> Section:
    """Show the findings that the change has set aside."""
    found = [item for row in rows if row.change for item in row.change.suppressed]
    lines = [_aside(item, links) for item in found[:most]]
    head = ("", f"**Set aside by this change**: {len(found):,}", "") if found else ()
    return Section.of("what was set aside", head, lines, most=most, rank=3, total=len(found))


def outside(subject: Subject, links: Links, *, most: int) -> Section:
    """Show the findings about files that belong to no skill."""
    found = sorted(subject.report.outside, key=order) if subject.report else []
    head = ("", f"**Outside the skills**: {counts(found)}", "", *_TABLE) if found else ()
    lines = [_line(finding, links) for finding in found[:most]]
    return Section.of("findings outside the skills", head, lines, most=most, rank=5, total=len(found))


def finding_line(finding: Finding, links: Links) -> str:
    """Write a finding in a line: where, which rule, what."""
    return f"{links.place(str(finding.path), finding.line)} {rule(finding)} {inert(bounded(finding.message, MESSAGE))}"


def _line(finding: Finding, links: Links) -> str:
    where, what = links.place(str(finding.path), finding.line), inert(bounded(finding.message, MESSAGE))
    return f"| {where} | {finding.severity.value} | {rule(finding)} | {what} |"


def _aside(item: Suppressed, links: Links) -> str:
    until = f" until {inert(bounded(item.until, 20))}" if item.until else ""
    why = f": {inert(bounded(item.reason, MESSAGE))}" if item.reason else ", no reason given"
    return f"- {finding_line(item.finding, links)} (by {inert(bounded(item.by, 40))}{until}{why})"


def _times(name: str, times: int) -> str:
    return inert(bounded(name, 80)) + (f" ×{times:,}" if times > 1 else "")
