"""What is missing of a skill's sessions: what keeps the layer from being measured, or the skill from a badge.

An outage is no fault of the skill and no merit. Where the skill's own text can have brought it about it is let pass
far less often: else a text could choose what it is measured on.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from skillgate.model.simulating import FAILED, LEAST_LOADS, NOT_MEASURED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillgate.model.simulating import Loads, Simulation
    from skillgate.montecarlo.grading import Grade, Run
    from skillgate.montecarlo.prompts import Prompts
    from skillgate.montecarlo.subject import Subject

MOST_LOST = 0.2
"""Of sessions, or of grades: beyond that the rest does not speak for all."""
MOST_SILENCED = 0.05
"""Of sessions, or of graded answers, that what was read can have kept from being measured or graded."""
LEAST_SILENCED = 2
"""Of the sessions of one kind: one lost session of ten is chance, whatever share it is."""
MOST_FAILED = 0.2
"""Of the sessions that loaded the skill: what they would have been worth is in no figure but the failure rate."""
_RESTS_ON_QUALITY, _RESTS_ON_SCOPE = ("quality", "quality_cv", "orchestration"), ("scope",)
_RESTS_ON_NEAR_MISSES = ("false_activation_rate", "precision", "f1")


class Gap(NamedTuple):
    """What is missing of a layer.

    Attributes:
        reason: in one sentence.
        measures: names of those that there are none of for it; None: of all.
        silenced: whether what was read can have brought it about.
    """

    reason: str
    measures: tuple[str, ...] | None
    silenced: bool


def lacking(found: Prompts) -> str | None:
    """Say why there are too few prompts to simulate anything, None where there are enough."""
    if found.missing is not None:
        return found.missing
    return None if any(case.should_trigger for case in found.cases) else "there are no prompts that should load it"


def gaps_of(subject: Subject, found: Prompts, runs: Sequence[Run], rows: Sequence[Simulation]) -> Iterator[Gap]:
    """Yield what keeps the layer from being measured.

    Args:
        subject: the skill.
        found: the prompts of its sessions.
        runs: those that were run.
        rows: all sessions, those that were not run too.
    """
    few = lacking(found)
    if few is not None:
        yield Gap(few if subject.unlisted else f"no sessions without prompts: {few}", None, found.provoked)
        return
    yield from _lost(runs, rows)
    yield from _ungraded(runs)


def _lost(runs: Sequence[Run], rows: Sequence[Simulation]) -> Iterator[Gap]:
    """Yield that too many sessions were not measured: of all, of those meant for the skill, or of the near misses.

    Each kind is looked at by itself. Near misses are few: all of them could be lost within the limits for all sessions.
    """
    lost = [run for run in runs if run.session.outcome == NOT_MEASURED]
    fitting, near = ([run for run in lost if run.case.should_trigger is kind] for kind in (True, False))
    wanted = sum(one.should_trigger for one in rows)
    silenced = _provoked(lost) > MOST_SILENCED * len(rows) or _is_silenced(fitting, wanted)
    if silenced or len(lost) > MOST_LOST * len(rows) or len(fitting) > MOST_LOST * wanted:
        yield Gap(_unmeasured(lost, f"{len(rows)} sessions"), None, silenced)
        return
    misses = len(rows) - wanted
    silenced = _is_silenced(near, misses)
    if silenced or len(near) > MOST_LOST * misses:
        yield Gap(_unmeasured(near, f"{misses} near misses"), _RESTS_ON_NEAR_MISSES, silenced)


def _provoked(lost: Sequence[Run]) -> int:
    return sum(run.session.provoked for run in lost)


def _is_silenced(lost: Sequence[Run], sessions: int) -> bool:
    """Tell whether what was read may have kept too many sessions of one kind from being measured."""
    provoked = _provoked(lost)
    return provoked >= LEAST_SILENCED and provoked > MOST_SILENCED * sessions


def _unmeasured(lost: Sequence[Run], of: str) -> str:
    kinds = Counter(run.session.kind or "" for run in lost).most_common()
    named = ", ".join(f"{kind} {count}" for kind, count in kinds)
    return f"{len(lost)} of {of} were not measured ({named}): {lost[0].session.reason}"


def unearned(loads: Loads | None, rows: Sequence[Simulation]) -> str | None:
    """Say why there is no badge: too few sessions loaded the skill, or too many failed. None where there may be one."""
    few = loads is not None and loads.few
    if loads is not None and few and loads.completed:
        return loads.words
    return _failing(rows) or (loads.words if loads is not None and few else None) or _thin(loads)


def _thin(loads: Loads | None) -> str | None:
    """Say that few sessions loaded the skill since most of them failed before: a badge would rest on those few."""
    if loads is None or loads.loaded >= min(LEAST_LOADS, loads.measured):
        return None
    return f"{loads.words}, and the others of {loads.measured} failed"


def _failing(rows: Sequence[Simulation]) -> str | None:
    """Say that too many of the sessions that loaded the skill failed."""
    loaded = [one for one in rows if one.activated]
    failed = sum(one.outcome == FAILED for one in loaded)
    if failed <= MOST_FAILED * len(loaded):
        return None
    return f"{failed} of {len(loaded)} sessions that loaded the skill failed, and no answer of theirs was graded"


def _ungraded(runs: Sequence[Run]) -> Iterator[Gap]:
    """Yield that too many answers have no grade: some, where the answers can be why, else many.

    What they are worth and whether they cover the request are asked apart, and each is missing by itself.
    """
    asked = [run for run in runs if run.grade.asked]
    fitting = [run for run in asked if run.case.should_trigger]
    unrated = [run.grade for run in asked if run.grade.quality is None or run.grade.delivers is None]
    unheld = [run.grade for run in fitting if run.grade.covers is None]
    for missing, of, measures in ((unrated, asked, _RESTS_ON_QUALITY), (unheld, fitting, _RESTS_ON_SCOPE)):
        lost = [grade for grade in missing if grade.lost]
        if len(lost) > MOST_SILENCED * len(of):
            yield Gap(_said(lost, len(of)), measures, silenced=True)
        elif len(missing) > MOST_LOST * len(of):
            yield Gap(_said(missing, len(of)), measures, silenced=False)


def _said(grades: Sequence[Grade], asked: int) -> str:
    why = Counter(grade.ungraded or "" for grade in grades).most_common(1)[0][0]
    return f"{len(grades)} of {asked} answers have no grade that counts: {why}"
