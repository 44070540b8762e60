"""Holds a value to a JSON schema. The keeper of ``jsonschema``."""

from __future__ import annotations

from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match


class Misfit(NamedTuple):
    """Where a value does not fit, as a JSON path, and how."""

    place: str
    message: str


def misfit(value: object, schema: dict[str, Any]) -> Misfit | None:
    """Give what is most wrong with a value, None where it fits."""
    error = best_match(Draft202012Validator(schema).iter_errors(value))
    return None if error is None else Misfit(error.json_path, error.message)
