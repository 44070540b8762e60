"""The attributes of OTLP JSON: pairs of a key and an encoded value, of which only some mean something here."""

from __future__ import annotations

from typing import Any

OURS = "skillgate."
PREFIXES = (OURS, "gen_ai.", "error.type", "session.id")
_DEPTH = 16  # of lists and maps in an attribute
_DIGITS = 20  # of a 64-bit number with its sign


def attributes(entries: object) -> dict[str, object]:
    """Give the attributes that mean something here, by their keys, as they are encoded."""
    found: dict[str, object] = {}
    for entry in entries if isinstance(entries, list) else ():
        key = entry.get("key") if isinstance(entry, dict) else None
        if isinstance(key, str) and key.startswith(PREFIXES):
            found[key] = entry.get("value")
    return found


def value_of(encoded: object, depth: int = 0) -> Any:  # noqa: ANN401 - JSON
    """Read an encoded value; None where there is none, or one of a kind that says nothing here."""
    if not isinstance(encoded, dict) or depth > _DEPTH:
        return None
    for kind, value in encoded.items():
        if kind == "intValue":
            return whole(value)
        if kind in ("stringValue", "boolValue", "doubleValue"):
            return value
        inner = value.get("values") if isinstance(value, dict) else None
        if kind == "arrayValue":
            return [value_of(one, depth + 1) for one in inner] if isinstance(inner, list) else []
        if kind == "kvlistValue":
            pairs = [pair for pair in inner if isinstance(pair, dict)] if isinstance(inner, list) else []
            keyed = ((pair.get("key"), pair.get("value")) for pair in pairs)
            return {key: value_of(one, depth + 1) for key, one in keyed if isinstance(key, str)}
    return None


def whole(value: object) -> object:
    """Read a 64-bit number, which is text as a rule; what is none stays what it is, and is refused later."""
    if isinstance(value, str) and len(value) <= _DIGITS and value.removeprefix("-").isdecimal():
        return int(value)
    return value
