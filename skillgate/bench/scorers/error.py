"""Expect a refusal: an MCP tool's error, a JSON-RPC error, an HTTP status other than 2xx, or an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skillgate.bench.answers import HttpAnswer, MissingPartError, at, searched, shown, steps_of
from skillgate.bench.ports import Refusal, Scored
from skillgate.bench.scorers import right, wrong

if TYPE_CHECKING:
    from skillgate.bench.ports import Rules, Surroundings
    from skillgate.model.benchmark import Task

POSITION = 8
BY_NAME = True


class Error:
    """Passes a refusal with the expected code and text; an answer does not pass."""

    def __init__(self, rules: Rules) -> None:
        self._code, self._contains = rules.expected.code, rules.expected.contains or ""
        self._path = rules.evaluator.path
        try:
            steps_of(self._path or "")
        except ValueError as problem:
            raise ValueError(f"evaluator.path: {problem}") from None

    def score(self, output: Any) -> Scored:  # noqa: ANN401 - JSON, or a refusal
        """Score one answer or refusal."""
        if not isinstance(output, Refusal):
            answer = shown(output)
            if isinstance(output, HttpAnswer):
                answer = f"with status {output['status']}: {shown(output['body'])}"
            return wrong(f"expected an error, found the answer {answer}")
        found = f"{'no code' if output.code is None else output.code}: {shown(output.text)}"
        if self._code is not None and output.code != self._code:
            return wrong(f"expected an error with code {self._code}, found {found}")
        try:
            text = output.text if self._path is None else searched(at(output.answer, self._path), "json")
        except MissingPartError as missing:
            return wrong(f"the error has no value at {missing}; found {found}")
        if self._contains.casefold() not in text.casefold():
            return wrong(f"expected an error that contains {shown(self._contains)}, found {found}")
        return right(f"refused as expected, with {found}")


def error(task: Task, rules: Rules, surroundings: Surroundings) -> Error:  # noqa: ARG001 - as every scorer
    """Prepare to score one task; see :class:`skillgate.bench.ports.Prepare`."""
    return Error(rules)
