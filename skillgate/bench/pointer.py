"""JSON pointers (RFC 6901): which part of an answer is scored, and where two differ."""

from __future__ import annotations

from typing import Any


class NothingThere(LookupError):  # noqa: N818 - an answer without the part that is asked for
    """An answer has nothing at the pointer."""


def at(value: Any, pointer: str) -> Any:  # noqa: ANN401 - JSON
    """Give the part of a value that a pointer leads to; ``""`` is all of it.

    Raises:
        NothingThere: there is none.
    """
    for step in steps_of(pointer):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise NothingThere(pointer)
    return value


def steps_of(pointer: str) -> list[str]:
    """Split a pointer.

    Raises:
        ValueError: it is none.
    """
    if not pointer:
        return []
    if not pointer.startswith("/"):
        raise ValueError(f"expected a JSON pointer such as /result/0, found {pointer[:80]!r}")
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer[1:].split("/")]


def joined(pointer: str, step: str | int) -> str:
    """Add a step to a pointer."""
    return f"{pointer}/{str(step).replace('~', '~0').replace('/', '~1')}"
