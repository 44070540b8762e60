"""Read fields of a row, and say what is wrong with one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class RowError(Exception):
    """A row is not a valid task; the message says why."""


class LeftOutError(Exception):
    """A row is valid but left out; the message says why."""


def field_of(row: Mapping[str, Any], key: str) -> Any:  # noqa: ANN401 - JSON
    """Return a field's value; raise RowError if it is missing."""
    if key not in row:
        raise RowError(f"{key!r} is missing; found: {', '.join(map(str, list(row)[:12]))}"[:400])
    return row[key]


def text_of(row: Mapping[str, Any], key: str) -> str:
    """Return a field's text; raise RowError if it is missing or blank."""
    value = field_of(row, key)
    if not isinstance(value, str) or not value.strip():
        raise RowError(f"{key!r}: expected a non-empty string")
    return value


def identifier_of(row: Mapping[str, Any], key: str) -> str:
    """Return a field as a task's id; raise RowError if it is no string or integer."""
    value = field_of(row, key)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise RowError(f"{key!r}: expected a string or an integer")
    return str(value).strip()
