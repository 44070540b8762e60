"""Make a benchmark of lines of JSON, as ``bench import`` does.

They are one's own copy of a published data set, or lines by a map of their fields.
"""
# ruff: noqa: PTH110, PTH112, PTH113, PTH118, PTH123

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.checking import check_benchmark, check_task
from skillgate.bench.evaluation.data_sets import FieldMap, LeftOutError, LineError, gaia, toolbench
from skillgate.bench.reading.catalog import packaged
from skillgate.bench.reading.files import MAX_BYTES, parse_json
from skillgate.errors import CodecError, UsageError
from skillgate.files import write
from skillgate.model.benchmark import Benchmark, Task
from skillgate.model.codec import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from skillgate.session import Session

    Mapped = Callable[[Mapping[str, Any], int], dict[str, Any]]

LIKES = ("gaia-v1", "toolbench-lite")
_MOST_LINE = 5_000_000  # bytes
_FIELDS = ("id", "input", "expected", "tags", "description")


class ImportRequest(NamedTuple):
    """Which lines become which benchmark.

    Attributes:
        file: the lines of JSON.
        output: the benchmark's file.
        like: the data set that the lines are of; exactly one of this and ``fields`` is given.
        fields: which fields are input, expected, id, tags, description, as ``input=FIELD,expected=FIELD``.
        attachments: where the files are that tasks name.
        id: the benchmark's; None for the data set's, or the file's name.
        version: the benchmark's.
        force: whether a file that is there is overwritten.
    """

    file: str
    output: str
    like: str | None
    fields: str | None
    attachments: str | None
    id: str | None
    version: str
    force: bool


def import_lines(request: ImportRequest, session: Session) -> Imported:
    """Read the lines and write the benchmark.

    Raises:
        UsageError: an option does not fit, the file cannot be read, or no line of it is a task, or the
            benchmark cannot be written.
    """
    if (request.like is None) == (request.fields is None):
        raise UsageError(f"bench import needs --like ({', '.join(LIKES)}) or --map input=FIELD,expected=FIELD")
    cwd = session.cwd
    source, target = os.path.join(cwd, request.file), os.path.join(cwd, request.output)
    if os.path.lexists(target) and not request.force:
        raise UsageError(f"{request.output} is there already; --force overwrites it")
    if os.path.exists(target) and os.path.realpath(target) == os.path.realpath(source):
        raise UsageError(f"{request.output} is the file that is read")
    attachments = None if request.attachments is None else os.path.join(cwd, request.attachments)
    if attachments is not None and not os.path.isdir(attachments):
        raise UsageError(f"--attachments {request.attachments}: there is no such directory")
    if not os.path.isfile(source):
        raise UsageError(f"{request.file} is no file" if os.path.lexists(source) else f"{request.file} does not exist")
    try:
        with open(source, "rb") as lines:
            found = imported(
                lines,
                request.file,
                like=request.like,
                fields=None if request.fields is None else map_of(request.fields),
                attachments=attachments,
                identifier=request.id,
                version=request.version,
            )
    except OSError as error:
        raise UsageError(f"{request.file} cannot be read: {error.strerror}") from error
    data = bytes_of(found.data)
    if len(data) > MAX_BYTES:
        raise UsageError(f"the benchmark would be larger than {MAX_BYTES:,} bytes; import its lines in parts")
    home = os.path.join(cwd, "benchmarks")  # where they are looked for
    own = os.path.normpath(os.path.join(target, os.pardir)) == home
    write(request.output, data, cwd=cwd, parents=own)
    return found


class Imported(NamedTuple):
    """What came of a file of lines.

    Attributes:
        data: the benchmark, as its file will have it.
        tasks: how many it has.
        bad: a line for each line that could not be mapped, with its number.
        left_out: a line for each that was left out on purpose, such as one that needs a file.
    """

    data: dict[str, Any]
    tasks: int
    bad: tuple[str, ...]
    left_out: tuple[str, ...]


def map_of(text: str) -> FieldMap:
    """Read ``id=FIELD,input=FIELD,expected=FIELD``.

    Raises:
        UsageError: it is no such list.
    """
    found: dict[str, str] = {}
    for part in text.split(","):
        key, equals, field = (word.strip() for word in part.partition("="))
        if not equals or not field or key not in _FIELDS:
            raise UsageError(f"--map: expected {', '.join(f'{name}=FIELD' for name in _FIELDS)}; found {part!r}")
        if key in found:
            raise UsageError(f"--map: {key} stands twice")
        found[key] = field
    if missing := [key for key in ("input", "expected") if key not in found]:
        raise UsageError(f"--map: {' and '.join(missing)} must be there, as in input=question,expected=answer")
    return FieldMap(**found)


def imported(
    lines: Iterable[bytes],
    shown: str,
    *,
    like: str | None,
    fields: FieldMap | None,
    attachments: str | None,
    identifier: str | None,
    version: str,
) -> Imported:
    """Make a benchmark of lines of JSON.

    Args:
        lines: each one object.
        shown: the file to name them by.
        like: the data set that they are of, one of :data:`LIKES`.
        fields: which of their fields are what, in the place of ``like``.
        attachments: the absolute directory of the files that tasks name; None to leave those tasks out.
        identifier: of the benchmark; None for that of ``like``, or one made of the file's name.
        version: of the benchmark.

    Raises:
        UsageError: the benchmark's own keys are not valid, or no line is a task; every problem, a line each.
    """
    mapped = _mapping(like, fields, attachments)
    tasks: dict[str, dict[str, Any]] = {}
    bad: list[str] = []
    left_out: list[str] = []
    digest = hashlib.sha256()
    for number, line in enumerate(lines, start=1):
        digest.update(line)
        if not line.strip():
            continue
        try:
            task = _task(line, f"{shown}:{number}", mapped, number)
        except LeftOutError as why:
            left_out.append(f"{shown}:{number}: {why}")
        except UsageError as error:
            bad += str(error).splitlines()
        else:
            if task["id"] in tasks:
                bad.append(f"{shown}:{number}: the id {task['id'][:80]!r} was there before")
            else:
                tasks[task["id"]] = task
    data = _whole(like, identifier or like or _identifier(shown), version, list(tasks.values()))
    data["metadata"] |= {"importedFrom": shown.replace("\\", "/").rpartition("/")[2], "sha256": digest.hexdigest()}
    _require_valid(data, bad, left_out)
    return Imported(data, len(tasks), tuple(bad), tuple(left_out))


def _mapping(like: str | None, fields: FieldMap | None, attachments: str | None) -> Mapped:
    if fields is not None:
        return fields.task
    if like == "gaia-v1":
        return lambda row, _: gaia(row, attachments)
    return toolbench


def _task(line: bytes, where: str, mapped: Mapped, number: int) -> dict[str, Any]:
    """Map one line, and hold the task to what every task has to be.

    Raises:
        UsageError: naming the line.
        LeftOutError: it is left out on purpose.
    """
    if len(line) > _MOST_LINE:
        raise UsageError(f"{where}: is longer than {_MOST_LINE:,} bytes")
    try:
        row = parse_json(line.strip(), where)
    except UsageError as error:
        raise UsageError(str(error).replace(f"{where}:1:", f"{where}:")) from None
    if not isinstance(row, dict):
        raise UsageError(f"{where}: expected an object of JSON on each line")
    try:
        task = mapped(row, number)
        json.dumps(task, allow_nan=False)
        problems = list(check_task(decode(Task, task)))
    except (OverflowError, RecursionError, ValueError):  # 1e999, or nested as deep as can still be read
        raise UsageError(f"{where}: it cannot be written as JSON again") from None
    except LineError as error:
        raise UsageError(f"{where}: {error}") from None
    except CodecError as error:
        problems = str(error).splitlines()
    if problems:
        raise UsageError("\n".join(f"{where}: {problem}" for problem in problems))
    return task


def _whole(like: str | None, identifier: str, version: str, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    whole: dict[str, Any] = {"id": identifier, "name": identifier, "version": version}
    metadata: dict[str, Any] = {}
    if like is not None:
        place = packaged(like).benchmark
        whole |= {"name": place.name, "domain": place.domain}
        metadata = {"source": place.metadata.get("source"), "license": place.metadata.get("license")}
    return {**whole, "scoringMethod": "mean", "metadata": metadata, "tasks": tasks}


def _require_valid(data: dict[str, Any], bad: list[str], left_out: list[str]) -> None:
    if not data["tasks"]:
        raise UsageError("\n".join([*shortened(bad), *shortened(left_out), "no line is a task: nothing was written"]))
    problems = list(check_benchmark(decode(Benchmark, data)))
    if problems:
        raise UsageError("\n".join(problems))


def shortened(lines: list[str] | tuple[str, ...], most: int = 20) -> list[str]:
    """Give the first of some lines, and how many more there are."""
    more = len(lines) - most
    return [*lines[:most], *([f"… and {more} more"] if more > 0 else [])]


def _identifier(shown: str) -> str:
    name = shown.replace("\\", "/").rpartition("/")[2].partition(".")[0].lower()
    return re.sub(r"[^a-z0-9_.-]+", "-", name).strip("-._") or "imported"


def bytes_of(data: dict[str, Any]) -> bytes:
    """Write a benchmark as its file has it; half of a character becomes the escape that JSON has for it."""
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
