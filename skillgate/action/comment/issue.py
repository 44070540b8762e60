"""The issue about regressions: what it says, and whether it is opened, updated or closed.

Everything that a skill says is inert in it, and every address is built from what GitHub says of the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.action.comment import blocks, comment, verdict
from skillgate.format import plural
from skillgate.model.documents import State
from skillgate.model.score import Outcome
from skillgate.report.findings import bounded
from skillgate.report.formats import markdown
from skillgate.report.view import View, joined

if TYPE_CHECKING:
    from skillgate.action.comment.subject import Subject
    from skillgate.model.documents import Diff
    from skillgate.report.view import Line

_REASONS = 20


class Issue(NamedTuple):
    """What the issue shall be.

    Attributes:
        marker: its first line, by which a later run finds it again.
        title: plain text; ``""`` where there is nothing to open.
        body: Markdown, with the marker; ``""`` where there is nothing to open.
        closing: what is said where an open one is closed; ``""`` to leave it open.
    """

    marker: str
    title: str = ""
    body: str = ""
    closing: str = ""


def issue(subject: Subject) -> Issue | None:
    """Say what becomes of the issue; None where a run knows too little to say anything.

    A regression opens it. It is closed only by a run that compared every skill and found none: where one could not be
    measured or compared, or the run ended early, an open issue stays as it is.
    """
    diff, mark = subject.diff, mark_of(subject.key)
    if diff is None or subject.report is None:
        return None
    if diff.summary.regressions:
        return Issue(mark, title(diff, subject.key), _body(subject, diff, mark))
    return Issue(mark, closing=_closing(subject)) if _is_well(subject, diff) else None


def mark_of(key: str) -> str:
    """Return the first line of the issue of ``key``, which no comment begins with.

    Raises:
        ValueError: the key is not one.
    """
    return comment.marker(key).replace(" key=", " issue=", 1)


def title(diff: Diff, key: str) -> str:
    """Return the issue's title: no text of a skill is in it."""
    job = "" if key == "default" else f" ({key})"
    return f"skillgate{job}: {_worse(diff)}"


def _worse(diff: Diff) -> str:
    count = diff.summary.regressions
    return f"{plural(count, 'skill')} {'have' if count != 1 else 'has'} got worse"


def _is_well(subject: Subject, diff: Diff) -> bool:
    compared = [one for one in diff.skills if one.before is not None and one.after is not None]
    decided = all(one.regression is not None and one.regression.verdict is Outcome.PASS for one in compared)
    return subject.run.result != "error" and bool(compared) and decided


def _body(subject: Subject, diff: Diff, mark: str) -> str:
    links, run = comment.links_of(subject), subject.run
    rows = [row for row in verdict.rows_of(subject) if row.regressed]
    than = f", compared with {bounded(run.compared, verdict.REASON)}" if run.compared else ""
    at: Line = ("At ", comment.commit(run.head, links), than) if run.head else than.removeprefix(", ")
    reasons: list[Line] = [
        (*verdict.named(row, links), f": {bounded(row.change.regression.reason, verdict.REASON)}")
        for row in rows
        if row.change is not None and row.change.regression is not None
    ]
    if len(reasons) > _REASONS:
        reasons[_REASONS:] = [plural(len(reasons) - _REASONS, "more reason")]
    parts = (
        *blocks.table(rows, links, compared=True),
        *blocks.found("New findings", [one for row in rows if row.change for one in row.change.new], links),
    )
    new = sum(one.state is State.NEW for one in diff.skills)
    said = f"{plural(len(diff.skills) - new, 'skill')} compared. Each run updates this issue, and closes it when no"
    elsewhere = comment.elsewhere(subject, links)
    text = markdown.write(
        View(_worse(diff), "fail", at, tuple(reasons), blocks=parts, alarm=comment.alarm(subject)),
        limit=comment.COMMENT_UNITS - len(mark) - 1,
        measure=comment.utf16,
        level=3,
        foot=joined([f"{said} skill is worse.", elsewhere], " · "),
        rest=elsewhere,
    )
    return f"{mark}\n{text}"


def _closing(subject: Subject) -> str:
    links = comment.links_of(subject)
    at = (" at ", comment.commit(subject.run.head, links)) if subject.run.head else ()
    return markdown.written(("No skill is worse any more", *at, " (", comment.elsewhere(subject, links), ")."))
