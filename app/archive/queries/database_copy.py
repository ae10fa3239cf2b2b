"""Copy a whole database into an empty one, of the other kind if need be: from SQLite to PostgreSQL and back."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection, RowMapping, Table, bindparam, func, insert, inspect, select, text, update

from app.core.db.database import Database
from app.core.db.migrate import schema_of, schemas, upgrade
from app.core.files.temporary import sync
from app.tables import Base

BATCH = 1000
CHUNK = 2**20
MODULUS = 2**256
# Receives what is being done, how much of it is done, and how much there is (None: unknown).
Step = Callable[[str, int, int | None], None]


class BackupError(Exception):
    """A folder holds no finished backup, or something else than described; or the databases do not allow a copy."""


def copy_rows(
    source: Database, target: Database, step: Step = lambda *_: None, what: str = "copying the database"
) -> dict[str, int]:
    """Copy every row of one snapshot in one transaction and compare the copies; returns the rows of each table.

    The source may take writes in the meantime. Raises BackupError if the source's schema is not this version's, or a
    copy differs.
    """
    refuse_other_schema(source)
    upgrade(target.url)
    tables = Base.metadata.sorted_tables
    with source.snapshot() as reading, target.engine.execution_options(write=True).begin() as writing:
        done = 0
        for table in tables:
            done += _copy(reading, writing, table)
            step(what, done, None)
        return {table.name: _same(reading, writing, table) for table in tables}


def refuse_other_schema(source: Database) -> None:
    """Raise BackupError unless a database has the schema of this version."""
    newest, version = schemas()[0], schema_of(source.engine)
    if version != newest:
        raise BackupError(f"expected a database with the schema {newest}, found {version}: run jurado init first")


def refuse_other_contents(target: Database) -> None:
    """Raise BackupError if a database holds any row."""
    with target.engine.connect() as connection:
        names = set(inspect(connection).get_table_names())
        for table in Base.metadata.sorted_tables:
            if table.name in names and connection.execute(select(table).limit(1)).first() is not None:
                raise BackupError(f"expected an empty database, found rows in its table {table.name}")


def _copy(reading: Connection, writing: Connection, table: Table) -> int:
    """Copy a table; returns its number of rows."""
    later = [key.parent for key in table.foreign_keys if key.column.table is table]
    # Rows may refer to rows of the same table that come after them: such columns are filled in when all are there.
    links: list[dict[str, object]] = []
    key, count = list(table.primary_key.columns), 0
    for rows in _batches(reading, table):
        values: list[dict[str, object]] = [{str(name): value for name, value in row.items()} for row in rows]
        for value in values:
            link = {column.name: value.pop(column.name) for column in later}
            if any(each is not None for each in link.values()):
                links.append({f"key_{column.name}": value[column.name] for column in key} | link)
            value.update(dict.fromkeys(link))
        writing.execute(insert(table), values)
        count += len(values)
    if links:
        query = update(table).where(*(column == bindparam(f"key_{column.name}") for column in key))
        writing.execute(query.values({column.name: bindparam(column.name) for column in later}), links)
    _count_on(reading, writing, table)
    return count


def _batches(connection: Connection, table: Table) -> Iterator[list[RowMapping]]:
    result = connection.execution_options(yield_per=BATCH).execute(select(table))
    yield from (list(rows) for rows in result.mappings().partitions())


def _count_on(reading: Connection, writing: Connection, table: Table) -> None:
    """Let new rows get numbers that no row ever had, not even one that is gone."""
    column = table.autoincrement_column
    if column is None:
        return
    highest = max(writing.scalar(select(func.max(column))) or 0, _counted(reading, table, column.name))
    if not highest:
        return
    if writing.dialect.name == "postgresql":
        query = "SELECT setval(pg_get_serial_sequence(:table, :column), :highest)"
        writing.execute(text(query), {"table": table.name, "column": column.name, "highest": highest})
    elif table.dialect_options["sqlite"]["autoincrement"]:
        writing.execute(text("DELETE FROM sqlite_sequence WHERE name = :table"), {"table": table.name})
        query = "INSERT INTO sqlite_sequence (name, seq) VALUES (:table, :highest)"
        writing.execute(text(query), {"table": table.name, "highest": highest})


def _counted(reading: Connection, table: Table, column: str) -> int:
    """The highest number the source has given out, as far as it remembers."""
    if reading.dialect.name == "postgresql":
        query = text("SELECT pg_sequence_last_value(CAST(pg_get_serial_sequence(:table, :column) AS regclass))")
        return reading.scalar(query, {"table": table.name, "column": column}) or 0
    if not table.dialect_options["sqlite"]["autoincrement"]:
        return 0
    return reading.scalar(text("SELECT seq FROM sqlite_sequence WHERE name = :table"), {"table": table.name}) or 0


def _same(reading: Connection, writing: Connection, table: Table) -> int:
    """Hold a copied table against its original; returns its number of rows."""
    (count, original), (copied, copy) = _digest(reading, table), _digest(writing, table)
    if (count, original) != (copied, copy):
        raise BackupError(f"table {table.name}: expected {count} equal rows, found {copied} that are not the same")
    return count


def _digest(connection: Connection, table: Table) -> tuple[int, int]:
    """The number of rows, and the sum of their hashes: the order of rows is each database's own."""
    count = total = 0
    for rows in _batches(connection, table):
        for row in rows:
            total += int.from_bytes(hashlib.sha256(repr(tuple(row.values())).encode()).digest())
        count += len(rows)
    return count, total % MODULUS


def replace_sqlite(source: Path, target: Database) -> None:
    """Put the file in place in one step, and away what belonged to the one before."""
    place = Path(str(target.engine.url.database))
    target.engine.dispose()
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file, source.open("rb") as copied:
            shutil.copyfileobj(copied, file, CHUNK)
            file.flush()
            sync(file.fileno())
        for suffix in ("-wal", "-shm"):
            place.with_name(place.name + suffix).unlink(missing_ok=True)
        os.replace(name, place)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    upgrade(target.url)


def replace_rows(source: Path, target: Database, step: Step, *, replace: bool) -> None:
    """Copy every row into a database of the other kind; an older backup is brought up to date on a copy."""
    if replace:
        with target.engine.begin() as connection:
            Base.metadata.drop_all(connection)
            connection.exec_driver_sql("DROP TABLE IF EXISTS alembic_version")
    with tempfile.TemporaryDirectory(prefix="jurado-restore-") as folder:
        path = Path(folder) / "jurado.db"
        shutil.copyfile(source, path)
        with closing(Database(f"sqlite:///{path}")) as copy:
            upgrade(copy.url)
            copy_rows(copy, target, step, "restoring rows")
