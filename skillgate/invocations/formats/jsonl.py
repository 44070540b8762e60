"""JSON Lines: one record in the rubric's field names on each line."""

from __future__ import annotations

from collections.abc import Iterator

from skillgate.invocations.formats._json import NotJsonError, parsed
from skillgate.invocations.formats._record import invocation_of
from skillgate.invocations.ports import LONGEST, Lines, Options
from skillgate.model.invocation import Read

NAME = "jsonl"
_BOM = b"\xef\xbb\xbf"


def is_it(head: bytes) -> bool:
    """Tell whether a file begins with a line that begins an object and is not all of it."""
    line = head.removeprefix(_BOM).lstrip().partition(b"\n")[0].strip()
    return line.startswith(b"{") and len(line) > 1


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read a record from each line; empty lines are passed over, broken ones told with their number."""
    cut = 0
    for number, raw in lines:
        line = raw.removeprefix(_BOM).strip()
        if not line or number == cut:
            continue
        if len(raw) > LONGEST:
            cut = number  # what follows of it is no line of its own
            yield Read(number, None, f"it is longer than {LONGEST:,} bytes")
            continue
        try:
            data = parsed(line)
        except NotJsonError as problem:
            yield Read(number, None, str(problem))
        else:
            yield invocation_of(data, options, number)
