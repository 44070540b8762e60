"""The forms in which invocations are recorded: each is a file of the room ``formats``, loaded when it is asked for."""

from __future__ import annotations

from typing import cast

from skillgate.invocations.ports import Reader
from skillgate.registry import Room

_ROOM = Room("skillgate.invocations.formats")

NAMES = ("claude-code", "otlp", "portable", "jsonl")
"""All of them, in the order in which they are tried: whatever is left may be lines of JSON."""

DOCUMENTS = frozenset(("otlp", "portable"))
"""Those whose files may be one line of any length: its pieces, under one number, are put together again."""


def reader(name: str) -> Reader:
    """Give the reader of a form.

    Raises:
        UsageError: there is no such form; the nearest name is suggested.
    """
    return cast(Reader, _ROOM.load(name).read)


def recognise(head: bytes) -> str | None:
    """Say which form the beginning of a file has; None where it is none of them.

    Args:
        head: up to 64 KiB, decompressed.
    """
    return next((name for name in NAMES if _ROOM.load(name).is_it(head)), None)
