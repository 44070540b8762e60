"""Read the portable log that skills can keep: one document with a skill's name and a list of its invocations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from skillgate.invocations.formats import LONGEST, Lines, Options
from skillgate.invocations.formats._input import BrokenError, NotJsonError, elements, parsed
from skillgate.invocations.formats._record import invocation_of
from skillgate.model.invocation import Read

POSITION = 4
EXPECTED = "a portable log"
ONE_DOCUMENT = True
_LIST = ("entries",)
_ENTRY = ("entries", None)
# Defaults for entries from the top of the document, with the other name of each key.
_SHARED = {"skill_name": "skill", "skill_category": "category", "skill_version": "skill_version"}
_WANTED = frozenset((_ENTRY, *((key,) for key in _SHARED)))
_HELD = 32 * 1024 * 1024  # maximum bytes of entries held until the name follows, as with sorted keys
_KEYS = re.compile(rb'"(?:logs_version"\s*:|entries"\s*:\s*\[)')


def is_it(head: bytes) -> bool:
    """Whether a file begins with an object with ``logs_version`` or a list of ``entries``."""
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not first.startswith(b"{"):
        return False
    try:
        data = parsed(first.partition(b"\n")[0])
    except NotJsonError:  # a document over several lines, or longer than the head
        return _KEYS.search(first) is not None
    return isinstance(data, dict) and ("logs_version" in data or isinstance(data.get("entries"), list))


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read the entries, numbered from 1. Of a truncated document, the entries before that place are read."""
    shared: dict[str, object] = {}
    waiting: list[tuple[int, bytes]] = []
    room, number, found = _HELD, 0, False
    try:
        for path, _, text in elements(lines, _WANTED):
            if path == _LIST:
                found = True
            elif path != _ENTRY:
                shared.setdefault(str(path[0]), parsed(text or b"null"))
            else:
                number += 1
                if "skill_name" not in shared and text is not None and len(text) <= room:
                    waiting.append((number, text))
                    room -= len(text)
                else:
                    yield _entry(number, text, shared, options)
    except (BrokenError, NotJsonError) as problem:
        found = True
        yield Read(number + 1, None, f"unreadable from here: {problem}", (), "entry")
    if not found:
        yield Read(1, None, "no list of entries", (), "entry")
    for place, text in waiting:
        yield _entry(place, text, shared, options)


def _entry(number: int, text: bytes | None, shared: dict[str, object], options: Options) -> Read:
    if text is None:
        return Read(number, None, f"longer than {LONGEST:,} bytes", (), "entry")
    try:
        data = parsed(text)
    except NotJsonError as problem:
        return Read(number, None, str(problem), (), "entry")
    if isinstance(data, dict):
        for key, value in shared.items():
            if data.get(key) is None and data.get(_SHARED[key]) is None:
                data[key] = value
    return invocation_of(data, options, number, unit="entry")
