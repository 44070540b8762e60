"""Read strict JSON: one record at a time, or the elements of a document that is too large to be held.

Of a large document only brackets, strings and commas are looked at; each element is read by the same strict parser as a
line of JSON Lines. Thus a broken element is rejected alone, and memory is bounded by the longest element, whatever else
the document holds. ijson, the streaming parser that there is, is not used: a number of 5,000 digits crashes the
interpreter in its C part (3.6.0), and 100,000 brackets take all memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple, NoReturn, TypeAlias

from skillgate.invocations.formats import LONGEST, Lines

Path: TypeAlias = tuple[str | None, ...]
"""Keys from the outermost object inwards; None stands for every place of a list."""

_BOM = b"\xef\xbb\xbf"
_CHUNK = 64 * 1024  # bytes that are looked at together
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NESTING = re.compile(_STRING + rb'|[{}\[\]"]', re.DOTALL)  # a lone quote begins a string that is not all here
_TOKEN = re.compile(_STRING + rb"|[{}\[\],:]|[^\s{}\[\],:\"]++", re.DOTALL)
_SPACE = re.compile(rb"\s*+")
_OPENING, _CLOSING = b"{[", b"}]"


class NotJsonError(ValueError):
    """Bytes that are no JSON; its text says why, in words that may be shown."""


def parsed(raw: bytes) -> object:
    """Read one JSON value. Of a key that stands twice in an object the last counts, as everywhere.

    Raises:
        NotJsonError: no UTF-8, no JSON, NaN or Infinity, a number of thousands of digits, or nesting without end.
    """
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise NotJsonError(f"byte {error.start + 1} is not UTF-8") from None
    except json.JSONDecodeError as error:
        text = error.doc.strip()
        if text.startswith(("{", "[")) and not text.endswith(("}", "]")):
            raise NotJsonError(f"it looks cut off: it ends after {len(raw):,} bytes inside its JSON") from None
        raise NotJsonError(f"it is not JSON at character {error.pos + 1:,}: {error.msg}") from None
    except _NotFiniteError as error:
        raise NotJsonError(f"it holds {error}, which JSON does not have") from None
    except RecursionError:
        raise NotJsonError("its JSON is nested too deeply") from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits: it would take quadratic time
        raise NotJsonError("it holds a number of thousands of digits") from None


class _NotFiniteError(ValueError):
    """NaN or an infinity."""


def _refuse(word: str) -> NoReturn:
    raise _NotFiniteError(word)


_DECODER = json.JSONDecoder(parse_constant=_refuse)


class Element(NamedTuple):
    """One element: its path, the line it ends on, and its bytes, None where they are more than a line may have.

    A list whose elements are wanted comes too, when it begins, without bytes.
    """

    path: Path
    line: int
    text: bytes | None


class BrokenError(ValueError):
    """A document that ends too early or has something behind its end; ``line`` is where."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


def elements(lines: Lines, wanted: Collection[Path]) -> Iterator[Element]:
    """Yield the elements of a document at some paths, in its order. A line that comes in pieces is put together.

    Raises:
        BrokenError: after all elements before the place that it names.
    """
    lists = {path[:-1] for path in wanted if path[-1] is None}
    deepest = max(map(len, wanted))
    text, place = _Text(lines), _Place()
    if text.peek() != b"{":
        raise BrokenError(text.line, "it does not begin with an object")
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
        raise BrokenError(text.line, "something stands behind the end of the document")


class _Place:
    """Where in a document a token stands: ``path`` leads to it; ``naming`` is whether a string is a key there."""

    def __init__(self) -> None:
        self.path: list[str | None] = []
        self.naming = False

    def enter(self, bracket: bytes) -> None:
        self.naming = bracket == b"{"
        self.path.append("" if self.naming else None)

    def step(self, token: bytes, line: int) -> bool:
        """Follow a token, and return whether it is more than a value."""
        if token in (b"}", b"]"):
            if (self.path.pop() is None) is (token == b"}"):
                raise BrokenError(line, f"a {token.decode()} stands where there is nothing for it to close")
        elif token in (b",", b":"):
            self.naming = token == b"," and self.path[-1] is not None
        elif self.naming:
            try:
                self.path[-1] = str(parsed(token)) if token.startswith(b'"') else ""
            except NotJsonError:
                self.path[-1] = ""  # no key is one that is never wanted
        else:
            return False
        return True


class _Text:
    """The part of a document that is looked at: nothing before ``_at``, which is on ``line``, is needed any more."""

    def __init__(self, lines: Lines) -> None:
        self.line, raw = next(lines, (1, b""))
        self._chunks = _chunks(lines, self.line)
        self._held, self._at = raw.removeprefix(_BOM), 0

    def peek(self) -> bytes:
        """Return the next byte that is no white space, without taking it; nothing at the end."""
        while True:
            found = _SPACE.match(self._held, self._at)
            assert found
            self._take(found.end())
            if self._at < len(self._held) or not self._more():
                return self._held[self._at : self._at + 1]

    def token(self) -> bytes:
        """Take the next bracket, comma, colon, string, number or word; of a container only its bracket.

        Raises:
            BrokenError: there is none, or a string has no end.
        """
        while self.peek():
            found = _TOKEN.match(self._held, self._at)
            if found and found.end() < len(self._held):  # a number at the end of what is held may go on
                self._take(found.end())
                return found[0]
            if not self._more():
                if not found:
                    break
                self._take(found.end())
                return found[0]
        raise self._cut_off()

    def container(self, bracket: bytes, *, keep: bool) -> tuple[int, bytes | None]:
        """Take the rest of an object or list whose bracket was taken: the line it ends on, and all of it to be kept.

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
                    break  # the other quote of a string is not here yet
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
        """Hold at least twice as much, so that what is looked at again is never more than what is new."""
        rest = self._held[self._at :]
        if len(rest) > 2 * LONGEST:
            raise BrokenError(self.line, f"a text in it is longer than {LONGEST:,} bytes")
        parts, size = [rest], 0
        for chunk in self._chunks:
            parts.append(chunk)
            size += len(chunk)
            if size > len(rest):
                break
        self._held, self._at = b"".join(parts), 0
        return bool(size)

    def _cut_off(self) -> BrokenError:
        return BrokenError(self.line + self._held.count(b"\n", self._at), "it looks cut off: its JSON has no end")


def _chunks(lines: Lines, last: int) -> Iterator[bytes]:
    """Put lines together again: pieces of one line have one number, and lines that were left out are empty."""
    parts: list[bytes] = []
    size = 0
    for number, raw in lines:
        while number - last > _CHUNK:  # a file may be of nothing else
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
