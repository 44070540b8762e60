"""Reads the JSON files of skills and benchmarks; what is wrong with one is told with its place."""
# ruff: noqa: PTH123

from __future__ import annotations

import json
import os
from typing import Any

from skillgate.errors import UsageError

MAX_BYTES = 20_000_000


def read_json(place: str, shown: str) -> Any:  # noqa: ANN401 - JSON
    """Read one file as JSON, strictly: no key twice, no NaN.

    Args:
        place: its absolute path.
        shown: the path to name it by.

    Raises:
        UsageError: it cannot be read or is no JSON; with line and column.
    """
    try:
        if not os.path.isfile(place):  # noqa: PTH113 - a pipe would never end
            raise UsageError(f"{shown} is no file" if os.path.lexists(place) else f"{shown} does not exist")
        with open(place, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{shown} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{shown} is larger than {MAX_BYTES:,} bytes")
    return parse_json(data, shown)


def parse_json(data: bytes, shown: str) -> Any:  # noqa: ANN401 - JSON
    """Read JSON from bytes, as :func:`read_json` does.

    Raises:
        UsageError: they are no JSON.
    """
    try:
        text = data.decode("utf-8-sig")
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_constant)
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
