"""Take files of recorded invocations into a store, each wholly or not at all."""
# ruff: noqa: PTH120

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate.errors import IncompleteError, UsageError
from skillgate.evaluation.workers import LostError
from skillgate.invocations.forms import UnrecognisedError, reader, recognise, unrecognised
from skillgate.invocations.portions import crew, pays, portions
from skillgate.invocations.ports import Options
from skillgate.invocations.reading import STDIN, beside, lines, opened, recordings
from skillgate.invocations.rubric import scorer
from skillgate.invocations.taking import Counts, Problems, places, take
from skillgate.model.invocation import Fate
from skillgate.model.text import printable
from skillgate.registry import INVOCATION_FORMATS
from skillgate.store.results import named_store
from skillgate.store.target import require_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from skillgate.invocations.reading import Opened, Recording
    from skillgate.invocations.request import ImportRequest, ScoreRequest
    from skillgate.invocations.taking import Place
    from skillgate.session import Session
    from skillgate.store.invocations import InvocationStore

    _Report = Callable[[str], None]

_Item = TypeVar("_Item")

_NAMED = 10  # files of a form that is not known, that the last message names
_MOST_PROBLEMS = 1_000  # problems that the JSON names; stderr has all
_STEP = 4_000_000  # bytes of a file whose progress is worth drawing
_EVERY = 20  # lines, or portions of a file, between two drawings


class ImportedFile(NamedTuple):
    """What became of a file; ``stored`` is whether it is in the store, ``parent`` the directory that was named."""

    file: str
    form: str
    counts: Counts
    stored: bool
    parent: str | None = None

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "file": self.file,
            "format": self.form,
            **({fate.value: count for fate, count in self.counts.fates.items()} if self.stored else {}),
            "rejected": self.counts.rejected,
            "taken": self.stored,
            "warnings": [{"warning": text, "times": times} for text, times in self.counts.warnings.items()],
        }


class Import(NamedTuple):
    """What became of the files of an import.

    Attributes:
        files: those that were read.
        problems: the first of all problems.
        unread: how many files could not be read.
        unrecognised: descriptions of files without any use of a skill, where one was needed.
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
        """Yield what became of files with rejected records, with ``verbose`` of each, and of all together."""
        if len(self.files) > 1:
            for one in self.files:
                if verbose or one.counts.rejected:
                    yield f"{printable(one.file)} ({one.form}): {_totals([one])}"
        many = len(self.files)
        yield f"{many:,} file{'s' * (many != 1)}, {_totals(self.files)}; rubric {self.rubric}, store {self.store}"

    def require_all(self) -> None:
        """Make sure that everything that was named is in the store.

        Raises:
            UsageError: a file could not be read, or records of one were rejected.
            IncompleteError: a file holds no use of a skill that can be read.
        """
        rejected = sum(one.counts.rejected for one in self.files)
        missing = self.unrecognised
        more = [f"and {len(missing) - _NAMED:,} more files"] if len(missing) > _NAMED else []
        lines = [*missing[:_NAMED], *more]
        if self.unread or rejected:
            conflicts = sum(one.counts.fates[Fate.CONFLICT] for one in self.files)
            raise UsageError("\n".join([*lines, _shortfall(self.unread, rejected, conflicts, strict=self.strict)]))
        if missing:
            raise IncompleteError("\n".join(lines))


class _RefusedError(Exception):
    """Nothing of a file is to be taken."""


def import_files(request: ImportRequest, session: Session) -> Import:
    """Import every file that can be; notes say what is wrong with the others.

    Raises:
        UsageError: the store cannot be used, or there is no file.
        IncompleteError: the database failed.
    """
    target, _ = named_store(request.store, session)
    require_packages(target)
    files, missing = recordings(request.files, cwd=session.cwd)
    problems: list[str] = []

    def report(text: str) -> None:
        session.note(text)
        if len(problems) < _MOST_PROBLEMS:
            problems.append(text)

    if not files:
        raise UsageError("there is nothing to import: " + "; ".join(missing))
    for problem in missing:
        report(problem)
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    done: list[ImportedFile] = []
    unknown: list[tuple[Recording, str]] = []
    store = open_invocations(target, create=True)
    try:
        for recording in files:
            try:
                done.append(_file(recording, store, request, session, report))
            except UnrecognisedError as error:
                unknown.append((recording, str(error)))
            except UsageError as error:
                report(str(error))
    finally:
        store.close()
    for line in _warnings(done):
        session.note(line)
    for line in passed_over(unknown):
        report(line)
    unrecognised = required(unknown, {one.parent for one in done})
    unread = len(missing) + len(files) - len(done) - len(unknown)
    return Import(
        target.shown, request.rubric, tuple(done), tuple(problems), unread, tuple(unrecognised), request.strict
    )


def _warnings(done: Sequence[ImportedFile]) -> Iterator[str]:
    """Yield the warnings of all files; equal ones of files in one directory once."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in done:
        for warning, times in one.counts.warnings.items():
            text = f"{one.file}: {warning}{f' ({times:,} times)' if times > 1 else ''}"
            found.setdefault((one.parent or one.file, warning), []).append(text)
    for (place, warning), texts in found.items():
        yield texts[0] if len(texts) == 1 else f"{place}: {warning} (in {len(texts):,} files)"


def required(unknown: list[tuple[Recording, str]], known: AbstractSet[str | None]) -> list[str]:
    """Return the descriptions of files that were named, and of those of directories without any that is known.

    Args:
        unknown: files without a known form, each with its description.
        known: the directories that hold files that were read.
    """
    return [text for recording, text in unknown if recording.parent is None or recording.parent not in known]


def passed_over(unknown: list[tuple[Recording, str]]) -> Iterator[str]:
    """Count the files of each directory that hold nothing to import: other programs put theirs there too."""
    found: dict[str, list[str]] = {}
    for recording, _ in unknown:
        if recording.parent is not None:
            found.setdefault(recording.parent, []).append(recording.shown)
    for parent, files in found.items():
        many = f"{len(files):,} files hold" if len(files) > 1 else "1 file holds"
        yield f"{parent}: {many} no invocations in a known form, such as {files[0]}"


def _shortfall(unread: int, rejected: int, conflicts: int, *, strict: bool) -> str:
    said = [f"{unread:,} of the files" if unread > 1 else "one of the files"] if unread else []
    said = [f"{words} could not be read" for words in said]
    said += [f"{rejected:,} records were rejected" if rejected > 1 else "one record was rejected"] if rejected else []
    rest = "nothing of their files is in the store" if strict and rejected else "all else is in the store"
    more = f"\n--update puts the {conflicts:,} with a known id in the place of what is there" if conflicts else ""
    return f"{' and '.join(said)}; {rest}{more}"


def reading_options(request: ImportRequest | ScoreRequest, recording: Recording, *, keep_text: bool = False) -> Options:
    """Return how a file is read."""
    return Options(datetime.now(UTC), keep_text, request.category, partial(beside, recording))


def form_of(form: str, file: Opened, shown: str) -> str:
    """Return the form of a file, recognised where ``form`` is ``auto``.

    Raises:
        UnrecognisedError: none that is known.
    """
    found = recognise(file.head) if form == "auto" else form
    if found is None:
        raise UnrecognisedError(f"{shown}: {unrecognised(file.head)}")
    return found


def _file(
    recording: Recording, store: InvocationStore, request: ImportRequest, session: Session, report: _Report
) -> ImportedFile:
    """Take one file in, in one transaction.

    Raises:
        UsageError: it cannot be read.
        UnrecognisedError: it has no form that is known, or no use of a skill is in it.
        IncompleteError: the database failed.
    """
    with opened(recording) as file:
        request = request._replace(form=form_of(request.form, file, recording.shown))
        form, rubric = request.form, request.rubric
        options = reading_options(request, recording, keep_text=request.keep_text)
        if recording.path != STDIN and pays(form, file.size):
            with suppress(LostError), crew(recording.path, form, options, rubric) as workers:
                shared = chain.from_iterable(workers.results(_drawn(portions(file.file), file, session)))
                return _stored(recording, store, request, shared, report)
            file.file.seek(0)  # the others were lost: it is read here
        numbered = _drawn(lines(file.file, whole=INVOCATION_FORMATS.flag(form, "ONE_DOCUMENT")), file, session)
        found = places(reader(form)(numbered, options), scorer(rubric))
        return _stored(recording, store, request, found, report)


def _stored(
    recording: Recording, store: InvocationStore, request: ImportRequest, found: Iterable[Place], report: _Report
) -> ImportedFile:
    """Store what was read of a file."""
    from skillgate.store.invocations import Origin  # brings in the database's packages

    shown = recording.shown
    problems = Problems(shown, report)
    counts = Counts()
    later = INVOCATION_FORMATS.flag(request.form, "GROWS") and not request.update
    folder = None if recording.path == STDIN else os.path.dirname(os.path.realpath(recording.path))
    origin = Origin(folder, request.project)
    importing = store.importing(
        request.rubric, scorer(request.rubric), update=request.update, later=later, origin=origin
    )
    with suppress(_RefusedError), importing as run:
        take(found, run, problems, counts)
        if request.strict and counts.rejected:
            raise _RefusedError
    problems.close()
    if counts.unused is not None:
        raise UnrecognisedError(f"{shown}: {counts.unused}")
    return ImportedFile(shown, request.form, counts, not (request.strict and counts.rejected), recording.parent)


def _drawn(items: Iterator[_Item], file: Opened, session: Session) -> Iterator[_Item]:
    """Draw how much of a file was read, where somebody looks on."""
    if session.quiet or not session.stderr.isatty() or file.size < _STEP:
        yield from items
        return
    for number, item in enumerate(items):
        if number % _EVERY == 0:
            done = min(1.0, file.file.tell() / file.size)
            session.show_progress(f"\r{100 * done:3.0f} % of {file.size / 1e6:,.0f} MB ")
        yield item
    session.show_progress("\r" + " " * 40 + "\r")


def _totals(done: Sequence[ImportedFile]) -> str:
    stored = [one.counts for one in done if one.stored]
    words = {
        "new": sum(counts.fates[Fate.NEW] for counts in stored),
        "replaced": sum(counts.fates[Fate.UPDATED] for counts in stored),
        "known already": sum(counts.fates[Fate.KNOWN] for counts in stored),
        "rejected": sum(one.counts.rejected for one in done),
    }
    left = sum(not one.stored for one in done)
    said = [f"{count:,} {word}" for word, count in words.items() if count or word == "new"]
    return ", ".join([*said, *([f"{left} left out as a whole"] if left else [])])
