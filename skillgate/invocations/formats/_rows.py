"""Read exports of tracing services: rows of spans as JSON Lines, as a list, or as a list within one document."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import chain
from typing import Any

from skillgate.invocations.formats import LONGEST, Lines, Options
from skillgate.invocations.formats._input import BrokenError, NotJsonError, elements, parsed
from skillgate.invocations.formats._record import shown
from skillgate.invocations.formats._span import SpanData
from skillgate.invocations.formats._traces import Traces
from skillgate.model.invocation import Read

_SPACE = b"\xef\xbb\xbf \t\r\n"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class RowError(ValueError):
    """A row that is not a span."""


def read_rows(
    lines: Lines, options: Options, lists: Collection[str], span: Callable[[dict[str, object]], SpanData]
) -> Iterator[Read]:
    """Read the uses of skills among the rows of a file.

    Args:
        lines: of the file.
        options: how to read it.
        lists: keys under which a document, or a trace of a list, has its spans.
        span: returns the span of a row; raises RowError for any other row.
    """
    traces = Traces(options)
    skills = 0
    for found in _read(lines, traces, lists, span):
        skills += found.invocation is not None or found.problem is not None
        yield found
    if not skills:
        yield Read(1, None, unused=traces.unused())


def _read(
    lines: Lines, traces: Traces, lists: Collection[str], span: Callable[[dict[str, object]], SpanData]
) -> Iterator[Read]:
    try:
        for line, text in _rows(lines, lists):
            try:
                for row in _spans(text, lists):
                    yield from traces.add(span(row), line)
            except (NotJsonError, RowError) as problem:
                traces.damaged = True
                yield Read(line, None, f"invalid span: {problem}")
    except BrokenError as broken:
        traces.damaged = True
        yield Read(broken.line, None, str(broken))
    yield from traces.rest()


def _spans(text: bytes | None, lists: Collection[str]) -> list[dict[str, object]]:
    """Return the span of an element, or the spans of a trace."""
    if text is None:
        raise RowError(f"longer than {LONGEST:,} bytes")
    row = parsed(text)
    inner = next((row[key] for key in lists if isinstance(row.get(key), list)), None) if isinstance(row, dict) else None
    rows: list[Any] = [row] if inner is None else inner
    for one in rows:
        if not isinstance(one, dict):
            raise RowError(f"expected an object, found {shown(one)}")
    return rows


def _rows(lines: Lines, lists: Collection[str]) -> Iterator[tuple[int, bytes | None]]:
    """Yield the elements of a file with their lines; one that is too long has no bytes. Raises BrokenError."""
    filled = ((number, raw) for number, raw in lines if raw.strip())
    number, first = next(filled, (1, b""))
    first = first.lstrip(_SPACE)
    whole = chain([(number, first)], filled)
    if first.startswith(b"["):
        wrapped = chain([(number, b'{"rows":' + first)], _closed(filled, number))
        try:
            yield from ((line, text) for path, line, text in elements(wrapped, (("rows", None),)) if None in path)
        except BrokenError as broken:
            truncated = str(broken) == "unexpected }"  # which closes the object around the list
            raise BrokenError(broken.line, "truncated JSON" if truncated else str(broken)) from None
    elif _is_row(first, lists):
        last = 0
        for number, raw in whole:
            if number != last:  # otherwise the rest of an overlong line
                yield number, raw if len(raw) <= LONGEST else None
            last = number
    elif first:
        paths = [(key, None) for key in lists]
        yield from ((line, text) for path, line, text in elements(whole, paths) if None in path)


def _is_row(line: bytes, lists: Collection[str]) -> bool:
    """Whether a line is a whole row, and not a document with one of the lists."""
    try:
        row = parsed(line)
    except NotJsonError:
        return False
    return isinstance(row, dict) and not any(isinstance(row.get(key), list) for key in lists)


def _closed(lines: Lines, last: int) -> Lines:
    for number, raw in lines:
        last = number
        yield number, raw
    yield last, b"}"


def nanoseconds(value: object) -> int | None:
    """Return a time in ISO 8601, UTC without an offset, in nanoseconds since 1970; None for any other value."""
    if not isinstance(value, str) or value[4:5] != "-" or value[10:11] not in ("T", " "):
        return None
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        return None
    found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    micros = (found - _EPOCH) // timedelta(microseconds=1)
    return micros * 1000 if micros > 0 else None


def identity(row: dict[str, object], *keys: str) -> str:
    """Return the id under the first of some keys; raise RowError if there is none."""
    found = next((value for key in keys if (value := row.get(key)) not in (None, "")), None)
    if not isinstance(found, str) or len(found) > 200:
        raise RowError(f"{keys[0]}: expected an id, found {shown(found)}")
    return found


def number(text: str) -> int:
    """Return a number for an id of any form."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), "big")
