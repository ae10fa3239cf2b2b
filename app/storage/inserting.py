"""Inserting all rows of a batch by one statement, into tables that are written thousands of times a second.

SQLite's driver runs a statement once for each of many rows, and lets go of the interpreter's lock each time: the thread
that writes would wait for it behind the event loop row by row. And SQLAlchemy takes longer to bind a row than SQLite to
insert it. PostgreSQL's driver sends the runs of a statement together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Dialect, Insert, Table, insert

from app.storage.schema.base import Base

MOST_AT_ONCE = 64
"""Rows of one statement. The driver remembers the last 128 statements, and has each parsed for each number of rows."""


class _Form(NamedTuple):
    """A statement up to its rows, the form of a row, and by column what makes a value one of the driver's."""

    head: str
    row: str
    columns: Sequence[tuple[str, Callable[[Any], object] | None]]


def insert_into(connection: Connection, kind: type[Base], rows: Sequence[Mapping[str, object]]) -> None:
    """Insert rows in order; all name the same columns, and the others have the values that the database gives."""
    if not rows:
        return
    if connection.dialect.name != "sqlite":
        connection.execute(_statement(kind), rows)
        return
    form = _form(kind, tuple(rows[0]), connection.dialect)
    for at in range(0, len(rows), MOST_AT_ONCE):
        part = rows[at : at + MOST_AT_ONCE]
        values = [row[name] if bind is None else bind(row[name]) for row in part for name, bind in form.columns]
        connection.exec_driver_sql(form.head + ",".join([form.row] * len(part)), tuple(values))


@cache
def _statement(kind: type[Base]) -> Insert:
    """A statement is made once: making it takes as long as running it."""
    return insert(kind)


@lru_cache(maxsize=64)
def _form(kind: type[Base], names: Sequence[str], dialect: Dialect) -> _Form:
    table, quote = cast(Table, kind.__table__), dialect.identifier_preparer.quote
    columns = [(name, table.c[name].type.dialect_impl(dialect).bind_processor(dialect)) for name in names]
    head = f"INSERT INTO {quote(table.name)} ({', '.join(map(quote, names))}) VALUES "
    return _Form(head, f"({', '.join('?' * len(names))})", columns)
