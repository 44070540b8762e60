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
from skillgate.action.invocations.files import Places, find_places, sources
from skillgate.action.invocations.names import names_in_records, shared_names
from skillgate.action.outcome import with_gates
from skillgate.action.storing import store_target
from skillgate.config import config_digest
from skillgate.errors import UsageError
from skillgate.model.invocation import Observation
from skillgate.model.invocation_gate import Gate, chosen, known
from skillgate.model.report import Tool
from skillgate.store.target import Target, missing_package

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.action.context import RunContext
    from skillgate.action.outcome import Results
    from skillgate.action.session import ActionSession
    from skillgate.model.invocation_report import GateCheck, InvocationReport
    from skillgate.model.report import SkillResult
    from skillgate.store.invocations import InvocationStore

    Names = Mapping[str, tuple[str, ...]]

STORE = "store"
"""The word of the input ``invocations`` that stands for the store; a file of that name is ``./store``."""

_TOGETHER = "gates on recorded invocations need both inputs: invocations, where they are recorded, and gate, which ask"
_FIGURES = ("numpy", "scipy")
_SHARED = 3  # names that are noted


class GateRequest(NamedTuple):
    """The gates to answer, and where invocations are recorded: in ``store``, or else in ``places``."""

    gates: tuple[Gate, ...]
    places: Places
    store: Target | None = None


def gate_request(context: RunContext, session: ActionSession) -> GateRequest | None:
    """Find gates and records before anything is evaluated; None where the change brings all of it.

    Raises:
        UsageError: an input does not do, a package is missing, or nothing is there to read.
        IncompleteError: git fails.
    """
    listed, names = context.request.invocations, context.request.gate
    if not listed or not names:
        raise UsageError(f"{_TOGETHER}; {'gate' if listed else 'invocations'} is not given")
    gates = _gates(names, context, session)
    if STORE in listed and (len(listed) > 1 or context.request.store is None):
        other = "it stands alone" if len(listed) > 1 else "the input store names one, and is not given"
        raise UsageError(f"input invocations: store is what a store of results holds; {other}")
    _require_packages()
    store = store_target(context.checkout, context.request.store or "") if STORE in listed else None
    places = Places() if store is not None else find_places(context)
    for note in places.notes:
        session.note(f"invocations: {note}")
    return GateRequest(gates, places, store) if gates and (store is not None or not places.is_empty) else None


def answer_gates(
    results: Results,
    request: GateRequest,
    context: RunContext,
    session: ActionSession,
    base: Mapping[str, SkillResult] | None,
) -> Results:
    """Answer the gates for every skill that the run gates.

    An invocation is a skill's by its name or ``plugin:name``: that of the base, whatever a change calls it. One that is
    new, and of which nothing is recorded, is noted and fails nothing.

    Args:
        results: of the skills.
        request: what to answer.
        context: of the run.
        session: of the run.
        base: what each skill was in the base of the change, by its path now; None without a base.

    Raises:
        UsageError: nothing could be read.
        IncompleteError: git or the database failed.
    """
    skills = [one for one in results.report.results if one.skill.path not in results.run.beside]
    if not skills:
        return results
    names = {
        one.skill.path: names_in_records(one, base.get(one.skill.path) if base is not None else None, context)
        for one in skills
    }
    new = set() if base is None else names.keys() - base.keys()
    with _opened(request, context, session, names) as store:
        report = _report(store, request, context, names, new, session)
    for note in report.notices:
        session.note(f"invocations: {note}")
    run = with_gates(results.run, report.gates, context, session)
    return results._replace(run=dataclasses.replace(run, notices=session.notes), invocations=report)


def _report(
    store: InvocationStore,
    request: GateRequest,
    context: RunContext,
    names: Names,
    new: set[str],
    session: ActionSession,
) -> InvocationReport:
    """Write the document: the figures of the skills by their paths, and what came of the gates."""
    from skillgate.invocations.checking import verdict  # brings in numpy
    from skillgate.invocations.summary import report

    now, rubric, days = datetime.now(UTC).replace(microsecond=0), _rubric(context), _days(context)
    checks: list[GateCheck] = []
    for path in sorted(names):
        found = _checks(store, request.gates, path, names[path], rubric=rubric, now=now, days=days)
        if path in new and all(not one.stats.recorded for one in found):
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
        store=request.store.shown if request.store is not None else "the input invocations",
        config_digest=config_digest(context.config),
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
    """Return what is recorded of one skill under any of its names, in the order of time, by its path."""
    by_name = [store.observations(rubric, skill=name) for name in names]
    for one in merge(*by_name, key=attrgetter("at")):
        yield Observation(path, *one[1:])


@contextmanager
def _opened(
    request: GateRequest, context: RunContext, session: ActionSession, names: Names
) -> Iterator[InvocationStore]:
    """Open the store that is named, or one with what the files hold.

    Raises:
        UsageError: it cannot be opened, or nothing could be read.
        IncompleteError: git or the database failed.
    """
    if request.store is None:
        from skillgate.action.invocations.reading import temporary_store

        wanted = {name for called in names.values() for name in called}
        with (
            sources(request.places, context) as files,
            temporary_store(files, session, rubric=_rubric(context), names=wanted) as store,
        ):
            yield store
        return
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    store = open_invocations(request.store, create=True)
    try:
        unscored = store.unscored(_rubric(context))
        if unscored:
            session.note(
                f"invocations: {unscored:,} of the store have no score by rubric {_rubric(context)} and are left out;"
                " skillgate log rescore gives them one"
            )
        yield store
    finally:
        store.close()


def _gates(names: Sequence[str], context: RunContext, session: ActionSession) -> tuple[Gate, ...]:
    """Return the gates as the policy has them; one that only the change brings is noted.

    Raises:
        UsageError: there is no such gate.
    """
    there = known(context.config.get(settings.GATES))
    if context.base.commit is not None and not set(names) <= there.keys():
        coming = known(policy.load(context.checkout, context.request, context.files.head).get(settings.GATES))
        for name in names:
            if name not in there and name in coming:
                session.note(f"the gate {name} comes with this change; it is asked after the merge")
        names = [name for name in names if name in there or name not in coming]
    return chosen(names, there)


def _require_packages() -> None:
    """Refuse to begin without the packages that are loaded later.

    Raises:
        UsageError: saying how to install what is missing.
    """
    missing = missing_package(Target("", ""))
    for name in _FIGURES:
        if missing is None and find_spec(name) is None:
            missing = f"{name} is not installed: pip install 'skillgate-action[stats]'"
    if missing is not None:
        raise UsageError(f"input gate: recorded invocations cannot be asked, since {missing}")


def _rubric(context: RunContext) -> str:
    return context.config.get(settings.RUBRIC)


def _days(context: RunContext) -> int | None:
    return context.config.get(settings.LOG_DAYS)
