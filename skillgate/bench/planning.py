"""From skills, a benchmark and settings to what is run: the scorer of each task, limits, items in their order."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings
from skillgate.bench.checking import prepare_scorer, rules_of
from skillgate.bench.runner import Item
from skillgate.errors import UsageError
from skillgate.model.executable import AdapterType
from skillgate.registry import scorers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillgate.bench.ports import Rules, Scorer, Surroundings
    from skillgate.bench.request import EvalRequest
    from skillgate.model.benchmark import Loaded
    from skillgate.model.executable import Runnable

_MOST_PROBLEMS = 20


class Limits(NamedTuple):
    """What holds for one skill where a task says nothing: its adapter's settings come before the run's."""

    timeout_s: float
    retries: int
    most_at_once: int | None


PROSE_TIMEOUT_MS = 600_000
"""Of a prose skill where nobody says otherwise: as long as is waited for one answer of a model, at most."""


def limits_of(skill: Runnable, request: EvalRequest) -> Limits:
    """Return a skill's limits; options come before its own, and its own before those of the configuration."""
    timeout_ms, retries = request.execution.timeout_ms, request.execution.retries
    origin = request.config.origin(settings.TIMEOUT_MS)
    if origin == "default" and skill.spec.adapter_type is AdapterType.SKILLMD:
        timeout_ms = PROSE_TIMEOUT_MS
    own_timeout = None if origin == "option" else skill.config.timeout_ms
    own_retries = None if request.config.origin(settings.RETRIES) == "option" else skill.config.retries
    return Limits(
        timeout_s=(timeout_ms if own_timeout is None else own_timeout) / 1000,
        retries=retries if own_retries is None else own_retries,
        most_at_once=skill.config.max_concurrency,
    )


def scoring_of(loaded: Loaded, default: str) -> dict[str, Rules]:
    """Say how each task is scored, by its id.

    Raises:
        UsageError: something expected does not fit its scorer; every problem, a line each.
    """
    found: dict[str, Rules] = {}
    problems: list[str] = []
    for index, task in enumerate(loaded.benchmark.tasks):
        try:
            found[task.id] = rules_of(task, scorers()[default], loaded.folder)
        except ValueError as error:
            problems += [f"{loaded.origin}: tasks[{index}].{line}" for line in str(error).splitlines()]
    _require(problems)
    return found


def scorers_of(loaded: Loaded, rules: dict[str, Rules], surroundings: Surroundings) -> dict[str, Scorer]:
    """Make every task's scorer ready; only the files of those that are used are loaded.

    Raises:
        UsageError: what a task expects cannot be; every problem, a line each.
    """
    found: dict[str, Scorer] = {}
    problems: list[str] = []
    for index, task in enumerate(loaded.benchmark.tasks):
        try:
            found[task.id] = prepare_scorer(task, rules[task.id], surroundings)
        except ValueError as error:
            problems += [f"{loaded.origin}: tasks[{index}].{line}" for line in str(error).splitlines()]
    _require(problems)
    return found


def require_runs(loaded: Loaded, runs: int) -> None:
    """Make sure that there are as many runs as the chance of a pass in k of them needs.

    Raises:
        UsageError: there are fewer.
    """
    k = loaded.benchmark.k
    if k is not None and k > runs:
        raise UsageError(f"{loaded.origin}: k: a pass in {k} runs is asked for, and --runs is {runs}; say --runs {k}")


def items_of(
    skills: Sequence[Runnable], loaded: Loaded, *, runs: int, shard: tuple[int, int] | None = None
) -> tuple[Item, ...]:
    """Give every task of every skill in every run, in the order run, skill, task.

    A shard holds all runs of the tasks that a digest of skill and task deals it.
    """
    pairs = [
        (skill, task)
        for skill in skills
        for task in loaded.benchmark.tasks
        if shard is None or shard_of(skill.key, task.id, shard[1]) == shard[0]
    ]
    items = [(skill, task, number) for number in range(1, runs + 1) for skill, task in pairs]
    return tuple(Item(order, skill, task, number) for order, (skill, task, number) in enumerate(items))


def shard_of(skill: str, task: str, of: int) -> int:
    """Say which of so many shards runs a skill's task, from 1."""
    data = f"{len(skill)}:{skill}{task}".encode()
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big") % of + 1


def _require(problems: Sequence[str]) -> None:
    if problems:
        more = len(problems) - _MOST_PROBLEMS
        told = [*problems[:_MOST_PROBLEMS], *([f"… and {more} more"] if more > 0 else [])]
        raise UsageError("\n".join(told))
