"""The tables of the store, the same for SQLite and PostgreSQL, and how to open it.

Unmeasured figures are NULL. Times are UTC. Ratios are in [0, 1], latencies in milliseconds. A result belongs to one
document, and is never overwritten. Text columns have no index, since PostgreSQL refuses long values in one; indexed
texts of invocations have up to 200 characters.

Users may query the tables of invocations with ``sqlite3`` or ``psql``: in SQLite, times are texts comparable with
``datetime('now')``, and the view uses no custom function. Range checks have both bounds, since in SQLite any text, and
infinity, is greater than a number.

SQLite uses WAL, so that readers and one writer do not wait for each other, and flushes every commit (``synchronous =
FULL``): a run commits once, so the cost is small, and written results survive a power failure. Every writing
transaction takes the write lock at its beginning (``BEGIN IMMEDIATE``), since a reader cannot wait for it later.
PostgreSQL takes an advisory lock while the schema is created.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.pool import NullPool

from skillgate.errors import IncompleteError, UsageError
from skillgate.store.target import HEAD, TABLE, require_known
from skillgate.store.triggers import mark_all, trigger_statements

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.engine import Connection, Dialect, Engine

    from skillgate.store.target import Target

METADATA = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")  # only INTEGER auto-increments in SQLite


class UtcTime(sa.types.TypeDecorator[datetime]):
    """A UTC time, with time zone in PostgreSQL, without in SQLite, which has no such type."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:  # noqa: ANN401 - the base's
        """Convert a time to UTC."""
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:  # noqa: ANN401, ARG002
        """Return a time with time zone."""
        if value is None:
            return None
        found: datetime = value
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _key() -> sa.Column[Any]:
    return sa.Column("id", _NUMBER, primary_key=True, autoincrement=True)


def _owner(table: str) -> sa.Column[Any]:
    return sa.Column(f"{table}_id", _NUMBER, sa.ForeignKey(f"{table}s.id", ondelete="CASCADE"), nullable=False)


def _texts(*names: str, nullable: bool = True) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Text(), nullable=nullable) for name in names]


def _figures(*names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.Double(), nullable=True) for name in names]


def _counts(*names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, sa.BigInteger(), nullable=nullable) for name in names]


DOCUMENTS = sa.Table(
    "documents",
    METADATA,
    _key(),
    sa.Column("digest", sa.String(64), nullable=False, unique=True),
    *_texts("kind", "tool_version", "config_digest", "origin", nullable=False),
    *_counts("schema_version", "scoring_version"),
    sa.Column("happened_at", UtcTime(), nullable=False, index=True),
    sa.Column("stored_at", UtcTime(), nullable=False),
    *_texts("source", "commit_id", "branch"),
    sa.Column("coverage", sa.Double(), nullable=True),
    sa.Column("gate_passed", sa.Boolean(), nullable=True),
    sa.Column("settings", sa.JSON(none_as_null=True), nullable=True),
)

BENCH_EVALUATIONS = sa.Table(
    "bench_evaluations",
    METADATA,
    _key(),
    _owner("document"),
    *_counts("position"),
    *_texts("skill_id", "skill_version", "skill_digest", "skill_path", "adapter", nullable=False),
    *_texts("benchmark_id", "benchmark_version", "benchmark_digest", "scoring_method", nullable=False),
    *_texts("model"),
    # Must be equal to compare evaluations: the scorer, task filters, the shard.
    sa.Column("comparable", sa.Text(), nullable=False),
    sa.Column("started_at", UtcTime(), nullable=False, index=True),
    *_figures("completion_rate", "completion_low", "completion_high", "partial_score", "error_rate"),
    *_figures("consistency_score", "composite_score", "weighted_completion_rate", "agreement"),
    *_figures("mean_score", "mean_low", "mean_high", "pass_at_k", "pass_hat_k"),
    *_counts("k", "completion_n", nullable=True),
    *_counts("total", "passed", "failed", "errors", "timeouts", "skipped", "retries", "latency_n", "flaky_tasks"),
    *_figures("latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "cost_usd"),
    *_counts("tokens_input", "tokens_output", "tokens_total", nullable=True),
    sa.Column("gate_passed", sa.Boolean(), nullable=True),
    *_texts("incomplete"),
    sa.Column("reasons", sa.JSON(none_as_null=True), nullable=True),
    sa.UniqueConstraint("document_id", "position"),
)

TASK_RESULTS = sa.Table(
    "task_results",
    METADATA,
    _key(),
    sa.Column(
        "evaluation_id", _NUMBER, sa.ForeignKey("bench_evaluations.id", ondelete="CASCADE"), nullable=False, index=True
    ),
    *_texts("task_id", nullable=False),
    *_counts("run"),
    *_texts("status", nullable=False),
    *_figures("score", "latency_ms"),
    *_texts("scorer_type", nullable=False),
    *_texts("error_kind", "error", "reason", "output"),
    sa.Column("output_truncated", sa.Boolean(), nullable=False),
    *_counts("attempts"),
    *_counts("tokens_total", nullable=True),
    *_figures("cost_usd"),
    sa.Column("weight", sa.Double(), nullable=False),
    sa.Column("golden", sa.Boolean(), nullable=False),
)

SCORE_RESULTS = sa.Table(
    "score_results",
    METADATA,
    _key(),
    _owner("document"),
    *_counts("position"),
    *_texts("skill_name", "skill_path", "depth", nullable=False),
    *_counts("scoring_version"),
    *_figures("composite", "ci_low", "ci_high", "elo", "coverage", "cost_usd"),
    *_texts("badge", "reason", "content_digest", "plugin"),
    sa.Column("models", sa.JSON(), nullable=False),
    sa.Column("dimensions", sa.JSON(), nullable=False),
    *_counts("errors", "warnings"),
    sa.Column("evaluated", sa.Boolean(), nullable=False),
    sa.Column("gate_passed", sa.Boolean(), nullable=True),
    sa.Column("scored_at", UtcTime(), nullable=False, index=True),
    sa.UniqueConstraint("document_id", "position"),
)


COUNT_MOST = 2**63 - 1  # of a BIGINT
FIGURE_MOST = "1.7976931348623157e308"  # the largest finite double
LONGEST = 200  # characters of an invocation's id and of a skill's name
POINTS = {  # the columns of a score and their maxima
    "completion_score": 25,
    "efficiency_score": 20,
    "quality_score_component": 30,
    "satisfaction_score": 25,
    "quality_score": 100,
    "coverage": 1,
}
_ENDINGS = ("complete", "recovered", "partial", "workaround", "explained_failure", "hard_failure")
_EVIDENCE = (
    *("user_approved", "user_rejected", "committed", "reverted", "reported_success", "reported_failure"),
    *("load_failed", "ended_in_error"),
)
_CALLERS = ("user", "model", "skill")
_ACCURACIES = ("accurate", "mostly", "partially", "inaccurate")
_BYTEWISE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")  # the default order in SQLite


def _check(name: str, condition: str, *, table: str = "invocations", only: str | None = None) -> sa.CheckConstraint:
    constraint = sa.CheckConstraint(condition, name=f"ck_{table}_{name}")
    return constraint if only is None else constraint.ddl_if(dialect=only)


def _second(name: str, *, table: str = "invocations", exact: bool = False) -> list[Any]:
    kind = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")
    # The exact condition takes a microsecond; two of the three times of a row are from our own clock.
    form = f"{name} IS strftime('%Y-%m-%d %H:%M:%S', {name})" if exact else f"length({name}) = 19"
    return [sa.Column(name, kind, nullable=False), _check(name, form, table=table, only="sqlite")]


def _names(*names: str) -> list[Any]:
    columns: list[Any] = [sa.Column(name, _BYTEWISE, nullable=False) for name in names]
    return [*columns, *(_check(name, f"length({name}) BETWEEN 1 AND {LONGEST}") for name in names)]


def _choice(name: str, choices: tuple[str, ...]) -> list[Any]:
    one = " OR ".join(f"{name} = '{choice}'" for choice in choices)  # for IN, SQLite builds a table for every row
    return [sa.Column(name, sa.Text(), nullable=True), _check(name, one)]


def _flags(*names: str) -> list[Any]:
    columns: list[Any] = [sa.Column(name, sa.Boolean(), nullable=True) for name in names]
    return [*columns, *(_check(name, f"{name} IN (0, 1)", only="sqlite") for name in names)]


def _bounded_counts(*names: str) -> list[Any]:
    return [*_counts(*names, nullable=True), *(_check(name, f"{name} BETWEEN 0 AND {COUNT_MOST}") for name in names)]


def _bounded_figures(*names: str, most: object = FIGURE_MOST) -> list[Any]:
    return [*_figures(*names), *(_check(name, f"{name} BETWEEN 0 AND {most}") for name in names)]


INVOCATIONS = sa.Table(
    "invocations",
    METADATA,
    _key(),
    *_names("invocation_id", "skill_name"),
    *_second("timestamp", exact=True),
    *_texts("skill_version", "skill_category", "session_id", "model"),
    *_texts("source", nullable=False),
    *_choice("ending", _ENDINGS),
    *_bounded_counts("error_count"),
    *_flags("recovered", "partial_completion", "workaround_used", "failure_explained", "crashed"),
    *_bounded_figures("duration_ms"),
    *_bounded_counts("tokens_input", "tokens_output", "tokens_used", "tool_call_kinds", "tool_call_count"),
    *_texts("output_type"),
    *_bounded_figures("output_size", "files_changed", "units", "time_units"),
    *_flags("output_validated"),
    *_bounded_figures("requested_items", "delivered_items"),
    *_flags("linter_passed", "types_valid", "tests_passed"),
    *_choice("accuracy", _ACCURACIES),
    *_flags("feedback_given", "user_accepted", "user_used_output"),
    *_bounded_figures("user_edit_ratio", most=1),
    *_bounded_counts("follow_up_count"),
    sa.Column("follow_up_open", sa.BigInteger(), nullable=True),
    _check("follow_up_open", f"follow_up_open BETWEEN 0 AND coalesce(follow_up_count, {COUNT_MOST})"),
    *_choice("rating", ("positive", "negative")),
    *_texts("extra"),  # JSON as text, readable also in a shell without JSON functions
    sa.Column("digest", sa.String(32), nullable=False),
    _check("digest", "length(digest) = 32"),
    *_second("imported_at"),
    *_texts("origin"),  # a label, else a salted digest of the folder
    *_texts("added"),  # JSON of fields set by `log add --update`, which imports keep
    *_bounded_counts("tool_error_count", "tool_calls_most", "tokens_most"),
    *_choice("outcome_evidence", _EVIDENCE),
    *_bounded_figures("duration_most_ms"),
    *_flags("shared"),
    *_choice("called_by", _CALLERS),
    *_bounded_figures("cost_usd"),
    *_flags("cost_estimated"),
    *_flags("graded"),
    sa.UniqueConstraint("invocation_id"),
    sa.Index(None, "skill_name", "timestamp"),
    sa.Index(None, "timestamp"),
)

SKILL_SCORES = sa.Table(
    "skill_scores",
    METADATA,
    sa.Column(
        "invocation_id",
        _NUMBER,
        sa.ForeignKey("invocations.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    sa.Column("rubric_version", _BYTEWISE, primary_key=True),
    *(sa.Column(name, sa.Double(), nullable=name != "coverage") for name in POINTS),
    *(_check(name, f"{name} BETWEEN 0 AND {most}", table="skill_scores") for name, most in POINTS.items()),
    *_texts("baseline_category", nullable=False),
    *_second("scored_at", table="skill_scores"),
    sqlite_with_rowid=False,  # rows are stored in the order of their invocations
)

SHOWN_RUBRIC = sa.Table(  # one row after the first import: the rubric of the view
    "shown_rubric",
    METADATA,
    sa.Column("id", _NUMBER, primary_key=True, autoincrement=False),
    _check("id", "id = 1", table="shown_rubric"),
    *_texts("rubric_version", nullable=False),
)

ORIGIN_SALT = sa.Table(  # one row after the first import: the salt for digests of folders
    "origin_salt",
    METADATA,
    sa.Column("id", _NUMBER, primary_key=True, autoincrement=False),
    _check("id", "id = 1", table="origin_salt"),
    *_texts("salt", nullable=False),
)

SYNCED_FILES = sa.Table(  # what `log sync` knows of files, by a salted digest of the path
    "synced_files",
    METADATA,
    sa.Column("place", _BYTEWISE, primary_key=True),
    *_texts("stamp", "digest", nullable=False),
    *_counts("read_to", "lines_read"),
    *_texts("options", nullable=False),
    *_texts("part_of"),
)

SUMMARIES = sa.Table(  # packed columns of scored invocations, rebuilt from the rows of each changed day
    "invocation_summaries",
    METADATA,
    *(sa.Column(name, _BYTEWISE, primary_key=True) for name in ("skill_name", "day", "rubric_version")),
    sa.Column("part", sa.BigInteger(), primary_key=True, autoincrement=False),
    *_counts("n"),
    *_texts("contexts", nullable=False),
    sa.Column("data", sa.LargeBinary(), nullable=False),
)

OUTDATED = sa.Table(  # days whose invocations or scores changed since their summary, written by the triggers
    "outdated_summaries",
    METADATA,
    *(sa.Column(name, _BYTEWISE, primary_key=True) for name in ("skill_name", "day")),
    sqlite_with_rowid=False,
)


# No column may be named tier, uses, weak_area or normalized_score: in GROUP BY and HAVING of queries with such aliases,
# the column would take precedence.
SKILL_INVOCATIONS = """\
CREATE VIEW skill_invocations AS
SELECT i.invocation_id, i.skill_name, i.skill_version, i.timestamp, i.skill_category, s.baseline_category, i.source,
       i.session_id, i.model, i.ending AS outcome, i.error_count, i.duration_ms, i.tokens_input, i.tokens_output,
       i.tokens_used, i.tool_call_count, i.output_type, i.output_size, i.user_accepted, i.user_edit_ratio,
       i.follow_up_count, i.follow_up_open, s.completion_score, s.efficiency_score, s.quality_score_component,
       s.satisfaction_score, s.quality_score, s.coverage, s.rubric_version, s.scored_at
FROM shown_rubric r
JOIN skill_scores s ON s.rubric_version = r.rubric_version
JOIN invocations i ON i.id = s.invocation_id"""


def _view(_tables: sa.MetaData, connection: Connection, **_options: object) -> None:
    connection.exec_driver_sql(SKILL_INVOCATIONS)
    _create_triggers(connection)


def _create_triggers(connection: Connection) -> bool:
    """Create the missing triggers, and return whether there were any."""
    statements = trigger_statements(connection.dialect.name)
    missing = statements.keys() - _triggers(connection)
    for statement in (one for name in sorted(missing) for one in statements[name]):
        connection.exec_driver_sql(statement)
    return bool(missing)


def _triggers(connection: Connection) -> set[str]:
    query = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    if connection.dialect.name != "sqlite":
        query = "SELECT tgname FROM pg_trigger WHERE tgrelid IN ('invocations'::regclass, 'skill_scores'::regclass)"
    return set(connection.exec_driver_sql(query).scalars())


sa.event.listen(METADATA, "after_create", _view)


BUSY_S = 60  # wait of a writer for others
_WAL_STEP_S = 0.02
_ADVISORY = 7_234_810_255_101  # an arbitrary number that other programs do not use
READING = "skillgate_reading"


def opened(target: Target) -> Engine:
    """Connect, and create or upgrade the schema.

    Raises:
        UsageError: The store cannot be reached, is not a database, or is from a later version.
    """
    engine = None
    try:
        engine = _engine(target)
        if target.path is not None:
            _set_up_sqlite(engine)
        _migrate(engine, target)
    except sa.exc.ArgumentError:
        raise UsageError("the store's URL is not valid; expected postgresql://USER@HOST:PORT/DATABASE") from None
    except ImportError as error:  # psycopg without libpq
        raise UsageError(f"psycopg cannot be loaded: pip install 'skillgate-action[postgres]' ({error.name})") from None
    except (sa.exc.DBAPIError, sqlite3.Error) as error:
        # Without the cause, whose text may contain the URL.
        raise UsageError(f"the store {target.shown} cannot be opened: {_message(error, target)}") from None
    return engine


def _engine(target: Target) -> Engine:
    if target.path is not None:
        url, options = sa.URL.create("sqlite", database=target.path), {"timeout": BUSY_S}
    else:
        url = sa.make_url(target.url or "").set(drivername="postgresql+psycopg")
        options = {} if "connect_timeout" in url.query else {"connect_timeout": 10}
    return sa.create_engine(url, poolclass=NullPool, connect_args=options)


def _set_up_sqlite(engine: Engine) -> None:
    """Set up every connection, and begin transactions explicitly: the driver begins them too late."""

    def connected(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA trusted_schema = OFF")  # the file may be from someone else
        _write_ahead(connection)

    def begun(connection: Connection) -> None:
        reading = connection.get_execution_options().get(READING)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", begun)


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to WAL, retrying while the file is locked. Some file systems keep another mode.

    Raises:
        sqlite3.OperationalError: The file was locked for too long.
    """
    until = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(_WAL_STEP_S)
        else:
            return


def _migrate(engine: Engine, target: Target) -> None:
    with engine.execution_options(**{READING: True}).begin() as connection:
        found = _version(connection)
        strange = _strange(connection) if target.path is not None else None
        whole = found == HEAD and trigger_statements(connection.dialect.name).keys() <= _triggers(connection)
    require_known(found, target.shown)
    if strange is not None:
        raise UsageError(f"the store {target.shown} has {strange}, which skillgate did not create; use another store")
    if whole:
        return
    with engine.begin() as connection:  # takes the write lock in SQLite
        if target.path is None:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY)))
        found = _version(connection)  # another process may have been faster
        require_known(found, target.shown)
        if found != HEAD:
            _upgrade(connection)
        elif _create_triggers(connection):  # somebody dropped some, so changes may be unmarked
            connection.exec_driver_sql(mark_all(connection.dialect.name))
    if found is not None and found != HEAD and target.path is not None:
        _rewrite(engine)


def _rewrite(engine: Engine) -> None:
    """Rewrite a file: free pages may still contain data of earlier versions, such as paths."""
    with engine.connect() as connection, suppress(sqlite3.OperationalError):  # no room for a copy; the rows are correct
        raw: Any = connection.connection.driver_connection
        raw.execute("VACUUM")


def _strange(connection: Connection) -> str | None:
    """Return a trigger that is not ours, or a view with a table's name; other views are allowed."""
    ours = trigger_statements("sqlite")
    query = "SELECT type, name, sql FROM sqlite_master WHERE type = 'trigger' OR type = 'view'"
    for kind, name, sql in connection.exec_driver_sql(query):
        if (kind == "trigger" and (sql,) != ours.get(name)) or str(name).lower() in METADATA.tables:
            return f"the {kind} {str(name)[:50]!r}"
    return None


def _version(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table(TABLE):
        return None
    return connection.execute(sa.select(sa.column("version_num")).select_from(sa.table(TABLE))).scalar()


def _upgrade(connection: Connection) -> None:
    from alembic import command  # slow, and rarely needed
    from alembic.config import Config

    config = Config()
    folder = Path(__file__).with_name("migrations")
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, HEAD)


@contextmanager
def failing(engine: Engine, target: Target, doing: str) -> Iterator[None]:
    """Turn database errors into IncompleteError, except data errors, which the caller handles.

    ``doing`` is a participle for the message. The driver may be used directly.
    """
    driver = engine.dialect.loaded_dbapi
    try:
        yield
    except (sa.exc.IntegrityError, sa.exc.DataError, driver.IntegrityError, driver.DataError):
        raise
    except (sa.exc.DBAPIError, driver.Error) as error:
        raise IncompleteError(f"the store {target.shown} could not be {doing}: {_message(error, target)}") from None


@contextmanager
def refusing(engine: Engine, target: Target) -> Iterator[None]:
    """Turn data errors of invocations into UsageError."""
    driver = engine.dialect.loaded_dbapi
    try:
        yield
    except OverflowError:
        raise UsageError("an invocation contains a number that is too large for a database") from None
    except UnicodeEncodeError:
        raise UsageError("an invocation contains a string that is not valid Unicode") from None
    except (driver.IntegrityError, driver.DataError) as error:
        raise UsageError(f"an invocation cannot be stored: {target.clean(str(error))}") from None


def foreign(target: Target, value: str) -> IncompleteError:
    """Return the error for a value that skillgate did not write: SQLite accepts anything in any column."""
    return IncompleteError(f"the store {target.shown} contains a value that skillgate did not write: {value}")


def _message(error: Exception, target: Target) -> str:
    return target.clean(str(getattr(error, "orig", None) or error))
