"""The keeper of recorded invocations: takes them with their scores, gives them back, forgets them."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from skillgate.errors import IncompleteError, UsageError
from skillgate.model.invocation import Fate, Invocation, InvocationScore, Observation, Scored
from skillgate.store.added import added_of, added_text, combined, merged
from skillgate.store.failures import failing, foreign, refusing
from skillgate.store.importing import Import, Origin, origin_of, show
from skillgate.store.invocation_rows import (
    FIELDS,
    SCORES,
    ForeignError,
    invocations,
    observations,
    of_invocations,
    of_scores,
    second,
)
from skillgate.store.opening import READING, opened
from skillgate.store.target import require_file, require_packages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sqlalchemy.engine import Connection, Engine

    from skillgate.store.bulk import Bulk
    from skillgate.store.importing import Scorer
    from skillgate.store.target import Target

__all__ = ["Fate", "Import", "InvocationStore", "Origin", "Record", "Scored", "open_invocations"]

_AT_ONCE = 4_096  # rows that are handled as columns
_READERS_MS = 5_000  # how long those who read what a store held before a purge are waited for
_FIELDS = ", ".join(FIELDS)
_UNKNOWN_ORIGIN = Origin()
_SCORES = ("rubric_version", *SCORES, "coverage", "baseline_category")
_ANEW = "ON CONFLICT (invocation_id, rubric_version) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in (*SCORES, "coverage", "baseline_category", "scored_at")
)


class Record(NamedTuple):
    """What a store holds of one invocation.

    Attributes:
        invocation: as figures see it: as it was recorded, with what was added by hand laid over it.
        added: the fields that were added by hand.
        origin: a label that was asked for, or a salted digest of the folder of the recording; None where it has none.
        imported_at: when it was last read, as UTC text.
        scores: by each version of the rubric that it was scored with.
    """

    invocation: Invocation
    added: Mapping[str, Any]
    origin: str | None
    imported_at: str
    scores: tuple[InvocationScore, ...]


class InvocationStore:
    """An open store. Processes share one without ado: those that write take turns, and nobody waits to read.

    An invocation began in a window when ``since`` <= its time < ``until``; None leaves an end open.
    """

    def __init__(self, engine: Engine, target: Target) -> None:
        """Take what :func:`open_invocations` opened."""
        self._engine = engine
        self._target = target

    def close(self) -> None:
        """Let go of it."""
        self._engine.dispose()

    @contextmanager
    def importing(
        self,
        rubric: str,
        scorer: Scorer,
        *,
        update: bool = False,
        later: bool = False,
        origin: Origin = _UNKNOWN_ORIGIN,
    ) -> Iterator[Import]:
        """Import invocations: all that is added within the ``with`` is kept, or nothing after any exception.

        Nobody else writes meanwhile. The view shows the scores by this rubric afterwards.

        Args:
            rubric: the version that the scores are of.
            scorer: scores by it; needed where something was added by hand to what is imported again.
            update: whether one that says something else under a known id replaces what is there. What was added by
                hand stays.
            later: likewise where it was seen until a later time; an earlier one is passed over.
            origin: where they come from.

        Raises:
            UsageError: :meth:`Import.add` failed, and the ``with`` went on all the same.
            IncompleteError: the database failed.
        """
        now = second(datetime.now(UTC))
        refuse = partial(refusing, self._engine, self._target)
        with self._writing() as rows:
            rows.prepare()
            place = origin_of(rows, origin)
            run = Import(rows, update=update, later=later, origin=place, now=now, scorer=scorer, refusing=refuse)
            yield run
            if run.broken:
                raise UsageError("nothing was imported, since a part of it could not be stored")
            show(rows, rubric)
            rows.settle()

    def observations(
        self, rubric: str, *, skill: str | None = None, since: datetime | None = None, until: datetime | None = None
    ) -> Iterator[Observation]:
        """Give what figures need, by skill, time and key, as one moment has it, however long it takes to be read.

        Invocations without a score by this rubric are not among them; :meth:`unscored` counts them.

        Raises:
            IncompleteError: the database failed, or holds what we did not write.
        """
        with self._reading() as rows:
            where, values = _where(skill, since, until)
            how = rows.scan(None if since is None else _second(since)) if skill is None else ""
            scores = ", ".join(f"s.{name}" for name in ("quality_score", *SCORES[:4], "coverage"))
            query = (
                f"SELECT i.skill_name, {rows.epoch}, i.skill_category, i.error_count, i.ending, {scores}"  # noqa: S608
                f" FROM invocations i {how} CROSS JOIN skill_scores s"
                f" WHERE s.invocation_id = i.id AND s.rubric_version = ?{where}"
                " ORDER BY i.skill_name, i.timestamp, i.id"
            )
            for part in rows.parts(query, (rubric, *values), _AT_ONCE):
                yield from observations(part)

    def unscored(self, rubric: str) -> int:
        """Count the invocations that have no score by this rubric.

        Raises:
            IncompleteError: the database failed.
        """
        with self._reading() as rows:
            scored = (  # joined: whoever deletes invocations in a shell of SQLite leaves their scores there
                "SELECT count(*) FROM skill_scores s JOIN invocations i ON i.id = s.invocation_id"
                " WHERE s.rubric_version = ?"
            )
            return _number(rows, f"SELECT (SELECT count(*) FROM invocations) - ({scored})", rubric)  # noqa: S608

    def count(self) -> int:
        """Count the invocations.

        Raises:
            IncompleteError: the database failed.
        """
        with self._reading() as rows:
            return _number(rows, "SELECT count(*) FROM invocations")

    def skills(self) -> tuple[str, ...]:
        """Give the names of all skills, in order.

        Raises:
            IncompleteError: the database failed, or holds what we did not write.
        """
        with self._reading() as rows:
            found = tuple(
                row[0] for row in rows.rows("SELECT DISTINCT skill_name FROM invocations ORDER BY skill_name")
            )
        for name in found:
            if not isinstance(name, str):
                raise foreign(self._target, f"skill_name is {str(name)[:50]!r}")
        return found

    def find(self, invocation_id: str) -> Invocation | None:
        """Give an invocation by its id.

        Raises:
            IncompleteError: the database failed, or holds what we did not write.
        """
        with self._reading() as rows:
            query = f"SELECT {_FIELDS} FROM invocations WHERE invocation_id = ?"  # noqa: S608
            return next(invocations(rows.rows(query, _kept(invocation_id))), None)

    def ids(self, beginning: str, most: int) -> tuple[str, ...]:
        """Return the ids that begin with a text, in order, up to so many.

        Raises:
            IncompleteError: the database failed.
        """
        query = "SELECT invocation_id FROM invocations WHERE substr(invocation_id, 1, ?) = ? ORDER BY 1 LIMIT ?"
        with self._reading() as rows:
            return tuple(row[0] for row in rows.rows(query, len(beginning), _kept(beginning), most))

    def record(self, invocation_id: str) -> Record | None:
        """Return all that is held of an invocation; None where there is none with this id.

        Raises:
            IncompleteError: the database failed, or holds what we did not write.
        """
        query = f"SELECT id, added, origin, imported_at, {_FIELDS} FROM invocations WHERE invocation_id = ?"  # noqa: S608
        with self._reading() as rows:
            found = rows.rows(query, _kept(invocation_id))
            if not found:
                return None
            key, added, origin, imported_at, *fields = found[0]
            scores = rows.rows(
                f"SELECT {', '.join(_SCORES)} FROM skill_scores WHERE invocation_id = ? ORDER BY rubric_version",  # noqa: S608
                key,
            )
            (invocation,) = invocations([tuple(fields)])
            return Record(
                invocation, added_of(added), origin, _time(imported_at), tuple(map(InvocationScore._make, scores))
            )

    def recent(
        self,
        rubric: str,
        *,
        skills: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        most: int,
    ) -> tuple[Record, ...]:
        """Return the latest invocations, the latest first, up to so many; their score by this rubric alone.

        Args:
            rubric: the version of the rubric.
            skills: names of skills; empty for all.
            since: those that began then or later.
            until: those that began before.
            most: how many at the most.

        Raises:
            IncompleteError: the database failed, or holds what we did not write.
        """
        where, values = _listed(skills, since, until)
        own = ", ".join(f"i.{name}" for name in ("added", "origin", "imported_at", *FIELDS))
        query = (
            f"SELECT {', '.join(f's.{name}' for name in _SCORES)}, {own} FROM invocations i"  # noqa: S608
            f" LEFT JOIN skill_scores s ON s.invocation_id = i.id AND s.rubric_version = ? WHERE i.id > 0{where}"
            " ORDER BY i.timestamp DESC, i.invocation_id LIMIT ?"
        )
        width = len(_SCORES)
        with self._reading() as rows:
            found = rows.rows(query, rubric, *values, most)
            those = invocations([row[width + 3 :] for row in found])
            return tuple(
                Record(
                    one,
                    added_of(row[width]),
                    row[width + 1],
                    _time(row[width + 2]),
                    () if row[0] is None else (InvocationScore._make(row[:width]),),
                )
                for one, row in zip(those, found, strict=True)
            )

    def count_within(
        self, *, skills: Sequence[str] = (), since: datetime | None = None, until: datetime | None = None
    ) -> int:
        """Count the invocations of some skills, of all where none is named, within a window.

        Raises:
            IncompleteError: the database failed.
        """
        where, values = _listed(skills, since, until)
        with self._reading() as rows:
            return _number(rows, f"SELECT count(*) FROM invocations i WHERE i.id > 0{where}", *values)  # noqa: S608

    def amend(self, invocation_id: str, fields: Mapping[str, Any], rubric: str, scorer: Scorer) -> Scored | None:
        """Add fields to an invocation by hand, and score it anew; they survive every later import.

        Scores by other versions of the rubric are deleted: they were of what was known before. The view shows the
        scores by this one afterwards.

        Returns:
            It with its score; None where there is none with this id.

        Raises:
            UsageError: a field cannot be stored.
            IncompleteError: the database failed, or holds what we did not write.
        """
        query = f"SELECT id, digest, added, origin, imported_at, {_FIELDS} FROM invocations WHERE invocation_id = ?"  # noqa: S608
        with self._writing() as rows, refusing(self._engine, self._target):
            found = rows.rows(query, _kept(invocation_id))
            if not found:
                return None
            key, digest, before, origin, at, *columns = found[0]
            (invocation,) = invocations([tuple(columns)])
            added = combined(added_of(before), dict(fields))
            invocation = merged(invocation, added)
            scored = Scored(invocation, scorer(invocation), digest)
            written = of_invocations([scored], imported_at=_time(at), origin=origin, added=[added_text(added)])
            rows.delete([key])
            rows.insert("invocations", {"id": [key], **written})
            rows.insert("skill_scores", of_scores([key], [scored.score], scored_at=second(datetime.now(UTC))))
            show(rows, rubric)
            return scored

    def invocations(
        self, *, skill: str | None = None, since: datetime | None = None
    ) -> Iterator[tuple[int, Invocation]]:
        """Give invocations with their keys, in the order of these, as one moment has them.

        Raises:
            IncompleteError: the database failed, or holds what we did not write.
        """
        where, values = _where(skill, since, None)
        query = f"SELECT i.id, {_FIELDS} FROM invocations i WHERE i.id > 0{where} ORDER BY i.id"  # noqa: S608
        with self._reading() as rows:
            for part in rows.parts(query, values, _AT_ONCE):
                yield from _keyed(part)

    def rescore(
        self,
        rubric: str,
        scorer: Scorer,
        *,
        skill: str | None = None,
        since: datetime | None = None,
        make_current: bool,
    ) -> int:
        """Score what is there anew, all or nothing; scores by other versions stay.

        Args:
            rubric: the version that ``scorer`` scores by.
            scorer: gives the score of an invocation.
            skill: those of this skill; None for any.
            since: those that began then or later; None for whenever.
            make_current: whether the view shows the scores by this rubric afterwards.

        Returns:
            How many were scored.

        Raises:
            IncompleteError: the database failed, or holds what we did not write.
        """
        now, last, count = second(datetime.now(UTC)), 0, 0
        where, values = _where(skill, since, None)
        query = f"SELECT i.id, {_FIELDS} FROM invocations i WHERE i.id > ?{where} ORDER BY i.id LIMIT {_AT_ONCE}"  # noqa: S608
        with self._writing() as rows, refusing(self._engine, self._target):
            while part := rows.rows(query, last, *values):
                keys, found = zip(*_keyed(part), strict=True)
                columns = of_scores(keys, map(scorer, found), scored_at=now)
                rows.insert("skill_scores", columns, _ANEW)
                last, count = keys[-1], count + len(keys)
            if make_current:
                show(rows, rubric)
        return count

    def purge(self, *, before: datetime | None = None, skill: str | None = None, dry_run: bool) -> int:
        """Delete invocations with their scores.

        In a SQLite file nothing of them is left: it is written anew without them, and its log emptied. PostgreSQL keeps
        deleted rows until its own VACUUM, and longer in its write-ahead log and in backups.

        Args:
            before: those that began earlier; None for whenever.
            skill: those of this skill; None for any.
            dry_run: whether they are only counted.

        Returns:
            How many were deleted, or would be.

        Raises:
            UsageError: neither is given.
            IncompleteError: the database failed, or somebody still read what it held before.
        """
        if before is None and skill is None:
            raise UsageError("name a time, a skill, or both; without them all invocations would be deleted")
        where, values = _where(skill, None, before)
        those = f"invocations AS i WHERE i.id > 0{where}"
        if dry_run:
            with self._reading() as rows:
                return _number(rows, f"SELECT count(*) FROM {those}", *values)  # noqa: S608
        with self._writing() as rows:
            count = rows.run(f"DELETE FROM {those}", *values)  # noqa: S608
        if self._target.path is not None:
            self._clear(count)
        return count

    def _clear(self, count: int) -> None:
        with failing(self._engine, self._target, "cleared of what was deleted"), self._engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            raw.execute("VACUUM")
            raw.execute(f"PRAGMA busy_timeout = {_READERS_MS}")
            busy = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise IncompleteError(
                f"{count:,} invocations were deleted, but while others read the store {self._target.shown}, their bytes"
                " stay in its write-ahead log; purge again later"
            )

    @contextmanager
    def _reading(self) -> Iterator[Bulk]:
        engine = self._engine.execution_options(**{READING: True})
        try:
            with failing(self._engine, self._target, "read"), engine.begin() as connection:
                yield _bulk(connection)
        except ForeignError as error:
            raise foreign(self._target, str(error)) from None

    @contextmanager
    def _writing(self) -> Iterator[Bulk]:
        try:
            with failing(self._engine, self._target, "written"), self._engine.begin() as connection:
                rows = _bulk(connection)
                rows.lock()
                yield rows
        except ForeignError as error:
            raise foreign(self._target, str(error)) from None


def open_invocations(target: Target, *, create: bool) -> InvocationStore:
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
    return InvocationStore(opened(target), target)


def _number(rows: Bulk, query: str, *values: object) -> int:
    found: int = rows.rows(query, *values)[0][0]
    return found


def _time(at: Any) -> str:  # noqa: ANN401 - text in SQLite, a time in PostgreSQL
    return at if isinstance(at, str) else second(at)


def _keyed(part: list[tuple[Any, ...]]) -> Iterator[tuple[int, Invocation]]:
    return zip((row[0] for row in part), invocations([row[1:] for row in part]), strict=True)


def _where(skill: str | None, since: datetime | None, until: datetime | None) -> tuple[str, tuple[str, ...]]:
    given = (
        (" AND i.skill_name = ?", None if skill is None else _kept(skill)),
        (" AND i.timestamp >= ?", None if since is None else _second(since)),
        (" AND i.timestamp < ?", None if until is None else _second(until)),
    )
    return "".join(words for words, value in given if value is not None), tuple(
        value for _, value in given if value is not None
    )


def _listed(skills: Sequence[str], since: datetime | None, until: datetime | None) -> tuple[str, tuple[str, ...]]:
    where, values = _where(None, since, until)
    if not skills:
        return where, values
    return f"{where} AND i.skill_name IN ({', '.join('?' * len(skills))})", (*values, *map(_kept, skills))


def _kept(name: str) -> str:
    """Give a name as it may be there; for one that no database keeps the empty one, which nothing has."""
    odd = "\0" in name or any("\ud800" <= character <= "\udfff" for character in name)
    return "" if odd else name


def _second(at: datetime) -> str:
    """Give the first whole second that is not before a time: invocations have their times to the second."""
    return second(at + timedelta(microseconds=-at.microsecond % 1_000_000))


def _bulk(connection: Connection) -> Bulk:
    """Give the driver of a connection that is in a transaction."""
    if connection.dialect.name == "sqlite":
        from skillgate.store.bulk_sqlite import SqliteBulk

        return SqliteBulk(connection)
    from skillgate.store.bulk_postgres import PostgresBulk

    return PostgresBulk(connection)
