"""Read the SQLite database of eval-skills as its reports.

The file may come from anywhere, so it is data only: it is opened without writing, and neither views, virtual tables nor
endless expressions are evaluated.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import UsageError
from skillgate.format import printable
from skillgate.store.target import SQLITE_HEADER, TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLES = ("skills", "evaluations", "task_results")
_MOST_BYTES = 20_000_000  # of a value
_MOST_RESULTS = 100_000  # of an evaluation
_MOST_TOTAL = 200_000_000  # characters in the results of an evaluation
_STEPS = 1_000_000  # of SQLite's machine, between two counts
_MOST_COUNTS = 2_000
_EVALUATIONS = """\
SELECT e.id, e.skill_id, e.benchmark_id, e.summary, e.timestamp, s.version, s.updated_at
FROM evaluations e LEFT JOIN (SELECT id, version, max(updated_at) AS updated_at FROM skills GROUP BY id) s
ON s.id = e.skill_id ORDER BY e.timestamp, e.rowid"""
_RESULTS = "SELECT data FROM task_results WHERE eval_id = ? ORDER BY rowid LIMIT ?"


class Evaluation(NamedTuple):
    """One evaluation in a database."""

    name: str  # its id, for messages
    item: dict[str, Any]  # in the form of the object of a skill in a report
    ended: bool  # whether the run wrote its summary


def is_database(place: str) -> bool:
    """Whether a file is a SQLite database, by its first bytes."""
    try:
        path = Path(place)
        with path.open("rb") as file:
            return path.is_file() and file.read(len(SQLITE_HEADER)) == SQLITE_HEADER
    except (OSError, ValueError):  # reading it as a report says why
        return False


def evaluations_in(place: str, shown: str) -> Iterator[Evaluation]:
    """Yield the evaluations, oldest first; ``shown`` is the file's name in messages.

    Raises:
        UsageError: It is not a database of eval-skills, or it cannot be read.
    """
    _require_complete(place, shown)
    try:
        with closing(_opened(place)) as connection:
            _require_tables(connection, shown)
            for row in connection.execute(_EVALUATIONS):
                yield _evaluation(connection, row, shown)
    except (sqlite3.Error, ValueError, OverflowError) as error:
        raise UsageError(
            f"{shown} cannot be read as a database of eval-skills: {printable(str(error))[:200]}"
        ) from None


def _opened(place: str) -> sqlite3.Connection:
    # immutable: nothing is written next to the file, not even a lock.
    connection = sqlite3.connect(f"{Path(place).absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    connection.execute("PRAGMA trusted_schema = OFF")
    counts = iter(range(_MOST_COUNTS))
    connection.set_progress_handler(lambda: next(counts, None) is None, _STEPS)
    return connection


def _require_complete(place: str, shown: str) -> None:
    """Raise UsageError if changes are not in the file yet: they would be missing, or the file be half of each."""
    for end in ("-wal", "-journal"):
        with suppress(OSError):
            if Path(place + end).stat().st_size:
                words = "end the program that uses it, or run: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'"
                raise UsageError(f"{shown} is not complete: {shown}{end} has changes of it; {words}")


def _require_tables(connection: sqlite3.Connection, shown: str) -> None:
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    tables = {name for name, sql in rows if str(sql).upper().startswith("CREATE TABLE")}
    if TABLE in tables:
        raise UsageError(f"{shown} is a store of skillgate; name it with --store")
    if missing := [name for name in _TABLES if name not in tables]:
        raise UsageError(f"{shown} is a SQLite database, but not one of eval-skills: it has no table {missing[0]}")


def _evaluation(connection: sqlite3.Connection, row: tuple[Any, ...], shown: str) -> Evaluation:
    name, skill, benchmark, summary, timestamp, version, updated = row
    found, total = [], 0
    for (data,) in connection.execute(_RESULTS, (name, _MOST_RESULTS + 1)):
        found.append(data)
        total += len(data) if isinstance(data, str | bytes) else 0
        if len(found) > _MOST_RESULTS or total > _MOST_TOTAL:
            limit = f"{_MOST_RESULTS:,} results or {_MOST_TOTAL:,} characters"
            raise UsageError(f"{shown}: evaluation {printable(str(name))[:60]} has more than {limit}")
    item = {
        "skillId": skill,
        # The table of skills has only the newest version: earlier evaluations may be of another one.
        "skillVersion": version if str(updated) <= str(timestamp) else None,
        "benchmarkId": benchmark,
        "timestamp": f"{timestamp}Z" if isinstance(timestamp, str) else timestamp,  # in UTC
        "summary": {} if summary is None else _value(summary),
        "taskResults": [_value(data) for data in found],
    }
    return Evaluation(printable(str(name))[:60], item, ended=summary is not None)


def _value(text: Any) -> Any:  # noqa: ANN401 - JSON
    """Return the value of a JSON text, or the text itself, which its reader refuses."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return text
