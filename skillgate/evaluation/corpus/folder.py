"""A corpus on disk: the index, a file for each skill's text, and the matches, one line each.

The index is replaced whole, a text never changes under its name, and matches are only ever added at the end, so whoever
is killed leaves the old state or the new one. One process at a time may write.
"""
# ruff: noqa: PTH103, PTH108, PTH114, PTH118

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import IncompleteError, UsageError
from skillgate.evaluation.corpus.encoding import decoded, document, loaded, read_bytes, replace, unwritable
from skillgate.evaluation.corpus.lock import locked
from skillgate.model.corpus import CORPUS_VERSION, CorpusIndex, Played, SkillText
from skillgate.model.digest import DIGEST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_INDEX, _MATCHES, _TEXTS, _LOCK = "index.json", "matches.jsonl", "texts", "lock"
_DIGITS = 2 * DIGEST_BYTES


class Matches(NamedTuple):
    """The matches of a corpus, in the order in which they were decided.

    ``problems`` are lines that cannot be read; ``torn`` tells that the last one was not written to its end, as when a
    run is killed: it counts as not there.
    """

    played: tuple[Played, ...] = ()
    problems: tuple[str, ...] = ()
    torn: bool = False


def place_of(environ: Mapping[str, str], given: str | None, base: str) -> str:
    """Return where the corpus lies; ``""`` where the system has no place for data.

    Args:
        environ: the environment, for the system's place.
        given: what the user asked for, relative to ``base``; None for the system's place.
        base: a directory, absolute.
    """
    if given:
        return os.path.normpath(os.path.join(base, os.path.expanduser(given)))  # noqa: PTH111
    if os.name == "nt":
        top = environ.get("LOCALAPPDATA", "")
    else:
        top = environ.get("XDG_DATA_HOME", "")
        if not os.path.isabs(top):  # noqa: PTH117 - as the XDG specification says: a relative path is ignored
            home = environ.get("HOME", "")
            top = os.path.join(home, ".local", "share") if os.path.isabs(home) else ""  # noqa: PTH117
    return os.path.join(top, "skillgate", "corpus") if os.path.isabs(top) else ""  # noqa: PTH117


class Store:
    """The files of one corpus. Reading needs no lock; whatever writes does so within :meth:`writing`."""

    def __init__(self, folder: str) -> None:
        """Take the folder, absolute; it need not exist."""
        self.folder = folder

    @property
    def exists(self) -> bool:
        """Whether there is an index."""
        return os.path.lexists(os.path.join(self.folder, _INDEX))

    def index(self) -> CorpusIndex | None:
        """Read the index, None where there is none.

        Raises:
            UsageError: it cannot be read.
        """
        path = os.path.join(self.folder, _INDEX)
        data = read_bytes(path)
        if data is None:
            return None
        found = decoded(CorpusIndex, loaded(data, path), path)
        if found.corpus_version != CORPUS_VERSION:
            raise UsageError(
                f"{path} is of version {found.corpus_version}, and this program reads {CORPUS_VERSION}: use the"
                " skillgate that wrote it, or build the corpus in another folder"
            )
        for one in (*found.members, *found.former):
            if not is_digest(one.digest):
                raise UsageError(f"{path} names a skill by {one.digest[:80]!r}, which is no digest")
        return found

    def text(self, digest: str) -> SkillText | None:
        """Read the pages of a skill, as they are kept; None where there are none that can be read."""
        try:
            path = self._text(digest)
            data = read_bytes(path)
            return None if data is None else decoded(SkillText, loaded(data, path), path)
        except UsageError:
            return None

    def matches(self) -> Matches:
        """Read all matches; none where there is no file.

        Raises:
            UsageError: the file cannot be read.
        """
        path = os.path.join(self.folder, _MATCHES)
        data = read_bytes(path)
        if not data:
            return Matches()
        *lines, last = data.split(b"\n")
        played, problems = [], []
        for number, line in enumerate(lines, start=1):
            where = f"{path}:{number}"
            try:
                played.append(decoded(Played, loaded(line, where), where))
            except UsageError as error:
                problems.append(str(error))
        return Matches(tuple(played), tuple(problems), torn=bool(last))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only one that writes, within the block; the folder is made where it is missing.

        Raises:
            IncompleteError: another process writes.
            UsageError: the folder cannot be written.
        """
        try:
            os.makedirs(os.path.join(self.folder, _TEXTS), exist_ok=True)
            if os.path.islink(os.path.join(self.folder, _TEXTS)):
                raise UsageError(f"cannot write {self.folder}: its {_TEXTS} is a symbolic link; remove it")
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
            descriptor = os.open(os.path.join(self.folder, _LOCK), flags, 0o666)
        except OSError as error:
            raise unwritable(self.folder, error) from error
        try:
            if not locked(descriptor):
                raise IncompleteError(f"another run is writing the corpus in {self.folder}: wait until it has ended")
            yield
        finally:
            os.close(descriptor)  # which lets go of the lock

    def put_index(self, index: CorpusIndex) -> None:
        """Replace the index.

        Raises:
            UsageError: it cannot be written.
        """
        replace(os.path.join(self.folder, _INDEX), document(index, indent=1))

    def put_text(self, text: SkillText) -> None:
        """Keep the pages of a skill under its digest.

        Raises:
            UsageError: they cannot be written.
        """
        if self.text(text.digest) != text:
            replace(self._text(text.digest), document(text))

    def add(self, played: Iterable[Played]) -> None:
        """Add matches; they are on disk when this returns.

        Raises:
            UsageError: they cannot be written.
        """
        data = b"".join(document(one) for one in played)
        if not data:
            return
        path = os.path.join(self.folder, _MATCHES)
        try:
            with open(path, "ab+", opener=_unlinked) as file:
                _drop_torn(file)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise unwritable(path, error) from error

    def keep_texts(self, digests: Iterable[str]) -> None:
        """Remove the texts of all other skills; what cannot be removed stays and does no harm."""
        wanted = {f"{digest}.json" for digest in digests}
        with suppress(OSError):
            for name in os.listdir(os.path.join(self.folder, _TEXTS)):  # noqa: PTH208
                own = name.endswith(".json") and is_digest(name.removesuffix(".json"))
                if own and name not in wanted:
                    os.unlink(os.path.join(self.folder, _TEXTS, name))

    def _text(self, digest: str) -> str:
        if not is_digest(digest):
            raise UsageError(f"{digest[:80]!r} is no digest")
        return os.path.join(self.folder, _TEXTS, f"{digest}.json")


def is_digest(text: str) -> bool:
    """Return whether a text may be a digest: nothing else ever becomes the name of a file."""
    return len(text) == _DIGITS and not text.strip("0123456789abcdef")


def _drop_torn(file: Any) -> None:  # noqa: ANN401 - a binary file, open for reading and appending
    """Cut off a last line that has no end: whoever wrote it was killed."""
    end = file.seek(0, os.SEEK_END)
    position = end
    while position:
        start = max(0, position - 65_536)
        file.seek(start)
        found = file.read(position - start).rfind(b"\n")
        if found >= 0:
            position = start + found + 1
            break
        position = start
    if position < end:
        file.truncate(position)


def _unlinked(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def origin_of(folder: str, directory: str) -> str:
    """Return a directory relative to a corpus, so that both may move together; as it is where that cannot be said."""
    real = os.path.realpath(directory)
    try:
        return os.path.relpath(real, os.path.realpath(folder)).replace(os.sep, "/")
    except ValueError:  # another drive
        return real


def is_below(folder: str, origin: str, directory: str) -> bool:
    """Return whether what :func:`origin_of` gave lies in a directory, or is it."""
    place = os.path.normpath(os.path.join(os.path.realpath(folder), origin))
    top = os.path.realpath(directory)
    return origin != "" and os.path.join(place, "").startswith(os.path.join(top, ""))
