"""Check JSON Schemas and validate values with them; also runs as a program."""

from __future__ import annotations

import itertools
import json
import sys
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for
from jsonschema_specifications import REGISTRY
from referencing import Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import specification_with

from skillgate.bench.formats import FORMATS, NEEDS, Check
from skillgate.format import did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_OLD, _NEW = "http://json-schema.org/draft-0{}/schema", "https://json-schema.org/draft/{}/schema"
_REPLACING = frozenset(
    _OLD.format(number) for number in (4, 6, 7)
)  # in these drafts, $ref overrides its sibling keywords
_DRAFTS = (*sorted(_REPLACING), _NEW.format("2019-09"), _NEW.format("2020-12"))
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_IN_PLACE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
_SHOWN = 80
_MOST_SHOWN = 3  # errors returned with message
MOST_ERRORS = 1_000  # counted at most: an answer can have one per byte, and each takes a kilobyte


class _Node(NamedTuple):
    """A subschema, and the schemas that it applies to the same value."""

    says: Any
    same_value: tuple[Any, ...]


class _BadReferenceError(ValueError):
    """A reference is broken, or its target is not a schema."""


def schema_problem(schema: Any) -> str | None:  # noqa: ANN401 - JSON
    """Return why a schema is unusable, None if it is usable. For formats see :func:`format_problem`.

    It must be valid for its draft, 2020-12 by default. Each reference must lead to a schema in it, since nothing is
    fetched, and must not lead back to itself for the same value.
    """
    try:
        problem = _invalid(schema)
        return problem or _circle(list(_nodes(schema)))
    except _BadReferenceError as error:
        return str(error)
    except RecursionError:
        return "nested too deeply"


def format_problem(schema: Any) -> str | None:  # noqa: ANN401 - JSON
    """Return which format of an otherwise valid schema cannot be checked, and why; None if all can."""
    for says, _ in _nodes(schema):
        name = says.get("format") if isinstance(says, dict) else None
        if not isinstance(name, str):
            continue
        if name not in FORMATS:
            shown, near = printable(name)[:_SHOWN], did_you_mean(name, FORMATS)
            return f"the format {shown!r} is not supported{near}; remove it, or use one of {', '.join(FORMATS)}"
        if (package := NEEDS.get(name)) and find_spec(package) is None:
            return f'the format {name!r} needs {package}: pip install "skillgate-action[bench]"'
    return None


def _invalid(schema: Any) -> str | None:  # noqa: ANN401 - JSON
    if not isinstance(schema, dict | bool):
        return "not a JSON Schema: expected an object, true or false"
    draft = _draft(schema)
    if not isinstance(draft, str) or draft.removesuffix("#") not in _DRAFTS:
        shown, near = printable(str(draft))[:_SHOWN], did_you_mean(str(draft), _DRAFTS)
        return f"not a JSON Schema: $schema: {shown!r} is an unknown draft{near}"
    checker: Any = validator_for(schema, default=Draft202012Validator)
    try:
        checker.check_schema(schema)
    except SchemaError as error:
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
        return f"not a JSON Schema: {where.lstrip('.') or 'top level'}: {error.message[:300]}"
    return None


def _draft(schema: Any) -> Any:  # noqa: ANN401 - JSON
    return schema.get("$schema", _DRAFTS[-1]) if isinstance(schema, dict) else _DRAFTS[-1]


def _nodes(schema: Any) -> Iterator[_Node]:  # noqa: ANN401 - JSON
    """Yield a schema, its subschemas and the targets of references, each once."""
    draft = _draft(schema)
    kind = specification_with(draft)
    root = kind.create_resource(schema)
    waiting: list[tuple[Any, Any]] = [(root, REGISTRY.resolver_with_root(root))]
    seen: set[int] = set()
    while waiting:
        resource, resolver = waiting.pop()
        says = resource.contents
        if id(says) in seen:
            continue
        seen.add(id(says))
        if not isinstance(says, dict):
            yield _Node(says, ())
            continue
        targets = [_target(resolver, says[key]) for key in _REFERENCES if isinstance(says.get(key), str)]
        waiting += [(Resource.from_contents(one.contents, kind), one.resolver) for one in targets]
        same_value = [one.contents for one in targets]
        if targets and draft.removesuffix("#") in _REPLACING:
            says = {key: says[key] for key in _REFERENCES if key in says}
        else:
            waiting += [(below, resolver.in_subresource(below)) for below in resource.subresources()]
            same_value += _in_place(says)
        yield _Node(says, tuple(same_value))


def _target(resolver: Any, reference: str) -> Any:  # noqa: ANN401 - the library's
    shown = printable(reference)[:_SHOWN]
    try:
        found = resolver.lookup(reference)
    except (Unresolvable, ValueError, TypeError):  # the last two for invalid addresses and pointers into strings
        raise _BadReferenceError(
            f"the reference {shown!r} is broken: nothing is fetched, so its target must be in the schema"
        ) from None
    if problem := _invalid(found.contents):
        raise _BadReferenceError(f"the reference {shown!r}: {problem}")
    return found


def _in_place(says: dict[str, Any]) -> Iterator[Any]:
    for key in _IN_PLACE:
        value = says.get(key)
        if isinstance(value, list):
            yield from value
        elif key in ("dependentSchemas", "dependencies") and isinstance(value, dict):
            yield from value.values()
        else:
            yield value


def _circle(nodes: list[_Node]) -> str | None:
    """Return the problem of schemas that apply each other to one value endlessly."""
    children = {id(says): [id(one) for one in same_value if isinstance(one, dict)] for says, same_value in nodes}
    done: set[int] = set()
    for start in children:
        path, waiting = [start], [iter(children[start])]
        while waiting and start not in done:
            step = next(waiting[-1], None)
            if step is None:
                waiting.pop()
                done.add(path.pop())
            elif step in path:
                words = "a reference leads back to its own schema for the same value"
                return f"endless JSON Schema: {words}"
            elif step not in done:
                path.append(step)
                waiting.append(iter(children.get(step, ())))
    return None


class Errors(NamedTuple):
    """The first errors of an answer with path and message, and their number, up to MOST_ERRORS."""

    first: list[tuple[list[str | int], str]]
    number: int


@cache
def _checker() -> FormatChecker:
    checker = FormatChecker(())
    for name, check in FORMATS.items():
        checker.checks(name)(_of_texts(check))
    return checker


def _of_texts(check: Check) -> Callable[[object], bool]:
    return lambda value: not isinstance(value, str) or check(value)


def errors_of(schema: Any, value: Any) -> Errors:  # noqa: ANN401 - JSON
    """Validate a value.

    Raises:
        Unresolvable, RecursionError: The schema cannot be applied.
    """
    validator: Any = validator_for(schema, default=Draft202012Validator)
    # The registry only has the drafts: nothing is fetched, and two tasks may share an $id.
    found = validator(schema, registry=REGISTRY, format_checker=_checker()).iter_errors(value)
    first: list[tuple[list[str | int], str]] = []
    count = 0
    try:
        for error in itertools.islice(found, MOST_ERRORS):
            count += 1
            if count <= _MOST_SHOWN:
                first.append((list(error.absolute_path), error.message[:200]))
    except OverflowError:  # multipleOf with an integer too large for a float
        return Errors([*first[: _MOST_SHOWN - 1], ([], "contains a number that is too large")], count + 1)
    return Errors(first, count)


def main() -> None:
    """Validate the schema and answer on standard input, and write the errors. Used if it may take too long."""
    schema, value = json.load(sys.stdin)
    try:
        found: dict[str, Any] = errors_of(schema, value)._asdict()
    except (Unresolvable, RecursionError) as problem:
        found = {"problem": str(problem)}
    sys.stdout.write(json.dumps(found))
