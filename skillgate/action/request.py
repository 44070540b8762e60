"""What the inputs of one run ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate import settings
from skillgate.action.inputs import given_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skillgate.action.inputs import Value as Input
    from skillgate.model.setting import Setting, Value


class BenchmarkRequest(NamedTuple):
    """The benchmark to run, and how; every field has the name of its input."""

    benchmark: str | None = None
    tasks: str | None = None
    skills: tuple[str, ...] = ()
    runs: int | None = None
    min_completion: float | None = None
    allow_exec: bool = False
    allow_env: tuple[str, ...] = ()

    @property
    def is_wanted(self) -> bool:
        """Whether there is a benchmark to run."""
        return bool(self.benchmark or self.tasks)

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs that are given."""
        return tuple(name.replace("_", "-") for name, value in self._asdict().items() if value)


class ActionRequest(NamedTuple):
    """The inputs of a run; each field has the name of its input.

    Attributes:
        options: the inputs that are settings, as ``Config.with_options`` takes them.
        paths: what is asked about, relative to the working directory.
        excluded: the paths that are left out, likewise.
        shard: which part of how many is asked about, from (1, 1) on; None for all skills.
        on_unmeasured: what a skill without a score does: ``fail`` or ``pass``.
        report_dir, sarif, certificate, badges: places in the workspace, ``""`` for none.
    """

    options: Mapping[str, Value]
    mode: str
    paths: tuple[str, ...]
    excluded: tuple[str, ...]
    working_directory: str
    config: str | None
    baseline: str
    changed_only: str
    on_unmeasured: str
    cache_dir: str | None
    store: str | None
    shard: tuple[int, int] | None
    reports: tuple[str, ...]
    merge_sarif: tuple[str, ...]
    benchmark: BenchmarkRequest
    invocations: tuple[str, ...]
    gate: tuple[str, ...]
    report_dir: str
    sarif: str
    certificate: str
    badges: str
    comment: str
    comment_key: str
    pr_number: int | None
    regression_issue: bool
    annotations: str


def request_of(inputs: Mapping[str, Input]) -> ActionRequest:
    """Return the request that inputs make; ``inputs`` has all of them, by name."""
    paths = _texts(inputs, settings.PATHS)
    part, _, parts = _text(inputs, settings.REQUESTED_SHARD).partition("/")
    return ActionRequest(
        options=given_settings(inputs),
        mode=_text(inputs, settings.MODE),
        paths=tuple(path for path in paths if not path.startswith("!")),
        excluded=tuple(path.removeprefix("!").strip() for path in paths if path.startswith("!")),
        working_directory=_text(inputs, settings.WORKING_DIRECTORY),
        config=_text(inputs, settings.CONFIG) or None,
        baseline=_text(inputs, settings.BASELINE),
        changed_only=_text(inputs, settings.CHANGED_ONLY),
        on_unmeasured=_text(inputs, settings.ON_UNMEASURED),
        cache_dir=_text(inputs, settings.CACHE_DIR) or None,
        store=_text(inputs, settings.STORE) or None,
        shard=(int(part), int(parts)) if parts else None,
        reports=_texts(inputs, settings.SHARD_REPORTS),
        merge_sarif=_texts(inputs, settings.MERGE_SARIF),
        benchmark=BenchmarkRequest(
            benchmark=_text(inputs, settings.BENCHMARK) or None,
            tasks=_text(inputs, settings.TASKS) or None,
            skills=_texts(inputs, settings.SKILLS),
            runs=_whole(inputs, settings.RUNS),
            min_completion=_number(inputs, settings.MIN_COMPLETION),
            allow_exec=inputs[settings.ALLOW_EXEC.key] is True,
            allow_env=_texts(inputs, settings.ALLOW_ENV),
        ),
        invocations=_texts(inputs, settings.INVOCATIONS),
        gate=_texts(inputs, settings.INVOCATION_GATE),
        report_dir=_text(inputs, settings.REPORT_DIR),
        sarif=_text(inputs, settings.SARIF),
        certificate=_text(inputs, settings.CERTIFICATE),
        badges=_text(inputs, settings.BADGES),
        comment=_text(inputs, settings.COMMENT),
        comment_key=_text(inputs, settings.COMMENT_KEY),
        pr_number=_whole(inputs, settings.PR_NUMBER),
        regression_issue=inputs[settings.REGRESSION_ISSUE.key] is True,
        annotations=_text(inputs, settings.ANNOTATIONS),
    )


def _text(inputs: Mapping[str, Input], entry: Setting[Any]) -> str:
    value = inputs[entry.key]
    return value if isinstance(value, str) else ""


def _texts(inputs: Mapping[str, Input], entry: Setting[Any]) -> tuple[str, ...]:
    value = inputs[entry.key]
    return value if isinstance(value, tuple) else ()


def _number(inputs: Mapping[str, Input], entry: Setting[Any]) -> float | None:
    value = inputs[entry.key]
    return value if isinstance(value, float) else None


def _whole(inputs: Mapping[str, Input], entry: Setting[Any]) -> int | None:
    value = inputs[entry.key]
    return value if isinstance(value, int) else None
