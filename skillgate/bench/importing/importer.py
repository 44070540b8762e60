"""Read rows of a published data set, or with mapped fields, and write them as a benchmark."""
# ruff: noqa: PTH110, PTH112, PTH113, PTH118, PTH120, PTH123

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.bench.documents import MAX_BYTES, check_benchmark, check_task, packaged, refuse, shortened
from skillgate.bench.importing.fields import LeftOutError, RowError, field_of, identifier_of
from skillgate.bench.importing.gaia import gaia
from skillgate.bench.importing.rows import read_rows
from skillgate.bench.importing.toolbench import toolbench
from skillgate.errors import CodecError, UsageError
from skillgate.files import write
from skillgate.model.benchmark import Benchmark, Task
from skillgate.model.codec import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from skillgate.bench.importing.rows import Row
    from skillgate.console import Console

    Mapped = Callable[[Mapping[str, Any], int], dict[str, Any]]

LIKES = ("gaia-v1", "toolbench-lite")
_FIELDS = ("id", "input", "expected", "tags", "description")


class ImportRequest(NamedTuple):
    """Which rows to import as which benchmark; exactly one of ``like`` and ``fields`` is set."""

    file: str  # JSON Lines, a JSON list, or Parquet
    output: str  # benchmark file to write
    like: str | None  # the published data set of the rows
    fields: str | None  # fields for input, expected, id, tags, description, as input=FIELD,expected=FIELD
    attachments: str | None  # directory of files named in rows; None: that of the file
    id: str | None  # of the benchmark; None: from the data set or the file name
    version: str  # of the benchmark
    force: bool  # whether to overwrite an existing file


class Imported(NamedTuple):
    """The result of an import."""

    data: dict[str, Any]  # content of the benchmark file
    tasks: int  # number of tasks
    bad: tuple[str, ...]  # one message per invalid row, with its place
    left_out: tuple[str, ...]  # one message per row left out on purpose, such as one that needs a file


def import_rows(request: ImportRequest, session: Console) -> Imported:
    """Write the rows of a file as a benchmark.

    Raises:
        UsageError: An option is not valid, the file cannot be read, no row is a task, or the benchmark cannot be
            written.
    """
    if (request.like is None) == (request.fields is None):
        raise UsageError(f"bench import needs --like ({', '.join(LIKES)}) or --map input=FIELD,expected=FIELD")
    cwd = session.cwd
    source, target = os.path.join(cwd, request.file), os.path.join(cwd, request.output)
    if os.path.lexists(target) and not request.force:
        raise UsageError(f"{request.output} already exists; use --force to overwrite it")
    if os.path.exists(target) and os.path.realpath(target) == os.path.realpath(source):
        raise UsageError(f"{request.output} is also the input file")
    if not os.path.isfile(source):
        raise UsageError(
            f"{request.file} is not a file" if os.path.lexists(source) else f"{request.file} does not exist"
        )
    attachments = os.path.join(cwd, request.attachments or os.path.dirname(source))
    if not os.path.isdir(attachments):
        raise UsageError(f"--attachments {request.attachments}: there is no such directory")
    mapped = _mapping(request, attachments)
    try:
        with open(source, "rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        found = _imported(read_rows(source, request.file), request, mapped, digest)
    except OSError as error:
        raise UsageError(f"{request.file} cannot be read: {error.strerror}") from error
    # A lone surrogate is written as a JSON escape.
    data = (json.dumps(found.data, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    _require_size(len(data))
    home = os.path.join(cwd, "benchmarks")  # where benchmarks are searched
    write(request.output, data, cwd=cwd, parents=os.path.normpath(os.path.join(target, os.pardir)) == home)
    return found


def _require_size(size: int) -> None:
    if size > MAX_BYTES:
        raise UsageError(f"the benchmark would be larger than {MAX_BYTES:,} bytes; import its rows in parts")


def _mapping(request: ImportRequest, attachments: str) -> Mapped:
    """Return the function from a row and its number to a task; raise UsageError if --map is not valid."""
    if request.like == "gaia-v1":
        return lambda row, _: gaia(row, attachments)
    if request.fields is None:
        return toolbench
    names: dict[str, str] = {}
    for part in request.fields.split(","):
        key, equals, field = (word.strip() for word in part.partition("="))
        if not equals or not field or key not in _FIELDS:
            raise UsageError(f"--map: expected {', '.join(f'{name}=FIELD' for name in _FIELDS)}; found {part!r}")
        if key in names:
            raise UsageError(f"--map: {key} is given twice")
        names[key] = field
    if missing := [key for key in ("input", "expected") if key not in names]:
        raise UsageError(f"--map: {' and '.join(missing)} missing; expected input=FIELD,expected=FIELD")
    return lambda row, number: _by_fields(row, number, names)


def _imported(rows: Iterable[Row], request: ImportRequest, mapped: Mapped, digest: str) -> Imported:
    like = request.like
    tasks: dict[str, dict[str, Any]] = {}
    bad: list[str] = []
    left_out: list[str] = []
    size = 0
    for row in rows:
        try:
            task = _task(row, mapped)
        except LeftOutError as why:
            left_out.append(f"{row.where}: {why}")
        except UsageError as error:
            bad += str(error).splitlines()
        else:
            if task["id"] in tasks:
                bad.append(f"{row.where}: duplicate id {task['id'][:80]!r}")
            tasks.setdefault(task["id"], task)
            size += len(json.dumps(task, ensure_ascii=False))
            _require_size(size)
    name = request.file.replace("\\", "/").rpartition("/")[2]
    plain = re.sub(r"[^a-z0-9_.-]+", "-", name.partition(".")[0].lower()).strip("-._") or "imported"
    identifier = request.id or like or plain
    data: dict[str, Any] = {"id": identifier, "name": identifier, "version": request.version}
    metadata: dict[str, Any] = {}
    if like is not None:
        published = packaged(like).benchmark
        data |= {"name": published.name, "domain": published.domain}
        metadata = {"source": published.metadata.get("source"), "license": published.metadata.get("license")}
    metadata |= {"importedFrom": name, "sha256": digest}
    data |= {"scoringMethod": "mean", "metadata": metadata, "tasks": [*tasks.values()]}
    if not tasks:
        refuse([*shortened(bad), *shortened(left_out), "no row is a valid task: nothing was written"])
    refuse(check_benchmark(decode(Benchmark, data)))
    return Imported(data, len(tasks), tuple(bad), tuple(left_out))


def _task(row: Row, mapped: Mapped) -> dict[str, Any]:
    """Map one row and check its task; raise UsageError with the row's place, or LeftOutError."""
    if row.problem is not None:
        raise UsageError(row.problem)
    if not isinstance(row.value, dict):
        raise UsageError(f"{row.where}: expected one JSON object")
    try:
        task = mapped(row.value, row.number)
        json.dumps(task, allow_nan=False)
        problems = list(check_task(decode(Task, task)))
    except (OverflowError, RecursionError, TypeError, ValueError):  # 1e999, nested almost too deeply, a time of Parquet
        words = "not representable as JSON (a number is too large, nested too deeply, or a value of another type)"
        raise UsageError(f"{row.where}: {words}") from None
    except RowError as error:
        raise UsageError(f"{row.where}: {error}") from None
    except CodecError as error:
        problems = str(error).splitlines()
    refuse(f"{row.where}: {problem}" for problem in problems)
    return task


def _by_fields(row: Mapping[str, Any], number: int, names: Mapping[str, str]) -> dict[str, Any]:
    """Map a row by field names; an input that is not an object becomes ``{"input": …}``."""
    data = field_of(row, names["input"])
    task: dict[str, Any] = {
        "id": identifier_of(row, names["id"]) if "id" in names else f"line-{number}",
        "inputData": data if isinstance(data, dict) else {"input": data},
        "expectedOutput": {"type": "exact", "value": field_of(row, names["expected"])},
    }
    if "tags" in names:
        tags = field_of(row, names["tags"])
        task["tags"] = [str(tag) for tag in (tags if isinstance(tags, list) else [tags])]
    if "description" in names:
        task["description"] = str(field_of(row, names["description"]))
    return task
