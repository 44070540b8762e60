"""Translate a configuration of eval-skills; its names are in the table of settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from skillgate.settings import OTHER_NAMES, SETTINGS

_PERSONAL = tuple(setting.other_name for setting in SETTINGS if setting.other_name and setting.personal)
_WORDS = {"md": "markdown"}


class Translated(NamedTuple):
    """A translated file: values by our keys, the line of each, and a notice for each ignored key."""

    values: dict[str, object]
    places: dict[str, int]
    notices: tuple[str, ...]


def translated(table: Mapping[str, Any], places: Mapping[str, int]) -> Translated:
    """Translate a file's mapping; ``places`` has the line of each of its paths."""
    values: dict[str, object] = {}
    lines: dict[str, int] = {}
    left: list[str] = []
    for path, value in _flat(table):
        key = OTHER_NAMES.get(path)
        line = f"line {places[path]}: " if path in places else ""
        if path in _PERSONAL:
            left.append(
                f"{line}{path} is ignored in a project's file; set your own with skillgate config set {key} VALUE"
            )
        elif key is None:
            left.append(f"{line}{path} has no equivalent and is ignored")
        else:
            values[key] = _value(path, value)
            if path in places:
                lines[key] = places[path]
    return Translated(values, lines, tuple(left))


def _flat(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        if key == "llm" and isinstance(value, Mapping):
            found += [(f"llm.{name}", item) for name, item in value.items()]
        elif not (key == "llm" and value is None):  # a block with only comments
            found.append((key, value))
    return found


def _value(path: str, value: object) -> object:
    if path != "defaultFormats" or not isinstance(value, list):
        return value
    return [_WORDS.get(word, word) if isinstance(word, str) else word for word in value]
