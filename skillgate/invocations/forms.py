"""The forms in which invocations are recorded: each is a file of the room ``formats``, loaded when it is asked for."""

from __future__ import annotations

import json
from typing import cast

from skillgate.errors import IncompleteError
from skillgate.invocations.formats._checks import short_key
from skillgate.invocations.ports import Reader
from skillgate.registry import INVOCATION_FORMATS

_KEYS = 6  # of an object, that are named
_TOO_LONG = "its first value is JSON that is broken, or too long to tell its form by (then --format names it)"
_STREAM = frozenset(("type", "session_id"))  # of each line that `claude -p --output-format stream-json` prints


class UnrecognisedError(IncompleteError):
    """A file holds no use of a skill that can be read; the message says what it holds instead."""


def reader(name: str) -> Reader:
    """Return the reader of a form.

    Raises:
        UsageError: there is no such form; the nearest name is suggested.
    """
    return cast("Reader", INVOCATION_FORMATS.load(name).read)


def recognise(head: bytes) -> str | None:
    """Return which form the beginning of a file has; None where it is none of them.

    Args:
        head: up to 64 KiB, decompressed.
    """
    last = {name: INVOCATION_FORMATS.flag(name, "FALLBACK") for name in INVOCATION_FORMATS.listed()}
    ordered = sorted(last, key=lambda name: last[name])
    return next((name for name in ordered if INVOCATION_FORMATS.load(name).is_it(head)), None)


def unrecognised(head: bytes) -> str:
    """Describe the beginning of a file that has no known form, and what would be one; without any text of it.

    Args:
        head: up to 64 KiB.
    """
    seen, keys = _seen(head)
    *names, last = (INVOCATION_FORMATS.text(name, "EXPECTED") for name in INVOCATION_FORMATS.listed())
    hint = f"expected {', '.join(names)} or {last}"
    if keys >= _STREAM:
        hint = (
            "this looks like the output of `claude --output-format stream-json`, which is not read; import the"
            " session's transcript from ~/.claude/projects"
        )
    return f"{seen}; {hint}"


def _seen(head: bytes) -> tuple[str, frozenset[str]]:
    try:
        text = head.decode("utf-8-sig", "strict" if len(head) < 4 else "ignore")
    except UnicodeDecodeError:
        return "it is not text", frozenset()
    if "\0" in text or len(text) < len(head) // 2:
        return "it is not text", frozenset()
    if not text.strip():
        return "it is empty", frozenset()
    text = text.lstrip()
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        value, end = _first_of_list(text)
    if value is None and not text.startswith("null"):
        is_json = text.startswith(("{", "["))
        return (_TOO_LONG if is_json else "it is text that is not JSON"), frozenset()
    if isinstance(value, list):
        first = value[0] if value and isinstance(value[0], dict) else {}
        keys = f" of objects with the keys {_named(first)}" if first else ""
        return f"it is a JSON list{keys}", frozenset(first)
    if not isinstance(value, dict):
        return "its first value is not a JSON object", frozenset()
    whole = not text[end:].strip()
    what = "it is one JSON object with" if whole else "its first line is a JSON object with"
    return f"{what} the keys {_named(value)}" if value else "its first object is empty", frozenset(value)


def _first_of_list(text: str) -> tuple[list[object] | None, int]:
    """Read the first value of a list that is longer than what is seen of it; None where it is no such list."""
    if not text.startswith("["):
        return None, 0
    try:
        first, end = json.JSONDecoder().raw_decode(text[1:].lstrip())
    except (ValueError, RecursionError):
        return None, 0
    return [first], end


def _named(value: dict[str, object]) -> str:
    names = ", ".join(short_key(key) for key in list(value)[:_KEYS])
    return names + (", …" if len(value) > _KEYS else "")
