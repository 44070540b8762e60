"""Make a benchmark's file of lines of JSON: what ``bench import`` does."""
# ruff: noqa: PTH110, PTH112, PTH113, PTH118, PTH123

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from skillgate.bench.files import MAX_BYTES
from skillgate.bench.importing import LIKES, bytes_of, imported, map_of
from skillgate.errors import UsageError
from skillgate.files import write

if TYPE_CHECKING:
    from skillgate.bench.importing import Imported
    from skillgate.session import Session


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
