"""A corpus on disk: its place, its files, and their verification.

The index is replaced as a whole, a text never changes under its name, and matches are only appended: a killed process
leaves the old state or the new one. Only one process at a time may write.
"""
# ruff: noqa: PTH103, PTH108, PTH112, PTH114, PTH118

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from skillgate import __version__, files, settings
from skillgate.errors import CodecError, IncompleteError, UsageError
from skillgate.llm import missing_extra
from skillgate.model.codec import decode, encode
from skillgate.model.corpus import (
    CORPUS_VERSION,
    CorpusExport,
    CorpusIndex,
    CorpusVerify,
    Indexed,
    PageText,
    Played,
    SkillText,
)
from skillgate.model.report import Tool
from skillgate.model.score import Badge
from skillgate.model.skill import DIGEST_BYTES
from skillgate.model.skill import digest as digest_of
from skillgate.ranking.corpus import identity, misfits, rated, refused_by, resting_on

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from skillgate.console import Console
    from skillgate.ranking.corpus import Text

try:
    import fcntl

    HAS_FLOCK = True
except ImportError:  # Windows
    HAS_FLOCK = False

TOOL = Tool(version=__version__)
MAX_BYTES = 256 << 20  # of one file; a corpus of 2,000 skills has about 30 MB of text and 10 MB of matches
LONGEST = 2_000  # characters of a name, a category or a path
MOST_PAGES = 1_000  # of one skill; a search reads 300 and those it takes for instructions
MOST_CHARACTERS = 16 << 20  # of one skill; a search reads 8 MB with the main file
_INDEX, _MATCHES, _TEXTS, _LOCK = "index.json", "matches.jsonl", "texts", "lock"
_DIGITS = 2 * DIGEST_BYTES
_BADGES = frozenset(badge.value.lower() for badge in Badge)
_RESULTS = {("win", "win"): 1.0, ("draw", "draw"): 0.5, ("loss", "loss"): 0.0}
_ORDERS = ("win", "draw", "loss")

T = TypeVar("T")


def document(value: object, indent: int | None = None) -> bytes:
    """Return a value as JSON on one line, or indented, in ASCII."""
    separators = (",", ":") if indent is None else (",", ": ")
    return (json.dumps(encode(value), indent=indent, separators=separators) + "\n").encode("ascii")


def read_document(cls: type[T], data: bytes, where: str) -> T:
    """Read a value of a type from untrusted JSON.

    Raises:
        UsageError: it is not valid, or nested too deeply.
    """
    try:
        parsed = json.loads(data, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is not JSON: {type(error).__name__}: {str(error)[:200]}") from None
    tag: tuple[str, str] | None = getattr(cls, "TAG", None)
    if tag is not None and (not isinstance(parsed, dict) or parsed.get(tag[0]) != tag[1]):
        raise UsageError(f"{where} is not a document of kind {tag[1]!r}")
    try:
        return decode(cls, parsed)
    except CodecError as error:
        raise UsageError(f"{where} is not valid: {str(error)[:2000]}") from None


def _refused(word: str) -> None:
    raise ValueError(f"{word} is not a number")


def read_bytes(path: str) -> bytes | None:
    """Read a file; None if it does not exist.

    Raises:
        UsageError: it cannot be read, is not a file, or is too large.
    """
    try:
        with open(path, "rb", opener=files.waitless) as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{path} is larger than {MAX_BYTES:,} bytes")
    return data


@contextmanager
def _writable(path: str) -> Iterator[None]:
    """Raise UsageError if a file of the corpus cannot be written."""
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror or error}; choose another directory with --{settings.CORPUS_DIR.key}"
        ) from error


def _locked(descriptor: int) -> bool:
    """Lock an open file without waiting; the lock ends when the file is closed or the process ends.

    Return False if it is already locked, even in this process.
    """
    try:
        if sys.platform == "win32":
            import msvcrt  # only there

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        elif HAS_FLOCK:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


class Matches(NamedTuple):
    """The matches of a corpus, in the order in which they were decided."""

    played: tuple[Played, ...] = ()
    problems: tuple[str, ...] = ()  # unreadable lines
    torn: bool = False  # whether the last line is incomplete, as after a killed run; it is ignored


class Store:
    """The files of one corpus. Reading needs no lock; write only within :meth:`writing`."""

    def __init__(self, folder: str) -> None:
        """Store the absolute directory, which may not exist."""
        self.folder = folder

    @property
    def exists(self) -> bool:
        """Whether there is an index."""
        return os.path.lexists(os.path.join(self.folder, _INDEX))

    def index(self) -> CorpusIndex | None:
        """Read the index; None if there is none.

        Raises:
            UsageError: it cannot be read.
        """
        path = os.path.join(self.folder, _INDEX)
        data = read_bytes(path)
        if data is None:
            return None
        index = read_document(CorpusIndex, data, path)
        if index.corpus_version != CORPUS_VERSION:
            raise UsageError(
                f"{path} has version {index.corpus_version}, and this program reads version {CORPUS_VERSION}; use the"
                " skillgate that wrote it, or build the corpus in another directory"
            )
        for one in (*index.members, *index.former):
            if not is_digest(one.digest):
                raise UsageError(f"{path}: {one.digest[:80]!r} is not a digest")
        return index

    def text(self, digest: str) -> SkillText | None:
        """Read the stored pages of a skill; None if they are missing or unreadable."""
        try:
            path = self._text(digest)
            data = read_bytes(path)
            return None if data is None else read_document(SkillText, data, path)
        except UsageError:
            return None

    def matches(self) -> Matches:
        """Read all matches; none if there is no file.

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
            try:
                played.append(read_document(Played, line, f"{path}:{number}"))
            except UsageError as error:
                problems.append(str(error))
        return Matches(tuple(played), tuple(problems), torn=bool(last))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the write lock within the block; make the directory if it is missing.

        Raises:
            IncompleteError: another process is writing.
            UsageError: the directory cannot be written.
        """
        texts = os.path.join(self.folder, _TEXTS)
        with _writable(self.folder):
            os.makedirs(texts, exist_ok=True)
            if os.path.islink(texts):
                raise UsageError(f"cannot write {self.folder}: its {_TEXTS} is a symbolic link; remove it")
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
            descriptor = os.open(os.path.join(self.folder, _LOCK), flags, 0o666)
        try:
            if not _locked(descriptor):
                raise IncompleteError(f"another run is writing the corpus in {self.folder}; wait for it to end")
            yield
        finally:
            os.close(descriptor)  # releases the lock

    def put_index(self, index: CorpusIndex) -> None:
        """Replace the index.

        Raises:
            UsageError: it cannot be written.
        """
        self._replace(os.path.join(self.folder, _INDEX), document(index, indent=1))

    def put_text(self, text: SkillText) -> None:
        """Store the pages of a skill under its digest.

        Raises:
            UsageError: they cannot be written.
        """
        if self.text(text.digest) != text:
            self._replace(self._text(text.digest), document(text))

    def add(self, played: Iterable[Played]) -> None:
        """Add matches; they are on disk when this returns.

        Raises:
            UsageError: they cannot be written.
        """
        data = b"".join(document(one) for one in played)
        if not data:
            return
        path = os.path.join(self.folder, _MATCHES)
        with _writable(path), open(path, "ab+", opener=files.unlinked) as file:
            _drop_torn(file)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def keep_texts(self, digests: Iterable[str]) -> None:
        """Remove the texts of all other skills; what cannot be removed stays."""
        wanted = {f"{digest}.json" for digest in digests}
        with suppress(OSError):
            for name in os.listdir(os.path.join(self.folder, _TEXTS)):  # noqa: PTH208
                own = name.endswith(".json") and is_digest(name.removesuffix(".json"))
                if own and name not in wanted:
                    os.unlink(os.path.join(self.folder, _TEXTS, name))

    def _text(self, digest: str) -> str:
        if not is_digest(digest):
            raise UsageError(f"{digest[:80]!r} is not a digest")
        return os.path.join(self.folder, _TEXTS, f"{digest}.json")

    @staticmethod
    def _replace(path: str, data: bytes) -> None:
        with _writable(path):
            files.replace(path, data)


def _drop_torn(file: Any) -> None:  # noqa: ANN401 - a binary file, open for reading and appending
    """Cut off an incomplete last line, left by a killed process."""
    end = file.seek(0, os.SEEK_END)
    position = end
    while position:
        start = max(0, position - 65_536)
        file.seek(start)
        feed = file.read(position - start).rfind(b"\n")
        if feed >= 0:
            position = start + feed + 1
            break
        position = start
    if position < end:
        file.truncate(position)


def is_digest(text: str) -> bool:
    """Whether a text may be a digest; nothing else is ever used as a file name."""
    return len(text) == _DIGITS and not text.strip("0123456789abcdef")


def content_digest(pages: Iterable[Text | PageText]) -> str:
    """Return the digest of a skill: of the paths and texts of all its pages, in order."""
    parts = (part for page in pages for part in (page.path, page.text))
    return digest_of(*(part.encode("utf-8", "surrogatepass") for part in parts))


def origin_of(folder: str, directory: str) -> str:
    """Return a directory relative to a corpus, so that both can move together; unchanged if that is impossible."""
    real = os.path.realpath(directory)
    try:
        return os.path.relpath(real, os.path.realpath(folder)).replace(os.sep, "/")
    except ValueError:  # another drive
        return real


def is_below(folder: str, origin: str, directory: str) -> bool:
    """Whether a result of :func:`origin_of` is a directory or inside it."""
    place = os.path.normpath(os.path.join(os.path.realpath(folder), origin))
    top = os.path.realpath(directory)
    return origin != "" and os.path.join(place, "").startswith(os.path.join(top, ""))


def place_of(environ: Mapping[str, str], wanted: str | None, base: str) -> str:
    """Return the directory of the corpus; ``""`` if the system's data directory is not known.

    ``wanted`` is relative to the absolute directory ``base``; None for the system's data directory, from ``environ``.
    """
    if wanted:
        return os.path.normpath(os.path.join(base, os.path.expanduser(wanted)))  # noqa: PTH111
    top = files.system_folder(environ, "XDG_DATA_HOME", ".local", "share")
    return os.path.join(top, "skillgate", "corpus") if top else ""


def store_of(corpus_dir: str | None, session: Console, *, writes: bool = False) -> Store:
    """Return the corpus of the option, else of the setting, else in the system's data directory.

    Raises:
        UsageError: there is no such place, or it must not be written.
    """
    config = session.config
    if corpus_dir is not None:
        config = config.with_options({settings.CORPUS_DIR.key: corpus_dir})
    set_to = config.get(settings.CORPUS_DIR)
    place = place_of(session.environ, set_to, config.base(settings.CORPUS_DIR))
    if not place:
        raise UsageError(f"no directory for a corpus (HOME is not set); use --{settings.CORPUS_DIR.key}")
    if os.path.lexists(place) and not os.path.isdir(place):
        raise UsageError(f"{place} is not a directory; --{settings.CORPUS_DIR.key} must name the directory of a corpus")
    if writes and set_to:
        files.require_place(place, session.cwd)
    return Store(place)


def require_index(store: Store) -> CorpusIndex:
    """Read the index of a corpus that must exist.

    Raises:
        UsageError: it is missing, or cannot be read.
    """
    index = store.index()
    if index is None:
        raise UsageError(f"no corpus in {store.folder}; build one with skillgate corpus build DIR")
    return index


def rerated(index: CorpusIndex, played: Sequence[Played], source: str) -> CorpusIndex:
    """Compute all ratings of a corpus again, with :func:`~skillgate.ranking.corpus.rated`.

    Raises:
        IncompleteError: numpy is not installed.
    """
    try:
        return rated(index, played, source)
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error


def verify(corpus_dir: str | None, session: Console) -> tuple[CorpusVerify, str]:
    """Verify a corpus, and return its directory too; an unreadable file is a defect.

    Raises:
        UsageError: there is no corpus.
        IncompleteError: numpy is not installed, and there are ratings to compute.
    """
    store = store_of(corpus_dir, session)
    if not store.exists:
        require_index(store)
    try:
        index, matches = require_index(store), store.matches()
    except UsageError as error:
        return CorpusVerify(tool=TOOL, members=0, matches=0, defects=(str(error),), notes=()), store.folder
    try:
        defects = tuple(_defects(store, index, matches))
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    members, played = len(index.members), len(matches.played)
    notes = tuple(_notes(index, matches))
    return CorpusVerify(tool=TOOL, members=members, matches=played, defects=defects, notes=notes), store.folder


def _defects(store: Store, index: CorpusIndex, matches: Matches) -> Iterator[str]:
    """Yield the defects of a corpus as sentences, without its directory."""
    yield from _skill_faults((*index.members, *index.former))
    for one in index.members:
        text = store.text(one.digest)
        if text is None:
            yield f"the text of {one.name} ({one.digest}) is missing or unreadable"
        elif text.digest != one.digest or content_digest(text.pages) != one.digest:
            yield f"the text of {one.name} ({one.digest}) is not the indexed one"
    yield from rating_faults(index, matches)


def rating_faults(index: CorpusIndex, matches: Matches) -> Iterator[str]:
    """Yield ratings that do not follow from the matches, as sentences. Reads no text."""
    yield from matches.problems
    yield from _match_faults(index, matches.played)
    fit = index.fit
    refused = None if fit is None else refused_by(index, matches.played[: fit.read], fit.source)
    for one in index.members:
        if not one.rateable and refused is not None and one.digest not in refused:
            yield (
                f"{one.name} ({one.digest}) is marked as not rateable, but no two pairs without a verdict confirm it"
            )
    if fit is not None and fit.read > len(matches.played):
        yield f"ratings were computed from {fit.read} matches, but only {len(matches.played)} are left"
        return
    for one, standing in misfits(index, matches.played):
        yield (
            f"{one.name} ({one.digest}) is rated {one.rating:.2f} by {one.matches} matches, but its matches give"
            f" {standing.rating:.2f} by {standing.matches}"
        )


def _notes(index: CorpusIndex, matches: Matches) -> Iterator[str]:
    """Yield notes on a corpus that are not defects."""
    if matches.torn:
        yield "the last match is incomplete (the run was probably killed); it is ignored"
    for one in index.members:
        if not one.rateable:
            yield (
                f"{one.name} ({one.digest}) is not rateable: its text keeps the judge from verdicts; no skill is"
                " compared with it"
            )
    pairs = resting_on(index, matches.played)
    if brought := sum(one.origin != "" for one in pairs):
        yield f"{brought} of {len(pairs)} rated pairs are decided by imported matches"
    left = len(matches.played) - (0 if index.fit is None else index.fit.read)
    if left > 0:
        yield f"{left} matches are not in the ratings yet; run skillgate corpus rate"


def _skill_faults(skills: Sequence[Indexed]) -> Iterator[str]:
    for digest, count in Counter(one.digest for one in skills).items():
        if count > 1:
            yield f"skill {digest[:80]} occurs {count} times"
    for one in skills:
        if not is_digest(one.digest):
            yield f"{one.digest[:80]!r} is not a digest"
        if max(len(one.name), len(one.path), len(one.category)) > LONGEST:
            yield f"the name, path or category of {one.digest[:80]} has more than {LONGEST:,} characters"
        if one.badge is not None and one.badge not in _BADGES:
            yield f"{one.badge[:80]!r} of {one.digest[:80]} is not a badge"


def _match_faults(index: CorpusIndex, played: Iterable[Played]) -> Iterator[str]:
    known = {one.digest for one in (*index.members, *index.former)}
    seen = set()
    for number, one in enumerate(played, start=1):
        unknown = [digest[:80] for digest in (one.first, one.second) if digest not in known]
        if unknown:
            yield f"match {number} names {' and '.join(unknown)}, which the corpus does not have"
        if one.first >= one.second:
            yield f"match {number} does not name two skills in the order of their digests"
        if len(one.orders) != 2 or not set(one.orders) <= set(_ORDERS):
            yield f"match {number} lacks the results of both orders"
        elif (one.result, one.position_bias) != (_RESULTS.get(one.orders, 0.5), one.orders not in _RESULTS):
            yield f"the result of match {number} does not follow from its two orders"
        if identity(one) in seen:
            yield f"match {number} is a duplicate"
        seen.add(identity(one))


def arrival_faults(exported: CorpusExport) -> Iterator[str]:
    """Yield the defects of an untrusted corpus file."""
    index = CorpusIndex(members=exported.members, former=exported.former)
    yield from _skill_faults((*index.members, *index.former))
    if Counter(text.digest for text in exported.texts) != Counter(one.digest for one in exported.members):
        yield "texts and members do not match one to one"
    for text in exported.texts:
        name = text.digest[:80]
        if not 1 <= len(text.pages) <= MOST_PAGES:
            yield f"text {name} has {len(text.pages)} pages (allowed: 1 to {MOST_PAGES:,})"
        elif max(len(page.path) for page in text.pages) > LONGEST:
            yield f"a path in the text {name} has more than {LONGEST:,} characters"
        elif sum(len(page.text) for page in text.pages) > MOST_CHARACTERS:
            yield f"the text {name} has more than {MOST_CHARACTERS:,} characters"
        elif content_digest(text.pages) != text.digest:
            yield f"text {name} has the wrong digest: {content_digest(text.pages)}"
    yield from _match_faults(index, exported.matches)
    for number, match in enumerate(exported.matches, start=1):
        if max(map(len, (match.model, match.prompt_version, match.source))) > LONGEST:
            yield f"match {number} names a model, a version or a source with more than {LONGEST:,} characters"
