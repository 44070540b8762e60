"""Validate the answer with a JSON Schema of draft 2020-12, or the draft in ``$schema``; nothing is fetched.

With some schemas, a hostile answer could take forever, by a pattern or by its size. Such answers are validated in a
process that can be stopped.
"""
# ruff: noqa: PTH100, PTH120

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import skillgate
from skillgate.bench.answers import HttpAnswer, joined, shown, strict_json
from skillgate.bench.ports import UnscoredError
from skillgate.bench.scorers import PartScorer, right, wrong
from skillgate.errors import IncompleteError, UsageError
from skillgate.format import printable
from skillgate.model.bench import ErrorKind
from skillgate.process import run

try:
    from referencing.exceptions import Unresolvable

    from skillgate.bench import schemas
except ModuleNotFoundError as missing:
    raise UsageError('the scorer json_schema needs jsonschema: pip install "skillgate-action[bench]"') from missing

if TYPE_CHECKING:
    from skillgate.bench.ports import Rules, Scored, Surroundings
    from skillgate.model.benchmark import Task

POSITION = 4
ALIASES = ("schema",)
NEEDS = ("expectedOutput.schema",)
PACKAGE = "jsonschema"
LIMIT_S = 10.0  # default
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(skillgate.__file__)))
_SMALL = 20_000  # characters of an answer that is fast to validate without patterns
_PATTERNS = re.compile(r'"(pattern|patternProperties)":|"format":"regex"')
# The process imports nothing from the working directory (-I), and this version's modules wherever they are.
_PROGRAM = "import sys; p = sys.argv[1]; sys.path[:0] = [] if p in sys.path else [p]; from {0} import main; main()"


def json_schema(task: Task, rules: Rules, surroundings: Surroundings) -> JsonSchema:  # noqa: ARG001 - as every scorer
    """Prepare to score one task; see :class:`skillgate.bench.ports.Prepare`."""
    return JsonSchema(rules)


class JsonSchema(PartScorer):
    """Validates against one schema."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        schema = rules.expected.schema
        self._schema: Any = schema if isinstance(schema, bool) else dict(schema or {})
        problem = schemas.schema_problem(self._schema) or schemas.format_problem(self._schema)
        if problem is not None:
            raise ValueError(f"expectedOutput.schema: {problem}")
        self._has_patterns = _PATTERNS.search(json.dumps(self._schema, separators=(",", ":"))) is not None
        types = self._schema.get("type", "string") if isinstance(self._schema, dict) else "string"
        self._takes_text = "string" in types  # a name or a list of them

    def part(self, output: Any) -> Any:  # noqa: ANN401 - JSON
        """Return the part to validate: the whole answer if the schema describes it with its wrapper."""
        is_whole = self._may_unwrap(output) and self._describes(output)
        return output if is_whole else super().part(output)

    def _may_unwrap(self, output: Any) -> bool:  # noqa: ANN401 - JSON
        """Whether only the value of a wrapper may be validated."""
        return self.rules.evaluator.path is None and isinstance(output, dict) and not isinstance(output, HttpAnswer)

    def _describes(self, output: dict[str, Any]) -> bool:
        """Whether the schema is of an object, or names the key of a wrapper."""
        schema = self._schema if isinstance(self._schema, dict) else {}
        named = [*schema.get("required", ()), *schema.get("properties", ())]
        return schema.get("type") == "object" or any(key in named for key in output)

    def score_part(self, found: Any, output: Any) -> Scored:  # noqa: ANN401 - JSON
        """Score 1 if valid, else 0."""
        value = found
        if isinstance(value, str) and not self._takes_text:
            try:
                value = strict_json(value)
            except (ValueError, RecursionError):
                return wrong(f"the answer is text, not JSON: {shown(value)}")
        errors = self._errors(value)
        if not errors.number:
            return right("valid")
        reasons = [f"{joined('', *path) or 'the answer'}: {printable(words)}" for path, words in errors.first]
        if left := errors.number - len(reasons):
            reasons.append(f"{'at least ' if errors.number == schemas.MOST_ERRORS else ''}{left} more")
        if value is not output and self._may_unwrap(output):
            (key,) = output
            reasons.append(f'only the value of {key} was validated; set evaluator.path to "" for the whole answer')
        return wrong("; ".join(reasons))

    def _errors(self, value: Any) -> schemas.Errors:  # noqa: ANN401 - JSON
        """Validate an answer; raise UnscoredError if the schema cannot be applied in time."""
        text = json.dumps([self._schema, value])
        if self._has_patterns or len(text) > _SMALL:
            return self._errors_apart(text)
        try:
            return schemas.errors_of(self._schema, value)
        except (Unresolvable, RecursionError) as error:
            raise _inapplicable(str(error)) from error

    def _errors_apart(self, text: str) -> schemas.Errors:
        """Validate in a separate process."""
        limit_s = self.rules.timeout_s(LIMIT_S)
        argv = [sys.executable, "-I", "-c", _PROGRAM.format(schemas.__name__), _ROOT]
        try:
            done = run(argv, cwd=os.path.dirname(sys.executable), stdin=text.encode(), timeout_s=limit_s)
        except IncompleteError as error:
            words = f"validating this answer took more than {limit_s:g} s: {error}"
            raise UnscoredError(ErrorKind.SCORER, words) from error
        if done.returncode:
            raise UnscoredError(ErrorKind.SCORER, "the schema could not be applied to this answer")
        found = json.loads(done.stdout)
        if "problem" in found:
            raise _inapplicable(found["problem"])
        return schemas.Errors(**found)


def _inapplicable(words: str) -> UnscoredError:
    return UnscoredError(ErrorKind.SCORER, f"the schema cannot be applied: {words}")
