"""Gates on recorded invocations in the Action: the skills of a run, by gates, rubric and window of its policy."""

from __future__ import annotations

import dataclasses
from contextlib import contextmanager
from datetime import UTC, datetime
from heapq import merge
from importlib.util import find_spec
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from skillgate import __version__, settings
from skillgate.action import policy
from skillgate.action.invocations.names import names_in_records, shared_names
from skillgate.action.invocations.outcome import with_gates
from skillgate.action.invocations.places import Places, find_places, sources
from skillgate.action.storing import prepared as prepared_store
from skillgate.config import config_digest
from skillgate.errors import UsageError
from skillgate.model.invocation import Observation
from skillgate.model.invocation_gate import Gate, chosen, known
from skillgate.model.report import Tool
from skillgate.store.target import Target, missing_package

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.action.context import Stand
    from skillgate.action.listening import Listening
    from skillgate.action.parts import Evaluated
    from skillgate.model.invocation_report import GateCheck, InvocationReport
    from skillgate.store.invocations import InvocationStore

    Names = Mapping[str, tuple[str, ...]]

STORE = "store"
"""The word of the input ``invocations`` that stands for the store; a file of that name is ``./store``."""

_TOGETHER = "gates on recorded invocations need both inputs: invocations, where they are recorded, and gate, which ask"
_FIGURES = ("numpy", "scipy")
_SHARED = 3  # names that are told


class Asked(NamedTuple):
    """What is asked: the gates, and where invocations are recorded: ``store``, or else ``places``."""

    gates: tuple[Gate, ...]
    places: Places
    store: Target | None = None


def prepared(stand: Stand, session: Listening) -> Asked | None:
    """Make sure, before anything is evaluated, that gates can be asked; None where the change brings all of it.

    Raises:
        UsageError: an input does not do, a package is missing, or nothing is there to read.
        IncompleteError: git fails.
    """
    listed, names = stand.inputs["invocations"], stand.inputs["gate"]
    if not isinstance(listed, tuple) or not isinstance(names, tuple) or not listed or not names:
        raise UsageError(f"{_TOGETHER}; {'gate' if listed else 'invocations'} is not given")
    gates = _gates(names, stand, session)
    if STORE in listed and (len(listed) > 1 or not stand.inputs["store"]):
        other = "it stands alone" if len(listed) > 1 else "the input store names one, and is not given"
        raise UsageError(f"input invocations: store is what a store of results holds; {other}")
    _require_packages()
    store = prepared_store(stand, session) if STORE in listed else None
    places = Places() if store is not None else find_places(stand)
    for told in places.told:
        session.note(f"invocations: {told}")
    return Asked(gates, places, store) if gates and (store is not None or not places.is_empty) else None


def gated(done: Evaluated, asked: Asked, stand: Stand, session: Listening) -> Evaluated:
    """Ask the gates of every skill that the run gates.

    An invocation is a skill's by its name or ``plugin:name``: that of the base, whatever a change calls it. One that is
    new, and of which nothing is recorded, is told and fails nothing.

    Raises:
        UsageError: nothing could be read.
        IncompleteError: git or the database failed.
    """
    results = [one for one in done.report.results if one.skill.path not in done.run.beside]
    if not results:
        return done
    was = done.was
    names = {
        one.skill.path: names_in_records(one, was.get(one.skill.path) if was is not None else None, stand)
        for one in results
    }
    fresh = set() if was is None else names.keys() - was.keys()
    with _opened(asked, stand, session, names) as store:
        report = _report(store, asked, stand, names, fresh, session)
    for told in report.notices:
        session.note(f"invocations: {told}")
    run = with_gates(done.run, report.gates, stand, session)
    return done._replace(run=dataclasses.replace(run, notices=session.notes), invocations=report)


def _report(
    store: InvocationStore, asked: Asked, stand: Stand, names: Names, fresh: set[str], session: Listening
) -> InvocationReport:
    """Make the document: the figures of the skills by their paths, and what came of the gates."""
    from skillgate.invocations.checking import verdict  # brings in numpy
    from skillgate.invocations.summary import report

    now, rubric, days = datetime.now(UTC).replace(microsecond=0), _rubric(stand), _days(stand)
    checks: list[GateCheck] = []
    for path in sorted(names):
        found = _checks(store, asked.gates, path, names[path], rubric=rubric, now=now, days=days)
        if path in fresh and all(not one.stats.recorded for one in found):
            session.note(f"{path} is new, and no invocation of it is recorded: no gate was asked")
            continue
        checks += found
    for name, paths in list(shared_names(names).items())[:_SHARED]:
        session.note(f"invocations: {' and '.join(paths[:_SHARED])} are all called {name}; its records count for each")
    observed = (one for path in sorted(names) for one in _observed(store, rubric, path, names[path]))
    document = report(
        observed,
        now=now,
        days=days,
        rubric=rubric,
        tool=Tool(version=__version__),
        store=asked.store.shown if asked.store is not None else "the input invocations",
        config_digest=config_digest(stand.config),
    )
    return dataclasses.replace(document, gates=tuple(checks), gate=verdict(checks))


def _checks(
    store: InvocationStore,
    gates: Sequence[Gate],
    path: str,
    names: Sequence[str],
    *,
    rubric: str,
    now: datetime,
    days: int | None,
) -> list[GateCheck]:
    """Answer the gates of one skill, over all of its records in one pass."""
    from skillgate.invocations.checking import check, check_each  # brings in numpy

    found = list(check_each(gates, _observed(store, rubric, path, names), now=now, days=days))
    return found or [check(gate, (), skill=path, now=now, days=days) for gate in gates]


def _observed(store: InvocationStore, rubric: str, path: str, names: Sequence[str]) -> Iterator[Observation]:
    """Give what is recorded of one skill under any of its names, in the order of time, by its path."""
    by_name = [store.observations(rubric, skill=name) for name in names]
    for one in merge(*by_name, key=attrgetter("at")):
        yield Observation(path, *one[1:])


@contextmanager
def _opened(asked: Asked, stand: Stand, session: Listening, names: Names) -> Iterator[InvocationStore]:
    """Open the store that is named, or one with what the files hold.

    Raises:
        UsageError: it cannot be opened, or nothing could be read.
        IncompleteError: git or the database failed.
    """
    if asked.store is None:
        from skillgate.action.invocations.taking import taken

        wanted = {name for called in names.values() for name in called}
        with (
            sources(asked.places, stand) as files,
            taken(files, session, rubric=_rubric(stand), names=wanted) as store,
        ):
            yield store
        return
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    store = open_invocations(asked.store, create=True)
    try:
        unscored = store.unscored(_rubric(stand))
        if unscored:
            session.note(
                f"invocations: {unscored:,} of the store have no score by rubric {_rubric(stand)} and are left out;"
                " skillgate log rescore gives them one"
            )
        yield store
    finally:
        store.close()


def _gates(names: Sequence[str], stand: Stand, session: Listening) -> tuple[Gate, ...]:
    """Give the gates as the policy has them; one that only the change brings is told.

    Raises:
        UsageError: there is no such gate.
    """
    there = known(stand.config.get(settings.GATES))
    if stand.base.commit is not None and not set(names) <= there.keys():
        coming = known(policy.load(stand.place, stand.inputs, files=stand.head).get(settings.GATES))
        for name in names:
            if name not in there and name in coming:
                session.note(f"the gate {name} comes with this change; it is asked after the merge")
        names = [name for name in names if name in there or name not in coming]
    return chosen(names, there)


def _require_packages() -> None:
    """Make sure that what is loaded later is there.

    Raises:
        UsageError: saying how to install what is missing.
    """
    missing = missing_package(Target("", ""))
    for name in _FIGURES:
        if missing is None and find_spec(name) is None:
            missing = f"{name} is not installed: pip install 'skillgate-action[stats]'"
    if missing is not None:
        raise UsageError(f"input gate: recorded invocations cannot be asked, since {missing}")


def _rubric(stand: Stand) -> str:
    return stand.config.get(settings.RUBRIC)


def _days(stand: Stand) -> int | None:
    return stand.config.get(settings.LOG_DAYS)
