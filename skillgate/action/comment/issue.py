"""The issues about regressions: one for each skill, what they say, and which are opened, updated or closed.

Everything that a skill says is inert in them, and every address is built from what GitHub says of the run.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from skillgate.action.comment import blocks, comment, verdict
from skillgate.format import plural
from skillgate.model.documents import State
from skillgate.model.score import Outcome
from skillgate.report.findings import bounded
from skillgate.report.formats import markdown
from skillgate.report.numbers import points
from skillgate.report.view import View, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from skillgate.action.comment.subject import Subject
    from skillgate.model.documents import SkillChange
    from skillgate.report.standing import Row
    from skillgate.report.view import Line

MOST_OPEN = 10  # issues about one skill each; one more lists the other skills
_REASONS = 20
_TITLE = 120  # characters of a skill's path in a title
_HOW_IT_ENDS = "Each run updates this issue, and closes it when"


class Issue(NamedTuple):
    """What an issue shall be.

    Attributes:
        marker: its first line, by which a later run finds it again.
        title: plain text; ``""`` to close it.
        body: Markdown, with the marker; ``""`` to close it.
        closing: the comment with which it is closed; ``""`` to leave it open.
    """

    marker: str
    title: str = ""
    body: str = ""
    closing: str = ""


def issues(subject: Subject, known: Collection[str], exists: Callable[[str], bool]) -> Iterator[Issue]:
    """Decide which issues to open, update and close; one that is not named stays as it is.

    A regression opens an issue about its skill, at most :data:`MOST_OPEN`; one more issue lists the others. An issue is
    closed if its skill was compared and is no longer worse, or was removed. One about a skill that could not be
    measured or compared stays as it is.

    ``known``: the markers of the open issues. ``exists``: whether there is a directory, which a run over other paths
    does not read.
    """
    if subject.diff is None or subject.report is None:
        return
    rows = {mark_of(subject.key, _before(row)): row for row in verdict.rows_of(subject) if row.change is not None}
    worse = {mark: row for mark, row in rows.items() if _is_worse(row)}
    alone = [mark for mark in worse if mark in known]
    alone += [mark for mark in worse if mark not in known][: max(0, MOST_OPEN - len(alone))]
    for mark in alone:
        yield _about(subject, [worse[mark]], mark, _name(worse[mark]) + " has got worse")
    others, listing = [row for mark, row in worse.items() if mark not in alone], mark_of(subject.key)
    if others:
        count = plural(len(others), "more skill")
        yield _about(subject, others, listing, f"{count} {'have' if len(others) != 1 else 'has'} got worse")
    elif listing in known and _is_decided(subject, rows.values()):
        why = "Every skill that is worse has its own issue" if worse else "No skill is worse"
        yield Issue(listing, closing=_closing(subject, why))
    for mark in sorted(set(known) - set(worse) - {listing}):
        if ended := _end(subject, rows.get(mark), exists):
            yield Issue(mark, closing=_closing(subject, ended))


def mark_of(key: str, path: str | None = None) -> str:
    """Return the first line of the issue about the skill at ``path``; without one, of the list of other skills.

    No comment begins with it.

    Raises:
        ValueError: ``key`` is not one.
    """
    skill = "" if path is None else f" skill={hashlib.sha256(path.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    return comment.marker(key).replace(" key=", " issue=", 1).replace(" -->", f"{skill} -->")


def marks(key: str) -> re.Pattern[str]:
    """Return what the first lines of all issues of ``key`` match."""
    return re.compile(re.escape(mark_of(key)).replace(re.escape(" -->"), "(?: skill=[0-9a-f]{16})? -->"))


def _before(row: Row) -> str:
    """Return a skill's path in the baseline, which stays the same while the skill is worse."""
    side = row.change.before if row.change else None
    return side.path if side else row.path


def _name(row: Row) -> str:
    """Return a path, or a name, with what a title can hold: no mention, no markup, nothing invisible."""
    text = row.name if row.path in ("", ".") else row.path
    shown = text if len(text) <= _TITLE else "…" + text[-_TITLE:]
    return re.sub(r"[^\w./…-]", "_", shown)


def _about(subject: Subject, rows: Sequence[Row], mark: str, what: str) -> Issue:
    job = "" if subject.key == "default" else f" ({subject.key})"
    return Issue(mark, f"skillgate{job}: {what}", _body(subject, rows, mark))


def _body(subject: Subject, rows: Sequence[Row], mark: str) -> str:
    links, run, count = comment.links_of(subject), subject.run, len(rows)
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
    ends = f"{_HOW_IT_ENDS} {'the skill is' if count == 1 else 'these skills are'} no longer worse, or removed."
    elsewhere = comment.elsewhere(subject, links)
    text = markdown.write(
        View(
            f"{plural(count, 'skill')} {'have' if count != 1 else 'has'} got worse",
            "fail",
            at,
            tuple(reasons),
            blocks=parts,
            alarm=comment.alarm(subject),
        ),
        limit=comment.COMMENT_UNITS - len(mark) - 1,
        measure=comment.utf16,
        level=3,
        foot=joined([ends, elsewhere], " · "),
        rest=elsewhere,
    )
    return f"{mark}\n{text}"


def _end(subject: Subject, row: Row | None, exists: Callable[[str], bool]) -> str:
    """Say why the issue of a skill ends; ``""`` to leave it open: the skill may still be worse."""
    change = row.change if row else None
    if change is None:
        return ""  # a run over other paths says nothing about it
    if change.state is State.REMOVED:
        is_gone = _is_whole(subject) and change.before is not None and not exists(change.before.path)
        return "The skill was removed" if is_gone else ""
    if not _is_compared(change) or change.after is None or change.before is None:
        return ""
    return f"No longer worse: {points(change.before.score)} → {points(change.after.score)}"


def _is_worse(row: Row) -> bool:
    return row.regressed and not row.unscored  # the gate also fails a skill that lost its score


def _is_compared(change: SkillChange | None) -> bool:
    """Whether both sides have a score, and the regression gate passed."""
    if change is None or change.regression is None or change.regression.verdict is not Outcome.PASS:
        return False
    return all(side is not None and side.score is not None for side in (change.before, change.after))


def _is_whole(subject: Subject) -> bool:
    """Whether a skill that the run does not have is not there."""
    report, run = subject.report, subject.run
    return report is not None and report.shard is None and not run.changed_only and run.result != "error"


def _is_decided(subject: Subject, rows: Collection[Row]) -> bool:
    """Whether every skill that was there before and is there now is known to be worse or not."""
    both = [row for row in rows if row.change is not None and row.change.before and row.change.after]
    return _is_whole(subject) and all(_is_worse(row) or _is_compared(row.change) for row in both)


def _closing(subject: Subject, why: str) -> str:
    links = comment.links_of(subject)
    at = (" at ", comment.commit(subject.run.head, links)) if subject.run.head else ()
    return markdown.written((why, *at, " (", comment.elsewhere(subject, links), ")."))
