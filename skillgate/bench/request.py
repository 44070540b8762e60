"""The request of a benchmark run: tasks, execution, permissions, gates and output."""
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

DEFAULT_COMPLETION = 0.7  # default minimum completion rate of --exit-on-fail


class TaskChoice(NamedTuple):
    """Which tasks to run."""

    benchmark: str  # an id or a path
    file: str | None  # a file of tasks instead of a benchmark
    benchmarks_dir: str | None  # directory of more benchmarks
    ids: tuple[str, ...] = ()  # empty for all
    tags: tuple[str, ...] = ()  # empty for all

    @classmethod
    def configured(
        cls, config: Config, *, file: str | None = None, ids: Iterable[str] = (), tags: Iterable[str] = ()
    ) -> TaskChoice:
        """Return the choice of a configuration that includes the options."""
        folder = _directory(config, settings.BENCHMARKS_DIR)
        return cls(config.get(settings.BENCHMARK), file, folder, tuple(dict.fromkeys(ids)), tuple(dict.fromkeys(tags)))


class Execution(NamedTuple):
    """How to run tasks."""

    runs: int
    concurrency: int
    timeout_ms: int
    retries: int
    retry_delay_s: float
    evaluator: str  # default scorer

    @classmethod
    def configured(cls, config: Config) -> Execution:
        """Return the execution settings of a configuration."""
        return cls(
            runs=config.get(settings.RUNS),
            concurrency=config.get(settings.CONCURRENCY),
            timeout_ms=config.get(settings.TIMEOUT_MS),
            retries=config.get(settings.RETRIES),
            retry_delay_s=config.get(settings.RETRY_DELAY_S),
            evaluator=config.get(settings.EVALUATOR),
        )


class Permissions(NamedTuple):
    """What programs and servers of skills may do."""

    programs: bool  # whether programs may be started
    env: frozenset[str]  # user variables that skills may get
    hosts: frozenset[str]  # allowed hosts of skill servers, besides public ones
    memory_mb: int  # limit per call
    sandbox: str  # none, bwrap or auto, as requested
    as_caller: bool = False  # whether programs run as the calling user, even root
    guarded: bool = False  # whether skills are untrusted, which restricts network access further

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
        """Return the permissions of a configuration; ``env`` and ``hosts`` add to it, ``programs`` can restrict it.

        Raises:
            UsageError: A host is not valid.
        """
        from skillgate.bench.addresses import allowed_of  # imports network modules

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
    """What to write."""

    formats: tuple[str, ...]  # of report files
    directory: str  # of report files
    progress: str = "none"  # none, bar or json
    metadata: bool = False  # whether to write results into each skill.json

    @classmethod
    def configured(
        cls, config: Config, *, formats: tuple[str, ...] | None = None, progress: str = "none", metadata: bool = False
    ) -> Output:
        """Return the output settings of a configuration; ``formats`` override its own."""
        chosen = config.get(settings.FORMATS) if formats is None else formats
        return cls(chosen, _directory(config, settings.OUTPUT_DIR), progress, metadata)


class BenchPolicy(NamedTuple):
    """The gates of a benchmark; None means no gate. Shares are in [0, 1]."""

    min_completion: float | None = None
    min_partial: float | None = None
    min_composite: float | None = None
    max_error_rate: float | None = None
    max_p95_ms: float | None = None
    require_tasks: tuple[str, ...] = ()  # task ids that must pass in every run
    on_inconclusive: str = "point"  # point, pass, warn or fail

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
    """What counts as a regression between two benchmark reports; None means no limit. Shares are in [0, 1]."""

    max_completion_drop: float = 0.0  # allowed drop of the rate, and allowed share of broken tasks
    max_partial_drop: float | None = None
    max_composite_drop: float | None = None
    max_p95_share: float | None = None  # allowed increase of the 95th latency percentile, as a share of it
    max_p95_ms: float | None = None
    # ignore, warn or fail; None: a warning, and reports on different versions of a benchmark are not comparable. With
    # ignore or warn the tasks in both reports are compared.
    new_tasks: str | None = None
    removed_tasks: str | None = None
    golden: tuple[str, ...] = ()  # task ids that must not break, besides those marked in the benchmark


class EvalRequest(NamedTuple):
    """The request of a run."""

    skills: tuple[str, ...]  # paths of skill.json and SKILL.md files, or of directories with some
    config: Config  # including options
    tasks: TaskChoice
    execution: Execution
    permissions: Permissions
    output: Output
    models: ModelOptions
    store: StoreChoice
    policy: BenchPolicy
    prose: bool = False  # whether a search includes prose skills
    allow_skipped: bool = False  # whether unmeasured results leave the exit code unchanged
    exit_on_fail: bool = False  # --exit-on-fail
    shard: tuple[int, int] | None = None  # (number from 1, total); None for all
    resume: bool = False  # whether to go on with the run that was interrupted
    answers: tuple[str, ...] = ()  # more files and directories with expected answers


def shard_of(skill: str, task: str, of: int) -> int:
    """Return the number (from 1) of the shard that runs a skill's task."""
    data = f"{len(skill)}:{skill}{task}".encode()
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big") % of + 1


def _directory(config: Config, setting: Setting[str]) -> str:
    """Return a directory, relative to the file that sets it, or to the working directory."""
    value, origin = config.get(setting), config.origin(setting)
    return value if origin in ("default", "option") else os.path.join(config.base(setting), value)
