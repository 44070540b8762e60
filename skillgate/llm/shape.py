"""Holds a value to a JSON schema. The keeper of ``jsonschema``."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

MOST_ERRORS = 50
"""That the worst is chosen from. Each takes as long as dozens of items that fit, and a reply can hold thousands."""


class Misfit(NamedTuple):
    """Where a value does not fit, as a JSON path, and how."""

    place: str
    message: str


def misfit(value: object, schema: dict[str, Any]) -> Misfit | None:
    """Give what is most wrong with a value, of the first that is found; None where it fits."""
    error = best_match(islice(Draft202012Validator(schema).iter_errors(value), MOST_ERRORS))
    return None if error is None else Misfit(error.json_path, error.message)
