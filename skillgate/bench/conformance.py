"""Compare the input of tasks and the answers of skills with the schemas that the skills declare; notices only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from skillgate.bench.steps import has_steps
from skillgate.format import printable
from skillgate.model.bench import Status
from skillgate.model.benchmark import ERROR, AdapterType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skillgate.model.bench import TaskResult
    from skillgate.model.benchmark import Loaded, Runnable

_MOST_CHARACTERS = 20_000  # of a value that is compared
_SLOW = ('"pattern', '"format"')  # a hostile pattern could take forever, and a format is a pattern


def input_notices(skills: Sequence[Runnable], loaded: Loaded) -> Iterator[str]:
    """Yield a notice for each skill whose inputSchema some tasks do not fit."""
    inputs = {
        task.id: task.input_data
        for task in loaded.benchmark.tasks
        # Steps have their own input, and what a skill must refuse may well not fit.
        if not (has_steps(task) or task.tool or ERROR in (task.expected_output.type, task.evaluator.type))
    }
    for skill in skills:
        if loaded.benchmark.adapter is None and skill.spec.adapter_type is not AdapterType.SKILLMD:
            yield from _notices(skill, "inputSchema", skill.spec.input_schema, inputs, "inputs of tasks do not fit")


def output_notices(skills: Sequence[Runnable], results: Sequence[TaskResult]) -> Iterator[str]:
    """Yield a notice for each skill whose outputSchema some of its answers do not fit."""
    for skill in skills:
        answers = {
            result.task_id: _answer(skill, result.output.value)
            for result in results
            if result.skill_id == skill.key and result.status in (Status.PASS, Status.FAIL)
            if result.output is not None and not result.output.truncated and result.scorer_type != ERROR
        }
        yield from _notices(skill, "outputSchema", skill.spec.output_schema, answers, "answers do not fit")


def _answer(skill: Runnable, output: Any) -> Any:  # noqa: ANN401 - JSON
    """Return what a schema describes: of an HTTP API, the body."""
    is_whole = isinstance(output, dict) and output.keys() == {"status", "headers", "body"}
    return output["body"] if is_whole and skill.spec.adapter_type is AdapterType.HTTP else output


def _notices(
    skill: Runnable, key: str, schema: Mapping[str, Any], values: Mapping[str, Any], what: str
) -> Iterator[str]:
    """Yield how many values do not fit, with the first of them; nothing if the schema cannot be applied quickly."""
    text = json.dumps(dict(schema))
    if not schema or any(word in text for word in _SLOW):
        return
    try:
        from referencing.exceptions import Unresolvable

        from skillgate.bench.schemas import errors_of, schema_problem
    except ModuleNotFoundError:  # of an extra
        return
    if schema_problem(dict(schema)) is not None:  # bench validate reports it
        return
    unfit: dict[str, str] = {}
    for name, value in values.items():
        plain = json.loads(json.dumps(value)) if len(json.dumps(value)) <= _MOST_CHARACTERS else None
        try:
            errors = errors_of(dict(schema), plain) if plain is not None else None
        except (Unresolvable, RecursionError):
            return
        if errors is not None and errors.number:
            path, words = errors.first[0]
            unfit[name] = f"{'/'.join(map(str, path))}: {words}" if path else words
    if unfit:
        name, words = next(iter(unfit.items()))
        yield printable(f"{skill.key}: {len(unfit)} {what} its {key}, first {name}: {words}")[:400]
