"""The words of ``log`` that tell what a store holds: ``stats``, ``trend``, ``gate`` and ``dashboard``."""

from __future__ import annotations

import dataclasses
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, settings
from skillgate.cli.log_options import days_of, now_of, rubric_of
from skillgate.cli.options import output_format
from skillgate.config import config_digest
from skillgate.errors import EXIT_PASSED, IncompleteError, UsageError
from skillgate.files import require_place, write
from skillgate.invocations.changing import there
from skillgate.invocations.checking import check, check_each, exit_code, verdict
from skillgate.invocations.single import gate_alone, trend_alone
from skillgate.invocations.summary import report
from skillgate.invocations.trends import tally_of, with_bootstrap
from skillgate.invocations.trends import trend as compared
from skillgate.model.invocation_gate import chosen, known
from skillgate.model.report import Tool
from skillgate.model.text import did_you_mean
from skillgate.report.json import render as as_json
from skillgate.report.terminal import Style

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from skillgate.model.invocation import Observation
    from skillgate.model.invocation_gate import Gate
    from skillgate.model.invocation_report import GateCheck, InvocationReport, InvocationTrend
    from skillgate.session import Session
    from skillgate.store.invocations import InvocationStore

_MOST_NAMED = 1_000  # skills
_MOST_CHECKED = 10_000  # answers of gates


class _Asked(NamedTuple):
    """What is asked of a store.

    Attributes:
        skills: by name, each once, sorted; empty for all.
        until: what began later is left out; None for nothing, since a recorder's clock may be ahead.
        days: how far to look back, None for all.
    """

    store: InvocationStore
    shown: str
    rubric: str
    skills: tuple[str, ...]
    now: datetime
    until: datetime | None
    days: int | None
    session: Session

    def observations(self) -> Iterator[Observation]:
        """Give what the store holds of the skills, ordered by skill and time."""
        if not self.skills:
            return self.store.observations(self.rubric, until=self.until)
        return chain.from_iterable(
            self.store.observations(self.rubric, skill=skill, until=self.until) for skill in self.skills
        )


def stats(args: argparse.Namespace, session: Session) -> int:
    """Tell the figures of skills.

    Raises:
        UsageError: the store cannot be used, or has nothing of a skill.
        IncompleteError: the database failed.
    """
    found = _reported(args, session)
    if session.json:
        session.out(as_json(dataclasses.replace(found, trends=(), opportunities=(), daily=(), by_skill=None)))
        return EXIT_PASSED
    if not found.skills:
        session.out(_rendered(found, "text", _style(session)))
        return EXIT_PASSED
    from skillgate.report.invocations_text import render_stats

    session.out(render_stats(found.skills, _style(session)))
    return EXIT_PASSED


def trend(args: argparse.Namespace, session: Session) -> int:
    """Tell what changed; the skills that are named also with a bootstrap interval.

    Raises:
        UsageError: the store cannot be used, or has nothing of a skill.
        IncompleteError: the database failed.
    """
    asked = _asked(args, session)
    try:
        if asked.skills:
            _require_known(asked)
        found = dataclasses.replace(_whole(asked), skills=(), opportunities=(), daily=(), by_skill=None)
        if asked.skills:
            trends: tuple[InvocationTrend, ...] = tuple(_trend_of(asked, skill) for skill in asked.skills)
            found = dataclasses.replace(found, trends=trends)
    finally:
        asked.store.close()
    if found.below_minimum and not asked.skills:
        have = "skill has" if found.below_minimum == 1 else "skills have"
        session.note(f"{found.below_minimum:,} {have} fewer than five rated invocations, too few for a trend")
    if session.json:
        single = len(asked.skills) == 1
        session.out(trend_alone(found) if single else as_json(found))
        return EXIT_PASSED
    if not found.trends and not found.invocations:
        session.out(_rendered(found, "text", _style(session)))
        return EXIT_PASSED
    from skillgate.report.invocations_text import render_trends

    session.out(render_trends(found.trends, _style(session)))
    return EXIT_PASSED


def gate(args: argparse.Namespace, session: Session) -> int:
    """Hold skills to a gate.

    Returns:
        1 where one failed or was triggered, else 3 where one could not be decided, else 0.

    Raises:
        UsageError: there is no such gate, or the store cannot be used.
        IncompleteError: the database failed, or the store has nothing to decide by.
    """
    gates = chosen([args.gate], known(session.config.get(settings.GATES)))
    asked = _asked(args, session)
    try:
        left = asked.store.unscored(asked.rubric)
        if left:
            raise IncompleteError(f"{_unscored(left, asked.rubric)}; a gate on the others would be about a part alone")
        checks = _all_checks(gates, asked)
    finally:
        asked.store.close()
    if not checks:
        raise IncompleteError(f"the store {asked.shown} holds no invocations to decide by")
    if session.json:
        whole = _gated(asked, checks)
        single = len(asked.skills) == 1
        session.out(gate_alone(whole) if single else as_json(whole))
    else:
        from skillgate.report.invocations_text import render_gates

        session.out(render_gates(checks, _style(session)))
    return exit_code(checks)


def dashboard(args: argparse.Namespace, session: Session) -> int:
    """Draw the dashboard.

    Raises:
        UsageError: there is no such gate, the store cannot be used, or a file cannot be written.
        IncompleteError: the database failed.
    """
    form = output_format(args)
    for _, path in args.output_file:
        require_place(path, session.cwd)
    gates = chosen(args.gates, known(session.config.get(settings.GATES)))
    found = _reported(args, session, gates)
    for chosen_form, path in args.output_file:
        write(path, _rendered(found, chosen_form, Style()).encode(), cwd=session.cwd)
    session.out(_rendered(found, form, _style(session), verbose=session.verbose))
    return EXIT_PASSED


def _reported(args: argparse.Namespace, session: Session, gates: Sequence[Gate] = ()) -> InvocationReport:
    asked = _asked(args, session)
    try:
        if asked.skills:
            _require_known(asked)
        found = _whole(asked)
        if gates:
            checks = _all_checks(gates, asked)
            found = dataclasses.replace(found, gates=checks, gate=verdict(checks))
    finally:
        asked.store.close()
    return found


def _asked(args: argparse.Namespace, session: Session) -> _Asked:
    names = tuple(sorted(set(args.skills)))
    if len(names) > _MOST_NAMED:
        raise UsageError(f"up to {_MOST_NAMED:,} skills can be named; without any, all are told")
    rubric, now, days = rubric_of(args, session), now_of(args), days_of(args, session)
    store, shown = there(args, session)
    return _Asked(store, shown, rubric, names, now, args.at, days, session)


def _require_known(asked: _Asked) -> None:
    """Make sure that something is there of each skill.

    Raises:
        UsageError: naming the nearest names.
    """
    names = asked.store.skills()
    missing = [name for name in asked.skills if name not in set(names)]
    if missing:
        told = [f"{asked.shown} holds no invocations of {name!r}{did_you_mean(name, names)}" for name in missing[:20]]
        raise UsageError("\n".join(told))


def _whole(asked: _Asked) -> InvocationReport:
    found = _document(asked, asked.observations())
    left = asked.store.unscored(asked.rubric)
    if not left:
        return found
    told = _unscored(left, asked.rubric)
    asked.session.note(told)
    return dataclasses.replace(found, notices=(*found.notices, told))


def _document(asked: _Asked, observations: Iterable[Observation]) -> InvocationReport:
    return report(
        observations,
        now=asked.now,
        days=asked.days,
        rubric=asked.rubric,
        tool=Tool(version=__version__),
        store=asked.shown,
        config_digest=config_digest(asked.session.config),
    )


def _gated(asked: _Asked, checks: Sequence[GateCheck]) -> InvocationReport:
    """Give the document of one gate: its answers, and what they rest on."""
    stats = [one.stats for one in checks]
    recorded = sum(one.recorded for one in stats)
    observed = sum(one.recorded * (one.coverage or 0.0) for one in stats)
    return dataclasses.replace(
        _document(asked, ()),
        invocations=recorded,
        rated=sum(one.invocation_count for one in stats),
        tiers=None,
        coverage=round(observed / recorded, 9) if recorded else None,
        gates=tuple(checks),
        gate=verdict(checks),
    )


def _unscored(left: int, rubric: str) -> str:
    are = "invocation is" if left == 1 else "invocations are"
    return f"{left:,} {are} not scored by rubric {rubric}: skillgate log rescore --rubric {rubric}"


def _trend_of(asked: _Asked, skill: str) -> InvocationTrend:
    observations = asked.store.observations(asked.rubric, skill=skill, until=asked.until)
    tally = tally_of(skill, ((one,) for one in observations), now=asked.now, days=asked.days)
    return with_bootstrap(compared(tally, now=asked.now, days=asked.days), tally)


def _all_checks(gates: Sequence[Gate], asked: _Asked) -> tuple[GateCheck, ...]:
    """Answer every gate for every skill.

    Raises:
        UsageError: there are too many skills; of some alone no answer would be about all.
    """
    found = tuple(islice(_checks(gates, asked), _MOST_CHECKED + 1))
    if len(found) > _MOST_CHECKED:
        raise UsageError(f"{asked.shown} holds too many skills to ask of all: name up to {_MOST_NAMED:,} of them")
    return found


def _checks(gates: Sequence[Gate], asked: _Asked) -> Iterator[GateCheck]:
    if not asked.skills:
        yield from check_each(gates, asked.observations(), now=asked.now, days=asked.days)
        return
    for skill in asked.skills:
        for one in gates:
            observations = asked.store.observations(asked.rubric, skill=skill, until=asked.until)
            yield check(one, observations, skill=skill, now=asked.now, days=asked.days)


def _rendered(found: InvocationReport, form: str, style: Style, *, verbose: bool = False) -> str:
    match form:
        case "json":
            return as_json(found)
        case "html":
            from skillgate.report.invocations_html import render as as_page  # brings in the templates

            return as_page(found)
        case _:
            from skillgate.report.invocations_text import render as as_text

            return as_text(found, style, verbose=verbose)


def _style(session: Session) -> Style:
    return Style(width=session.width, color=session.color)
