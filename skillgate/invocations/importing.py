"""Import files of recorded invocations into a store, one transaction per file; or score them without storing.

Files are read line by line, since they may be larger than memory. For a directory, such as Claude Code's projects
directory, every ``.jsonl`` file below it is read; symbolic links are not followed.
"""
# ruff: noqa: PTH111, PTH112, PTH113, PTH117, PTH118, PTH120, PTH123, PTH204

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from io import BufferedReader, RawIOBase
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate.errors import IncompleteError, UsageError
from skillgate.evaluation.workers import FORKED, MOST, LostError, WorkerPool, processors
from skillgate.format import plural, printable
from skillgate.invocations.formats import (
    BATCH,
    LONGEST,
    Counts,
    Options,
    Place,
    Problems,
    ReadPortion,
    UnrecognisedError,
    places,
    reader,
    recognise,
    take,
    unrecognised,
)
from skillgate.invocations.joining import FORM as JOINED
from skillgate.invocations.joining import joined
from skillgate.invocations.rubric import scorer
from skillgate.invocations.telemetry import FORM as TELEMETRY
from skillgate.invocations.telemetry import LEFT_OUT, OnceRun
from skillgate.model.invocation import Fate, Scored
from skillgate.registry import INVOCATION_FORMATS
from skillgate.store.results import named_store
from skillgate.store.target import SQLITE_HEADER, require_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet
    from contextlib import AbstractContextManager

    from skillgate.console import Console
    from skillgate.invocations.formats import Lines
    from skillgate.invocations.records import ImportRequest, ScoreRequest
    from skillgate.store.invocation_rows import Rows
    from skillgate.store.invocations import Import as ImportRun
    from skillgate.store.invocations import InvocationStore

    _Report = Callable[[str], None]
    Watch = Callable[[Iterator[Place], str], Iterator[Place]]
    _Item = TypeVar("_Item")

STDIN = "-"
HEAD = 65_536  # bytes used to recognise a format
_SUFFIX = ".jsonl"
_KEPT_ORIGIN = "an invocation is stored with another origin already; use --update to replace it by --project"


class Recording(NamedTuple):
    """A file to read: its name in messages and its path; ``-`` is standard input."""

    shown: str
    path: str
    parent: str | None = None  # the directory argument in which it was found


class Opened(NamedTuple):
    """An open file, its first bytes, and its size in bytes (0 if unknown)."""

    file: IO[bytes]
    head: bytes
    size: int


def recordings(
    paths: Iterable[str], *, cwd: str, suffixes: tuple[str, ...] = (_SUFFIX,), allow_empty: bool = False
) -> tuple[list[Recording], list[str]]:
    """Return the files that the paths name, each once, and the problems of the other paths.

    Of a directory, the files with one of the suffixes count; a directory without any is a problem unless
    ``allow_empty``.
    """
    found: dict[str, Recording] = {}
    problems: list[str] = []
    for path in paths:
        place = os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))
        if path == STDIN:
            found[STDIN] = Recording("<stdin>", STDIN)
        elif os.path.isdir(place):
            below = list(_below(path, place, suffixes, problems))
            problems += [] if below or allow_empty else [f"{path} contains no {' or '.join(suffixes)} file"]
            found.update({one.path: one for one in below})
        elif not os.path.lexists(place):
            problems.append(f"{path} does not exist")
        elif not os.path.isfile(place):
            problems.append(f"{path} is neither a file nor a directory")
        else:
            found.setdefault(place, Recording(path, place))
    return list(found.values()), problems


def _below(shown: str, place: str, suffixes: tuple[str, ...], problems: list[str]) -> Iterator[Recording]:
    def closed(error: OSError) -> None:
        if isinstance(error, FileNotFoundError):  # deleted since it was listed
            return
        folder = os.path.join(shown, os.path.relpath(error.filename, place))
        problems.append(f"cannot read {os.path.normpath(folder)}: {error.strerror}")

    for folder, folders, names in os.walk(place, onerror=closed):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(suffixes) and _holds_any(path):
                yield Recording(os.path.join(shown, os.path.relpath(path, place)), path, shown)


def _holds_any(path: str) -> bool:
    """Whether a regular file is not empty: an unused session leaves an empty one."""
    try:
        found = os.lstat(path)
        return stat.S_ISREG(found.st_mode) and found.st_size > 0
    except OSError:  # deleted since it was listed
        return False


@contextmanager
def opened(recording: Recording) -> Iterator[Opened]:
    """Open a file and read its first bytes; raise UsageError if it cannot be read."""
    try:
        if recording.path == STDIN:
            yield _piped()
            return
        with open(recording.path, "rb") as file:
            head = file.read(HEAD)
            file.seek(0)
            yield Opened(file, head, os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise UsageError(f"cannot read {recording.shown}: {error.strerror}") from error


def _piped() -> Opened:
    """Open standard input; wait for enough bytes to recognise the format, since pipes deliver in pieces."""
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    head = sys.stdin.buffer.read(HEAD)
    return Opened(BufferedReader(_Headed(head, sys.stdin.buffer)), head, 0)


class _Headed(RawIOBase):
    """A stream of which the first bytes were read already."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head, self._rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a buffer of any kind
        size = len(buffer)
        some, self._head = (self._head[:size], self._head[size:]) if self._head else (self._rest.read(size), b"")
        buffer[: len(some)] = some
        return len(some)


def lines(file: IO[bytes], first: int = 1, *, whole: bool = False, end: int = sys.maxsize) -> Lines:
    """Yield numbered lines from the current position, without line ends.

    With ``whole`` the rest of an overlong line follows in pieces under the same number; otherwise it is dropped. Bytes
    from the offset ``end`` on are not read.
    """
    number, left = first, end - file.tell() if end < sys.maxsize else end
    while left > 0 and (line := file.readline(min(left, LONGEST + 1))):
        left -= len(line)
        yield number, line.rstrip(b"\r\n")
        while not line.endswith(b"\n") and left > 0 and (line := file.readline(min(left, LONGEST + 1))):
            left -= len(line)
            if whole:
                yield number, line.rstrip(b"\r\n")
        number += 1


def lines_between(file: IO[bytes], start: int, end: int, first: int) -> Lines:
    """Yield the lines between two offsets at line ends; ``first`` is the first line's number."""
    file.seek(start)
    return lines(file, first, end=end)


def sibling_lines(recording: Recording, relative: str) -> Lines | None:
    """Return the lines of a file at a path relative to another; None if missing or reached by a link or ``..``."""
    if recording.path == STDIN:
        return None
    parts = relative.split("/")
    if os.path.isabs(relative) or any(part in ("", ".", "..") or "\0" in part for part in parts):
        return None
    place = os.path.join(os.path.dirname(recording.path), *parts)
    here = os.path.realpath(os.path.dirname(recording.path))
    if not os.path.isfile(place) or not os.path.realpath(place).startswith(os.path.join(here, "")):
        return None
    return _closing(place)


def _closing(place: str) -> Lines:
    with open(place, "rb") as file:
        yield from lines(file)


WORTH = 4_000_000  # minimum bytes of a file for which several processes are faster
_PORTION = 400_000  # bytes: some hundred lines
_NAMED = 10  # files without a known format that the last message names
MOST_PROBLEMS = 1_000  # maximum problems in the JSON; stderr has all
_MOST_SCORED = 1_000  # maximum invocations to show; `log import` takes more
_MOST_SHOWN = 50  # maximum problems of a scoring on stderr
_STEP = 4_000_000  # minimum bytes of a file for a progress display
_EVERY = 20  # lines, or portions of a file, between two updates of the display


class ImportedFile(NamedTuple):
    """The result for one file: whether it was ``stored``, the ``parent`` directory argument, and the absolute path."""

    file: str
    form: str
    counts: Counts
    stored: bool
    parent: str | None = None
    path: str = ""

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "file": self.file,
            "format": self.form,
            **({fate.value: count for fate, count in self.counts.fates.items()} if self.stored else {}),
            "rejected": self.counts.rejected,
            "reopened": self.counts.reopened,
            "taken": self.stored,
            "warnings": [{"warning": text, "times": times} for text, times in self.counts.warnings.items()],
        }


class Import(NamedTuple):
    """The result of an import.

    Attributes:
        files: the files that were read.
        problems: the first 1,000 problems.
        unread: number of unreadable files.
        unrecognised: descriptions of files that should contain uses of skills and do not.
    """

    store: str
    rubric: str
    files: tuple[ImportedFile, ...]
    problems: tuple[str, ...]
    unread: int
    unrecognised: tuple[str, ...]
    strict: bool

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "kind": "log-import",
            "store": self.store,
            "rubric_version": self.rubric,
            "files": [one.document() for one in self.files],
            "problems": [*self.problems, *self.unrecognised],
        }

    def lines(self, *, verbose: bool) -> Iterator[str]:
        """Yield the results of files with rejected records (all files if ``verbose``), then the total."""
        if len(self.files) > 1:
            for one in self.files:
                if verbose or one.counts.rejected:
                    yield f"{printable(one.file)} ({one.form}): {totals([one])}"
        yield f"{plural(len(self.files), 'file')}, {totals(self.files)}; rubric {self.rubric}, store {self.store}"

    def require_all(self) -> None:
        """Raise if anything requested is not in the store.

        Raises:
            UsageError: a file could not be read, or records were rejected.
            IncompleteError: a file has no readable use of a skill.
        """
        rejected = sum(one.counts.rejected for one in self.files)
        missing = self.unrecognised
        more = [f"and {len(missing) - _NAMED:,} more files"] if len(missing) > _NAMED else []
        lines = [*missing[:_NAMED], *more]
        if self.unread or rejected:
            raise UsageError("\n".join([*lines, self._shortfall(rejected)]))
        if missing:
            raise IncompleteError("\n".join(lines))

    def _shortfall(self, rejected: int) -> str:
        conflicts = sum(one.counts.fates[Fate.CONFLICT] for one in self.files)
        parts = []
        if self.unread:
            parts.append(f"{plural(self.unread, 'file')} could not be read")
        if rejected:
            parts.append(f"{plural(rejected, 'record')} rejected")
        rest = "nothing from their files was stored" if self.strict and rejected else "everything else was stored"
        more = f"\nuse --update to replace the stored records with the same id ({conflicts:,})" if conflicts else ""
        return f"{' and '.join(parts)}; {rest}{more}"


def totals(done: Sequence[ImportedFile]) -> str:
    """Describe what became of the invocations of some files."""
    stored = [one.counts for one in done if one.stored]
    words = {
        "new": sum(counts.fates[Fate.NEW] for counts in stored),
        "replaced": sum(counts.fates[Fate.UPDATED] for counts in stored),
        "already stored": sum(counts.fates[Fate.KNOWN] for counts in stored),
        "rejected": sum(one.counts.rejected for one in done),
    }
    left = sum(not one.stored for one in done)
    parts = [f"{count:,} {word}" for word, count in words.items() if count or word == "new"]
    if reopened := sum(counts.reopened for counts in stored):
        parts.append(f"{reopened:,} of unknown outcome again, because it continued after --grade")
    return ", ".join([*parts, *([f"{plural(left, 'file')} skipped"] if left else [])])


class _RefusedError(Exception):
    """Roll back the transaction of a file."""


class _Nothing:
    """Takes the place of a transaction for a file without invocations."""

    kept_origins = reopened = 0

    def add(self, batch: Sequence[Scored]) -> Sequence[Fate]:
        """Return no fate: ``batch`` is never called."""
        return [Fate.KNOWN for _ in batch]

    def add_rows(self, rows: Rows) -> Sequence[Fate]:
        """Return no fate, as :meth:`add`."""
        return [Fate.KNOWN for _ in rows.at]


def import_files(request: ImportRequest, session: Console, watch: Watch | None = None) -> Import:
    """Import every readable file; report problems of the others as notes.

    ``watch`` passes on what is found in a file, and sees the last texts of uses with an unknown outcome.

    Raises:
        UsageError: the store is unusable, or there is no file.
        IncompleteError: the database failed.
    """
    target, _ = named_store(request.store, session)
    require_packages(target)
    files, missing = recordings(request.files, cwd=session.cwd)
    problems: list[str] = []

    def report(text: str) -> None:
        session.note(text)
        if len(problems) < MOST_PROBLEMS:
            problems.append(text)

    if not files:
        raise UsageError("nothing to import: " + "; ".join(missing))
    for problem in missing:
        report(problem)
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    done: list[ImportedFile] = []
    unknown: list[tuple[Recording, str]] = []
    parts: set[str] = set()  # files that are read together with others
    store = open_invocations(target, create=True)
    try:
        for recording in files:
            try:
                done.append(_file(recording, store, request, session, report, parts, watch))
            except UnrecognisedError as error:
                unknown.append((recording, str(error)))
            except UsageError as error:
                report(str(error))
    finally:
        store.close()
    for line in _warnings(one for one in done if one.path not in parts):
        session.note(line)
    for line in without_invocations(unknown):
        report(line)
    unrecognised = required(unknown, {one.parent for one in done})
    unread = len(missing) + len(files) - len(done) - len(unknown)
    return Import(
        target.shown, request.rubric, tuple(done), tuple(problems), unread, tuple(unrecognised), request.strict
    )


def _warnings(done: Iterable[ImportedFile]) -> Iterator[str]:
    """Yield the warnings of all files; equal ones within a directory once."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in done:
        for warning, times in one.counts.warnings.items():
            text = f"{one.file}: {warning}{f' ({times:,} times)' if times > 1 else ''}"
            found.setdefault((one.parent or one.file, warning), []).append(text)
    for (place, warning), texts in found.items():
        yield texts[0] if len(texts) == 1 else f"{place}: {warning} (in {len(texts):,} files)"


def required(unknown: list[tuple[Recording, str]], known: AbstractSet[str | None]) -> list[str]:
    """Describe files without a known format that were named, or whose whole directory has no known file."""
    return [text for recording, text in unknown if recording.parent is None or recording.parent not in known]


def without_invocations(unknown: list[tuple[Recording, str]]) -> Iterator[str]:
    """Report per directory how many files have nothing to import; they may belong to other programs."""
    found: dict[str, list[str]] = {}
    for recording, _ in unknown:
        if recording.parent is not None:
            found.setdefault(recording.parent, []).append(recording.shown)
    for parent, files in found.items():
        yield f"{parent}: {plural(len(files), 'file')} without invocations in a known format, such as {files[0]}"


def format_of(form: str, file: Opened, shown: str) -> str:
    """Return the format of a file, detected if ``form`` is ``auto``; raise UnrecognisedError if unknown."""
    found = recognise(file.head) if form == "auto" else form
    if found is None:
        raise UnrecognisedError(f"{shown}: {unrecognised(file.head)}")
    return found


def options_of(
    request: ImportRequest | ScoreRequest,
    recording: Recording,
    read: set[str],
    *,
    keep_text: bool = False,
    texts: bool = False,
) -> Options:
    """Return how to read a file; paths of the files that are read together with it are added to ``read``."""

    def sibling(relative: str) -> Lines | None:
        read.add(os.path.join(os.path.dirname(recording.path), *relative.split("/")))
        return sibling_lines(recording, relative)

    found = Options(datetime.now(UTC), keep_text, request.category, sibling, texts=texts)
    with suppress(OSError):  # it was deleted
        if recording.path != STDIN:
            found = found._replace(modified=datetime.fromtimestamp(os.path.getmtime(recording.path), UTC))
    return found


def _file(
    recording: Recording,
    store: InvocationStore,
    request: ImportRequest,
    session: Console,
    report: _Report,
    parts: set[str],
    watch: Watch | None,
) -> ImportedFile:
    """Import one file in one transaction; paths of the files that are read together with it are added to ``parts``.

    Raises:
        UsageError: it cannot be read.
        UnrecognisedError: its format is unknown, or it has no use of a skill.
        IncompleteError: the database failed.
    """
    with opened(recording) as file:
        if file.head.startswith(SQLITE_HEADER) and recording.path != STDIN:
            with joined(recording.shown, recording.path, request) as found:
                return stored(recording, store, request._replace(form=JOINED), found, report)
        request = request._replace(form=format_of(request.form, file, recording.shown))
        form, rubric = request.form, request.rubric
        options = options_of(request, recording, parts, keep_text=request.keep_text, texts=watch is not None)
        parallel = FORKED and INVOCATION_FORMATS.flag(form, "LINE_BY_LINE")
        if recording.path != STDIN and parallel and file.size >= WORTH and processors() > 1:
            alone = options._replace(sibling=lambda _path: None)  # each line is complete without other files
            work = partial(_work, recording.path, form, alone, rubric)
            with suppress(LostError), WorkerPool(work, min(processors(), MOST)) as workers:
                results = workers.results(_drawn(portions(file.file), file, session))
                return stored(recording, store, request, results, report)
            file.file.seek(0)  # the workers were lost: read it in this process
        numbered = _drawn(lines(file.file, whole=INVOCATION_FORMATS.flag(form, "ONE_DOCUMENT")), file, session)
        found = places(reader(form)(numbered, options), scorer(rubric))
        if watch is not None:
            found = watch(found, recording.path)
        return stored(recording, store, request, found, report)


def stored(
    recording: Recording,
    store: InvocationStore,
    request: ImportRequest,
    found: Iterator[Place | ReadPortion],
    report: _Report,
) -> ImportedFile:
    """Store what a reader found in one transaction, which begins with the first invocation.

    Raises:
        UnrecognisedError: the file has no use of a skill.
        IncompleteError: the database failed.
    """
    from skillgate.store.invocations import Origin  # brings in the database's packages

    shown = recording.shown
    problems, counts = Problems(shown, report), Counts()
    before: list[Place | ReadPortion] = []
    begins = False
    while not begins and (one := next(found, None)) is not None:
        before.append(one)
        begins = _holds_invocation(one) or len(before) == BATCH
    later = (request.form == JOINED or INVOCATION_FORMATS.flag(request.form, "GROWS")) and not request.update
    folder = (
        None if recording.path == STDIN or request.form == JOINED else os.path.dirname(os.path.realpath(recording.path))
    )
    origin = Origin(folder, request.project)
    importing: AbstractContextManager[ImportRun | _Nothing] = nullcontext(_Nothing())
    if begins:
        rate = scorer(request.rubric)
        importing = store.importing(
            request.rubric, rate, update=request.update, later=later, origin=origin, looks_up=request.form == TELEMETRY
        )
    with suppress(_RefusedError), importing as run:
        once = None
        if request.form == TELEMETRY and not isinstance(run, _Nothing):
            once = OnceRun(run, update=request.update)
        take(chain(before, found), once or run, problems, counts)
        if request.strict and counts.rejected:
            raise _RefusedError
    counts.reopened = run.reopened
    if once is not None and once.left_out:
        counts.warnings[LEFT_OUT] = once.left_out
    if run.kept_origins:
        counts.warnings[_KEPT_ORIGIN] = run.kept_origins
    problems.close()
    if counts.unused is not None:
        raise UnrecognisedError(f"{shown}: {counts.unused}")
    is_stored = not (request.strict and counts.rejected)
    return ImportedFile(shown, request.form, counts, is_stored, recording.parent, recording.path)


def _holds_invocation(one: Place | ReadPortion) -> bool:
    return (one.rows if isinstance(one, ReadPortion) else one.scored) is not None


def _drawn(items: Iterator[_Item], file: Opened, session: Console) -> Iterator[_Item]:
    """Show on a terminal how much of a file was read."""
    if session.quiet or not session.stderr.isatty() or file.size < _STEP:
        yield from items
        return
    for number, item in enumerate(items):
        if number % _EVERY == 0:
            done = min(1.0, file.file.tell() / file.size)
            session.show_progress(f"\r{100 * done:3.0f} % of {file.size / 1e6:,.0f} MB ")
        yield item
    session.show_progress("\r" + " " * 40 + "\r")


# A large file is divided among processes: each reads and scores portions, one stores the results


class Portion(NamedTuple):
    """Whole lines of a file: byte offsets of both ends, and the number of the first line."""

    start: int
    end: int
    line: int


def portions(file: IO[bytes]) -> Iterator[Portion]:
    """Divide a file at line ends; a line longer than a portion is not buffered."""
    start = end = 0
    line = following = 1
    while block := file.read(_PORTION):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield Portion(start, end + cut, line)
            start, line = end + cut, following + block.count(b"\n")
        following += block.count(b"\n")
        end += len(block)
    if end > start:
        yield Portion(start, end, line)


def _work(path: str, form: str, options: Options, rubric: str, portion: Portion) -> ReadPortion:
    from skillgate.store.invocation_rows import rows_of  # brings in the database's packages

    with open(path, "rb") as file:
        some = lines_between(file, portion.start, portion.end, portion.line)
        found = list(places(reader(form)(some, options), scorer(rubric)))
    reported = [read._replace(invocation=None) for read, one in found if one is None or read.warnings or read.unused]
    batch = [one for _, one in found if one is not None]
    return ReadPortion(
        reported, [read.line for read, one in found if one is not None], rows_of(batch) if batch else None
    )
