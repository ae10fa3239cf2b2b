"""The migrations create the schema of the tables, on SQLite and on PostgreSQL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, create_engine, inspect, text

from app.tables import Base

OTHER = "made_of_tables"


def made_of_tables(migrated: Engine, place: Path) -> tuple[Engine, str | None]:
    """A database, or a schema of the migrated one, that SQLAlchemy has made of the tables."""
    if migrated.dialect.name == "sqlite":
        engine = create_engine(f"sqlite:///{place / 'tables.db'}")
        Base.metadata.create_all(engine)
        return engine, None
    with migrated.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {OTHER}"))
        Base.metadata.create_all(connection.execution_options(schema_translate_map={None: OTHER}))
    return migrated, OTHER


def schema(engine: Engine, name: str | None) -> dict[str, Any]:
    """Columns, keys, constraints and indexes of each table but Alembic's own, without regard to their order."""
    inspector = inspect(engine)
    tables = [table for table in inspector.get_table_names(name) if table != "alembic_version"]

    def alike(values: list[Any]) -> list[str]:
        return sorted(repr(sorted(each.items(), key=str)).replace(f"{OTHER}.", "") for each in values)

    return {
        table: {
            "columns": alike(
                [{**column, "type": str(column["type"])} for column in inspector.get_columns(table, name)]
            ),
            "primary key": alike([dict(inspector.get_pk_constraint(table, name))]),
            "foreign keys": alike(
                [{**key, "referred_schema": None} for key in inspector.get_foreign_keys(table, name)]
            ),
            "unique": alike(list(inspector.get_unique_constraints(table, name))),
            "checks": alike(list(inspector.get_check_constraints(table, name))),
            "indexes": alike([_as_text(index) for index in inspector.get_indexes(table, name)]),
        }
        for table in tables
    }


def _as_text(index: Any) -> dict[str, Any]:
    options = index.get("dialect_options", {})  # such as the condition of a partial index
    return {**index, "dialect_options": {name: str(value) for name, value in options.items()}}


def counters(engine: Engine) -> set[str]:
    """The tables of SQLite whose numbers are never given again, even if their rows are deleted."""
    with engine.connect() as connection:
        wanted = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"
        return set(connection.scalars(text(wanted)))


def test_a_migrated_database_has_the_schema_of_the_tables(database_url: str, tmp_path: Path) -> None:
    migrated = create_engine(database_url)
    made, name = made_of_tables(migrated, tmp_path)
    assert schema(migrated, None) == schema(made, name)
    if migrated.dialect.name == "sqlite":
        assert counters(migrated) == counters(made) == {"judgements", "submissions"}
    made.dispose()
    migrated.dispose()


def test_alembic_finds_no_difference_between_a_migrated_database_and_the_tables(database_url: str) -> None:
    engine = create_engine(database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()
