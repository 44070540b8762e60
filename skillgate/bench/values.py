"""Values of earlier answers in the input of a step: ``{{name}}``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import searched
from skillgate.model.benchmark import CAPTURED

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLACE = re.compile(rf"\{{\{{ *({CAPTURED}) *\}}\}}")


class MissingValueError(LookupError):
    """No value has the name."""


def names_in(data: Any) -> set[str]:  # noqa: ANN401 - JSON
    """Return the names that a step's input uses."""
    if isinstance(data, str):
        return set(_PLACE.findall(data))
    if isinstance(data, dict):
        return {name for value in data.values() for name in names_in(value)}
    return {name for value in data for name in names_in(value)} if isinstance(data, list | tuple) else set()


def filled(data: Any, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    """Replace names by values: a text that is only a name becomes the value, of any type; within a text it is text.

    Raises:
        MissingValueError: A value is missing.
    """
    if isinstance(data, str):
        whole = _PLACE.fullmatch(data)
        if whole is not None:
            return _value(whole[1], values)
        return _PLACE.sub(lambda found: searched(_value(found[1], values), "json"), data)
    if isinstance(data, dict):
        return {key: filled(value, values) for key, value in data.items()}
    return [filled(value, values) for value in data] if isinstance(data, list | tuple) else data


def _value(name: str, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - JSON
    if name not in values:
        raise MissingValueError(name)
    return values[name]
