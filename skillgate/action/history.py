"""How the scores of the last runs over every skill moved: a document in the report directory, continued by each run.

A workflow restores it from a cache before the run and saves it afterwards. Other steps can write that cache, so the
document is untrusted: bounded, validated, and shown in the summary alone. No gate reads it.
"""
# ruff: noqa: PTH118, PTH123

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING

from skillgate.action.comment.subject import PastRun, RunHistory, SkillScore
from skillgate.action.plan import HISTORY
from skillgate.errors import CodecError, UsageError
from skillgate.model.codec import decode
from skillgate.model.score import SCHEMA_VERSION
from skillgate.report.json import parsed

if TYPE_CHECKING:
    from skillgate.action.comment.subject import Subject
    from skillgate.action.github import Event
    from skillgate.action.request import ActionSession

MOST = 10  # runs
_MAX_BYTES = 10_000_000
_MAX_SKILLS = 5_000
_MAX_PATH = 1_000
_MAX_COUNT = 1 << 53  # also of a run's number
_COMMIT = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})?")


def read_history(folder: str, event: Event, session: ActionSession) -> RunHistory | None:
    """Read what earlier runs left in the report directory; None, with a note, for anything that is not valid.

    In a change nothing is read: such a run is not one over every skill.
    """
    place = os.path.join(session.cwd, folder, HISTORY)
    if not folder or event.is_change or not os.path.lexists(place):
        return None
    shown = os.path.join(folder, HISTORY)
    try:
        return _valid(decode(RunHistory, parsed(untrusted_text(place, shown, _MAX_BYTES), source=shown)))
    except (UsageError, CodecError, OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error).partition("\n")[0]
        session.note(f"the scores of earlier runs are ignored: {shown} is not valid: {reason}")
        return None


def continued(before: RunHistory | None, subject: Subject, event: Event) -> RunHistory | None:
    """Return the history with this run; None if it is no run over every skill, or none was ever measured."""
    report = subject.report
    if event.is_change or subject.run.changed_only or (report is not None and report.shard is not None):
        return None
    this = PastRun(subject.run.head, event.run_id or 0)
    if report is None:
        return before and before._replace(runs=_with(before.runs, this))
    if before is None or (before.depth, before.scoring_version) != (report.depth, report.scoring_version):
        before = RunHistory(report.depth, report.scoring_version, ())
    badges = sum(one.composite.badge is not None for one in report.results)
    this = this._replace(
        mean=report.summary.mean,
        lowest=report.summary.lowest,
        badges=badges if report.summary.mean is not None else None,
        errors=report.summary.findings.get("error", 0),
        skills=tuple(SkillScore(one.skill.path, one.composite.score) for one in report.results[:_MAX_SKILLS]),
    )
    return before._replace(runs=_with(before.runs, this))


def _with(runs: tuple[PastRun, ...], this: PastRun) -> tuple[PastRun, ...]:
    """Add a run; another attempt of one takes its place."""
    others = tuple(one for one in runs if not this.run or one.run != this.run)
    return (*others, this)[-MOST:]


def untrusted_text(place: str, shown: str, most: int) -> str:
    """Read a regular file of at most ``most`` bytes, never through a link; ``shown`` names it in messages.

    Raises:
        UsageError: it is no regular file, or larger.
        OSError: it cannot be read.
        UnicodeDecodeError: it is not UTF-8.
    """
    descriptor = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UsageError(f"{shown} is not a file")
        data = file.read(most + 1)
    if len(data) > most:
        raise UsageError(f"{shown} is larger than {most // 1_000_000} MB")
    return data.decode("utf-8")


def _valid(history: RunHistory) -> RunHistory:
    """Return the history if it is within its bounds.

    Raises:
        ValueError: it is not.
    """
    if history.schema_version != SCHEMA_VERSION:
        raise ValueError(f"its schema version is not {SCHEMA_VERSION}")
    if len(history.runs) > MOST or any(len(run.skills) > _MAX_SKILLS for run in history.runs):
        raise ValueError(f"it has more than {MOST} runs or {_MAX_SKILLS:,} skills")
    for run in history.runs:
        if any(number is not None and number > _MAX_COUNT for number in (run.run, run.badges, run.errors)):
            raise ValueError("a count is too large")
        if not _COMMIT.fullmatch(run.head) or any(len(one.path) > _MAX_PATH for one in run.skills):
            raise ValueError("a commit is not one, or a path is too long")
        if len({one.path for one in run.skills}) != len(run.skills):
            raise ValueError("a run has a skill twice")
    return history
