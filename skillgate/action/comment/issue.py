"""The issue that tells of regressions: what it says, and whether it is opened, brought up to date or closed.

Everything that a skill says is inert in it, and every address is built here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from skillgate.action.comment.comment import COMMENT_UNITS, marker
from skillgate.action.comment.findings import finding_line
from skillgate.action.comment.fit import Section, fit, utf16
from skillgate.action.comment.links import links_of
from skillgate.action.comment.rows import skill_link
from skillgate.model.documents import State
from skillgate.model.score import Outcome
from skillgate.report.escape import code, inert
from skillgate.report.findings import bounded
from skillgate.report.judge_words import answers_warning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.action.comment.links import Links
    from skillgate.action.comment.subject import Subject
    from skillgate.model.documents import Diff, Side, SkillChange

_ROWS = 200
_REASON = 400  # characters


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
    """Return the first line of the issue of ``key``, which is none of a comment's.

    Raises:
        ValueError: the key is not one.
    """
    return marker(key).replace(" key=", " issue=", 1)


def title(diff: Diff, key: str) -> str:
    """Return the issue's title: no text of a skill is in it."""
    count = diff.summary.regressions
    job = "" if key == "default" else f" ({key})"
    return f"skillgate{job}: {count} skill{'s have' if count != 1 else ' has'} got worse"


def _is_well(subject: Subject, diff: Diff) -> bool:
    compared = [one for one in diff.skills if one.before is not None and one.after is not None]
    decided = all(one.regression is not None and one.regression.verdict is Outcome.PASS for one in compared)
    return subject.run.result != "error" and bool(compared) and decided


def _body(subject: Subject, diff: Diff, mark: str) -> str:
    links = links_of(subject)
    worse = [one for one in diff.skills if one.regressed]
    first = mark + "\n"
    sections = [_head(subject, links), _table(worse, links), _reasons(worse, links), _found(worse, links), _foot(diff)]
    return first + fit(sections, COMMENT_UNITS - len(first), utf16, links.report)


def _head(subject: Subject, links: Links) -> Section:
    run = subject.run
    text = answers_warning(subject.report.results) if subject.report else ""
    warning = (f"> **⚠️ {inert(bounded(text, _REASON))}**", "") if text else ()
    at = f"At {links.commit(run.head)}" if run.head else "Here"
    than = f", compared with {inert(bounded(run.compared, _REASON))}" if run.compared else ""
    return Section("what", (*warning, f"{at}{than}, these skills have got worse ({links.report})."))


def _table(worse: Sequence[SkillChange], links: Links) -> Section:
    rows = [f"| {skill_link(one.path, one.name, links)} | {_scores(one)} | {_badges(one)} |" for one in worse[:_ROWS]]
    return Section.of("skills", ("", "| skill | score | badge |", "|---|--:|---|"), rows, most=_ROWS, total=len(worse))


def _reasons(worse: Sequence[SkillChange], links: Links) -> Section:
    rows = [
        f"- {skill_link(one.path, one.name, links)}: {inert(bounded(one.regression.reason, _REASON))}"
        for one in worse[:_ROWS]
        if one.regression is not None
    ]
    return Section.of("reasons", ("", "**Why**", ""), rows, most=_ROWS, total=len(worse), rank=1)


def _found(worse: Sequence[SkillChange], links: Links) -> Section:
    found = [finding for one in worse for finding in one.new]
    rows = [f"- {finding_line(one, links)}" for one in found[:_ROWS]]
    head = ("", "**New findings in them**", "") if rows else ()
    return Section.of("new findings", head, rows, most=_ROWS, total=len(found), rank=2)


def _foot(diff: Diff) -> Section:
    new = sum(one.state is State.NEW for one in diff.skills)
    text = f"{len(diff.skills) - new} skills were compared. This issue is kept up to date, and closed when all is well."
    return Section("foot", ("", f"<sub>{text}</sub>"))


def _closing(subject: Subject) -> str:
    links = links_of(subject)
    at = f" at {links.commit(subject.run.head)}" if subject.run.head else ""
    return f"No skill is worse any more{at} ({links.report})."


def _scores(change: SkillChange) -> str:
    return f"{_score(change.before)} → {_score(change.after)}"


def _score(side: Side | None) -> str:
    return f"{side.score:.2f}" if side is not None and side.score is not None else "not measured"


def _badges(change: SkillChange) -> str:
    then, now = (code(side.badge.value) if side and side.badge else "none" for side in (change.before, change.after))
    return then if then == now else f"{then} → {now}"
