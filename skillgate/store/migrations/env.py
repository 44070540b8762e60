"""Run the migrations on the connection that opens the store, within its transaction and lock."""

from alembic import context
from sqlalchemy.engine import Connection

from skillgate.store.schema import METADATA
from skillgate.store.target import TABLE


def _run(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=METADATA, version_table=TABLE)
    with context.begin_transaction():
        context.run_migrations()


_run(context.config.attributes["connection"])
