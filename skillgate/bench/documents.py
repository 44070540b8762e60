"""Read the JSON files of skills and benchmarks strictly; what is wrong with one is reported with its place."""
# ruff: noqa: PTH123

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, TypeVar

from skillgate.errors import CodecError, UsageError
from skillgate.model.codec import decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_BYTES = 20_000_000
T = TypeVar("T")


def read_json(place: str, shown: str) -> Any:  # noqa: ANN401 - JSON
    """Read one file as JSON, strictly: no key twice, no NaN. ``shown`` names it in messages.

    Raises:
        UsageError: it cannot be read or is no JSON; with line and column.
    """
    return parse_json(read_bytes(place, shown, MAX_BYTES), shown)


def read_bytes(place: str, shown: str, most: int, *, name: str | None = None, too_large: str | None = None) -> bytes:
    """Read a plain file of at most ``most`` bytes; ``name`` and ``too_large`` replace words of the messages.

    Raises:
        UsageError: it is missing, no plain file, unreadable or too large.
    """
    try:
        if not os.path.isfile(place):  # noqa: PTH113 - a pipe would never end
            raise UsageError(f"{name or shown} " + ("is no file" if os.path.lexists(place) else "does not exist"))
        with open(place, "rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{shown} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > most:
        raise UsageError(f"{shown} is larger than {too_large or f'{most:,} bytes'}")
    return data


def parse_json(data: bytes, shown: str) -> Any:  # noqa: ANN401 - JSON
    """Parse JSON as strictly as :func:`read_json`.

    Raises:
        UsageError: it is no JSON.
    """
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_constant)
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown} is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{shown}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from None
    except RecursionError:
        raise UsageError(f"{shown} is nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{shown}: not JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def _constant(word: str) -> Any:  # noqa: ANN401 - JSON
    raise ValueError(f"{word} is no JSON number")


def decoded(kind: type[T], data: object, shown: str) -> T:
    """Decode a document.

    Raises:
        UsageError: it has not the shape of one; every problem, a line each.
    """
    try:
        return decode(kind, data)
    except CodecError as error:
        raise UsageError("\n".join(f"{shown}: {line}" for line in str(error).splitlines())) from None


def refuse(problems: Iterable[str], most: int | None = None) -> None:
    """Raise UsageError if there are problems: a line each, of which the first ``most``."""
    lines = list(problems)
    if lines:
        raise UsageError("\n".join(lines if most is None else shortened(lines, most)))


def shortened(lines: Sequence[str], most: int = 20) -> list[str]:
    """Return the first lines, and one that counts the others."""
    more = len(lines) - most
    return [*lines[:most], *([f"… and {more} more"] if more > 0 else [])]
