"""A JSON Schema: the answer is valid or not. Draft 2020-12, or the one that ``$schema`` names; nothing is fetched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import require_path, shown
from skillgate.bench.pointer import NothingThere, at, joined
from skillgate.bench.ports import Scored, UnscoredError
from skillgate.errors import UsageError
from skillgate.model.bench_result import ErrorKind
from skillgate.model.text import printable

try:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry
    from referencing.exceptions import Unresolvable
except ModuleNotFoundError as missing:
    raise UsageError('the scorer json_schema needs jsonschema: pip install "skillgate-action[bench]"') from missing

if TYPE_CHECKING:
    from skillgate.bench.ports import Rules, Surroundings
    from skillgate.model.benchmark import Evaluator, Task

_TOLD = 3  # errors in a reason


def prepare(task: Task, rules: Rules, surroundings: Surroundings) -> JsonSchema:  # noqa: ARG001 - as every scorer
    """Make ready to score one task; see :class:`skillgate.bench.ports.Prepare`."""
    require_path(rules.evaluator)
    schema = rules.expected.schema
    schema = schema if isinstance(schema, bool) else dict(schema or {})
    found: Any = validator_for(schema, default=Draft202012Validator)
    try:
        found.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"expectedOutput.schema: no JSON Schema: {error.message[:300]}") from None
    # A registry of its own: nothing is fetched, and two tasks may share an $id.
    validator = found(schema, registry=Registry(), format_checker=found.FORMAT_CHECKER)
    return JsonSchema(validator, schema, rules.evaluator)


class JsonSchema:
    """Validates against one schema."""

    def __init__(self, validator: Any, schema: Any, evaluator: Evaluator) -> None:  # noqa: ANN401 - the library's
        self._validator = validator
        self._takes_text = not isinstance(schema, dict) or "string" in _types(schema)
        self._evaluator = evaluator

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score one answer: 1 where it is valid, else 0."""
        try:
            value = at(output, self._evaluator.path) if self._evaluator.path else output
        except NothingThere as missing:
            return Scored(0.0, passed=False, reason=f"the answer has nothing at {missing}")
        if isinstance(value, str) and not self._takes_text:
            try:
                value = json.loads(value, parse_constant=_refuse)
            except (ValueError, RecursionError):
                return Scored(0.0, passed=False, reason=f"the answer is a text and no JSON: {shown(value)}")
        try:
            errors = list(self._validator.iter_errors(value))
        except (Unresolvable, RecursionError) as error:
            raise UnscoredError(ErrorKind.SCORER, f"the schema cannot be applied: {error}") from error
        except OverflowError:  # multipleOf, of a whole number that no float holds
            return Scored(0.0, passed=False, reason=f"the answer holds a number that is too large: {shown(value)}")
        if not errors:
            return Scored(1.0, passed=True, reason="valid")
        told = [f"{_pointer(error) or 'the answer'}: {printable(error.message)[:200]}" for error in errors[:_TOLD]]
        more = [f"{len(errors) - _TOLD} more"] if len(errors) > _TOLD else []
        return Scored(0.0, passed=False, reason="; ".join([*told, *more]))


def _refuse(word: str) -> Any:  # noqa: ANN401 - JSON has no such number
    raise ValueError(word)


def _types(schema: dict[str, Any]) -> Any:  # noqa: ANN401 - a name or a list of them
    return schema.get("type", "string")


def _pointer(error: Any) -> str:  # noqa: ANN401 - the library's
    pointer = ""
    for step in error.absolute_path:
        pointer = joined(pointer, step)
    return pointer
