"""The comment on a pull request and the summary of a job: one view, written within GitHub's limits.

Everything that a skill or a pull request says is inert in them. Every address is built from what GitHub says of the
run; none is taken from a report.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skillgate.action.comment import blocks, sticky, verdict
from skillgate.action.comment.trend import trend
from skillgate.report import score
from skillgate.report.findings import bounded
from skillgate.report.formats import markdown
from skillgate.report.links import Links
from skillgate.report.view import Span, View, code, joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from skillgate.action.comment.subject import Subject
    from skillgate.report.view import Line, Mark

COMMENT_UNITS = 65_000  # UTF-16 code units; GitHub refuses a comment of more than 65,536
SUMMARY_BYTES = 1_000_000  # of UTF-8; the runner drops the whole summary of a step over 1,048,576, and others may write
UNTRUSTED = (
    "The pull request's own workflow run wrote this report. Its author controls that run, and nothing in it was"
    " verified. Whether the pull request changes the gate itself is not known: see the changed files."
)
_KEY = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MARKS: dict[str, Mark] = {"pass": "pass", "fail": "fail"}  # what is not known to pass or fail has the mark of an error


def utf16(text: str) -> int:
    """Count UTF-16 code units, in which GitHub limits a comment."""
    return len(text) + sum(character > "\uffff" for character in text)


def marker(key: str) -> str:
    """Return the first line of a comment, by which the next run finds it again.

    Raises:
        ValueError: the key holds anything but letters, digits, ``.``, ``_`` and ``-``, or more than 64 of them.
    """
    if not _KEY.fullmatch(key):
        raise ValueError(f"expected 1 to 64 letters, digits, ., _ and - as the comment's key, found {key[:80]!r}")
    return sticky.marker(key)


def comment(subject: Subject) -> str:
    """Write the comment: at most 65,000 UTF-16 code units, the marker in its first line."""
    first = marker(subject.key) + "\n"
    return first + _write(subject, view(subject), COMMENT_UNITS - len(first), utf16)


def summary(subject: Subject) -> str:
    """Write the job summary: the comment without its marker, and the trend; at most 1,000,000 bytes of UTF-8."""
    shown = view(subject)
    shown = shown._replace(blocks=(*trend(subject.history, links_of(subject)), *shown.blocks))
    return _write(subject, shown, SUMMARY_BYTES, markdown.utf8)


def headline(subject: Subject) -> str:
    """Return the verdict and its first reason as one line of plain text, for the log."""
    return verdict.plain(subject, verdict.rows_of(subject))


def links_of(subject: Subject) -> Links:
    """Return what addresses are built from; the head of a run that is not trusted comes from GitHub too."""
    return Links(subject.repository_url, subject.run_url, commit=subject.run.head)


def elsewhere(subject: Subject, links: Links) -> Span:
    """Name where everything is: a run that ended early has a log, and no report."""
    return Span("log" if subject.report is None else "full report", url=links.run())


def view(subject: Subject) -> View:
    """Build what a comment shows: the verdict, why, what changed, what to do next, then the details."""
    rows, links = verdict.rows_of(subject), links_of(subject)
    job = f" ({subject.key})" if subject.key != "default" else ""
    return View(
        f"skillgate{job}: {verdict.words(subject, rows, naming=subject.trusted)}",
        _MARKS.get(subject.run.result, "error"),
        reasons=tuple(verdict.reasons(subject, rows, links)),
        notes=tuple(verdict.notes(subject, rows, links)),
        blocks=tuple(blocks.blocks(subject, rows, links)),
        alarm=alarm(subject),
    )


def alarm(subject: Subject) -> str:
    """Warn of a report from another workflow and of answers that no model gave; ``""`` for neither."""
    return " ".join(filter(None, ("" if subject.trusted else UNTRUSTED, verdict.scripted(subject))))


def _write(subject: Subject, shown: View, limit: int, measure: Callable[[str], int]) -> str:
    links = links_of(subject)
    rest, foot = elsewhere(subject, links), _foot(subject, links)
    return markdown.write(shown, limit=limit, measure=measure, level=3, foot=foot, rest=rest)


def _foot(subject: Subject, links: Links) -> Line:
    """Say in one line what was compared, under which policy, by which version, and where the rest is."""
    run, report = subject.run, subject.report
    parts: list[Line] = []
    if report is not None:
        parts.append(score.facts(report) if subject.trusted else f"{report.depth.value} depth")
    if run.head:
        merged = run.change and run.change != run.head
        head = (commit(run.change, links), " (merged as ", code(run.head[:7]), ")") if merged else ()
        parts.append(("head ", *(head or (commit(run.head, links),)), *_against(subject, links)))
    if run.policy:
        is_other = run.policy_commit and run.policy_commit != run.base
        at = (" ", commit(run.policy_commit, links)) if is_other else ()
        parts.append((f"policy from {bounded(run.policy, verdict.REASON)}", *at))
    scoring = f", scoring {report.scoring_version}" if report else ""
    parts.append(f"skillgate {bounded(run.tool.version, 40)}{scoring}")
    parts += [elsewhere(subject, links)] if links.run() else []
    return joined(parts, " · ")


def commit(sha: str, links: Links) -> Span:
    """Return a commit's first digits with its address; any other text as it is."""
    url = links.change(sha)
    return code(sha[:7], url) if url else Span(bounded(sha, 120))


def _against(subject: Subject, links: Links) -> tuple[str | Span, ...]:
    run, compared = subject.run, bounded(subject.run.compared, verdict.REASON)
    if run.base:
        return (" against base ", commit(run.base, links))
    return (f" against {compared}" if compared and subject.diff is not None else ", no baseline",)
