"""Puts a result into the ``metadata`` of a skill.json and leaves the rest of its text as it is: pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

METADATA, RESULTS = "metadata", "benchmarkResults"
_BLANKS = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_DECODER = json.JSONDecoder()


class _Member(NamedTuple):
    """Where a member's value stands in a text."""

    key: str
    start: int
    end: int


def with_result(text: str, result: Mapping[str, Any]) -> str:
    """Give the text of a skill.json with one result more; one on the same benchmark is replaced.

    Args:
        text: a JSON object; what is no result in its list is kept.
        result: with ``benchmarkId``.

    Raises:
        ValueError: ``metadata`` is no object, or what it holds of results is no list.
    """
    data = json.loads(text)
    metadata = data.get(METADATA, {})
    if not isinstance(metadata, dict):
        raise ValueError(f"{METADATA} is no object")  # noqa: TRY004 - of the text
    results = metadata.get(RESULTS, [])
    if not isinstance(results, list):
        raise ValueError(f"{METADATA}.{RESULTS} is no list")  # noqa: TRY004
    benchmark = result["benchmarkId"]
    kept = [one for one in results if not (isinstance(one, dict) and one.get("benchmarkId") == benchmark)]
    value = [*kept, dict(result)]
    top = _object_at(text, _skip(text, 0))
    inner = next((member for member in top if member.key == METADATA), None)
    if inner is None:
        return _put(text, _skip(text, 0), top, METADATA, {RESULTS: value}, depth=1)
    return _put(text, inner.start, _object_at(text, inner.start), RESULTS, value, depth=2)


def _put(text: str, start: int, members: list[_Member], key: str, value: Any, *, depth: int) -> str:  # noqa: ANN401
    """Replace a member of the object that begins at ``start``, or add it as the last one."""
    in_line = bool(members) and "\n" not in text[start : members[-1].end]
    unit = None if in_line else found[1] if (found := _INDENT.search(text)) else None
    written = _written(value, unit, depth)
    known = next((member for member in members if member.key == key), None)
    if known is not None:
        return text[: known.start] + written + text[known.end :]
    newline = "\r\n" if "\r\n" in text else "\n"
    line = "" if unit is None else newline + unit * depth
    if members:
        end = members[-1].end
        added = f",{line or ' '}{json.dumps(key)}: {written}"
        return text[:end] + added + text[end:]
    close = "" if unit is None else newline + unit * (depth - 1)
    end = _skip(text, start + 1)
    return f"{text[: start + 1]}{line}{json.dumps(key)}: {written}{close}{text[end:]}"


def _written(value: Any, unit: str | None, depth: int) -> str:  # noqa: ANN401 - JSON
    if unit is None:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=unit).split("\n")
    return f"\n{unit * depth}".join(lines)


def _object_at(text: str, start: int) -> list[_Member]:
    """List the members of the object that begins at ``start``; the text is valid JSON."""
    found: list[_Member] = []
    place = _skip(text, start + 1)
    while text[place] != "}":
        key, place = _DECODER.raw_decode(text, place)
        value = _skip(text, _skip(text, place) + 1)  # behind the colon
        _, end = _DECODER.raw_decode(text, value)
        found.append(_Member(key, value, end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return found


def _skip(text: str, place: int) -> int:
    blanks = _BLANKS.match(text, place)
    return place if blanks is None else blanks.end()
