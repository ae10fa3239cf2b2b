"""Alembic's entry: one transaction for all migrations, batch mode because SQLite cannot alter tables in place."""

from __future__ import annotations

from alembic import context

from app.core.db.database import Database
from app.core.settings import DEFAULT_TIMEOUTS
from app.tables import Base


def run() -> None:
    """Run the migrations over one connection."""
    timeouts = context.config.attributes.get("timeouts", DEFAULT_TIMEOUTS)
    url = context.config.get_main_option("sqlalchemy.url") or ""
    database = Database(url, timeouts._replace(long=timeouts.migration))
    try:
        with database.engine.execution_options(write=True).connect() as connection:
            context.configure(
                connection=connection,
                target_metadata=Base.metadata,
                render_as_batch=True,
                compare_type=True,
                user_module_prefix="columns.",
            )
            with context.begin_transaction():
                context.run_migrations()
            connection.commit()
    finally:
        database.close()


run()
