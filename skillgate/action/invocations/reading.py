"""Read recorded invocations of some skills into a store that lasts as long as the question: a log may be any size."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from skillgate.errors import UsageError
from skillgate.invocations.forms import reader, recognise, unrecognised
from skillgate.invocations.ports import Options
from skillgate.invocations.reading import lines, opened
from skillgate.invocations.rubric import scorer
from skillgate.invocations.taking import Counts, Problems, places, take
from skillgate.registry import INVOCATION_FORMATS
from skillgate.store.target import Target

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from skillgate.action.invocations.files import Source
    from skillgate.model.invocation import Read
    from skillgate.session import Session
    from skillgate.store.invocations import InvocationStore

_MOST = 10  # problems and warnings of all files together: the comment has room for fifty notes of any kind


@contextmanager
def temporary_store(
    files: Sequence[Source], session: Session, *, rubric: str, names: Collection[str]
) -> Iterator[InvocationStore]:
    """Return a store with the invocations of all files that are of skills with these names.

    Raises:
        UsageError: nothing could be read at all.
        IncompleteError: the database failed.
    """
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    with tempfile.TemporaryDirectory(prefix="skillgate-invocations-") as folder:
        target = Target("of this run", os.path.join(folder, "store.db"))
        store = open_invocations(target, create=True)
        try:
            _import(files, store, session, rubric, names)
            yield store
        finally:
            store.close()


def _import(
    files: Sequence[Source], store: InvocationStore, session: Session, rubric: str, names: Collection[str]
) -> None:
    problems = _Notes(session)
    seen = empty = 0
    for source in files:
        counter = _Counter(names)
        try:
            empty += not _import_file(source, store, counter, rubric, problems)
        except UsageError as error:
            problems.problem(str(error))
        seen += counter.seen
    problems.close()
    if not seen and problems.count:
        first = "; ".join(problems.first[:3])
        raise UsageError(f"input invocations: nothing could be read: {first}")
    if not seen:
        session.note(f"invocations: {empty} of {len(files)} files are empty, and none holds an invocation")


def _import_file(source: Source, store: InvocationStore, counter: _Counter, rubric: str, notes: _Notes) -> bool:
    """Take one file in; False where it is empty.

    Raises:
        UsageError: it cannot be read, or it has no form that is known.
        IncompleteError: the database failed.
    """
    one = source.recording
    problems, counts = Problems(one.shown, notes.problem), Counts()
    with opened(one) as file:
        if not file.head.strip() and file.size <= len(file.head):
            return False
        form = recognise(file.head)
        if form is None:
            raise UsageError(f"{one.shown}: {unrecognised(file.head)}")
        options = Options(datetime.now(UTC), beside=source.beside, names=counter.names)
        whole = INVOCATION_FORMATS.flag(form, "ONE_DOCUMENT")
        reads = counter.wanted(reader(form)(lines(file.file, whole=whole), options))
        with store.importing(rubric, scorer(rubric), later=INVOCATION_FORMATS.flag(form, "GROWS")) as run:
            take(places(reads, scorer(rubric)), run, problems, counts)
    problems.close()
    if counts.unused is not None:
        notes.warn(f"{one.shown}: {counts.unused}")
    for warning, count in counts.warnings.items():
        notes.warn(f"{one.shown}: {warning}{f' ({count:,} times)' if count > 1 else ''}")
    return True


class _Counter:
    """Let the invocations of some skills through, and count all."""

    def __init__(self, names: Collection[str]) -> None:
        self.seen = 0
        self.names = frozenset(names)

    def wanted(self, reads: Iterable[Read]) -> Iterator[Read]:
        for read in reads:
            if read.invocation is not None:
                self.seen += 1
                if read.invocation.skill_name not in self.names:
                    continue
            yield read


class _Notes:
    """Note the first problems and warnings, and how many there were."""

    def __init__(self, session: Session) -> None:
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

    def close(self) -> None:
        left = self.count - len(self.first)
        if left:
            self._session.note(f"invocations: {left:,} more places could not be read")
