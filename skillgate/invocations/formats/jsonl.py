"""Read JSON Lines: one record per line, with the rubric's field names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from skillgate.invocations.formats import LONGEST, Lines, Options
from skillgate.invocations.formats._input import NotJsonError, parsed
from skillgate.invocations.formats._record import invocation_of
from skillgate.model.invocation import Read

POSITION = 1
EXPECTED = "JSON Lines with skill_name"
FALLBACK = True
LINE_BY_LINE = True
_BOM = b"\xef\xbb\xbf"
_SECTIONS = ("input", "execution", "output")
_NAMED = re.compile(rb'\s*\{[^{}]*"skill(?:_name)?"\s*:')  # not within another object
_FEW = 500  # lines up to which loading msgspec takes longer than it saves


def is_it(head: bytes) -> bool:
    """Whether a file consists of lines with objects, at least one of which names a skill.

    Invalid or truncated lines are searched as text.
    """
    lines = head.removeprefix(_BOM).lstrip().split(b"\n")
    if not lines[0].startswith(b"{") or len(lines[0].strip()) <= 1:
        return False
    return any(_names_skill(line) for line in lines)


def _names_skill(line: bytes) -> bool:
    try:
        data = parsed(line)
    except NotJsonError:
        return _NAMED.match(line) is not None
    if not isinstance(data, dict):
        return False
    places = (data, *(inner for inner in map(data.get, _SECTIONS) if isinstance(inner, dict)))
    return any("skill_name" in one or "skill" in one for one in places)


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read a record from each line; skip empty lines, reject invalid ones with their number."""
    cut = 0
    for number, raw in lines:
        line = raw.removeprefix(_BOM).strip()
        if not line or number == cut:
            continue
        if len(raw) > LONGEST:
            cut = number  # skip the other pieces of this line
            yield Read(number, None, f"longer than {LONGEST:,} bytes")
        else:
            fast = _bulk_reader() if number > _FEW else None
            yield (fast(line, options, number) if fast else None) or checked(line, options, number)


def checked(line: bytes, options: Options, number: int) -> Read:
    """Read a line, and report all its problems."""
    try:
        data = parsed(line)
    except NotJsonError as problem:
        return Read(number, None, str(problem))
    return invocation_of(data, options, number)


@cache
def _bulk_reader() -> Callable[[bytes, Options, int], Read | None] | None:
    """Return a faster reader, which leaves some lines to :func:`checked`; None without the extra with msgspec."""
    try:
        from skillgate.invocations.formats._struct import decoded
    except ImportError:
        return None
    return decoded
