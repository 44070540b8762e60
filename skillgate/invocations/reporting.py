"""Report on a store: figures of skills, trends, gates, and the dashboard with all of them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import __version__, settings
from skillgate.config import config_digest
from skillgate.errors import IncompleteError, UsageError
from skillgate.format import plural
from skillgate.invocations.figures import corrected, tally_of, trend_json, with_bootstrap
from skillgate.invocations.figures import trend as compared
from skillgate.invocations.records import existing_store, require_skills
from skillgate.invocations.summary import check, gate_json, report, verdict
from skillgate.model.codec import encode
from skillgate.model.invocation import DIMENSIONS, Filters, Use
from skillgate.model.invocation_gate import chosen, known
from skillgate.model.report import Tool
from skillgate.report.json import render as as_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.console import Console
    from skillgate.invocations.catalogue import Listed
    from skillgate.invocations.records import Selection
    from skillgate.model.invocation import GateCheck, InvocationReport, InvocationTrend
    from skillgate.model.invocation_gate import Gate
    from skillgate.store.invocations import InvocationStore, Record
    from skillgate.store.observations import Observations

_MOST_NAMED = 1_000  # skills
_MOST_CHECKED = 10_000  # results of gates
_COMMON = (
    *("schema_version", "scoring_version", "rubric_version", "depth", "coverage", "models", "config_digest"),
    *("store", "days"),
)


class _View(NamedTuple):
    """An open store, and the selected invocations.

    Attributes:
        shown: the store's name for messages.
        skills: unique sorted names; empty for all.
        now: end of windows, UTC.
        until: leave out invocations that began later; None for no limit.
        days: length of the window; None for everything.
    """

    store: InvocationStore
    shown: str
    rubric: str
    skills: tuple[str, ...]
    now: datetime
    until: datetime | None
    days: int | None
    filters: Filters
    session: Console

    def observations(self, *, whole: bool = False) -> Iterator[Observations]:
        """Yield the observations of each selected skill in the window, or with ``whole`` at any time."""
        since = None if whole or self.days is None else self.now - timedelta(days=self.days)
        return chain.from_iterable(
            self.store.observations(self.rubric, skill=skill, since=since, until=self.until, filters=self.filters)
            for skill in (self.skills or (None,))
        )

    def uses(self, keys: Sequence[int]) -> tuple[Use, ...]:
        """Return invocations by their keys."""
        return tuple(_use(one) for one in self.store.records(keys, self.rubric))

    def filtered(self) -> str:
        """Return the filters in words, such as `` with version '1.0'``."""
        values = {name: getattr(self.filters, name) for name in DIMENSIONS}
        conditions = " and ".join(f"{name} {value!r}" for name, value in values.items() if value is not None)
        return f" with {conditions}" if conditions else ""

    def unscored(self) -> str | None:
        """Return a message about invocations that the rubric has not scored; None if it has scored all."""
        left = self.store.unscored(self.rubric)
        run = f"run skillgate log rescore --rubric {self.rubric}"
        return f"{plural(left, 'invocation')} not scored by rubric {self.rubric}; {run}" if left else None


@contextmanager
def _opened(selection: Selection, session: Console) -> Iterator[_View]:
    names = tuple(sorted(set(selection.skills)))
    if len(names) > _MOST_NAMED:
        raise UsageError(f"at most {_MOST_NAMED:,} skills can be named; name none to report all")
    until = selection.until
    now = datetime.now(UTC) if until is None else until
    with existing_store(selection.store, session) as (store, shown):
        yield _View(store, shown, selection.rubric, names, now, until, selection.days, selection.filters, session)


def stats(selection: Selection, session: Console, directory: str | None = None) -> InvocationReport:
    """Report the figures of skills; with a directory, also which of its skills were observed.

    Raises:
        UsageError: the store is unusable, or has no invocations of a skill.
        IncompleteError: the database failed.
    """
    found = dashboard(selection, (), session, directory)
    return replace(found, trends=(), opportunities=(), daily=(), by_skill=None)


def trend(selection: Selection, session: Console) -> InvocationReport:
    """Report trends; for named skills also with a bootstrap interval.

    Raises:
        UsageError: the store is unusable, or has no invocations of a skill.
        IncompleteError: the database failed.
    """
    with _opened(selection, session) as view:
        found = replace(_whole(view), skills=(), opportunities=(), daily=(), by_skill=None)
        if view.skills:
            found = replace(found, trends=corrected(map(partial(_trend_of, view), _each(view))))
    if found.below_minimum and not view.skills:
        few = "with fewer than five rated invocations, too few for a trend"
        session.note(f"{plural(found.below_minimum, 'skill')} {few}")
    return found


def gate(name: str, selection: Selection, session: Console) -> InvocationReport:
    """Check skills against a gate.

    Raises:
        UsageError: there is no such gate, or the store is unusable.
        IncompleteError: the database failed, or the store has no or unscored invocations.
    """
    gates = chosen((name,), known(session.config.get(settings.GATES)))
    with _opened(selection, session) as view:
        unscored = view.unscored()
        if unscored:
            raise IncompleteError(f"{unscored}. A gate must cover all invocations")
        checks = _all_checks(gates, view)
    if not checks:
        raise IncompleteError(f"the store {view.shown} holds no invocations, so the gate cannot be checked")
    figures = [one.stats for one in checks]
    recorded = sum(one.recorded for one in figures)
    observed = sum(one.recorded * (one.coverage or 0.0) for one in figures)
    return replace(
        _document(view, ()),
        invocations=recorded,
        rated=sum(one.invocation_count for one in figures),
        tiers=None,
        coverage=round(observed / recorded, 9) if recorded else None,
        gates=checks,
        gate=verdict(checks),
    )


def dashboard(
    selection: Selection, gates: Sequence[str], session: Console, directory: str | None = None
) -> InvocationReport:
    """Report figures, trends, opportunities, days, the results of gates, and which skills of a directory were observed.

    Raises:
        UsageError: there is no such gate, the store is unusable, or has no invocations of a skill.
        IncompleteError: the database failed.
    """
    wanted = chosen(gates, known(session.config.get(settings.GATES)))
    listed: tuple[Listed, ...] = ()
    if directory is not None:
        if selection.skills:
            raise UsageError("--skills lists every skill of a directory; leave out the names of skills")
        from skillgate.invocations.catalogue import catalogue, skills_of  # reads skills

        listed = skills_of(directory, session.cwd)
    with _opened(selection, session) as view:
        found = _whole(view)
        if directory is not None:
            found = replace(found, catalogue=catalogue(directory, listed, found, view.store))
        if wanted:
            checks = _all_checks(wanted, view)
            found = replace(found, gates=checks, gate=verdict(checks))
    return found


def trend_document(found: InvocationReport, selection: Selection) -> str:
    """Return trends as JSON: the report, or for one named skill only its trend."""
    return _single("trend", found, trend_json(found.trends[0])) if len(set(selection.skills)) == 1 else as_json(found)


def gate_document(found: InvocationReport, selection: Selection) -> str:
    """Return a gate's results as JSON: the report, or for one named skill only its result.

    In the latter the gate's kind is ``gate_kind``, since ``kind`` is that of the document.
    """
    if len(set(selection.skills)) != 1:
        return as_json(found)
    answer = gate_json(found.gates[0])
    return _single("gate", found, {"gate_kind" if key == "kind" else key: value for key, value in answer.items()})


def _single(kind: str, found: InvocationReport, fields: dict[str, Any]) -> str:
    whole = encode(found)
    head = {"kind": kind, **{key: whole[key] for key in _COMMON}}
    return json.dumps({**head, **fields}, indent=2, ensure_ascii=False)


def _whole(view: _View) -> InvocationReport:
    """Report everything in a view; raise UsageError if the store has no invocations of a named skill."""
    require_skills(view.store, view.shown, view.skills)
    found = _document(view, view.observations())
    notice = view.unscored()
    if notice is None:
        return found
    view.session.note(notice)
    return replace(found, notices=(*found.notices, notice))


def _document(view: _View, observations: Iterable[Observations]) -> InvocationReport:
    return report(
        observations,
        now=view.now,
        days=view.days,
        rubric=view.rubric,
        tool=Tool(version=__version__),
        store=view.shown,
        config_digest=config_digest(view.session.config),
        selection=None if view.filters == Filters() else view.filters,
        uses=view.uses,
    )


def _trend_of(view: _View, seen: Observations) -> InvocationTrend:
    tally = tally_of(seen, now=view.now, days=view.days)
    return with_bootstrap(compared(tally, now=view.now, days=view.days), tally)


def _each(view: _View, *, whole: bool = False) -> Iterator[Observations]:
    """Yield the observations of each selected skill, empty ones for a named skill without any."""
    from skillgate.store.observations import merged  # imports numpy

    missing = list(view.skills)
    for seen in view.observations(whole=whole):
        while missing and missing[0] < seen.skill:
            yield merged(missing.pop(0))
        missing = missing[1:]
        yield seen
    yield from map(merged, missing)


def _all_checks(gates: Sequence[Gate], view: _View) -> tuple[GateCheck, ...]:
    """Check every gate for every skill; raise UsageError if there are more than 10,000 results."""
    filters = view.filtered()
    checks = (
        one
        for seen in _each(view, whole=True)
        for one in check(gates, seen, now=view.now, days=view.days, selection=filters)
    )
    found = tuple(islice(checks, _MOST_CHECKED + 1))
    if len(found) > _MOST_CHECKED:
        raise UsageError(f"{view.shown} holds too many skills to check all; name at most {_MOST_NAMED:,} of them")
    return found


def _use(record: Record) -> Use:
    invocation, score = record.invocation, record.scores[0]
    tokens = invocation.tokens_used
    return Use(
        id=invocation.invocation_id,
        skill=invocation.skill_name,
        at=invocation.timestamp,
        total=score.total or 0.0,
        completion=score.completion,
        efficiency=score.efficiency,
        quality=score.quality,
        satisfaction=score.satisfaction,
        ending=None if invocation.ending is None else invocation.ending.value,
        evidence=None if invocation.outcome_evidence is None else invocation.outcome_evidence.value,
        version=invocation.skill_version,
        model=invocation.model,
        project=record.origin,
        source=invocation.source,
        caller=None if invocation.called_by is None else invocation.called_by.value,
        tokens=None if tokens is None else float(tokens),
        duration_ms=invocation.duration_ms,
        cost_usd=invocation.cost_usd,
        cost_estimated=invocation.cost_estimated,
    )
