"""The request of a benchmark run: what to run, how, within which limits, which gates, and what is written."""
# ruff: noqa: PTH118

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.config import Config
    from skillgate.evaluation.request import ModelOptions
    from skillgate.model.setting import Setting
    from skillgate.store.results import StoreChoice

DEFAULT_COMPLETION = 0.7  # the least completion rate of --exit-on-fail where none is named, as the method has it


class TaskChoice(NamedTuple):
    """Which tasks are run."""

    benchmark: str  # an id or a path
    file: str | None  # of tasks, in the place of a benchmark
    benchmarks_dir: str | None  # of benchmarks in addition to the packaged ones
    ids: tuple[str, ...] = ()  # empty for all
    tags: tuple[str, ...] = ()  # likewise

    @classmethod
    def configured(
        cls, config: Config, *, file: str | None = None, ids: Iterable[str] = (), tags: Iterable[str] = ()
    ) -> TaskChoice:
        """Return the choice that a configuration makes, with options laid over it already."""
        folder = _directory(config, settings.BENCHMARKS_DIR)
        return cls(config.get(settings.BENCHMARK), file, folder, tuple(dict.fromkeys(ids)), tuple(dict.fromkeys(tags)))


class Execution(NamedTuple):
    """How tasks are run."""

    runs: int
    concurrency: int
    timeout_ms: int
    retries: int
    retry_delay_s: float
    evaluator: str  # the scorer where a task names none

    @classmethod
    def configured(cls, config: Config) -> Execution:
        """Return what a configuration says."""
        return cls(
            runs=config.get(settings.RUNS),
            concurrency=config.get(settings.CONCURRENCY),
            timeout_ms=config.get(settings.TIMEOUT_MS),
            retries=config.get(settings.RETRIES),
            retry_delay_s=config.get(settings.RETRY_DELAY_S),
            evaluator=config.get(settings.EVALUATOR),
        )


class Permissions(NamedTuple):
    """What the programs and servers of skills may do."""

    programs: bool  # whether any may be started
    env: frozenset[str]  # variables that skills may be given
    hosts: frozenset[str]  # of servers of skills, in addition to public ones
    memory_mb: int  # that a call of a program may use
    sandbox: str  # none, bwrap or auto, as requested
    as_caller: bool = False  # whether programs run as the calling user, as root too
    guarded: bool = False  # whether skills are a stranger's: what they reach of the network is held narrower

    @classmethod
    def configured(
        cls,
        config: Config,
        *,
        env: Iterable[str] = (),
        hosts: Iterable[str] = (),
        programs: bool = True,
        as_caller: bool = False,
        guarded: bool = False,
    ) -> Permissions:
        """Return what a configuration permits; ``env`` and ``hosts`` add to it, ``programs`` may take away.

        Raises:
            UsageError: a host is not valid.
        """
        from skillgate.bench.addresses import allowed_of  # brings in the network

        return cls(
            programs=config.get(settings.ALLOW_EXEC) and programs,
            env=frozenset((*env, *config.get(settings.ALLOW_ENV))),
            hosts=allowed_of((*hosts, *config.get(settings.ALLOW_HOST))),
            memory_mb=config.get(settings.MEMORY_MB),
            sandbox=config.get(settings.SANDBOX),
            as_caller=as_caller,
            guarded=guarded,
        )


class Output(NamedTuple):
    """What a run writes."""

    formats: tuple[str, ...]  # of the files
    directory: str  # likewise
    progress: str = "none"  # or bar, json
    metadata: bool = False  # whether results are written into each skill.json

    @classmethod
    def configured(
        cls, config: Config, *, formats: tuple[str, ...] | None = None, progress: str = "none", metadata: bool = False
    ) -> Output:
        """Return what a configuration says; ``formats`` come before its own."""
        chosen = config.get(settings.FORMATS) if formats is None else formats
        return cls(chosen, _directory(config, settings.OUTPUT_DIR), progress, metadata)


class BenchPolicy(NamedTuple):
    """The gates of a benchmark; None: no gate. Shares are in [0, 1]."""

    min_completion: float | None = None
    min_partial: float | None = None
    min_composite: float | None = None
    max_error_rate: float | None = None
    max_p95_ms: float | None = None
    require_tasks: tuple[str, ...] = ()  # ids of tasks that must pass in every run
    on_inconclusive: str = "point"  # as of scores: point, pass, warn or fail

    @classmethod
    def configured(cls, config: Config) -> BenchPolicy:
        """Return the gates of a configuration."""
        return cls(
            min_completion=config.get(settings.MIN_COMPLETION),
            min_partial=config.get(settings.MIN_PARTIAL),
            min_composite=config.get(settings.MIN_COMPOSITE),
            max_error_rate=config.get(settings.MAX_ERROR_RATE),
            max_p95_ms=config.get(settings.MAX_P95_MS),
        )

    @property
    def is_empty(self) -> bool:
        """Whether there is no gate."""
        return self == BenchPolicy(on_inconclusive=self.on_inconclusive)


class DiffPolicy(NamedTuple):
    """What a regression between two benchmark reports is; a limit of None: none. Shares are in [0, 1]."""

    max_completion_drop: float = 0.0  # by how much the rate may fall, and which share of tasks may break
    max_partial_drop: float | None = None
    max_composite_drop: float | None = None
    max_p95_share: float | None = None  # by which share of itself the 95th percentile of latencies may grow
    max_p95_ms: float | None = None
    # ignore, warn or fail; None: a warning, and reports on different versions of a benchmark are not the same
    # measurement. With ignore or warn the tasks of both are compared.
    new_tasks: str | None = None
    removed_tasks: str | None = None
    golden: tuple[str, ...] = ()  # ids of tasks that must not be lost, in addition to those that the benchmark names


class EvalRequest(NamedTuple):
    """The request of one run."""

    skills: tuple[str, ...]  # paths of skill.json and SKILL.md files, or directories with some
    config: Config  # with the options over it
    tasks: TaskChoice
    execution: Execution
    permissions: Permissions
    output: Output
    models: ModelOptions
    store: StoreChoice
    policy: BenchPolicy
    prose: bool = False  # whether prose skills that a search meets are taken in
    allow_skipped: bool = False  # whether what could not be measured changes no exit code
    exit_on_fail: bool = False  # --exit-on-fail
    shard: tuple[int, int] | None = None  # which of how many is run, from 1; None for all of it
    answers: tuple[str, ...] = ()  # files and directories with expected answers, beyond those that the run knows


def shard_of(skill: str, task: str, of: int) -> int:
    """Return which of ``of`` shards runs a skill's task, from 1."""
    data = f"{len(skill)}:{skill}{task}".encode()
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big") % of + 1


def _directory(config: Config, setting: Setting[str]) -> str:
    """Return a directory: relative to the file that sets it, or to the working directory."""
    value, origin = config.get(setting), config.origin(setting)
    return value if origin in ("default", "option") else os.path.join(config.base(setting), value)
