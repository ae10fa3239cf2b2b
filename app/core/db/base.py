"""The base of all tables: names of constraints, and the types of columns.

- Column types that behave the same on SQLite and PostgreSQL.
- Rows in bulk, by as few statements as possible: each engine has a way of its own, as they spend time differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any, Generic, NamedTuple, TypeVar, cast

import msgspec
from pydantic import BaseModel
from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Connection,
    DateTime,
    Dialect,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    Update,
    any_,
    bindparam,
    insert,
    text,
    update,
)
from sqlalchemy import cast as cast_to
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute, Session
from sqlalchemy.types import JSON, TypeDecorator

from app.core.json_documents import (
    AuditChanges,
    FileNoteDocument,
    JobParams,
    JobResult,
    ManifestDocument,
    MetadataDocument,
    PauseDocument,
    ProblemChanges,
    ProvenanceDocument,
    SelectionDocument,
    SourceDocument,
    StatementDocument,
)
from app.domain.documents import ImageDocument, MessageDocument, ProblemSettingsDocument

# A 64-bit id; SQLite only counts up by itself in a column of type INTEGER.
BigId = BigInteger().with_variant(Integer(), "sqlite")

Json = JSON(none_as_null=True)
M = TypeVar("M", bound=BaseModel)


class Moment(TypeDecorator[datetime]):
    """A UTC moment: aware in Python, `timestamptz` in PostgreSQL, naive UTC text in SQLite, never a local time."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse naive moments: nobody can tell which zone they meant."""
        if value is None:
            return None
        utc = in_utc(value)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give every moment its zone back."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Model(TypeDecorator[M], Generic[M]):
    """A pydantic model as JSON; with `exclude_unset`, properties that were not given stay out and are not defaults."""

    impl = Json
    cache_ok = True

    def __init__(self, model: type[M], *, exclude_unset: bool = False) -> None:
        super().__init__()
        self.model = model
        self.exclude_unset = exclude_unset

    def process_bind_param(self, value: M | None, dialect: Dialect) -> object:
        """Write a model, or values that are valid for it."""
        if value is None:
            return None
        return self.model.model_validate(value).model_dump(mode="json", exclude_unset=self.exclude_unset)

    def process_result_value(self, value: object, dialect: Dialect) -> M | None:
        """Read the stored JSON."""
        return None if value is None else self.model.model_validate(value)

    def compare_values(self, x: M | None, y: M | None) -> bool:
        """Compare which properties were given, too: equal models may differ in these."""
        return x == y and (x is None or y is None or x.model_fields_set == y.model_fields_set)


def in_utc(value: datetime) -> datetime:
    """A moment in UTC; raises ValueError for one without a zone."""
    if value.tzinfo is None:
        raise ValueError(f"expected a moment with a time zone, found {value.isoformat()}")
    return value.astimezone(UTC)


NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
ID = String(36)
SLUG = String(255)
SHA256 = String(64)
WAITING = text("state != 'done'")
# Further properties of an object, as its schema writes them: their types differ by name.
Details = dict[str, Any]
# The types of columns that hold JSON.
DOCUMENTS: tuple[object, ...] = (
    Details,
    dict[str, str],
    dict[str, list[str | int]],
    dict[str, StatementDocument],
    list[str],
    list[list[str]],
    list[FileNoteDocument],
    list[ImageDocument],
    list[PauseDocument],
    list[SourceDocument],
    AuditChanges,
    JobResult,
    ManifestDocument,
    MessageDocument,
    MetadataDocument,
    ProblemSettingsDocument,
    ProvenanceDocument,
    ProblemChanges,
    JobParams,
    SelectionDocument,
)


class Base(DeclarativeBase):
    """The base of all tables: names for constraints, and a column type for each Python type."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {datetime: Moment} | dict.fromkeys(DOCUMENTS, Json)


Values = Mapping[str, object]
# A table with its rows, one at least.
Filled = tuple[Table, Sequence[Values]]
Rows = tuple[type[Base], Sequence[Values]]
# Bytes of binary columns in one statement of PostgreSQL, in which they take twice as much.
MOST_BYTES = 2**20
# Rows of one statement of SQLite. The driver remembers the last 128, and has each parsed for each number of rows.
MOST_AT_ONCE = 64
# A character of JSON that PostgreSQL takes for a column of JSON but in no rows: such rows are sent one by one.
NUL = b"\\u0000"
_ENCODER = msgspec.json.Encoder()
IDS = "ids"
# The name of the parameter of `among`.
GIVEN = "given"


def insert_rows(connection: Connection, *groups: Rows) -> None:
    """Insert rows of some tables at once; those of one table name the same columns, and get no default of Python's.

    Rows may refer to rows of tables named before theirs. Columns that are not named have the database's defaults.
    """
    filled = [(_table(of), rows) for of, rows in groups if rows]
    if not is_postgresql(connection):
        for each in filled:
            _insert_values(connection, *each)
    elif (texts := _texts(filled)) is None:
        for table, rows in filled:
            connection.execute(insert(table), rows)
    elif texts:
        connection.exec_driver_sql(_insertion(tuple((table.name, tuple(rows[0])) for table, rows in filled)), texts)


def update_rows(connection: Connection, of: type[Base], rows: Sequence[Values]) -> None:
    """Change the rows that have these `id`s; all name the same columns."""
    if not rows:
        return
    table, columns = _table(of), tuple(name for name in rows[0] if name != "id")
    if is_postgresql(connection) and (texts := _texts([(table, rows)])) is not None:
        connection.exec_driver_sql(_change(table.name, columns), {**texts, IDS: _ids(rows)})
        return
    connection.execute(_update_of(table, columns), [{f"new_{name}": each[name] for name in each} for each in rows])


def update_and_insert(connection: Connection, changed: Rows, inserted: Rows) -> None:
    """Change rows as `update_rows` does, and insert others that may refer to them."""
    of, changes = changed
    into, rows = inserted
    filled = [(_table(of), changes), (_table(into), rows)]
    if changes and rows and is_postgresql(connection) and (texts := _texts(filled)) is not None:
        columns = tuple(name for name in changes[0] if name != "id")
        statement = _change_and_insertion(_table(of).name, columns, _table(into).name, tuple(rows[0]))
        connection.exec_driver_sql(statement, {**texts, IDS: _ids(changes)})
        return
    update_rows(connection, of, changes)
    insert_rows(connection, inserted)


@cache
def among(column: InstrumentedAttribute[int], *, postgresql: bool) -> ColumnElement[bool]:
    """Compare a column with the `given` numbers: on PostgreSQL they are one parameter, and all of them have one plan.

    With `IN` each number of them is a statement that is compiled and planned anew.
    """
    if postgresql:
        return column == any_(cast_to(bindparam(GIVEN, type_=Text), ARRAY(column.type)))
    return column.in_(bindparam(GIVEN, expanding=True))


def given(numbers: Iterable[int], *, postgresql: bool) -> dict[str, object]:
    """The parameter that `among` compares with."""
    return {GIVEN: array_of(numbers) if postgresql else list(numbers)}


def array_of(numbers: Iterable[int]) -> str:
    """An array as PostgreSQL reads it; its driver would adapt number by number."""
    return f"{{{','.join(map(str, numbers))}}}"


def texts_of(texts: Iterable[str]) -> str:
    """A list for PostgreSQL's `json_array_elements_text`; its driver would adapt an array text by text."""
    return _ENCODER.encode(list(texts)).decode()


def own_insert(connection: Connection, table: type[Base]) -> sqlite.Insert | postgresql.Insert:
    """The insert of the database's own kind, which knows of conflicts."""
    return postgresql.insert(table) if is_postgresql(connection) else sqlite.insert(table)


def is_postgresql(connection: Connection | Session) -> bool:
    """Whether the database is PostgreSQL, and no SQLite."""
    bind = connection if isinstance(connection, Connection) else connection.get_bind()
    return bind.dialect.name == "postgresql"


def _texts(filled: Sequence[Filled]) -> dict[str, object] | None:
    """The rows of each table as JSON, by the names of parameters; None where they are to be sent one by one."""
    if sum(_binary_bytes(*each) for each in filled) > MOST_BYTES:
        return None
    texts = [_ENCODER.encode([_ready(table, row) for row in rows]) for table, rows in filled]
    if any(NUL in each for each in texts):
        return None
    return {f"rows{at}": each.decode() for at, each in enumerate(texts)}


def _ready(table: Table, row: Values) -> Values:
    """A row as JSON takes it: bytes in hex, as PostgreSQL reads them, and moments with their zone."""
    changed = {name: change(row[name]) for name, change in _changes(table) if row.get(name) is not None}
    return {**row, **changed} if changed else row


def _binary_bytes(table: Table, rows: Sequence[Values]) -> int:
    names = [name for name, change in _changes(table) if change is _hex]
    return sum(len(cast(bytes, row[name])) for name in names for row in rows if row.get(name) is not None)


@cache
def _changes(table: Table) -> Sequence[tuple[str, Callable[..., object]]]:
    """The columns whose values JSON takes in another form, and what makes that of them."""
    made: dict[type, Callable[..., object]] = {LargeBinary: _hex, Moment: in_utc}
    return [(each.name, made[type(each.type)]) for each in table.columns if type(each.type) in made]


def _hex(data: bytes) -> str:
    return f"\\x{data.hex()}"


@cache
def _insertion(shape: Sequence[tuple[str, Sequence[str]]]) -> str:
    """PostgreSQL's statement that inserts rows of these tables, with these columns each."""
    *others, last = [_insertion_into(table, columns, at) for at, (table, columns) in enumerate(shape)]
    before = ", ".join(f"inserted{at} AS ({each})" for at, each in enumerate(others))
    return f"WITH {before} {last}" if before else last


def _insertion_into(table: str, columns: Sequence[str], at: int) -> str:
    names = ", ".join(columns)
    return f"INSERT INTO {table} ({names}) SELECT {names} FROM {_given(table, at)}"


@cache
def _change_and_insertion(table: str, columns: Sequence[str], into: str, names: Sequence[str]) -> str:
    return f"WITH changed AS ({_change(table, columns)}) {_insertion_into(into, names, 1)}"


@cache
def _change(table: str, columns: Sequence[str]) -> str:
    """PostgreSQL's statement that changes these columns; by the ids beside, lest a plan made early reads all rows."""
    values = ", ".join(f"{name} = given.{name}" for name in columns)
    chosen = f"{table}.id = given.id AND {table}.id = ANY (CAST(%({IDS})s AS bigint[]))"
    return f"UPDATE {table} SET {values} FROM {_given(table, 0)} AS given WHERE {chosen}"


def _ids(rows: Sequence[Values]) -> str:
    return array_of(cast(int, row["id"]) for row in rows)


def _given(table: str, at: int) -> str:
    return f"json_populate_recordset(CAST(NULL AS {table}), CAST(%(rows{at})s AS json))"


@cache
def _update_of(table: Table, columns: Sequence[str]) -> Update:
    values: dict[str, object] = {name: bindparam(f"new_{name}") for name in columns}
    return update(table).where(table.c.id == bindparam("new_id")).values(values)


class _Form(NamedTuple):
    """SQLite's statement up to its rows, the form of a row, and by column what makes a value one of the driver's."""

    head: str
    row: str
    columns: Sequence[tuple[str, Callable[..., object] | None]]


def _insert_values(connection: Connection, table: Table, rows: Sequence[Values]) -> None:
    form = _form(table, tuple(rows[0]), connection.dialect)
    for at in range(0, len(rows), MOST_AT_ONCE):
        part = rows[at : at + MOST_AT_ONCE]
        values = [row[name] if bind is None else bind(row[name]) for row in part for name, bind in form.columns]
        connection.exec_driver_sql(form.head + ",".join([form.row] * len(part)), tuple(values))


@lru_cache(maxsize=64)
def _form(table: Table, names: Sequence[str], dialect: Dialect) -> _Form:
    columns = [(name, table.c[name].type.dialect_impl(dialect).bind_processor(dialect)) for name in names]
    return _Form(f"INSERT INTO {table} ({', '.join(names)}) VALUES ", f"({', '.join('?' * len(names))})", columns)


def _table(of: type[Base]) -> Table:
    return cast(Table, of.__table__)
