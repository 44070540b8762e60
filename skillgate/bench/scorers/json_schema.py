"""A JSON Schema: the answer is valid or not. Draft 2020-12, or the one that ``$schema`` names; nothing is fetched.

A hostile answer makes some schemas take for ever, by a pattern or by being large. Then it is tried in a process that
can be ended.
"""
# ruff: noqa: PTH100, PTH120

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import skillgate
from skillgate.bench.answers import shown
from skillgate.bench.pointer import joined
from skillgate.bench.ports import UnscoredError
from skillgate.errors import IncompleteError, UsageError
from skillgate.model.bench_result import ErrorKind
from skillgate.model.text import printable
from skillgate.process import run

try:
    from referencing.exceptions import Unresolvable

    from skillgate.bench.schemas import format_problem, schema_problem
    from skillgate.bench.scorers import _validate
    from skillgate.bench.scorers._scorer import PartScorer, right, wrong
except ModuleNotFoundError as missing:
    raise UsageError('the scorer json_schema needs jsonschema: pip install "skillgate-action[bench]"') from missing

if TYPE_CHECKING:
    from skillgate.bench.ports import Rules, Scored, Surroundings
    from skillgate.model.benchmark import Task

POSITION = 4
ALIASES = ("schema",)
NEEDS = ("expectedOutput.schema",)
PACKAGE = "jsonschema"
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(skillgate.__file__)))
LIMIT_S = 10.0  # where the evaluator names no limit
_SMALL = 20_000  # characters of an answer that costs no time to speak of, whatever the schema but for patterns is
_PATTERNS = re.compile(r'"(pattern|patternProperties)":|"format":"regex"')
# The answer's process imports nothing of the working directory (-I), and this version's modules wherever they are.
_PROGRAM = "import sys; p = sys.argv[1]; sys.path[:0] = [] if p in sys.path else [p]; from {0} import main; main()"


def json_schema(task: Task, rules: Rules, surroundings: Surroundings) -> JsonSchema:  # noqa: ARG001 - as every scorer
    """Make ready to score one task; see :class:`skillgate.bench.ports.Prepare`."""
    return JsonSchema(rules)


class JsonSchema(PartScorer):
    """Validates against one schema."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        schema = rules.expected.schema
        self._schema: Any = schema if isinstance(schema, bool) else dict(schema or {})
        problem = schema_problem(self._schema) or format_problem(self._schema)
        if problem is not None:
            raise ValueError(f"expectedOutput.schema: {problem}")
        self._has_patterns = _PATTERNS.search(json.dumps(self._schema, separators=(",", ":"))) is not None
        self._takes_text = "string" in _types(self._schema)

    def score_part(self, found: Any, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score 1 where it is valid, else 0."""
        value = found
        if isinstance(value, str) and not self._takes_text:
            try:
                value = json.loads(value, parse_constant=_refuse)
            except (ValueError, RecursionError):
                return wrong(f"the answer is a text and no JSON: {shown(value)}")
        errors = self._errors(value)
        if not errors.number:
            return right("valid")
        told = [f"{_pointer(path) or 'the answer'}: {printable(words)}" for path, words in errors.first]
        left = errors.number - len(told)
        more = [f"{'at least ' if errors.number == _validate.MOST else ''}{left} more"] if left else []
        if self.rules.evaluator.path is None and value is not output and isinstance(output, dict):
            (key,) = output
            more.append(f'only what is in {key} was validated: evaluator.path "" takes the whole answer')
        return wrong("; ".join([*told, *more]))

    def _errors(self, value: Any) -> _validate.Errors:  # noqa: ANN401 - JSON
        """Find what is wrong with an answer.

        Raises:
            UnscoredError: the schema cannot be applied, or not in time.
        """
        text = json.dumps([self._schema, value])
        if self._has_patterns or len(text) > _SMALL:
            return self._found_apart(text)
        try:
            return _validate.errors_of(self._schema, value)
        except (Unresolvable, RecursionError) as error:
            raise _inapplicable(str(error)) from error

    def _found_apart(self, text: str) -> _validate.Errors:
        """Do it in a process of its own."""
        given = self.rules.evaluator.timeout_ms
        limit_s = given / 1000 if given else LIMIT_S
        argv = [sys.executable, "-I", "-c", _PROGRAM.format(_validate.__name__), _ROOT]
        try:
            done = run(argv, cwd=os.path.dirname(sys.executable), stdin=text.encode(), timeout_s=limit_s)
        except IncompleteError as error:
            words = f"the schema was not decided within {limit_s:g} s on this answer: {error}"
            raise UnscoredError(ErrorKind.SCORER, words) from error
        if done.returncode:
            raise UnscoredError(ErrorKind.SCORER, "the schema could not be tried on this answer")
        found = json.loads(done.stdout)
        if "problem" in found:
            raise _inapplicable(found["problem"])
        return _validate.Errors(**found)


def _inapplicable(words: str) -> UnscoredError:
    return UnscoredError(ErrorKind.SCORER, f"the schema cannot be applied: {words}")


def _refuse(word: str) -> Any:  # noqa: ANN401 - JSON has no such number
    raise ValueError(word)


def _types(schema: Any) -> Any:  # noqa: ANN401 - a schema, and a name or a list of them
    return schema.get("type", "string") if isinstance(schema, dict) else "string"


def _pointer(path: list[str | int]) -> str:
    pointer = ""
    for step in path:
        pointer = joined(pointer, step)
    return pointer
