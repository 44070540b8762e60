"""Import what is new in directories of recordings, for a job that runs every night.

A file that is provably unchanged is not read: its size and times are those of the last time, or else its digest is.
Of a file of independent lines that grew, only the new lines are read. Any other file is read as a whole, since what
follows changes what was before: a use of a skill may continue. A last line that is not complete waits.

What is known of files is written after their invocations. So a run that is killed loses nothing, and the next one,
or one at the same time, finds the invocations known.
"""
# ruff: noqa: PTH116, PTH123

from __future__ import annotations

import json
import os
import time
from hashlib import blake2b
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from skillgate import __version__
from skillgate.errors import UsageError
from skillgate.format import plural
from skillgate.invocations.formats import FAULTS, LONGEST, UnrecognisedError, places, reader, recognise
from skillgate.invocations.importing import (
    HEAD,
    MOST_PROBLEMS,
    STDIN,
    lines,
    options_of,
    recordings,
    stored,
    totals,
)
from skillgate.invocations.rubric import scorer
from skillgate.model.invocation import Fate
from skillgate.registry import INVOCATION_FORMATS
from skillgate.store.results import named_store
from skillgate.store.synced import SyncedFile, SyncedFiles, quick_state
from skillgate.store.target import require_packages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from skillgate.console import Console
    from skillgate.invocations.formats import Place
    from skillgate.invocations.grading import Endings
    from skillgate.invocations.importing import ImportedFile, Recording
    from skillgate.invocations.records import ImportRequest
    from skillgate.store.invocations import InvocationStore
    from skillgate.store.synced import SyncState

SUFFIXES = (".jsonl", ".json")
_BLOCK = 1 << 20
_FRESH_NS = 2_000_000_000  # a file may change again within the resolution of its times
_GRADED = "+graded"  # after the digest of options; such a file need not be read for a run that does not grade
_AT_ONCE = 100  # files until what is known of them is written


class Synced(NamedTuple):
    """The result of a run.

    Attributes:
        files: those with something new that could be read.
        unchanged: number of files that were not read.
        foreign: number of files that have no use of a skill in a known format.
        problems: the first 1,000 problems.
        unread: number of paths that could not be read.
        waiting: files with uses to grade, by path.
    """

    store: str
    rubric: str
    files: tuple[ImportedFile, ...] = ()
    unchanged: int = 0
    foreign: int = 0
    problems: tuple[str, ...] = ()
    unread: int = 0
    waiting: tuple[tuple[str, SyncedFile], ...] = ()

    @property
    def rejected(self) -> int:
        """Number of records that could not be stored."""
        return sum(one.counts.rejected for one in self.files)

    @property
    def is_new(self) -> bool:
        """Whether an invocation was stored or replaced."""
        return any(one.counts.fates[fate] for one in self.files for fate in (Fate.NEW, Fate.UPDATED))

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "kind": "log-sync",
            "store": self.store,
            "rubric_version": self.rubric,
            "files": [one.document() for one in self.files],
            "unchanged": self.unchanged,
            "foreign": self.foreign,
            "problems": list(self.problems),
        }

    def line(self) -> str:
        """Describe it in one line."""
        others = f"{self.unchanged:,} unchanged, {self.foreign:,} without uses of skills"
        return f"{plural(len(self.files), 'file')} read: {totals(self.files)}; {others}; store {self.store}"

    def require_all(self) -> None:
        """Raise UsageError if something could not be read or stored; a rejected record is reported only once."""
        parts = [f"{plural(self.unread, 'path')} could not be read"] if self.unread else []
        parts += [f"{plural(self.rejected, 'record')} rejected"] if self.rejected else []
        if parts:
            raise UsageError(f"{' and '.join(parts)}; everything else is in the store")


def sync(request: ImportRequest, session: Console, endings: Endings | None = None) -> Synced:
    """Import what is new in files and directories; report only problems that are new.

    Uses to grade are noted in ``endings``; files with such uses are read again next time unless :func:`finish` is
    called.

    Raises:
        UsageError: the store is unusable, or a path is not valid.
        IncompleteError: the database failed.
    """
    if STDIN in request.files:
        raise UsageError("log sync reads files and directories; for the standard input use skillgate log import -")
    target, _ = named_store(request.store, session)
    require_packages(target)
    files, missing = recordings(request.files, cwd=session.cwd, suffixes=SUFFIXES, allow_empty=True)
    for problem in missing:
        session.note(problem)
    result = Synced(target.shown, request.rubric, problems=tuple(missing), unread=len(missing))
    state, options = quick_state(target), _digest_of(request) + (_GRADED if endings is not None else "")
    if not files or (state is not None and not changed_files(files, state, options)):
        return result._replace(unchanged=len(files))
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    store = open_invocations(target, create=True)
    known = SyncedFiles(target)
    try:
        return _Run(request, session, store, known, options, endings).read(files, result)
    finally:
        known.close()
        store.close()


def finish(result: Synced, request: ImportRequest, session: Console, unanswered: Collection[str]) -> None:
    """Note that the files with uses to grade were read, except those with an unanswered use.

    Raises:
        IncompleteError: the database failed.
    """
    read = [one for path, one in result.waiting if path not in unanswered]
    if not read:
        return
    target, _ = named_store(request.store, session)
    known = SyncedFiles(target)
    try:
        known.put(read)
    finally:
        known.close()


def _digest_of(request: ImportRequest) -> str:
    """Return a digest of everything besides a file that decides what is stored of it."""
    decisive = (__version__, request.rubric, request.category, request.keep_text, request.project)
    return blake2b(repr(decisive).encode(), digest_size=8).hexdigest()


class Changed(NamedTuple):
    """A file to read; ``is_forced`` if a file that was read together with it has changed."""

    recording: Recording
    place: str
    is_forced: bool


def changed_files(files: Iterable[Recording], state: SyncState, options: str) -> list[Changed]:
    """Return the files that may have changed, in order.

    In place of a file that is read together with another one, the other one is returned.
    """
    by_place = {state.place(one.path): one for one in files}
    found: set[str] = set()
    forced: set[str] = set()
    for place, one in by_place.items():
        known = state.files.get(place)
        owner = None if known is None else known.part_of
        is_read = known is not None and (owner is not None or known.options.startswith(options))
        if known is not None and is_read and known.stamp == _stamp_at(one.path) != "":
            continue
        if owner is not None and owner in by_place:
            forced.add(owner)
        else:
            found.add(place)
    wanted = found | forced
    return [Changed(one, place, place in forced) for place, one in by_place.items() if place in wanted]


def _stamp_at(path: str) -> str:
    try:
        return _stamp(os.stat(path))
    except OSError:
        return ""


def _stamp(found: os.stat_result) -> str:
    """Return size and times of a file; ``""`` if it may change again within the resolution of its times."""
    latest = max(found.st_mtime_ns, found.st_ctime_ns)
    if time.time_ns() - latest < _FRESH_NS:
        return ""
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"


class _Run:
    """One run with changed files."""

    def __init__(
        self,
        request: ImportRequest,
        session: Console,
        store: InvocationStore,
        known: SyncedFiles,
        options: str,
        endings: Endings | None,
    ) -> None:
        self._request, self._session, self._store, self._known = request, session, store, known
        self._options, self._endings = options, endings
        self._waiting: list[tuple[str, SyncedFile]] = []
        self._state = known.state()
        self._read: dict[str, SyncedFile] = {}  # to be written, by place
        self._done: list[ImportedFile] = []
        self._problems: list[str] = []
        self._parts: set[str] = set()  # places of files that were read together with others
        self._unread = self._foreign = self._same = 0

    def read(self, files: Sequence[Recording], result: Synced) -> Synced:
        """Read the files that changed."""
        changed = changed_files(files, self._state, self._options)
        try:
            for one in changed:
                if one.place not in self._parts:
                    self._read_one(one)
                if len(self._read) >= _AT_ONCE:
                    self._write()
        finally:
            self._write()
        return result._replace(
            files=tuple(self._done),
            unchanged=len(files) - len(changed) + self._same,
            foreign=self._foreign,
            problems=(*result.problems, *self._problems)[:MOST_PROBLEMS],
            unread=result.unread + self._unread,
            waiting=tuple(self._waiting),
        )

    def _write(self) -> None:
        if self._read:
            self._known.put(self._read.values())
            self._read.clear()

    def _report(self, text: str) -> None:
        self._session.note(text)
        self._problems.append(text)

    def _read_one(self, one: Changed) -> None:
        try:
            with open(one.recording.path, "rb") as file:
                self._take(one, file)
        except FileNotFoundError:
            pass  # deleted since it was listed
        except (OSError, UsageError) as error:
            why = f"cannot read {one.recording.shown}: {error.strerror}" if isinstance(error, OSError) else str(error)
            self._report(why)
            self._unread += 1

    def _take(self, one: Changed, file: IO[bytes]) -> None:
        """Import what is new in a file."""
        recording, found = one.recording, os.fstat(file.fileno())
        known = self._state.files.get(one.place)
        form = recognise(file.read(HEAD))
        whole = form is not None and INVOCATION_FORMATS.flag(form, "ONE_DOCUMENT")
        extent = extent_of(file, found.st_size, known, whole=whole)
        now = SyncedFile(one.place, _stamp(found), extent.digest, extent.end, extent.lines, self._options)
        is_same = known is not None and extent.has_grown and known.options == self._options
        if is_same and extent.end == extent.known_end and not one.is_forced:
            self._same += 1
        elif form is None:
            self._foreign += 1
        elif extent.end:
            try:
                self._import(recording, file, form, extent, now, is_same=is_same)
            except FAULTS as error:  # one file must not keep the others from being read
                self._report(f"{recording.shown}: cannot be read because of an internal error, {type(error).__name__}")
                self._unread += 1
        if self._endings is not None and recording.path in self._endings.paths:
            self._waiting.append((recording.path, now))
        else:
            self._read[one.place] = now

    def _import(
        self, recording: Recording, file: IO[bytes], form: str, extent: Extent, now: SyncedFile, *, is_same: bool
    ) -> None:
        """Store the invocations up to the end of the last complete line."""
        start, first = 0, 1
        if is_same and INVOCATION_FORMATS.flag(form, "LINE_BY_LINE") and extent.is_line_end:
            start, first = extent.known_end, extent.known_lines + 1
        file.seek(start)
        parts: set[str] = set()
        options = options_of(
            self._request, recording, parts, keep_text=self._request.keep_text, texts=self._endings is not None
        )
        numbered = lines(file, first, whole=INVOCATION_FORMATS.flag(form, "ONE_DOCUMENT"), end=extent.end)
        found = places(reader(form)(numbered, options), scorer(self._request.rubric))
        if self._endings is not None:
            found = self._endings.watch(found, recording.path)
        is_whole = not any(INVOCATION_FORMATS.flag(form, name) for name in ("GROWS", "LINE_BY_LINE"))
        request = self._request._replace(form=form, update=extent.has_grown and is_whole)
        try:
            done = stored(recording, self._store, request, _unreported(found, extent), self._report)
        except UnrecognisedError:
            self._foreign += 1
        else:
            self._done.append(done)
        for path in parts:
            place = self._state.place(path)
            self._read[place] = SyncedFile(place, _stamp_at(path), part_of=now.place)
            self._parts.add(place)


def _unreported(found: Iterator[Place], extent: Extent) -> Iterator[Place]:
    """Leave out rejected lines that an earlier run reported."""
    reported = extent.known_lines if extent.has_grown else 0
    return (one for one in found if one.read.problem is None or one.read.line > reported)


class Extent(NamedTuple):
    """The part of a file that can be read.

    Attributes:
        end: offset after the last complete line, or of the file if it is one complete document.
        lines: number of lines up to there.
        digest: of the bytes up to there.
        has_grown: whether the bytes that were read before are unchanged, up to ``known_end`` and ``known_lines``.
        is_line_end: whether ``known_end`` is the end of a line.
    """

    end: int
    lines: int
    digest: str
    has_grown: bool = False
    known_end: int = 0
    known_lines: int = 0
    is_line_end: bool = False


def extent_of(file: IO[bytes], size: int, known: SyncedFile | None, *, whole: bool) -> Extent:
    """Find the complete lines of a file, of which ``size`` bytes count; ``whole`` if it may be one document."""
    mark = known.read_to if known is not None and known.digest and known.read_to <= size else 0
    running = blake2b(digest_size=16)
    complete = running.copy()
    position = newlines = end = count = 0
    has_grown = is_line_end = False
    file.seek(0)
    while position < size:
        block = file.read(min(_BLOCK, (mark if position < mark else size) - position))
        if not block:
            break  # it was truncated
        cut = block.rfind(b"\n") + 1
        running.update(block[:cut])
        if cut:
            newlines += block.count(b"\n")
            complete, end, count = running.copy(), position + cut, newlines
        running.update(block[cut:])
        position += len(block)
        if known is not None and position == mark:
            has_grown, is_line_end = running.hexdigest() == known.digest, block.endswith(b"\n")
    if end < position and _is_complete(file, end, position, whole=whole):
        complete, end, count = running, position, newlines + 1
    elif whole and not _closes(file, end):
        end = count = 0  # a document that is still being written
    known_lines = known.lines_read if known is not None and has_grown else 0
    return Extent(end, count, complete.hexdigest(), has_grown, mark, known_lines, is_line_end)


def _is_complete(file: IO[bytes], start: int, end: int, *, whole: bool) -> bool:
    """Whether a last line without a line end is complete."""
    if whole:
        return _closes(file, end)
    if end - start > LONGEST:
        return False
    file.seek(start)
    try:
        return isinstance(json.loads(file.read(end - start)), dict | list)
    except (ValueError, RecursionError):
        return False


def _closes(file: IO[bytes], end: int) -> bool:
    """Whether the bytes before an offset end like a JSON document."""
    file.seek(max(0, end - 64))
    return file.read(min(end, 64)).rstrip().endswith((b"}", b"]"))
