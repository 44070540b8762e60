"""Store each result of a run as it ends, so that an interrupted run can be resumed."""
# ruff: noqa: PTH107, PTH110, PTH118, PTH123

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from skillgate.bench.documents import digest_of
from skillgate.errors import CodecError, UsageError
from skillgate.files import require_place
from skillgate.model.bench import ErrorKind, TaskResult
from skillgate.model.codec import decode, encode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedWriter

    from skillgate.bench.plan import Plan
    from skillgate.bench.request import EvalRequest
    from skillgate.console import Console

NAME = "eval-progress.jsonl"


class Progress:
    """The file of a run's results: a line that identifies the run, then one line for each result.

    Attributes:
        finished: The results that the run already had.
    """

    def __init__(self, path: str, file: BufferedWriter, finished: tuple[TaskResult, ...]) -> None:
        self._path, self._file, self.finished = path, file, finished

    def add(self, result: TaskResult) -> None:
        """Store a result; one that the end of the run left unmeasured is not stored."""
        if result.error_kind is not ErrorKind.STOPPED:
            self._file.write(_line(encode(result)))
            self._file.flush()  # what the system has survives this process

    def close(self, *, complete: bool) -> None:
        """Close the file, and remove it if all results are in a report."""
        self._file.close()
        if complete:
            with suppress(FileNotFoundError):
                os.remove(self._path)


def started(plan: Plan, request: EvalRequest, session: Console, *, resume: bool) -> Progress:
    """Begin the file of a run, or continue that of the same run.

    Raises:
        UsageError: There is nothing to resume, it belongs to another run, or the file cannot be written.
    """
    shown = os.path.join(request.output.directory, NAME)
    path = require_place(shown, session.cwd)
    head = {"run": _identity(plan, request)}
    finished: dict[tuple[str, str, int], TaskResult] = {}
    if resume:
        if not os.path.exists(path):
            raise UsageError(f"--resume: there is no {shown}; the last run into this directory was complete")
        lines = list(_read(path, shown))
        if not lines or lines[0] != head:
            what = "other skills, tasks or settings"
            raise UsageError(f"--resume: {shown} belongs to a run with {what}; repeat that command, or remove --resume")
        for result in map(_result, lines[1:]):
            if result is not None:
                finished.setdefault((result.skill_id, result.task_id, result.run), result)
    elif os.path.exists(path):
        session.note(f"{shown} has results of a run that was interrupted; starting over without --resume")
    temporary = f"{path}.new"
    try:
        with open(temporary, "wb") as file:  # without a line that was cut off
            file.writelines([_line(head), *(_line(encode(one)) for one in finished.values())])
        os.replace(temporary, path)  # noqa: PTH105
        return Progress(path, open(path, "ab"), tuple(finished.values()))
    except OSError as error:
        raise UsageError(f"cannot write {shown}: {error.strerror}") from error


def _identity(plan: Plan, request: EvalRequest) -> str:
    """Return a digest of everything that must be the same for results to belong to one run."""
    execution = request.execution
    return digest_of(
        {
            "benchmark": plan.loaded.digest,
            "tasks": [task.id for task in plan.loaded.benchmark.tasks],
            "skills": [[skill.key, skill.spec.version, skill.digest] for skill in plan.skills],
            "settings": [execution.runs, execution.timeout_ms, execution.retries, execution.evaluator, plan.sandbox],
            "shard": request.shard,
            "models": plan.model_names,
        }
    )


def _line(data: Any) -> bytes:  # noqa: ANN401 - JSON
    return json.dumps(data, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def _read(path: str, shown: str) -> Iterator[Any]:
    """Yield the complete lines of a file; the last one may be cut off."""
    try:
        with open(path, "rb") as file:
            for line in file:
                with suppress(ValueError):
                    yield json.loads(line)
    except OSError as error:
        raise UsageError(f"--resume: {shown} cannot be read: {error.strerror}") from error


def _result(data: Any) -> TaskResult | None:  # noqa: ANN401 - JSON
    try:
        return decode(TaskResult, data)
    except CodecError:
        return None
