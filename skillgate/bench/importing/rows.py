"""Read rows from JSON Lines, a JSON list or Parquet; the content says which of them a file is."""
# ruff: noqa: PTH123

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from skillgate.bench.documents import parse_json
from skillgate.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAGIC = b"PAR1"  # the first four bytes of a Parquet file
_MOST_LINE = 5_000_000  # bytes
_MOST_ROWS = 1_000_000  # of Parquet, where equal rows take no space
_MOST_LIST = 200_000_000  # bytes of a JSON list, which is parsed as a whole
_BATCH = 1  # rows of Parquet read at once: a small file can repeat a large value many times


class Row(NamedTuple):
    """One row of a file."""

    where: str  # file and place, for messages
    number: int  # from 1; of a line, its line number
    value: Any  # an object in JSON, if the row is valid
    problem: str | None = None  # why it cannot be read


def read_rows(place: str, shown: str) -> Iterator[Row]:
    """Yield the rows of a file.

    Raises:
        UsageError: A list is too large or not JSON, or Parquet is damaged, or needs a missing package.
        OSError: The file cannot be read.
    """
    with open(place, "rb") as file:
        start = file.read(4096)
        file.seek(0)
        if start.startswith(_MAGIC):
            yield from _parquet(place, shown)
        elif start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"[":
            yield from _list(file, shown)
        else:
            yield from _lines(file, shown)


def _lines(file: BinaryIO, shown: str) -> Iterator[Row]:
    for number, line in enumerate(file, start=1):
        where = f"{shown}:{number}"
        if not line.strip():
            continue
        if len(line) > _MOST_LINE:
            yield Row(where, number, None, f"{where}: longer than {_MOST_LINE:,} bytes")
            continue
        try:
            yield Row(where, number, parse_json(line.strip(), where))
        except UsageError as error:
            yield Row(where, number, None, str(error).replace(f"{where}:1:", f"{where}:"))


def _list(file: BinaryIO, shown: str) -> Iterator[Row]:
    if os.fstat(file.fileno()).st_size > _MOST_LIST:
        raise UsageError(f"{shown}: a JSON list larger than {_MOST_LIST:,} bytes; import it in parts, or as JSON Lines")
    for number, value in enumerate(parse_json(file.read(), shown), start=1):
        yield Row(f"{shown}[{number - 1}]", number, value)


def _parquet(place: str, shown: str) -> Iterator[Row]:
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    except ModuleNotFoundError:
        raise UsageError(f"{shown} is Parquet, which needs pyarrow: pip install 'skillgate-action[parquet]'") from None
    number = 0
    try:
        with ParquetFile(place) as file:
            if file.metadata.num_rows > _MOST_ROWS:
                raise UsageError(f"{shown}: more than {_MOST_ROWS:,} rows; import it in parts")
            for batch in file.iter_batches(batch_size=_BATCH):
                for value in batch.to_pylist():
                    number += 1
                    yield Row(f"{shown}: row {number}", number, value)
    except (pa.ArrowException, OSError, ValueError) as error:  # also in the middle of a damaged file
        raise UsageError(f"{shown}: not readable as Parquet: {str(error).splitlines()[0][:200]}") from None
