"""Whether a benchmark can be passed by doing nothing: answers that know nothing, held against its own scorers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.ports import UnscoredError
from skillgate.model.benchmark import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.bench.ports import Scorer
    from skillgate.model.benchmark import Benchmark, Task

NULL, ECHO, CONSTANT = "null", "echo", "constant"
SELF_CHECK = "selfCheck"
"""The key of a benchmark's metadata that says how many tasks each probe may pass by the benchmark's own design."""
_MOST = 200  # constants that are tried


class Probe(NamedTuple):
    """What one way of doing nothing passes.

    Attributes:
        name: ``null``, ``echo`` (its input, or one value of it) or ``constant`` (one answer to everything).
        passed: the ids of the tasks that it passes, in order.
        allowed: how many it may, as the benchmark says of itself; 0 where it says nothing.
        answer: of ``constant``: the answer that passes most.
    """

    name: str
    passed: tuple[str, ...]
    allowed: int
    answer: Any = None

    @property
    def is_fine(self) -> bool:
        """Whether it passes no more than it may."""
        return len(self.passed) <= self.allowed


def probe(benchmark: Benchmark, scorers: Mapping[str, Scorer]) -> tuple[Probe, ...]:
    """Try what knows nothing; nothing is started. What cannot be scored is not passed.

    Args:
        benchmark: with its tasks.
        scorers: by the task's id.
    """
    allowed = benchmark.metadata.get(SELF_CHECK)
    allowed = allowed if isinstance(allowed, dict) else {}

    def may(name: str) -> int:
        count = allowed.get(name, 0)
        return count if isinstance(count, int) else 0

    null = tuple(task.id for task in benchmark.tasks if _passes(scorers[task.id], [None]))
    echo = tuple(task.id for task in benchmark.tasks if _passes(scorers[task.id], _echoes(task)))
    best: tuple[str, ...] = ()
    answer: Any = None
    for one in _constants(benchmark):
        found = tuple(task.id for task in benchmark.tasks if _passes(scorers[task.id], [one]))
        if len(found) > len(best):
            best, answer = found, one
    return (
        Probe(NULL, null, may(NULL)),
        Probe(ECHO, echo, may(ECHO)),
        Probe(CONSTANT, best, may(CONSTANT), answer),
    )


def _passes(scorer: Scorer, answers: list[Any]) -> bool:
    return any(_scored(scorer, answer) or _scored(scorer, {"result": answer}) for answer in answers)


def _scored(scorer: Scorer, answer: Any) -> bool:  # noqa: ANN401 - JSON
    try:
        return scorer.score(answer).passed
    except UnscoredError:
        return False


def _echoes(task: Task) -> list[Any]:
    data = dict(task.input_data)
    return [data, json.dumps(data, ensure_ascii=False), *data.values()]


def _constants(benchmark: Benchmark) -> Iterator[Any]:
    """Give the answers that a skill might always give: every one that is expected somewhere, and the usual ones."""
    seen: set[str] = set()
    for value in (True, False, "true", "", 0, 1, [], {}, *_expected(benchmark)):
        key = json.dumps(value, sort_keys=True)
        if key not in seen and len(seen) < _MOST:
            seen.add(key)
            yield value


def _expected(benchmark: Benchmark) -> Iterator[Any]:
    for task in benchmark.tasks:
        if task.expected_output.value is not ABSENT:
            yield task.expected_output.value
        yield from task.expected_output.keywords
