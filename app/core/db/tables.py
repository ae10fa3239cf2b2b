"""Tables of the service itself: its jobs, clock, processes and last backup; and the base of all tables.

- The base of all tables: names of constraints, and the types of columns.
- Column types that behave the same on SQLite and PostgreSQL.
- Rows in bulk.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar, cast

import msgspec
import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column
from sqlalchemy.types import JSON, TypeDecorator

from app.core import json_documents as documents
from app.core.json_documents import JobParams, JobResult
from app.domain.documents import ImageDocument, MessageDocument, ProblemSettingsDocument

# A 64-bit id; SQLite only counts up by itself in a column of type INTEGER.
BigId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

Json = JSON(none_as_null=True)
M = TypeVar("M", bound=BaseModel)


class Moment(TypeDecorator[datetime]):
    """A UTC moment: aware in Python, `timestamptz` in PostgreSQL, naive UTC text in SQLite, never a local time."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        """Refuse naive moments: no one can tell which zone they meant."""
        if value is None:
            return None
        utc = in_utc(value)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
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

    def process_bind_param(self, value: M | None, dialect: sa.Dialect) -> object:
        """Write a model, or values that are valid for it."""
        if value is None:
            return None
        return self.model.model_validate(value).model_dump(mode="json", exclude_unset=self.exclude_unset)

    def process_result_value(self, value: object, dialect: sa.Dialect) -> M | None:
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
ID = sa.String(36)
SLUG = sa.String(255)
SHA256 = sa.String(64)
WAITING = sa.text("state != 'done'")
REPLACING = sa.text("replaced_id IS NOT NULL")
# Further properties of an object, as its schema writes them: their types differ by name.
Details = dict[str, Any]
# The types of columns that hold JSON.
DOCUMENTS: tuple[object, ...] = (
    Details,
    dict[str, str],
    dict[str, list[str | int]],
    dict[str, documents.StatementDocument],
    list[str],
    list[list[str]],
    list[documents.FileNoteDocument],
    list[ImageDocument],
    list[documents.PauseDocument],
    list[documents.SourceDocument],
    documents.AuditChanges,
    documents.JobResult,
    documents.ManifestDocument,
    MessageDocument,
    documents.MetadataDocument,
    ProblemSettingsDocument,
    documents.ProvenanceDocument,
    documents.ProblemChanges,
    documents.JobParams,
    documents.SelectionDocument,
)


class Base(DeclarativeBase):
    """The base of all tables: names for constraints, and a column type for each Python type."""

    metadata = sa.MetaData(naming_convention=NAMES)
    type_annotation_map = {datetime: Moment} | dict.fromkeys(DOCUMENTS, Json)


Values = Mapping[str, object]
Rows = tuple[type[Base], Sequence[Values]]
_ENCODER = msgspec.json.Encoder()


def insert_rows(connection: sa.Connection, *groups: Rows) -> None:
    """Insert rows of some tables; those of one table name the same columns. Rows may refer to tables named before."""
    for of, rows in groups:
        if rows:
            connection.execute(sa.insert(_table(of)), rows)


def update_rows(connection: sa.Connection, of: type[Base], rows: Sequence[Values]) -> None:
    """Change the rows that have these `id`s; all name the same columns."""
    if not rows:
        return
    table = _table(of)
    values: dict[str, object] = {name: sa.bindparam(f"new_{name}") for name in rows[0] if name != "id"}
    statement = sa.update(table).where(table.c.id == sa.bindparam("new_id")).values(values)
    connection.execute(statement, [{f"new_{name}": each[name] for name in each} for each in rows])


def texts_of(texts: Iterable[str]) -> str:
    """A list for PostgreSQL's `json_array_elements_text`; its driver would adapt an array text by text."""
    return _ENCODER.encode(list(texts)).decode()


def own_insert(connection: sa.Connection, table: type[Base]) -> sqlite.Insert | postgresql.Insert:
    """The insert of the database's own kind, which knows of conflicts."""
    return postgresql.insert(table) if is_postgresql(connection) else sqlite.insert(table)


def is_postgresql(connection: sa.Connection | Session) -> bool:
    """Whether the database is PostgreSQL, and no SQLite."""
    bind = connection if isinstance(connection, sa.Connection) else connection.get_bind()
    return bind.dialect.name == "postgresql"


def _table(of: type[Base]) -> sa.Table:
    return cast(sa.Table, of.__table__)


class JobRow(Base):
    """Long work for an admin, such as a reference run: its state, progress 0..1, log tail and result."""

    __tablename__ = "jobs"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    state: Mapped[str] = mapped_column(String(10), index=True)
    params: Mapped[JobParams]
    progress: Mapped[float] = mapped_column(default=0.0)
    log: Mapped[str] = mapped_column(Text, default="")
    result: Mapped[JobResult | None]
    attempt: Mapped[int] = mapped_column(default=0)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    created: Mapped[datetime]
    started: Mapped[datetime | None]
    ended: Mapped[datetime | None]


class ClockRow(Base):
    """The mark of the service's time, written every few seconds: the only row has the id 1."""

    __tablename__ = "clock"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    time: Mapped[datetime]


class ProcessRow(Base):
    """A server or a worker, written again every few seconds while it runs, and gone when it ends in order.

    graders  grader processes that are able to work
    deaths   graders that died since the process started
    at_hand  judgements that its graders have claimed and not ended
    """

    __tablename__ = "processes"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    kind: Mapped[str] = mapped_column(String(10))
    host: Mapped[str] = mapped_column(Text)
    pid: Mapped[int]
    version: Mapped[str] = mapped_column(String(40))
    started: Mapped[datetime]
    seen: Mapped[datetime]
    graders: Mapped[int]
    deaths: Mapped[int]
    at_hand: Mapped[int]


class LastBackupRow(Base):
    """The last backup that `jurado backup` has finished, and where it lies: the only row has the id 1.

    `made` is when it began, `size` the bytes of its files, `faulty` how many files the store could not give.
    """

    __tablename__ = "last_backup"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    made: Mapped[datetime]
    place: Mapped[str] = mapped_column(Text)
    files: Mapped[int]
    size: Mapped[int] = mapped_column(BigInteger)
    faulty: Mapped[int]
