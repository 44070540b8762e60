"""The word ``import`` of ``log``: files of recorded invocations go into a store, each wholly or not at all."""
# ruff: noqa: PTH120

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from skillgate.cli.log_options import rubric_of
from skillgate.errors import EXIT_PASSED, IncompleteError, UsageError
from skillgate.evaluate.workers import LostError
from skillgate.invocations.formats._checks import fit_name
from skillgate.invocations.forms import DOCUMENTS, UnrecognisedError, reader, recognise, unrecognised
from skillgate.invocations.portions import crew, pays, portions
from skillgate.invocations.ports import Options
from skillgate.invocations.reading import STDIN, beside, lines, opened, recordings
from skillgate.invocations.rubric import scorer
from skillgate.invocations.taking import Counts, Problems, places, take
from skillgate.model.invocation import Fate
from skillgate.model.text import printable
from skillgate.store.results import named_store
from skillgate.store.target import require_packages

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from skillgate.invocations.reading import Opened, Recording
    from skillgate.invocations.taking import Place
    from skillgate.session import Session
    from skillgate.store.invocations import InvocationStore

    _Tell = Callable[[str], None]

_Item = TypeVar("_Item")

_NAMED = 10  # files of a form that is not known, that the last message names
_TOLD = 1_000  # problems that the JSON names; stderr has all
_STEP = 4_000_000  # bytes of a file whose progress is worth drawing
_EVERY = 20  # lines, or portions of a file, between two drawings
GROWING = "claude-code"  # a session that goes on says more of the same invocations


class _Taken(NamedTuple):
    """What became of a file."""

    file: str
    form: str
    counts: Counts
    kept: bool
    parent: str | None = None


class _Asked(NamedTuple):
    """How a file is taken in."""

    recording: Recording
    store: InvocationStore
    form: str
    rubric: str
    update: bool
    strict: bool
    label: str | None


class _RefusedError(Exception):
    """Nothing of a file is to be taken."""


def take_in(args: argparse.Namespace, session: Session) -> int:
    """Import every file that can be.

    Raises:
        UsageError: the store cannot be used; or something was rejected, and all else is in the store.
        IncompleteError: the database failed; or a file that was named, or all of a directory, holds no use of a skill
            that can be read.
    """
    if args.project is not None and not fit_name(args.project):
        raise UsageError("--project: expected a name of at most 200 characters, none of them hidden")
    target, _ = named_store(args.store, session)
    require_packages(target)
    rubric = rubric_of(args, session)
    files, problems = recordings(args.files, cwd=session.cwd)
    told: list[str] = []

    def tell(text: str) -> None:
        session.note(text)
        if len(told) < _TOLD:
            told.append(text)

    if not files:
        raise UsageError("there is nothing to import: " + "; ".join(problems))
    for problem in problems:
        tell(problem)
    from skillgate.store.invocations import open_invocations  # brings in the database's packages

    done: list[_Taken] = []
    unknown: list[tuple[Recording, str]] = []
    store = open_invocations(target, create=True)
    try:
        for recording in files:
            try:
                done.append(_file(recording, store, args, session, rubric, tell))
            except UnrecognisedError as error:
                unknown.append((recording, str(error)))
            except UsageError as error:
                tell(str(error))
    finally:
        store.close()
    for line in _warned(done):
        session.note(line)
    for line in passed_over(unknown):
        tell(line)
    fatal = unread_of(unknown, {one.parent for one in done})
    _report(done, [*told, *fatal], rubric, target.shown, session)
    unread = len(problems) + len(files) - len(done) - len(unknown)
    _require_all(done, unread, fatal, strict=args.strict)
    return EXIT_PASSED


def _require_all(done: Sequence[_Taken], unread: int, fatal: Sequence[str], *, strict: bool) -> None:
    """Make sure that everything that was named is in the store.

    Raises:
        UsageError: a file could not be read, or records of one were rejected.
        IncompleteError: a file holds no use of a skill that can be read.
    """
    rejected = sum(one.counts.rejected for one in done)
    more = [f"and {len(fatal) - _NAMED:,} more files"] if len(fatal) > _NAMED else []
    lines = [*fatal[:_NAMED], *more]
    if unread or rejected:
        conflicts = sum(one.counts.fates[Fate.CONFLICT] for one in done)
        raise UsageError("\n".join([*lines, _summary(unread, rejected, conflicts, strict=strict)]))
    if fatal:
        raise IncompleteError("\n".join(lines))


def _warned(done: Sequence[_Taken]) -> Iterator[str]:
    """Give the warnings of all files; equal ones of files in one directory once."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in done:
        for warning, times in one.counts.warnings.items():
            text = f"{one.file}: {warning}{f' ({times:,} times)' if times > 1 else ''}"
            found.setdefault((one.parent or one.file, warning), []).append(text)
    for (place, warning), texts in found.items():
        yield texts[0] if len(texts) == 1 else f"{place}: {warning} (in {len(texts):,} files)"


def unread_of(unknown: list[tuple[Recording, str]], known: AbstractSet[str | None]) -> list[str]:
    """Give the descriptions of files that were named, and of those of directories without any that is known.

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


def _summary(unread: int, rejected: int, conflicts: int, *, strict: bool) -> str:
    said = [f"{unread:,} of the files" if unread > 1 else "one of the files"] if unread else []
    said = [f"{words} could not be read" for words in said]
    said += [f"{rejected:,} records were rejected" if rejected > 1 else "one record was rejected"] if rejected else []
    rest = "nothing of their files is in the store" if strict and rejected else "all else is in the store"
    more = f"\n--update puts the {conflicts:,} with a known id in the place of what is there" if conflicts else ""
    return f"{' and '.join(said)}; {rest}{more}"


def options_of(args: argparse.Namespace, recording: Recording) -> Options:
    """Say how a file is read."""
    keep = bool(getattr(args, "keep_text", False))
    return Options(datetime.now(UTC), keep, args.skill_category, partial(beside, recording))


def form_of(asked: str, file: Opened, shown: str) -> str:
    """Say which form a file has.

    Raises:
        UnrecognisedError: none that is known.
    """
    found = recognise(file.head) if asked == "auto" else asked
    if found is None:
        raise UnrecognisedError(f"{shown}: {unrecognised(file.head)}")
    return found


def _file(
    recording: Recording, store: InvocationStore, args: argparse.Namespace, session: Session, rubric: str, tell: _Tell
) -> _Taken:
    """Take one file in, in one transaction.

    Raises:
        UsageError: it cannot be read.
        UnrecognisedError: it has no form that is known, or no use of a skill is in it.
        IncompleteError: the database failed.
    """
    with opened(recording) as file:
        form = form_of(args.format, file, recording.shown)
        options = options_of(args, recording)
        asked = _Asked(recording, store, form, rubric, args.update, args.strict, args.project)
        if recording.path != STDIN and pays(form, file.size):
            with suppress(LostError), crew(recording.path, form, options, rubric) as workers:
                found = chain.from_iterable(workers.results(_drawn(portions(file.file), file, session)))
                return _taken(asked, found, tell)
            file.file.seek(0)  # the others were lost: it is read here
        numbered = _drawn(lines(file.file, whole=form in DOCUMENTS), file, session)
        return _taken(asked, places(reader(form)(numbered, options), scorer(rubric)), tell)


def _taken(asked: _Asked, found: Iterable[Place], tell: _Tell) -> _Taken:
    from skillgate.store.invocations import Origin  # brings in the database's packages

    shown = asked.recording.shown
    problems = Problems(shown, tell)
    counts = Counts()
    later = asked.form == GROWING and not asked.update
    folder = None if asked.recording.path == STDIN else os.path.dirname(os.path.realpath(asked.recording.path))
    origin = Origin(folder, asked.label)
    importing = asked.store.importing(
        asked.rubric, scorer(asked.rubric), update=asked.update, later=later, origin=origin
    )
    with suppress(_RefusedError), importing as run:
        take(found, run, problems, counts)
        if asked.strict and counts.rejected:
            raise _RefusedError
    problems.close()
    if counts.unused is not None:
        raise UnrecognisedError(f"{shown}: {counts.unused}")
    return _Taken(shown, asked.form, counts, not (asked.strict and counts.rejected), asked.recording.parent)


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


def _report(done: list[_Taken], told: list[str], rubric: str, store: str, session: Session) -> None:
    if session.json:
        files = [
            {
                "file": one.file,
                "format": one.form,
                **({fate.value: count for fate, count in one.counts.fates.items()} if one.kept else {}),
                "rejected": one.counts.rejected,
                "taken": one.kept,
                "warnings": [{"warning": text, "times": times} for text, times in one.counts.warnings.items()],
            }
            for one in done
        ]
        document = {"kind": "log-import", "store": store, "rubric_version": rubric, "files": files, "problems": told}
        session.out(json.dumps(document, indent=2, ensure_ascii=False))
        return
    if len(done) > 1:
        for one in done:
            if session.verbose or one.counts.rejected:
                session.out(f"{printable(one.file)} ({one.form}): {_said([one])}")
    session.out(f"{len(done):,} file{'s' * (len(done) != 1)}, {_said(done)}; rubric {rubric}, store {store}")


def _said(done: list[_Taken]) -> str:
    kept = [one.counts for one in done if one.kept]
    words = {
        "new": sum(counts.fates[Fate.NEW] for counts in kept),
        "replaced": sum(counts.fates[Fate.UPDATED] for counts in kept),
        "known already": sum(counts.fates[Fate.KNOWN] for counts in kept),
        "rejected": sum(one.counts.rejected for one in done),
    }
    left = sum(not one.kept for one in done)
    said = [f"{count:,} {word}" for word, count in words.items() if count or word == "new"]
    return ", ".join([*said, *([f"{left} left out as a whole"] if left else [])])
