"""Keys that nothing reads and that are nearly ones that are read: passed over in silence, a typo would go unseen."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from skillgate.model.executable import Executable
from skillgate.model.marks import key_of
from skillgate.model.text import did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST = 5  # of one file
_SHOWN = 60


def misspelt_in_skill(data: Any, shown: str) -> tuple[str, ...]:  # noqa: ANN401 - JSON
    """Name the keys of a skill.json that are nearly ones that it has."""
    return tuple(_near(data, Executable, f"{shown}: "))[:_MOST]


def _near(data: Any, shape: type, where: str) -> Iterator[str]:  # noqa: ANN401 - JSON
    if not isinstance(data, dict):
        return
    known = {key_of(shape, field.name) for field in fields(shape)}
    for key in data:
        # What is there by its right name too is no typo of it.
        near = did_you_mean(key, known - data.keys()) if key not in known else ""
        if near:
            yield f"{where}{printable(key)[:_SHOWN]} is a key that nothing reads{near}"
