"""Holds an answer against a JSON Schema; also run as a program, by its text, where that may take for ever."""

from __future__ import annotations

import itertools
import json
import sys
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

TOLD = 3  # errors whose words are kept
MOST = 1_000  # errors that are counted: an answer can have as many as it has bytes, and each takes a kilobyte
_MESSAGE = 200  # characters


class Errors(NamedTuple):
    """What is wrong with an answer: the first errors by their place and words, and how many there are, up to MOST."""

    first: list[tuple[list[str | int], str]]
    number: int


def validator_of(schema: Any) -> Any:  # noqa: ANN401 - JSON, and the library's
    """Give the class that validates against a schema."""
    return validator_for(schema, default=Draft202012Validator)


def errors_of(schema: Any, value: Any) -> Errors:  # noqa: ANN401 - JSON
    """Find what is wrong with a value.

    Raises:
        Unresolvable, RecursionError: the schema cannot be applied.
    """
    found: Any = validator_of(schema)
    # A registry of its own: nothing is fetched, and two tasks may share an $id.
    validator = found(schema, registry=Registry(), format_checker=found.FORMAT_CHECKER)
    first: list[tuple[list[str | int], str]] = []
    count = 0
    try:
        for error in itertools.islice(validator.iter_errors(value), MOST):
            count += 1
            if count <= TOLD:
                first.append((list(error.absolute_path), error.message[:_MESSAGE]))
    except OverflowError:  # multipleOf, of a whole number that no float holds
        return Errors([*first[: TOLD - 1], ([], "holds a number that is too large")], count + 1)
    return Errors(first, count)


def _main() -> None:
    schema, value = json.load(sys.stdin)
    try:
        found = errors_of(schema, value)
    except (Unresolvable, RecursionError) as problem:
        sys.stdout.write(json.dumps({"problem": str(problem)}))
    else:
        sys.stdout.write(json.dumps({"first": found.first, "number": found.number}))


if __name__ == "__main__":
    _main()
