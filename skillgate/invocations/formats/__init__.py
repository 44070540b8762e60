"""Read the formats in which invocations are recorded; one file per format, with ``is_it`` and ``read``.

Read from a file's source, before it is loaded: ``EXPECTED`` (what messages call the format) and, where set,
``FALLBACK`` (tried after all others), ``ONE_DOCUMENT`` (the file may be one line of any length, which comes in pieces
under one number), ``LINE_BY_LINE`` (each line is complete, so that parts of a file can be read in parallel) and
``GROWS`` (a later reading of the file says more of the same invocations).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple, TypeAlias, cast

from skillgate.errors import IncompleteError
from skillgate.format import printable
from skillgate.model.invocation import Read
from skillgate.registry import INVOCATION_FORMATS

LONGEST = 4_000_000  # bytes of a line: a transcript holds whole files in one
_SHOWN = 60  # characters of somebody's value in a message
_KEYS = 6  # of an object that a message names
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")  # anything else may be a user's words, or the name of a file
_TOO_LONG = "its first value is JSON that is broken, or too long to tell its form by (then --format names it)"
_STREAM = frozenset(("type", "session_id"))  # of each line that `claude -p --output-format stream-json` prints

Lines: TypeAlias = Iterator[tuple[int, bytes]]
"""Lines of a file with their numbers, from 1, without their ends.

One over :data:`LONGEST` is cut a byte behind it; for formats that are ``ONE_DOCUMENT`` the rest follows in pieces under
the same number.
"""


class Options(NamedTuple):
    """How invocations are read.

    Attributes:
        now: what lies more than a day after it is in the future, and rejected.
        keep_text: whether texts under unknown keys are stored.
        category: of invocations that name none.
        sibling: returns the lines of a file by its path relative to the one that is read, None where there is none;
            transcripts of sub-agents lie next to that of their session.
        names: of known skills, which are stored whatever they look like.
    """

    now: datetime
    keep_text: bool = False
    category: str | None = None
    sibling: Callable[[str], Lines | None] = lambda _path: None
    names: frozenset[str] = frozenset()


Reader: TypeAlias = Callable[[Lines, Options], Iterator[Read]]


class UnrecognisedError(IncompleteError):
    """A file holds no use of a skill that can be read; the message says what it holds instead."""


def reader(name: str) -> Reader:
    """Return the reader of a format.

    Raises:
        UsageError: there is no such format; the nearest name is suggested.
    """
    return cast("Reader", INVOCATION_FORMATS.load(name).read)


def recognise(head: bytes) -> str | None:
    """Return the format of a file that begins with these bytes, up to 64 KiB; None where it has none of them."""
    last = {name: INVOCATION_FORMATS.flag(name, "FALLBACK") for name in INVOCATION_FORMATS.listed()}
    ordered = sorted(last, key=lambda name: last[name])
    return next((name for name in ordered if INVOCATION_FORMATS.load(name).is_it(head)), None)


def unrecognised(head: bytes) -> str:
    """Describe the beginning of a file without a known format, and what would be one; without any text of it."""
    seen, keys = _seen(head)
    *names, last = (INVOCATION_FORMATS.text(name, "EXPECTED") for name in INVOCATION_FORMATS.listed())
    hint = f"expected {', '.join(names)} or {last}"
    if keys >= _STREAM:
        hint = (
            "this looks like the output of `claude --output-format stream-json`, which is not read; import the"
            " session's transcript from ~/.claude/projects"
        )
    return f"{seen}; {hint}"


def short(text: str) -> str:
    """Bound a text for a message, and write out what is invisible in it."""
    return printable(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")


def is_key(key: str) -> bool:
    """Whether a key looks like the name of a field."""
    return _KEY.fullmatch(key) is not None


def short_key(key: str) -> str:
    """Return a key for a message; in place of one that may be a user's words, others."""
    return short(key) if is_key(key) else "(no name of a field)"


def _seen(head: bytes) -> tuple[str, frozenset[str]]:
    try:
        text = head.decode("utf-8-sig", "strict" if len(head) < 4 else "ignore")
    except UnicodeDecodeError:
        return "it is not text", frozenset()
    if "\0" in text or len(text) < len(head) // 2:
        return "it is not text", frozenset()
    text = text.lstrip()
    if not text:
        return "it is empty", frozenset()
    value, end = _first_value(text)
    if value is None and text.startswith("["):  # a list that is longer than what is seen of it
        first, end = _first_value(text[1:].lstrip())
        value = [first]
    if not end:
        is_json = text.startswith(("{", "["))
        return (_TOO_LONG if is_json else "it is text that is not JSON"), frozenset()
    if isinstance(value, list):
        item = value[0] if value and isinstance(value[0], dict) else {}
        keys = f" of objects with the keys {_named(item)}" if item else ""
        return f"it is a JSON list{keys}", frozenset(item)
    if not isinstance(value, dict):
        return "its first value is not a JSON object", frozenset()
    what = "its first line is a JSON object with" if text[end:].strip() else "it is one JSON object with"
    return f"{what} the keys {_named(value)}" if value else "its first object is empty", frozenset(value)


def _first_value(text: str) -> tuple[object, int]:
    """Return the JSON value that a text begins with and where it ends, 0 where there is none."""
    try:
        return json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None, 0


def _named(value: dict[str, object]) -> str:
    names = ", ".join(short_key(key) for key in list(value)[:_KEYS])
    return names + (", …" if len(value) > _KEYS else "")
