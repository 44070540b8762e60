"""The portable file that skills are told to keep: one document with a skill's name and a list of its invocations."""

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
# What an entry takes from the top where it has none, with the other name that it may have it by.
_SHARED = {"skill_name": "skill", "skill_category": "category", "skill_version": "skill_version"}
_WANTED = frozenset((_ENTRY, *((key,) for key in _SHARED)))
_HELD = 32 * 1024 * 1024  # bytes of entries that stand before the name they need, as where keys are sorted
_KEYS = re.compile(rb'"(?:logs_version"\s*:|entries"\s*:\s*\[)')


def is_it(head: bytes) -> bool:
    """Whether a file begins with an object that has ``logs_version`` or a list of ``entries``."""
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not first.startswith(b"{"):
        return False
    try:
        data = parsed(first.partition(b"\n")[0])
    except NotJsonError:  # a document over several lines, or longer than what is seen of it
        return _KEYS.search(first) is not None
    return isinstance(data, dict) and ("logs_version" in data or isinstance(data.get("entries"), list))


def read(lines: Lines, options: Options) -> Iterator[Read]:
    """Read each entry; they are counted from 1. A document that breaks off gives the entries before that place."""
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
        yield Read(number + 1, None, f"the document cannot be read from here on: {problem}", (), "entry")
    if not found:
        yield Read(1, None, "the document has no list of entries", (), "entry")
    for place, text in waiting:
        yield _entry(place, text, shared, options)


def _entry(number: int, text: bytes | None, shared: dict[str, object], options: Options) -> Read:
    if text is None:
        return Read(number, None, f"it is longer than {LONGEST:,} bytes", (), "entry")
    try:
        data = parsed(text)
    except NotJsonError as problem:
        return Read(number, None, str(problem), (), "entry")
    if isinstance(data, dict):
        for key, value in shared.items():
            if data.get(key) is None and data.get(_SHARED[key]) is None:
                data[key] = value
    return invocation_of(data, options, number, unit="entry")
