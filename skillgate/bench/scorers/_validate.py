"""Validates an answer with a JSON Schema; also run as a program, where that may take for ever."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY
from referencing.exceptions import Unresolvable

from skillgate.bench.formats import FORMATS, Check

TOLD = 3  # errors whose words are kept
MOST = 1_000  # errors that are counted: an answer can have as many as it has bytes, and each takes a kilobyte
_MESSAGE = 200  # characters


class Errors(NamedTuple):
    """What is wrong with an answer: the first errors by their place and words, and how many there are, up to MOST."""

    first: list[tuple[list[str | int], str]]
    number: int


def _checker() -> FormatChecker:
    found = FormatChecker(())
    for name, check in FORMATS.items():
        found.checks(name)(_of_texts(check))
    return found


def _of_texts(check: Check) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, str) or check(value)


_CHECKER = _checker()


def errors_of(schema: Any, value: Any) -> Errors:  # noqa: ANN401 - JSON
    """Find what is wrong with a value.

    Raises:
        Unresolvable, RecursionError: the schema cannot be applied.
    """
    found: Any = validator_for(schema, default=Draft202012Validator)
    # A registry of the drafts alone: nothing is fetched, and two tasks may share an $id.
    validator = found(schema, registry=REGISTRY, format_checker=_CHECKER)
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


def main() -> None:
    """Validate the answer with the schema on standard input, and write what is wrong."""
    schema, value = json.load(sys.stdin)
    try:
        found = errors_of(schema, value)
    except (Unresolvable, RecursionError) as problem:
        sys.stdout.write(json.dumps({"problem": str(problem)}))
    else:
        sys.stdout.write(json.dumps({"first": found.first, "number": found.number}))
