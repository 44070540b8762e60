"""What a parsed SARIF file may hold at each place: a missing part is empty, one of another type is an error."""

from __future__ import annotations

from typing import Any

from skillgate.errors import CodecError

NUMBER = 2**31 - 1  # the largest line or column that is kept


def entry(data: Any, key: str | None, where: str) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Give the object under a key, or ``data`` itself for None; empty where there is none.

    Raises:
        CodecError: it is no object.
    """
    value = data if key is None else data.get(key)
    if value is None and key is not None:
        return {}
    if not isinstance(value, dict):
        raise CodecError(f"{_at(where, key)}: expected an object, found {_kind(value)}")
    return value


def array(data: dict[str, Any], key: str, where: str) -> list[Any]:
    """Give the array under a key; empty where there is none.

    Raises:
        CodecError: it is no array.
    """
    value = data.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise CodecError(f"{_at(where, key)}: expected an array, found {_kind(value)}")
    return value


def text_of(data: dict[str, Any], key: str, where: str) -> str:
    """Give the string under a key; ``""`` where there is none.

    Raises:
        CodecError: it is no string.
    """
    value = data.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise CodecError(f"{_at(where, key)}: expected a string, found {_kind(value)}")
    return value


def number(data: dict[str, Any], key: str) -> int | None:
    """Give the whole number from 0 under a key, cut to what 32 bits hold; None where there is none."""
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return min(value, NUMBER)


def _at(where: str, key: str | None) -> str:
    return f"{where}.{key}" if key else where


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    kinds = ((str, "a string"), (list, "an array"), (dict, "an object"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "null")
