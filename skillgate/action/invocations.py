"""Gates on recorded invocations of the skills of a run, with gates, rubric and window of its policy.

Records that a change could have written do not count. Tracked files are read from the base; those that only the change
has count after the merge. Untracked files, such as a downloaded artifact or a restored cache, are read in place.
"""
# ruff: noqa: PTH112, PTH118, PTH119, PTH120

from __future__ import annotations

import dataclasses
import json
import os
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import __version__, settings
from skillgate.action.context import RunContext, load_policy
from skillgate.action.outcome import Results, store_target, with_gates
from skillgate.config import config_digest
from skillgate.errors import IncompleteError, UsageError
from skillgate.files import toplevel
from skillgate.invocations.formats import (
    Counts,
    Lines,
    Options,
    Problems,
    places,
    reader,
    recognise,
    take,
    unrecognised,
)
from skillgate.invocations.importing import Recording, lines, opened, recordings, sibling_lines
from skillgate.invocations.rubric import scorer
from skillgate.model.invocation import Read
from skillgate.model.invocation_gate import Gate, chosen, known
from skillgate.model.report import SkillResult, Tool
from skillgate.registry import INVOCATION_FORMATS
from skillgate.scoring.pairing import names_of
from skillgate.skill.walk import MAX_MANIFEST_BYTES, plugin_names
from skillgate.store.target import Target, missing_package

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from skillgate.action.request import ActionSession
    from skillgate.config import Files
    from skillgate.console import Console
    from skillgate.model.invocation import GateCheck, InvocationReport
    from skillgate.store.invocations import InvocationStore
    from skillgate.store.observations import Observations

    Names = Mapping[str, tuple[str, ...]]

STORE = "store"
"""The word of the input ``invocations`` that means the store; a file of that name is ``./store``."""

_TOGETHER = "gates on recorded invocations need both inputs, invocations and gate"
_FIGURES = ("numpy", "scipy")
_SHARED = 3  # maximum number of noted names
_MOST = 10  # maximum problems and warnings of all files: the comment has room for fifty notes of any kind


class Source(NamedTuple):
    """A file to read, and a function for the lines of files near it."""

    recording: Recording
    near: Callable[[str], Lines | None]


class Places(NamedTuple):
    """The places of recorded invocations, before any is read."""

    here: tuple[Source, ...] = ()  # files of the workspace
    base: tuple[str, ...] = ()  # paths that the base has, relative to the repository's top
    notes: tuple[str, ...] = ()  # on missing files, and new ones of the change


class GateRequest(NamedTuple):
    """The gates to check, and the recorded invocations: in ``store``, or else in ``places``."""

    gates: tuple[Gate, ...]
    places: Places
    store: Target | None = None


def gate_request(context: RunContext, session: ActionSession) -> GateRequest | None:
    """Find gates and records before anything is evaluated; None if all of them are new in the change.

    Raises:
        UsageError: an input is not usable, a package is missing, or there is nothing to read.
        IncompleteError: Git fails.
    """
    listed, names = context.request.invocations, context.request.gate
    if not listed or not names:
        raise UsageError(f"{_TOGETHER}; {'gate' if listed else 'invocations'} is not set")
    gates = _gates(names, context, session)
    if STORE in listed and (len(listed) > 1 or context.request.store is None):
        other = "use it alone" if len(listed) > 1 else "set the input store too"
        raise UsageError(f"input invocations: the word store means the store of results; {other}")
    missing = missing_package(Target("", ""))
    for name in _FIGURES:
        if missing is None and find_spec(name) is None:
            missing = f"{name} is not installed: pip install 'skillgate-action[stats]'"
    if missing is not None:
        raise UsageError(f"input gate: cannot read recorded invocations: {missing}")
    store = store_target(context.checkout, context.request.store or "") if STORE in listed else None
    found = Places() if store is not None else _find_places(context)
    for note in found.notes:
        session.note(f"invocations: {note}")
    return GateRequest(gates, found, store) if gates and (store is not None or found.here or found.base) else None


def _gates(names: Sequence[str], context: RunContext, session: ActionSession) -> tuple[Gate, ...]:
    """Return the gates of the policy; note those that only the change has."""
    there = known(context.config.get(settings.GATES))
    if context.base.commit is not None and not set(names) <= there.keys():
        coming = known(load_policy(context.checkout, context.request, context.files.head).get(settings.GATES))
        for name in names:
            if name not in there and name in coming:
                session.note(f"the gate {name} is new in this change; it applies after the merge")
        names = [name for name in names if name in there or name not in coming]
    return chosen(names, there)


def _find_places(context: RunContext) -> Places:
    """Find the files of the input ``invocations``."""
    here: list[Source] = []
    base: list[str] = []
    notes: list[str] = []
    problems: list[str] = []
    for path in context.request.invocations:
        place = context.checkout.inside(path, _shown(path))
        if context.base.commit is None:
            there, missing = recordings([place], cwd=context.checkout.workspace)
            here += [_source(one, context) for one in there]
            problems += [problem.replace(place, path, 1) for problem in missing]
            continue
        is_there = context.files.tip.is_there(place)
        if is_there:
            base.append(_below(context, place))
        mine, waiting = _untracked(context, place, path, is_there=is_there)
        here += mine
        for one in waiting:
            gone = context.files.is_removed(os.path.join(context.checkout.directory, one))
            why = "is no longer in the base branch and does not count"
            notes.append(f"{one} {why if gone else 'is new in this change; it counts after the merge'}")
        if not is_there and not mine and not waiting:
            problems.append(f"{path} {'has no .jsonl file' if os.path.isdir(place) else 'does not exist'}")
    if problems and not (here or base or notes):
        raise UsageError(f"input invocations: there is nothing to read: {'; '.join(problems)}")
    unique = {source.recording.path: source for source in here}
    return Places(tuple(unique.values()), tuple(dict.fromkeys(base)), (*problems, *notes))


def _untracked(context: RunContext, place: str, path: str, *, is_there: bool) -> tuple[list[Source], list[str]]:
    """Return the files at a place of the workspace that the change cannot have added, and the names of the others."""
    if not os.path.lexists(place):
        return [], []
    # For a file, everything near it, since the records of subagents are read from there.
    tracked = _tracked(context, place if os.path.isdir(place) else os.path.dirname(place))
    if os.path.realpath(place) != _real(context, place):
        if is_there:
            return [], []  # read from the base
        if place in tracked:
            return [], [path]
        raise UsageError(f"{_shown(path)} is, or is behind, a symbolic link, which a change may have made")
    files, _ = recordings([place], cwd=context.checkout.workspace)
    waiting, mine = [], []
    linked = frozenset(map(os.path.realpath, tracked))
    for one in files:
        if context.files.tip.is_there(one.path):
            continue
        if one.path in tracked:
            waiting.append(os.path.relpath(one.path, context.checkout.directory))
            continue
        if not _is_own(context, os.path.realpath(one.path)):
            nested = "is in a nested repository, whose files a change may choose"
            raise UsageError(f"{_shown(path)} {nested}")
        mine.append(_source(one, context, linked))
    return mine, waiting


def _is_own(context: RunContext, real: str) -> bool:
    return toplevel(os.path.dirname(real)) in (None, context.checkout.top)


def _tracked(context: RunContext, place: str) -> frozenset[str]:
    """Return the absolute paths of all tracked files at or below a place."""
    from skillgate.skill.git import complaint, decoded, git  # starts processes

    top, workspace = context.checkout.top, context.checkout.workspace
    done = git(top, "--literal-pathspecs", "ls-files", "-z", "--", _below(context, place))
    if done.returncode:
        raise IncompleteError(f"git cannot list the tracked files: {complaint(done)}")
    paths = (os.path.join(top, decoded(name)) for name in done.stdout.split(b"\0") if name)
    real = os.path.realpath(workspace)
    return frozenset(os.path.normpath(os.path.join(workspace, os.path.relpath(path, real))) for path in paths)


def _source(recording: Recording, context: RunContext, tracked: Collection[str] = ()) -> Source:
    """Return a file with its shown path; tracked files near it are not read with it."""
    one = recording._replace(shown=os.path.relpath(recording.path, context.checkout.directory))

    def near(relative: str) -> Lines | None:
        place = os.path.realpath(os.path.join(os.path.dirname(one.path), relative))
        return sibling_lines(one, relative) if place not in tracked and _is_own(context, place) else None

    return Source(one, near)


def _real(context: RunContext, place: str) -> str:
    """Return the real path of a place if only links on the path to the workspace count."""
    workspace = context.checkout.workspace
    return os.path.normpath(os.path.join(os.path.realpath(workspace), os.path.relpath(place, workspace)))


def _below(context: RunContext, place: str) -> str:
    return os.path.relpath(_real(context, place), context.checkout.top).replace(os.sep, "/")


def _shown(path: str) -> str:
    return f"input invocations: {path!r}"


def answer_gates(
    results: Results,
    request: GateRequest,
    context: RunContext,
    session: ActionSession,
    base: Mapping[str, SkillResult] | None,
) -> Results:
    """Check the gates for every skill that the run gates.

    Invocations belong to a skill by its name or ``plugin:name`` in the base, even if a change renames it. A new skill
    without records is noted and fails nothing.

    ``base``: each skill in the base of the change, by current path; None without a base.

    Raises:
        UsageError: nothing could be read.
        IncompleteError: git or the database failed.
    """
    skills = [one for one in results.report.results if one.skill.path not in results.run.beside]
    if not skills:
        return results
    before = base or {}
    names = {one.skill.path: _names_in_records(one, before.get(one.skill.path), context) for one in skills}
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
    """Return the document: the figures of the skills by path, and the results of the gates."""
    from skillgate.invocations.summary import check, report, verdict  # imports numpy
    from skillgate.store.observations import merged

    now, rubric = datetime.now(UTC).replace(microsecond=0), context.config.get(settings.RUBRIC)
    days = context.config.get(settings.LOG_DAYS)

    def observed(path: str) -> Observations:
        """Return the records of one skill under any of its names, with its path."""
        return merged(path, (one for name in names[path] for one in store.observations(rubric, skill=name)))

    checks: list[GateCheck] = []
    for path in sorted(names):
        found = check(request.gates, observed(path), now=now, days=days)
        if path in new and all(not one.stats.recorded for one in found):
            session.note(f"{path} is new and has no recorded invocations: no gate was checked")
            continue
        checks += found
    for name, paths in list(_shared_names(names).items())[:_SHARED]:
        session.note(
            f"invocations: {' and '.join(paths[:_SHARED])} are all called {name}; its records count for each of them"
        )
    document = report(
        map(observed, sorted(names)),
        now=now,
        days=days,
        rubric=rubric,
        tool=Tool(version=__version__),
        store=request.store.shown if request.store is not None else "the input invocations",
        config_digest=config_digest(context.config),
    )
    return dataclasses.replace(document, gates=tuple(checks), gate=verdict(checks))


@contextmanager
def _opened(
    request: GateRequest, context: RunContext, session: ActionSession, names: Names
) -> Iterator[InvocationStore]:
    """Open the named store, or a temporary one with the contents of the files."""
    from skillgate.store.invocations import open_invocations  # imports the database's packages

    rubric = context.config.get(settings.RUBRIC)
    if request.store is None:
        wanted = frozenset(name for called in names.values() for name in called)
        with _sources(request.places, context) as files, _temporary_store() as store:
            _import(files, store, session, rubric, wanted)
            yield store
        return
    store = open_invocations(request.store, create=True)
    try:
        unscored = store.unscored(rubric)
        if unscored:
            session.note(
                f"invocations: {unscored:,} in the store have no score by rubric {rubric} and are left out; run"
                " skillgate log rescore"
            )
        yield store
    finally:
        store.close()


@contextmanager
def _sources(found: Places, context: RunContext) -> Iterator[tuple[Source, ...]]:
    """Yield the files; those of the base are in a temporary directory."""
    if not found.base or context.base.commit is None:
        yield found.here
        return
    from skillgate.skill.git import check_out  # starts processes

    with tempfile.TemporaryDirectory(prefix="skillgate-base-") as tree:
        check_out(context.checkout.top, context.base.tip or context.base.commit, tree)
        files, _ = recordings([os.path.normpath(os.path.join(tree, path)) for path in found.base], cwd=tree)
        # Links in the base only lead to files of the base: others are not checked out.
        shown = [one._replace(shown=os.path.relpath(one.path, tree)) for one in files]
        yield (*(Source(one, partial(sibling_lines, one)) for one in shown), *found.here)


@contextmanager
def _temporary_store() -> Iterator[InvocationStore]:
    """Open a temporary store: a log may have any size."""
    from skillgate.store.invocations import open_invocations  # imports the database's packages

    with tempfile.TemporaryDirectory(prefix="skillgate-invocations-") as folder:
        store = open_invocations(Target("of this run", os.path.join(folder, "store.db")), create=True)
        try:
            yield store
        finally:
            store.close()


def _import(
    files: Sequence[Source], store: InvocationStore, session: Console, rubric: str, names: frozenset[str]
) -> None:
    """Import the invocations of skills with these names from all files."""
    notes, seen = _Notes(session), _Seen(names)
    empty = 0
    for source in files:
        try:
            empty += not _import_file(source, store, seen, rubric, notes)
        except UsageError as error:
            notes.problem(str(error))
    left = notes.count - len(notes.first)
    if left:
        session.note(f"invocations: {left:,} more places could not be read")
    if not seen.count and notes.count:
        raise UsageError(f"input invocations: nothing could be read: {'; '.join(notes.first[:3])}")
    if not seen.count:
        session.note(f"invocations: no invocation found; {empty} of {len(files)} files are empty")


def _import_file(source: Source, store: InvocationStore, seen: _Seen, rubric: str, notes: _Notes) -> bool:
    """Import one file; return False if it is empty."""
    one = source.recording
    problems, counts = Problems(one.shown, notes.problem), Counts()
    with opened(one) as file:
        if not file.head.strip() and file.size <= len(file.head):
            return False
        form = recognise(file.head)
        if form is None:
            raise UsageError(f"{one.shown}: {unrecognised(file.head)}")
        options = Options(datetime.now(UTC), sibling=source.near, names=seen.names)
        whole = INVOCATION_FORMATS.flag(form, "ONE_DOCUMENT")
        reads = seen.wanted(reader(form)(lines(file.file, whole=whole), options))
        with store.importing(rubric, scorer(rubric), later=INVOCATION_FORMATS.flag(form, "GROWS")) as run:
            take(places(reads, scorer(rubric)), run, problems, counts)
    problems.close()
    if counts.unused is not None:
        notes.warn(f"{one.shown}: {counts.unused}")
    for warning, count in counts.warnings.items():
        notes.warn(f"{one.shown}: {warning}{f' ({count:,} times)' if count > 1 else ''}")
    return True


class _Seen:
    """Pass the invocations of some skills, and count all."""

    def __init__(self, names: frozenset[str]) -> None:
        self.count = 0
        self.names = names

    def wanted(self, reads: Iterable[Read]) -> Iterator[Read]:
        for read in reads:
            if read.invocation is not None:
                self.count += 1
                if read.invocation.skill_name not in self.names:
                    continue
            yield read


class _Notes:
    """Note the first problems and warnings, and count the problems."""

    def __init__(self, session: Console) -> None:
        self._session = session
        self._warnings = 0
        self.first: list[str] = []
        self.count = 0

    def problem(self, text: str) -> None:
        self.count += 1
        if len(self.first) < _MOST:
            self.first.append(text)
            self._session.note(f"invocations: {text}")

    def warn(self, text: str) -> None:
        self._warnings += 1
        if self._warnings <= _MOST // 2:
            self._session.note(f"invocations: {text}")


def _names_in_records(result: SkillResult, was: SkillResult | None, context: RunContext) -> tuple[str, ...]:
    """Return the names of a skill in records: its own, also with its plugin's.

    A skill of a change has its name in the base (``was``): else a new name would be a new record. A new skill has its
    own.
    """
    skill = result if was is None else was
    own = names_of(skill.skill.name, skill.skill.path)
    if skill.plugin is None:
        return own
    folder = os.path.normpath(os.path.join(context.checkout.workspace, skill.plugin))
    files = context.files.head
    if was is not None:  # of the base branch's tip; without such a plugin, of where the change began
        files = context.files.tip if context.files.tip.is_there(folder) else context.files.start
    return (*own, *(f"{plugin}:{name}" for plugin in _plugins(folder, context, files) for name in own))


def _shared_names(names: Names) -> dict[str, list[str]]:
    """Return the names of several skills, with their paths: a record with such a name belongs to all of them."""
    by_name: dict[str, list[str]] = {}
    for path, called in names.items():
        for name in called:
            by_name.setdefault(name, []).append(path)
    return {name: paths for name, paths in by_name.items() if len(paths) > 1}


def _plugins(folder: str, context: RunContext, files: Files) -> tuple[str, ...]:
    """Return the names of a plugin: from its manifest and marketplace, else its directory."""
    workspace, above = context.checkout.workspace, [folder]
    while f"{os.path.dirname(above[-1])}{os.sep}".startswith(f"{workspace}{os.sep}"):
        above.append(os.path.dirname(above[-1]))
    own = context.checkout.name if folder == workspace else os.path.basename(folder)
    return plugin_names(above, partial(_read, files), own)


def _read(files: Files, place: str) -> Any:  # noqa: ANN401 - JSON
    """Read a manifest; None if it is missing, or broken, which is a finding."""
    try:
        return json.loads(files.read(place, MAX_MANIFEST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
