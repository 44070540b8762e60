"""The store of recorded invocations and their scores: import, read, amend, rescore and delete."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from itertools import chain, groupby, repeat
from math import isfinite
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from skillgate.errors import IncompleteError, UsageError
from skillgate.model.invocation import Fate, Filters, Invocation, InvocationScore, Scored
from skillgate.store.import_run import Import
from skillgate.store.invocation_rows import (
    FIELDS,
    SCORE_COLUMNS,
    SCORES,
    ForeignError,
    added_of,
    added_text,
    bulk,
    combined,
    invocations,
    merged,
    of_import,
    of_scores,
    rows_of,
    second,
)
from skillgate.store.record_rows import ANY, SELECT, Record, conditions, records, storable, time_text, whole_second
from skillgate.store.schema import READING, failing, foreign, opened, refusing
from skillgate.store.summaries import NewSummaries, is_outdated, is_whole, outdate_all, refresh, summaries
from skillgate.store.target import require_file, require_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlalchemy.engine import Engine

    from skillgate.store.invocation_rows import Bulk
    from skillgate.store.observations import Observations
    from skillgate.store.target import Target

    Scorer: TypeAlias = Callable[[Invocation], InvocationScore]

__all__ = ["Fate", "Import", "InvocationStore", "Origin", "Record", "Scored", "open_invocations"]

_AT_ONCE = 4_096  # rows per batch
_DIGEST = re.compile("[0-9a-f]{32}")
_KEYS = 500  # keys of one query; old SQLite allows 999 values
_READERS_MS = 5_000  # how long a purge waits for readers
_ORIGIN_DIGITS = 12
_FIELDS = ", ".join(FIELDS)
_LATEST = "ORDER BY i.timestamp DESC, i.invocation_id LIMIT ?"
_SHOW = (
    "INSERT INTO shown_rubric (id, rubric_version) VALUES (1, ?)"
    " ON CONFLICT (id) DO UPDATE SET rubric_version = excluded.rubric_version"
)
_REPLACE = "ON CONFLICT (invocation_id, rubric_version) DO UPDATE SET " + ", ".join(
    f"{name} = excluded.{name}" for name in (*SCORES, "coverage", "baseline_category", "scored_at")
)


class Origin(NamedTuple):
    """The origin of imported invocations.

    Attributes:
        folder: Absolute path of the recording's folder; only a salted digest is stored.
        label: A name chosen by the user; stored instead of the digest.
    """

    folder: str | None = None
    label: str | None = None


def _stored_origin(rows: Bulk, origin: Origin) -> str | None:
    """Return an origin for the database; creates the store's salt if needed."""
    if origin.label is not None or origin.folder is None:
        return origin.label
    salts = rows.rows("SELECT salt FROM origin_salt")
    if not salts:
        salts = [(secrets.token_hex(16),)]
        rows.run("INSERT INTO origin_salt (id, salt) VALUES (1, ?)", salts[0][0])
    key, folder = str(salts[0][0]).encode(), origin.folder.encode("utf-8", "surrogateescape")
    return f"folder-{hmac.new(key, folder, hashlib.sha256).hexdigest()[:_ORIGIN_DIGITS]}"


_UNKNOWN_ORIGIN = Origin()


class InvocationStore:
    """An open store. Several processes may use it: writers take turns, readers never wait.

    A window contains times with ``since`` <= time < ``until``; None means no bound.
    """

    def __init__(self, engine: Engine, target: Target) -> None:
        self._engine, self._target = engine, target
        self._compared = False  # whether the summaries were compared with the rows

    def close(self) -> None:
        """Close the connections."""
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
        looks_up: bool = False,
    ) -> Iterator[Import]:
        """Import invocations: everything added within the ``with`` is stored, or nothing after an exception.

        Other writers wait. Afterwards the view shows the scores by this rubric.

        Args:
            rubric: Rubric version of the scores.
            scorer: Scores existing invocations again with their fields added by hand.
            update: Whether different content under a known id replaces the existing one. Fields added by hand stay.
            later: As ``update``, but only if it was seen until a later time.
            origin: Where they come from.
            looks_up: Whether :meth:`Import.uses_near` is called, which needs an index.

        Raises:
            UsageError: :meth:`Import.add` failed, but the ``with`` block continued.
            IncompleteError: The database failed.
        """
        now = second(datetime.now(UTC))
        refuse = partial(refusing, self._engine, self._target)
        with self._writing() as rows:
            is_empty = rows.prepare(with_indexes=looks_up)
            stored = _stored_origin(rows, origin)
            run = Import(
                rows,
                update=update,
                later=later,
                origin=stored,
                label=origin.label,
                now=now,
                scorer=scorer,
                refusing=refuse,
                summaries=NewSummaries() if is_empty else None,
            )
            yield run
            if run.broken:
                raise UsageError("nothing was imported, because some of it could not be stored")
            rows.run(_SHOW, rubric)
            rows.settle()
            if run.summaries is not None:
                run.summaries.write(rows)
            elif is_empty:
                outdate_all(rows)

    def observations(
        self,
        rubric: str,
        *,
        skill: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        filters: Filters = ANY,
    ) -> Iterator[Observations]:
        """Yield the data for figures of one skill, or of each by its name, from one snapshot.

        Invocations without a score by this rubric are left out; :meth:`unscored` counts them.

        Raises:
            IncompleteError: The database failed, or contains foreign values.
        """
        from skillgate.store.observations import gathered  # imports numpy

        first, end = (None if at is None else int(whole_second(at).timestamp()) for at in (since, until))
        with self._summarised() as rows:
            day = None if since is None else second(since)[:10]
            found = summaries(rows, rubric, None if skill is None else storable(skill), day)
            for name, own in groupby(found, itemgetter(0)):
                yield gathered(name, own).since(first).before(end).only(filters)

    def unscored(self, rubric: str) -> int:
        """Count the invocations without a score by this rubric.

        Raises:
            IncompleteError: The database failed.
        """
        with self._summarised() as rows:
            scored = "SELECT coalesce(sum(n), 0) FROM invocation_summaries WHERE rubric_version = ?"
            return max(0, int(_number(rows, f"SELECT (SELECT count(*) FROM invocations) - ({scored})", rubric)))  # noqa: S608

    def count(self) -> int:
        """Count the invocations.

        Raises:
            IncompleteError: The database failed.
        """
        with self._reading() as rows:
            return _number(rows, "SELECT count(*) FROM invocations")

    def skills(self) -> tuple[str, ...]:
        """Return the sorted names of all skills.

        Raises:
            IncompleteError: The database failed, or contains foreign values.
        """
        with self._reading() as rows:
            names = rows.rows("SELECT DISTINCT skill_name FROM invocations ORDER BY skill_name")
        found = tuple(row[0] for row in names)
        for name in found:
            if not isinstance(name, str):
                raise foreign(self._target, f"skill_name is {str(name)[:50]!r}")
        return found

    def find(self, invocation_id: str) -> Invocation | None:
        """Return an invocation by id, or None."""
        with self._reading() as rows:
            query = f"SELECT {_FIELDS} FROM invocations WHERE invocation_id = ?"  # noqa: S608
            return next(invocations(rows.rows(query, storable(invocation_id))), None)

    def ids(self, beginning: str, most: int) -> tuple[str, ...]:
        """Return up to ``most`` sorted ids that begin with ``beginning``."""
        query = "SELECT invocation_id FROM invocations WHERE substr(invocation_id, 1, ?) = ? ORDER BY 1 LIMIT ?"
        with self._reading() as rows:
            return tuple(row[0] for row in rows.rows(query, len(beginning), storable(beginning), most))

    def record(self, invocation_id: str) -> Record | None:
        """Return the stored record of an invocation, or None."""
        query = f"SELECT id, added, origin, imported_at, {_FIELDS} FROM invocations WHERE invocation_id = ?"  # noqa: S608
        with self._reading() as rows:
            found = rows.rows(query, storable(invocation_id))
            if not found:
                return None
            key, added, origin, imported_at, *fields = found[0]
            query = (
                f"SELECT {', '.join(SCORE_COLUMNS)} FROM skill_scores WHERE invocation_id = ? ORDER BY rubric_version"  # noqa: S608
            )
            scores = map(InvocationScore._make, rows.rows(query, key))
            (invocation,) = invocations([tuple(fields)])
            return Record(invocation, added_of(added), origin, time_text(imported_at), tuple(scores))

    def recent(
        self,
        rubric: str,
        *,
        skills: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        filters: Filters = ANY,
        most: int,
    ) -> tuple[Record, ...]:
        """Return up to ``most`` invocations, latest first, with only their score by this rubric.

        Empty ``skills`` means all skills.
        """
        where, values = conditions(skills, since, until, filters)
        with self._reading() as rows:
            found = rows.rows(f"{SELECT} WHERE i.id > 0{where} {_LATEST}", rubric, *values, most)
            return tuple(one for _, one in records(found))

    def records(self, keys: Sequence[int], rubric: str) -> tuple[Record, ...]:
        """Return the invocations with these keys in their order, with only their score by this rubric.

        Deleted and unrated ones are left out.
        """
        found: dict[int, Record] = {}
        with self._reading() as rows:
            for start in range(0, len(keys), _KEYS):
                some = keys[start : start + _KEYS]
                marks = ", ".join("?" * len(some))
                where = f"s.quality_score IS NOT NULL AND i.id IN ({marks})"
                found.update(records(rows.rows(f"{SELECT} WHERE {where}", rubric, *some)))
        return tuple(found[key] for key in keys if key in found)

    def parts(
        self,
        rubric: str,
        *,
        skills: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        filters: Filters = ANY,
    ) -> Iterator[list[Record]]:
        """Yield invocations in parts, by key, with only their score by this rubric, from one snapshot.

        Raises:
            IncompleteError: The database failed, or contains foreign values.
        """
        where, values = conditions(skills, since, until, filters)
        with self._reading() as rows:
            for part in rows.parts(f"{SELECT} WHERE i.id > 0{where} ORDER BY i.id", (rubric, *values), _AT_ONCE):
                yield [one for _, one in records(part)]

    def answer(self, query: str) -> tuple[str | None, list[tuple[Any, ...]]]:
        """Return the rubric version of the view ``skill_invocations``, and the rows of a query that reads it.

        Raises:
            IncompleteError: The database failed, or contains foreign values.
        """
        with self._reading() as rows:
            shown = rows.rows("SELECT rubric_version FROM shown_rubric")
            found = rows.rows(query)
            for value in chain.from_iterable(found):
                if not (value is None or isinstance(value, str | int) or (type(value) is float and isfinite(value))):
                    raise ForeignError(str(value)[:50])
        return (shown[0][0] if shown else None), found

    def count_within(
        self,
        *,
        skills: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        filters: Filters = ANY,
    ) -> int:
        """Count the invocations within a window; empty ``skills`` means all skills."""
        where, values = conditions(skills, since, until, filters)
        with self._reading() as rows:
            return _number(rows, f"SELECT count(*) FROM invocations i WHERE i.id > 0{where}", *values)  # noqa: S608

    def amend(self, invocation_id: str, fields: Mapping[str, Any], rubric: str, scorer: Scorer) -> Scored | None:
        """Add fields to an invocation by hand, and score it again; later imports keep the fields.

        Scores by other rubric versions are deleted, since they are outdated. Afterwards the view shows the scores by
        this rubric.

        Returns:
            The invocation with its score, or None if there is none with this id.

        Raises:
            UsageError: A field cannot be stored.
            IncompleteError: The database failed, or contains foreign values.
        """
        query = f"SELECT id, digest, added, origin, imported_at, {_FIELDS} FROM invocations WHERE invocation_id = ?"  # noqa: S608
        with self._writing() as rows, refusing(self._engine, self._target):
            found = rows.rows(query, storable(invocation_id))
            if not found:
                return None
            key, digest, before, origin, at, *columns = found[0]
            (invocation,) = invocations([tuple(columns)])
            added = combined(added_of(before), dict(fields))
            invocation = merged(invocation, added)
            scored = Scored(invocation, scorer(invocation), digest)
            written = rows_of([scored])
            rest = of_import(1, imported_at=time_text(at), origins=[origin], added=[added_text(added)])
            now = second(datetime.now(UTC))
            rows.delete([key])
            rows.insert("invocations", {"id": [key], **written.invocations, **rest})
            rows.insert("skill_scores", {"invocation_id": [key], **written.scores, "scored_at": [now]})
            rows.run(_SHOW, rubric)
            return scored

    def joinable(self) -> Iterator[tuple[int, Invocation, str, str | None, dict[str, Any]]]:
        """Yield all invocations by key from one snapshot, each with its digest, origin and fields added by hand.

        Raises:
            IncompleteError: The database failed, or contains foreign values.
        """
        query = f"SELECT id, digest, origin, added, {_FIELDS} FROM invocations ORDER BY id"  # noqa: S608
        with self._reading() as rows:
            for part in rows.parts(query, (), _AT_ONCE):
                for row, one in zip(part, invocations([row[4:] for row in part]), strict=True):
                    key, digest, origin, added = row[:4]
                    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
                        raise ForeignError(f"digest is {str(digest)[:50]!r}")
                    if not isinstance(origin, str | None):
                        raise ForeignError(f"origin is {str(origin)[:50]!r}")
                    yield key, one, digest, origin, added_of(added)

    def invocations(
        self, *, skill: str | None = None, since: datetime | None = None
    ) -> Iterator[tuple[int, Invocation]]:
        """Yield keys and invocations from one snapshot, by key."""
        where, values = conditions(_named(skill), since, None)
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
        """Score stored invocations again, all or nothing, and return their number; scores by other versions stay.

        Args:
            rubric: Rubric version of ``scorer``.
            scorer: Returns the score of an invocation.
            skill: Only this skill; None for any.
            since: Only from this time on; None for any.
            make_current: Whether the view shows the scores by this rubric afterwards.
        """
        now, last, count = second(datetime.now(UTC)), 0, 0
        where, values = conditions(_named(skill), since, None)
        query = f"SELECT i.id, {_FIELDS} FROM invocations i WHERE i.id > ?{where} ORDER BY i.id LIMIT {_AT_ONCE}"  # noqa: S608
        with self._writing() as rows, refusing(self._engine, self._target):
            while part := rows.rows(query, last, *values):
                keys, found = zip(*_keyed(part), strict=True)
                columns = {"invocation_id": keys, **of_scores(map(scorer, found)), "scored_at": repeat(now)}
                rows.insert("skill_scores", columns, _REPLACE)
                last, count = keys[-1], count + len(keys)
            if make_current:
                rows.run(_SHOW, rubric)
        return count

    def purge(self, *, before: datetime | None = None, skill: str | None = None, dry_run: bool) -> int:
        """Delete invocations with their scores, and return how many were or would be deleted.

        A SQLite file is rewritten without them, and its log is emptied. PostgreSQL keeps deleted rows until its own
        VACUUM, and longer in its write-ahead log and in backups.

        Args:
            before: Only those before this time; None for any.
            skill: Only this skill; None for any.
            dry_run: Whether to count only.

        Raises:
            UsageError: Both are None.
            IncompleteError: The database failed, or another process still reads the deleted rows.
        """
        if before is None and skill is None:
            raise UsageError("specify a time, a skill, or both; otherwise all invocations would be deleted")
        where, values = conditions(_named(skill), None, before)
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
                f"{count:,} invocations were deleted, but other processes are reading the store {self._target.shown},"
                " the data is still in its write-ahead log; purge again later"
            )

    @contextmanager
    def _reading(self) -> Iterator[Bulk]:
        engine = self._engine.execution_options(**{READING: True})
        try:
            with failing(self._engine, self._target, "read"), engine.begin() as connection:
                yield bulk(connection)
        except ForeignError as error:
            raise foreign(self._target, str(error)) from None

    @contextmanager
    def _summarised(self) -> Iterator[Bulk]:
        """Read summaries that match their rows; other programs may have changed both."""
        while True:
            with self._reading() as rows:
                outdated = is_outdated(rows)
                if not outdated and (self._compared or is_whole(rows)):
                    self._compared = True
                    yield rows
                    return
            with self._writing() as rows:
                if not outdated:
                    outdate_all(rows)
                    self._compared = True
                refresh(rows)

    @contextmanager
    def _writing(self) -> Iterator[Bulk]:
        try:
            with failing(self._engine, self._target, "written"), self._engine.begin() as connection:
                rows = bulk(connection)
                rows.lock()
                yield rows
                with suppress(ForeignError):  # the days stay outdated, and who reads them reports it
                    refresh(rows)
        except ForeignError as error:
            raise foreign(self._target, str(error)) from None


def open_invocations(target: Target, *, create: bool) -> InvocationStore:
    """Open a store, and upgrade its schema if needed; with ``create``, create a missing SQLite file.

    Raises:
        UsageError: It is unusable, or a package is missing.
    """
    require_packages(target)
    if target.path is not None:
        require_file(target, create=create)
    return InvocationStore(opened(target), target)


def _number(rows: Bulk, query: str, *values: object) -> int:
    found: int = rows.rows(query, *values)[0][0]
    return found


def _keyed(part: list[tuple[Any, ...]]) -> Iterator[tuple[int, Invocation]]:
    return zip((row[0] for row in part), invocations([row[1:] for row in part]), strict=True)


def _named(skill: str | None) -> tuple[str, ...]:
    return () if skill is None else (skill,)
