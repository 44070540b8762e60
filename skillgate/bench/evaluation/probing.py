"""Hold answers that know nothing against a benchmark: what ``bench check`` does."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.planning import scorers_of, scoring_of
from skillgate.bench.ports import UnscoredError, alone
from skillgate.bench.reading.catalog import find_benchmark
from skillgate.model.benchmark import ABSENT
from skillgate.registry import SCORERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skillgate.bench.ports import Scorer
    from skillgate.model.benchmark import Benchmark, Loaded, Task
    from skillgate.session import Session

NULL, ECHO, CONSTANT = "null", "echo", "constant"
SELF_CHECK = "selfCheck"
"""The key of a benchmark's metadata that says how many tasks each probe may pass by the benchmark's own design."""
_MOST = 200  # constants that are tried


class Probed(NamedTuple):
    """What a benchmark lets pass.

    Attributes:
        benchmark: its id.
        probes: of the tasks that were checked.
        checked: how many tasks that were.
        left_out: the ids of tasks that only a model or a program can score.
    """

    benchmark: str
    probes: tuple[Probe, ...]
    checked: int
    left_out: tuple[str, ...]


def probe_benchmark(word: str, benchmarks_dir: str | None, session: Session) -> Probed:
    """Check one benchmark, by its id or its file; nothing is started and no model asked.

    Raises:
        UsageError: there is no such benchmark, or it is not valid.
    """
    loaded, notices = find_benchmark(word, benchmarks_dir, cwd=session.cwd)
    for notice in notices:
        session.note(notice)
    loaded, left_out = _checkable(loaded)
    benchmark = loaded.benchmark
    if left_out:
        names = ", ".join(left_out)
        session.note(f"{benchmark.id}: not checked, since a model or a program scores: {names}")
    scorers = scorers_of(loaded, scoring_of(loaded, "exact"), alone())
    return Probed(benchmark.id, probe(benchmark, scorers), len(benchmark.tasks), left_out)


def _checkable(loaded: Loaded) -> tuple[Loaded, tuple[str, ...]]:
    """Take the tasks out that can only be scored by asking a model or by starting a program; return their ids too."""
    rules = scoring_of(loaded, "exact")
    others = [
        name
        for name, rule in rules.items()
        if SCORERS.flag(rule.scorer, "ASKS_MODEL") or SCORERS.flag(rule.scorer, "STARTS_PROGRAM")
    ]
    tasks = tuple(task for task in loaded.benchmark.tasks if task.id not in others)
    return replace(loaded, benchmark=replace(loaded.benchmark, tasks=tasks)), tuple(others)


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
