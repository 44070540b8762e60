"""The keeper of a store: writes whole documents, reads back what they said."""

from __future__ import annotations

import hashlib
import json
import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import sqlalchemy as sa

from skillgate.errors import UsageError
from skillgate.model.bench import BenchReport
from skillgate.model.history import PastEvaluation, PastScore
from skillgate.store.failures import failing, foreign
from skillgate.store.opening import READING, opened
from skillgate.store.rows import clean, of_document, of_evaluation, of_scores, of_settings, of_task
from skillgate.store.schema import BENCH_EVALUATIONS, DOCUMENTS, SCORE_RESULTS, TASK_RESULTS
from skillgate.store.target import require_file, require_packages

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

    from skillgate.model.documents import SingleReport
    from skillgate.model.report import Report
    from skillgate.store.target import Target

_AT_ONCE = 200


class Told(NamedTuple):
    """What is known of a document beside what it says.

    Attributes:
        origin: ``eval`` or ``import``.
        source: the file that it came from.
        commit_id, branch: what was evaluated.
        at: when a score was made.
    """

    origin: str
    source: str | None = None
    commit_id: str | None = None
    branch: str | None = None
    at: datetime | None = None


class Filter(NamedTuple):
    """Which rows are wanted; None for any. ``limit`` counts the newest."""

    skill: str | None = None
    benchmark: str | None = None
    since: datetime | None = None
    limit: int | None = None


def document_digest(data: Any) -> str:  # noqa: ANN401 - JSON
    """Give the digest of a document's JSON, however it is laid out."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class Store:
    """An open store. Processes share one without ado; every method is a transaction of its own."""

    def __init__(self, engine: Engine, target: Target) -> None:
        """Take what :func:`open_store` opened."""
        self._engine = engine
        self._target = target

    def close(self) -> None:
        """Let go of it."""
        self._engine.dispose()

    def write(self, report: BenchReport | Report | SingleReport, digest: str, told: Told) -> bool:
        """Write a document, whole or not at all; False where it is there already.

        Raises:
            UsageError: it holds a number that no database takes.
            IncompleteError: the database failed.
        """
        try:
            with failing(self._engine, self._target, "written"), self._engine.begin() as connection:
                return self._write(connection, report, digest, told)
        except sa.exc.IntegrityError:  # another process wrote it in this very moment
            return False
        except (OverflowError, sa.exc.DataError):
            raise UsageError("it holds a number that is too large for a database") from None

    def _write(
        self, connection: Connection, report: BenchReport | Report | SingleReport, digest: str, told: Told
    ) -> bool:
        if connection.execute(sa.select(DOCUMENTS.c.id).where(DOCUMENTS.c.digest == digest)).first() is not None:
            return False
        now = datetime.now(UTC)
        is_bench = isinstance(report, BenchReport)
        row = of_document(report, "bench" if is_bench else "score")
        row |= {"digest": digest, "stored_at": now, "happened_at": told.at or now, "origin": told.origin}
        row |= {"source": told.source, "commit_id": told.commit_id, "branch": told.branch}
        if isinstance(report, BenchReport):
            row |= {"settings": of_settings(report.run)}
            row |= {"happened_at": min((one.timestamp for one in report.reports), default=row["happened_at"])}
        document = _inserted(connection, DOCUMENTS, row)
        if isinstance(report, BenchReport):
            for position, one in enumerate(report.reports):
                owned = {"document_id": document, "position": position, **of_evaluation(one, report.run)}
                evaluation = _inserted(connection, BENCH_EVALUATIONS, owned)
                for start in range(0, len(one.task_results), _AT_ONCE):  # rows take more memory than results
                    some = one.task_results[start : start + _AT_ONCE]
                    tasks = [clean({"evaluation_id": evaluation, **of_task(task)}) for task in some]
                    connection.execute(sa.insert(TASK_RESULTS), tasks)
            return True
        scores = [
            clean({"document_id": document, "position": position, **score})
            for position, score in enumerate(of_scores(report, row["happened_at"]))
        ]
        if scores:
            connection.execute(sa.insert(SCORE_RESULTS), scores)
        return True

    def evaluations(self, wanted: Filter) -> tuple[PastEvaluation, ...]:
        """Give past evaluations, the newest first.

        Raises:
            IncompleteError: the database failed.
        """
        table = BENCH_EVALUATIONS
        query = _query(PastEvaluation, table, table.c.started_at, wanted)
        if wanted.skill is not None:
            query = query.where(table.c.skill_id == wanted.skill)
        if wanted.benchmark is not None:
            query = query.where(table.c.benchmark_id == wanted.benchmark)
        return tuple(PastEvaluation(**row) for row in self._read(query))

    def newest(self, *, measured: bool) -> tuple[PastEvaluation, ...]:
        """Give the newest whole evaluation of each version of a skill on each benchmark, the newest first.

        Whole are those that were neither interrupted nor of a part of the tasks.

        Args:
            measured: whether all results must have been measured too.

        Raises:
            IncompleteError: the database failed.
        """
        table = BENCH_EVALUATIONS
        keys = (table.c.skill_id, table.c.skill_version, table.c.benchmark_id)
        order = (table.c.started_at.desc(), table.c.id.desc())
        place = sa.func.row_number().over(partition_by=keys, order_by=order).label("place")
        # A filter of tasks or a shard stands behind the scorer, with a comma between them.
        ranked = sa.select(table.c.id, place).where(
            table.c.incomplete.is_(None), sa.not_(table.c.comparable.contains(", "))
        )
        if measured:
            ranked = ranked.where(table.c.skipped == 0, table.c.completion_rate.is_not(None))
        firsts = ranked.subquery()
        query = _query(PastEvaluation, table, table.c.started_at, Filter())
        query = query.join(firsts, firsts.c.id == table.c.id).where(firsts.c.place == 1)
        return tuple(PastEvaluation(**row) for row in self._read(query))

    def scores(self, wanted: Filter) -> tuple[PastScore, ...]:
        """Give past scores, the newest first; a skill is told by its name or its path.

        Raises:
            IncompleteError: the database failed.
        """
        table = SCORE_RESULTS
        query = _query(PastScore, table, table.c.scored_at, wanted)
        if wanted.skill is not None:
            query = query.where(sa.or_(table.c.skill_name == wanted.skill, table.c.skill_path == wanted.skill))
        return tuple(PastScore(**{**row, "models": tuple(row["models"])}) for row in self._read(query))

    def _read(self, query: sa.Select[Any]) -> list[dict[str, Any]]:
        """Give rows, each value of its column's kind: SQLite keeps anything in any column, whoever wrote it."""
        engine = self._engine.execution_options(**{READING: True})
        columns = {column.name: column for column in query.selected_columns if isinstance(column, sa.Column)}
        with failing(self._engine, self._target, "read"), engine.connect() as connection:
            try:
                rows = [dict(row) for row in connection.execute(query).mappings()]
            except (ValueError, TypeError) as error:  # no time, no JSON
                raise foreign(self._target, str(error)[:200]) from None
        for row in rows:
            for name, value in row.items():
                if not _fits(value, columns[name]):
                    raise foreign(self._target, f"{name} of row {row['id']!r} is {str(value)[:50]!r}")
        return rows


def open_store(target: Target, *, create: bool) -> Store:
    """Open a store, and bring its schema to this version's.

    Args:
        target: where it is.
        create: whether a SQLite file is made where there is none.

    Raises:
        UsageError: it cannot be used, or a package is missing; the message says what to do.
    """
    require_packages(target)
    if target.path is not None:
        require_file(target, create=create)
    return Store(opened(target), target)


def _inserted(connection: Connection, table: sa.Table, row: dict[str, Any]) -> int:
    key = connection.execute(sa.insert(table), clean(row)).inserted_primary_key
    number: int = key[0] if key is not None else 0
    return number


def _fits(value: object, column: sa.Column[Any]) -> bool:
    if value is None:
        return bool(column.nullable)
    if isinstance(column.type, sa.JSON):
        return isinstance(value, dict if column.name == "dimensions" else list)
    kind = column.type.python_type
    if kind is float:
        return isinstance(value, int | float) and math.isfinite(value)
    return isinstance(value, kind)


def _query(shape: type, table: sa.Table, time: sa.Column[Any], wanted: Filter) -> sa.Select[Any]:
    """Select what a value holds, from its own table or its document's."""
    names = shape.__dataclass_fields__ if hasattr(shape, "__dataclass_fields__") else {}
    columns = [table.c[name] if name in table.c else DOCUMENTS.c[name] for name in names]
    query = sa.select(*columns).join(DOCUMENTS, DOCUMENTS.c.id == table.c.document_id)
    if wanted.since is not None:
        query = query.where(time >= wanted.since)
    query = query.order_by(time.desc(), table.c.id.desc())
    return query if wanted.limit is None else query.limit(wanted.limit)
