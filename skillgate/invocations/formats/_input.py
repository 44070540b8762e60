"""Read strict JSON, and decide which names and unknown keys are stored.

A large document is scanned for brackets, strings and commas only; each element is parsed by the same strict parser as a
line of JSON Lines. So an invalid element is rejected alone, and memory is bounded by the longest element. ijson, the
existing streaming parser, is not used: a number of 5,000 digits crashes the interpreter in its C part (3.6.0), and
100,000 brackets take all memory.

A model may call a skill by a sentence, and a recorder may put a path or an address in place of a version or an id. So
only names that look like one are stored. Under unknown keys, numbers and flags are stored; strings only on request.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple, NoReturn, TypeAlias

from skillgate.invocations.formats import LONGEST, Lines, is_key, short_key

Path: TypeAlias = tuple[str | None, ...]
"""Keys from the outermost object inwards; None is any index of a list."""

_BOM = b"\xef\xbb\xbf"
_CHUNK = 64 * 1024  # bytes scanned together
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NESTING = re.compile(_STRING + rb'|[{}\[\]"]', re.DOTALL)  # a lone quote begins an incomplete string
_TOKEN = re.compile(_STRING + rb"|[{}\[\],:]|[^\s{}\[\],:\"]++", re.DOTALL)
_SPACE = re.compile(rb"\s*+")
_OPENING, _CLOSING = b"{[", b"}]"


class NotJsonError(ValueError):
    """Invalid JSON; the message quotes nothing of it."""


def parsed(raw: bytes) -> object:
    """Read one JSON value; of duplicate keys the last counts, as usual.

    Raises:
        NotJsonError: invalid UTF-8 or JSON, NaN or Infinity, a number of thousands of digits, or too deep nesting.
    """
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise NotJsonError(f"byte {error.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as error:
        text = error.doc.strip()
        if text.startswith(("{", "[")) and not text.endswith(("}", "]")):
            raise NotJsonError(f"truncated JSON: ends after {len(raw):,} bytes") from None
        raise NotJsonError(f"invalid JSON at character {error.pos + 1:,}: {error.msg}") from None
    except _NotFiniteError as error:
        raise NotJsonError(f"invalid JSON: contains {error}") from None
    except RecursionError:
        raise NotJsonError("JSON nested too deeply") from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits: it would take quadratic time
        raise NotJsonError("contains a number of thousands of digits") from None


class _NotFiniteError(ValueError):
    """NaN or an infinity."""


def _refuse(word: str) -> NoReturn:
    raise _NotFiniteError(word)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


class Element(NamedTuple):
    """One element: its path, the line it ends on, and its bytes (None if over the limit of a line).

    A list of wanted elements is yielded too, at its beginning, without bytes.
    """

    path: Path
    line: int
    text: bytes | None


class BrokenError(ValueError):
    """A document that is truncated or has content after its end; ``line`` is the place."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


def elements(lines: Lines, wanted: Collection[Path]) -> Iterator[Element]:
    """Yield the elements of a document at the wanted paths, in document order. Pieces of a line are joined.

    Raises:
        BrokenError: after all elements before the broken place.
    """
    lists = {path[:-1] for path in wanted if path[-1] is None}
    deepest = max(map(len, wanted))
    text, place = _Text(lines), _Place()
    if text.peek() != b"{":
        raise BrokenError(text.line, "does not begin with an object")
    while True:
        token = text.token()
        here = tuple(place.path)
        if token in (b"{", b"["):
            if here in wanted:
                yield Element(here, *text.container(token, keep=True))
            elif len(here) >= deepest:
                text.container(token, keep=False)
            else:
                if here in lists and token == b"[":
                    yield Element(here, text.line, b"")
                place.enter(token)
        elif not place.step(token, text.line) and here in wanted and len(token) <= LONGEST:
            yield Element(here, text.line, token)
        if not place.path:
            break
    if text.peek():
        raise BrokenError(text.line, "content after the end of the document")


class _Place:
    """The place of a token in a document: its ``path``, and whether a string is a key there (``naming``)."""

    def __init__(self) -> None:
        self.path: list[str | None] = []
        self.naming = False

    def enter(self, bracket: bytes) -> None:
        self.naming = bracket == b"{"
        self.path.append("" if self.naming else None)

    def step(self, token: bytes, line: int) -> bool:
        """Process a token; return whether it is structural, not a value."""
        if token in (b"}", b"]"):
            if (self.path.pop() is None) is (token == b"}"):
                raise BrokenError(line, f"unexpected {token.decode()}")
        elif token in (b",", b":"):
            self.naming = token == b"," and self.path[-1] is not None
        elif self.naming:
            try:
                self.path[-1] = str(parsed(token)) if token.startswith(b'"') else ""
            except NotJsonError:
                self.path[-1] = ""  # never a wanted key
        else:
            return False
        return True


class _Text:
    """A window of a document; nothing before ``_at``, which is on ``line``, is needed any more."""

    def __init__(self, lines: Lines) -> None:
        self.line, raw = next(lines, (1, b""))
        self._chunks = _chunks(lines, self.line)
        self._held, self._at = raw.removeprefix(_BOM), 0

    def peek(self) -> bytes:
        """Return the next non-space byte without consuming it; empty at the end."""
        while True:
            found = _SPACE.match(self._held, self._at)
            assert found
            self._take(found.end())
            if self._at < len(self._held) or not self._more():
                return self._held[self._at : self._at + 1]

    def token(self) -> bytes:
        """Consume the next bracket, comma, colon, string, number or word; of a container only its bracket.

        Raises:
            BrokenError: there is none, or a string has no end.
        """
        while self.peek():
            found = _TOKEN.match(self._held, self._at)
            if found and found.end() < len(self._held):  # a number at the end of the window may be incomplete
                self._take(found.end())
                return found[0]
            if not self._more():
                if not found:
                    break
                self._take(found.end())
                return found[0]
        raise self._cut_off()

    def container(self, bracket: bytes, *, keep: bool) -> tuple[int, bytes | None]:
        """Consume the rest of a container after its bracket; return its last line and, if ``keep``, its bytes.

        Raises:
            BrokenError: it has no end.
        """
        depth, at = 1, self._at
        while True:
            held = self._held
            for found in _NESTING.finditer(held, at):
                mark = held[found.start()]
                if mark in _OPENING:
                    depth += 1
                elif mark in _CLOSING:
                    depth -= 1
                elif found.end() - found.start() == 1:
                    at = found.start()
                    break  # the closing quote is beyond the window
                if not depth:
                    whole = bracket + held[self._at : found.end()] if keep else None
                    self._take(found.end())
                    return self.line, whole if whole is None or len(whole) <= LONGEST else None
            else:
                at = len(held)
            keep = keep and at - self._at <= LONGEST
            if not keep:
                self._take(at)
            at -= self._at
            if not self._more():
                raise self._cut_off()

    def _take(self, end: int) -> None:
        self.line += self._held.count(b"\n", self._at, end)
        self._at = end

    def _more(self) -> bool:
        """At least double the window, so that rescanned bytes never exceed new ones."""
        rest = self._held[self._at :]
        if len(rest) > 2 * LONGEST:
            raise BrokenError(self.line, f"contains a string longer than {LONGEST:,} bytes")
        parts, size = [rest], 0
        for chunk in self._chunks:
            parts.append(chunk)
            size += len(chunk)
            if size > len(rest):
                break
        self._held, self._at = b"".join(parts), 0
        return bool(size)

    def _cut_off(self) -> BrokenError:
        return BrokenError(self.line + self._held.count(b"\n", self._at), "truncated JSON")


def _chunks(lines: Lines, last: int) -> Iterator[bytes]:
    """Join lines again: pieces of one line have the same number, and skipped lines are empty."""
    parts: list[bytes] = []
    size = 0
    for number, raw in lines:
        while number - last > _CHUNK:  # a file may consist of empty lines
            parts.append(b"\n" * _CHUNK)
            last += _CHUNK
            yield b"".join(parts)
            parts, size = [], 0
        parts += (b"\n" * (number - last), raw)
        last = number
        size += len(raw) + 1
        if size >= _CHUNK:
            yield b"".join(parts)
            parts, size = [], 0
    if parts:
        yield b"".join(parts)


MOST = 2**53  # the largest whole number that every reader of JSON represents exactly
NAME_CHARACTERS = 200  # maximum length of a name or an id; see Invocation
MAX_KEYS = 64  # maximum unknown keys of one record, nested keys and list items included
MAX_BYTES = 16 * 1024  # maximum size of their values, as JSON
REPLACED = "(not a name)"
"""Replaces a skill's name that does not look like one; no valid name is equal to it."""
REPLACED_WARNING = f'a skill name does not look like a name; stored as "{REPLACED}"'
_TOO_MUCH = f"more than {MAX_KEYS} unknown keys or {MAX_BYTES // 1024} KiB under them; the rest is not stored"
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))  # controls, bidirectional marks, half surrogates, line ends
_PART = r"\w[\w.+-]{0,63}"
_SKILL = re.compile(rf"{_PART}(?::{_PART}){{0,3}}")  # plugin:skill, and namespaces of commands
_LABEL = re.compile(r"\w[\w.+:#=-]{0,199}")  # of a version, a session, a category, a kind of output, an id
_MODEL = re.compile(r"\w[\w.+:/\[\]-]{0,150}(?:@[\w-]{0,40})?")  # org/model, model@20260101; no address
_LOOKED_AT = 1_000  # maximum unknown keys of one record that are examined
_DEPTH = 8  # maximum nesting under one unknown key
_NOTHING = object()  # result for a value without anything to store


def fit_name(text: str) -> bool:
    """Whether a string can be shown and stored as a name: not blank, not too long, no hidden characters."""
    if not text or len(text) > NAME_CHARACTERS:
        return False
    if text.isprintable() and not text.isspace():
        return True
    return not text.isspace() and not any(unicodedata.category(character) in _HIDDEN for character in text)


def skill_name(name: str, *, keep_text: bool) -> str:
    """Return the stored form of a skill's name: unchanged if it looks like a name or text is stored."""
    return name if _SKILL.fullmatch(name) or (keep_text and fit_name(name)) else REPLACED


def is_label(text: str) -> bool:
    """Whether a string is one plain word, such as a version, a category or an id."""
    return _LABEL.fullmatch(text) is not None


def is_model(text: str) -> bool:
    """Whether a string looks like the name of a model."""
    return _MODEL.fullmatch(text) is not None


def stored_id(text: str) -> str:
    """Return the stored form of an id: unchanged if it looks like one, else a digest."""
    return text if is_label(text) else f"id-{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def sifted(unknown: Sequence[tuple[str, object]], *, text: bool) -> tuple[dict[str, object] | None, list[str]]:
    """Return the stored form of a record's unknown keys (None if empty), and a warning for each key.

    Args:
        unknown: paths and values.
        text: whether strings, and keys that are not field names, are stored.
    """
    extra: dict[str, object] = {}
    warnings: list[str] = []
    keys, size = 0, 0
    for key, value in unknown[:_LOOKED_AT]:
        sieve = _Sieve(text=text)
        found = sieve.sift(value, 0) if sieve.takes(key) else _NOTHING
        what = "stored, but not scored"
        if sieve.texts:
            what = "text is not stored by default"
        elif found is _NOTHING or sieve.lost:
            what = "only partly stored"
        warnings.append(f"unknown key {short_key(key)}: {what}")
        if found is _NOTHING:
            continue
        keys += sieve.leaves
        size += len(key) + (24 if not isinstance(found, dict | list | str) else len(json.dumps(found)))
        if keys > MAX_KEYS or size > MAX_BYTES:
            warnings.append(_TOO_MUCH)
            break
        extra[key] = found
    else:
        warnings += (_TOO_MUCH,) if len(unknown) > _LOOKED_AT else ()
    return extra or None, warnings


class _Sieve:
    """Extracts what may be stored from a value; ``lost`` and ``texts`` say what was dropped."""

    def __init__(self, *, text: bool) -> None:
        self.text, self.lost, self.texts, self.leaves = text, False, False, 0

    def takes(self, key: str) -> bool:
        return fit_name(key) if self.text else is_key(key)

    def sift(self, value: object, depth: int) -> object:
        if type(value) is bool or (isinstance(value, int | float) and -MOST <= value <= MOST):
            self.leaves += 1
            return value
        if type(value) is str:
            # No database takes a NUL, or half of a pair.
            if self.text and "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value):
                self.leaves += 1
                return value
            self.lost, self.texts = True, self.texts or not self.text
        elif isinstance(value, dict | list) and depth < _DEPTH and self.leaves <= MAX_KEYS:
            return (self._object(value, depth) if isinstance(value, dict) else self._list(value, depth)) or _NOTHING
        else:
            self.lost |= value is not None
        return _NOTHING

    def _object(self, value: dict[str, object], depth: int) -> dict[str, object]:
        fit = {key: self.sift(inner, depth + 1) for key, inner in value.items() if self.takes(key)}
        self.lost |= len(fit) < len(value)
        return {key: inner for key, inner in fit.items() if inner is not _NOTHING}

    def _list(self, value: list[object], depth: int) -> list[object]:
        return [inner for inner in (self.sift(inner, depth + 1) for inner in value) if inner is not _NOTHING]
