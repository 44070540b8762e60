"""Changes as a unified diff: for a reader, or byte for byte for ``git apply`` and ``patch``.

A file's lines are those that end with a line feed, as git has it, so that a lone carriage return is inside a line.
Since a repair takes away no line of text, and adds one only above another, the lines of both sides go in pairs, and
time stays linear.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from skillgate.fixes.pages import LINE_END
from skillgate.format import printable
from skillgate.static.secrets import masked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillgate.fixes.plan import Change

CONTEXT = 3  # lines around a change, as git and diff -u show
_NO_END = "\\ No newline at end of file\n"
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


class _Pair(NamedTuple):
    """One line of the file before, and what is in its place after; where each begins, counted from 1."""

    before: str
    after: tuple[str, ...]
    old: int
    new: int

    @property
    def same(self) -> bool:
        return self.after == (self.before,)


def diff(changes: Iterable[Change], *, terminal: bool = True) -> str:
    """Show changes as one unified diff, those that are skipped left out.

    For a ``terminal`` secrets are left out, and control characters, hidden characters and what a CI runner would obey
    are written out, a carriage return at the end of a line as ``^M``. Else it is a patch that can be applied; what
    shows it has to keep its line ends.
    """
    return "".join(part for change in changes if change.skipped is None for part in _file(change, terminal=terminal))


def _file(change: Change, *, terminal: bool) -> Iterator[str]:
    before, after = change.before.decode(), change.after.decode()
    pairs = tuple(_pairs(*map(masked, (before, after)) if terminal else (before, after)))
    for sign, side in (("---", "a"), ("+++", "b")):
        name = f"{side}/{change.path}"
        yield f"{sign} {printable(name) if terminal else _quoted(name)}\n"
    for first, last in _hunks(pairs):
        yield from _hunk(pairs[first:last], terminal=terminal)


def _pairs(before: str, after: str) -> Iterator[_Pair]:
    """Pair the lines of both sides: a line with lone carriage returns may have become several."""
    lines = _lines(after)
    later = iter(lines)
    old = new = 1
    for line in _lines(before):
        count = _rows(line)
        became, seen = [], 0
        if lines[new - 1] != line and lines[new : new + 1] == [line]:
            became.append(next(later))  # a line that was added
        while seen < count:
            item = next(later)
            became.append(item)
            seen += _rows(item)
        yield _Pair(line, tuple(became), old, new)
        old, new = old + 1, new + len(became)


def _rows(line: str) -> int:
    """Count the lines of text that a line holds, a carriage return taken for the end of one."""
    return len(re.split(LINE_END, line)) - line.endswith(("\n", "\r")) if "\r" in line else 1


def _lines(text: str) -> list[str]:
    lines = [line + "\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _hunks(pairs: Sequence[_Pair]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of pairs to show: what changed with its context, those that touch as one."""
    first = last = -1
    for index, pair in enumerate(pairs):
        if pair.same:
            continue
        if first < 0:
            first = max(0, index - CONTEXT)
        elif index - CONTEXT > last:
            yield first, last
            first = index - CONTEXT
        last = min(len(pairs), index + CONTEXT + 1)
    if first >= 0:
        yield first, last


def _hunk(pairs: Sequence[_Pair], *, terminal: bool) -> Iterator[str]:
    old, new = len(pairs), sum(len(pair.after) for pair in pairs)
    yield f"@@ -{_range(pairs[0].old, old)} +{_range(pairs[0].new, new)} @@\n"
    position = 0
    while position < len(pairs):
        before, after = pairs[position].before, pairs[position].after
        if after[-1] == before:
            yield from (_line("+", line, terminal=terminal) for line in after[:-1])
            yield _line(" ", before, terminal=terminal)
            position += 1
            continue
        run = position
        while run < len(pairs) and pairs[run].after[-1] != pairs[run].before:
            run += 1
        yield from (_line("-", pair.before, terminal=terminal) for pair in pairs[position:run])
        yield from (_line("+", line, terminal=terminal) for pair in pairs[position:run] for line in pair.after)
        position = run


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"


def _line(sign: str, line: str, *, terminal: bool) -> str:
    text = line.removesuffix("\n")
    if terminal:  # a tab does no harm, and shows what a repair of one is about
        text = "\t".join(printable(part) for part in text.replace("\r", "^M").split("\t"))
    return f"{sign}{text}\n" + ("" if line.endswith("\n") else _NO_END)


def _quoted(name: str) -> str:
    """Write a path as git does in a patch: in quotes where a character needs it, with a tab after one with spaces."""
    if name.isprintable() and '"' not in name and "\\" not in name:
        return f"{name}\t" if " " in name else name
    return '"' + "".join(map(_escaped, name)) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
