"""The request of a benchmark run: what to run, how, within which limits, and what is written."""
# ruff: noqa: PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skillgate import settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillgate.bench.results.gating import BenchPolicy
    from skillgate.config import Config
    from skillgate.evaluation.request import ModelOptions
    from skillgate.model.setting import Setting
    from skillgate.store.results import StoreChoice


class TaskChoice(NamedTuple):
    """Which tasks are run.

    Attributes:
        benchmark: an id or a path.
        file: a file of tasks in the place of a benchmark.
        benchmarks_dir: a directory of benchmarks beside the packaged ones.
        ids, tags: which of the tasks; empty for all.
    """

    benchmark: str
    file: str | None
    benchmarks_dir: str | None
    ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @classmethod
    def configured(
        cls, config: Config, *, file: str | None = None, ids: Iterable[str] = (), tags: Iterable[str] = ()
    ) -> TaskChoice:
        """Return the choice that a configuration makes, with options laid over it already."""
        return cls(
            benchmark=config.get(settings.BENCHMARK),
            file=file,
            benchmarks_dir=_directory(config, settings.BENCHMARKS_DIR),
            ids=tuple(dict.fromkeys(ids)),
            tags=tuple(dict.fromkeys(tags)),
        )


class Execution(NamedTuple):
    """How tasks are run: how often, how many at once, how long, and by which scorer where a task names none."""

    runs: int
    concurrency: int
    timeout_ms: int
    retries: int
    retry_delay_s: float
    evaluator: str

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
    """What the programs and servers of skills may do.

    Attributes:
        programs: whether any may be started.
        env: variables that skills may be given.
        hosts: hosts beside public ones that servers of skills may have.
        memory_mb: that a call of a program may use.
        sandbox: ``none``, ``bwrap`` or ``auto``, as requested.
        as_caller: whether programs run as the calling user, as root too.
        guarded: whether skills are a stranger's: what they reach of the network is held narrower.
    """

    programs: bool
    env: frozenset[str]
    hosts: frozenset[str]
    memory_mb: int
    sandbox: str
    as_caller: bool = False
    guarded: bool = False

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
        from skillgate.bench.web.hosts import allowed_of  # brings in the network

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
    """What a run writes.

    Attributes:
        formats, directory: of the files.
        progress: ``bar``, ``json`` or ``none``.
        metadata: whether results are written into each skill.json.
    """

    formats: tuple[str, ...]
    directory: str
    progress: str = "none"
    metadata: bool = False

    @classmethod
    def configured(
        cls,
        config: Config,
        *,
        formats: tuple[str, ...] | None = None,
        progress: str = "none",
        metadata: bool = False,
    ) -> Output:
        """Return what a configuration says; ``formats`` come before its own."""
        return cls(
            formats=config.get(settings.FORMATS) if formats is None else formats,
            directory=_directory(config, settings.OUTPUT_DIR),
            progress=progress,
            metadata=metadata,
        )


class EvalRequest(NamedTuple):
    """The request of one run.

    Attributes:
        skills: paths of skill.json and SKILL.md files, or directories with some.
        config: with the options over it.
        tasks, execution, permissions, output, models, store: see there.
        policy: the gates.
        prose: whether prose skills that a search meets are taken in.
        allow_skipped: whether what could not be measured changes no exit code.
        exit_on_fail: whether ``--exit-on-fail`` was given.
        shard: which of how many shards is run, from 1; None for all of it.
        answers: files and directories with expected answers, beside those that the run knows by itself.
    """

    skills: tuple[str, ...]
    config: Config
    tasks: TaskChoice
    execution: Execution
    permissions: Permissions
    output: Output
    models: ModelOptions
    store: StoreChoice
    policy: BenchPolicy
    prose: bool = False
    allow_skipped: bool = False
    exit_on_fail: bool = False
    shard: tuple[int, int] | None = None
    answers: tuple[str, ...] = ()


def _directory(config: Config, setting: Setting[str]) -> str:
    """Return a directory: relative to the file that sets it, or to the working directory."""
    value, origin = config.get(setting), config.origin(setting)
    return value if origin in ("default", "option") else os.path.join(config.base(setting), value)
