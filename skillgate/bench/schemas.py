"""Tells whether something is a JSON Schema: the keeper of that part of jsonschema for files that hold some."""

from __future__ import annotations

from typing import Any

from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for


def schema_problem(schema: Any) -> str | None:  # noqa: ANN401 - JSON
    """Say why something is no JSON Schema of the draft that it names, 2020-12 where it names none; None where it is."""
    from jsonschema import Draft202012Validator

    checker: Any = validator_for(schema, default=Draft202012Validator)
    try:
        checker.check_schema(schema)
    except SchemaError as error:
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
        return f"no JSON Schema: {where.lstrip('.') or 'the whole'}: {error.message[:300]}"
    return None
