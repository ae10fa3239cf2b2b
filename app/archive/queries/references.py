"""Stored files that rows refer to: those that must exist, and every name that could be meant at all."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import JSON, Column, ColumnElement, Connection, Table, select

from app.tables import AnswerRow, AuditRow, Base

BATCH = 1000
MOST_PLACES = 3
NAME = re.compile(r"[0-9a-f]{64}")
OF_WORK = frozenset({"jobs"})
"""Tables whose rows tell what was done once: they name files, and need none."""
FILES_BY_CASE = "sample_outputs"


@dataclass
class References:
    """`needed`: the files that rows need, each with some of the places; `named`: all that looks like a file's name.

    `spoilt` are the places of small answers whose own bytes are not those that were sent.
    """

    needed: dict[str, list[str]] = field(default_factory=dict)
    named: set[str] = field(default_factory=set)
    spoilt: list[str] = field(default_factory=list)

    def need(self, sha256: str, place: str) -> None:
        """Count one."""
        self.named.add(sha256)
        places = self.needed.setdefault(sha256, [])
        if len(places) < MOST_PLACES:
            places.append(place)


def read_references(connection: Connection, *, verify: bool = False) -> References:
    """Look through all tables; with `verify` the answers that lie in their rows are hashed too."""
    references = References()
    for table in Base.metadata.sorted_tables:
        if table.name == AuditRow.__tablename__:
            continue  # it tells what was changed, also of files that are gone since
        if table.name == AnswerRow.__tablename__:
            _read_answers(connection, references, verify=verify)
            continue
        names = [column for column in table.columns if column.name.endswith("sha256")]
        documents = [column for column in table.columns if isinstance(column.type, JSON)]
        if names or documents:
            _read(connection, table, names, documents, references)
    return references


# Any: the columns are found by their names and kinds, in tables of all types.
def _read(
    connection: Connection, table: Table, names: list[Column[Any]], documents: list[Column[Any]], references: References
) -> None:
    key = list(table.primary_key.columns)
    for row in _rows(connection, [*key, *names, *documents]):
        place = f"{table.name} {'/'.join(str(part) for part in row[: len(key)])}"
        for column, value in zip(names, row[len(key) :], strict=False):
            if value is not None:
                references.need(value, f"{place} {column.name}")
        for column, value in zip(documents, row[len(key) + len(names) :], strict=True):
            for sha256, is_needed in _in_document(value):
                if is_needed and table.name not in OF_WORK:
                    references.need(sha256, f"{place} {column.name}")
                else:
                    references.named.add(sha256)


def _read_answers(connection: Connection, references: References, *, verify: bool) -> None:
    """Answers are the many: those that lie in their rows need no file, and are read only to be verified."""
    table = Base.metadata.tables[AnswerRow.__tablename__]
    key = [table.c.submission_id, table.c.test_case_id, table.c.sha256]
    for row in _rows(connection, key, table.c.data.is_(None) & table.c.sha256.is_not(None)):
        references.need(row[2], f"answers {row[0]}/{row[1]}")
    if verify:
        for row in _rows(connection, [*key, table.c.data], table.c.data.is_not(None)):
            if hashlib.sha256(row[3]).hexdigest() != row[2]:
                references.spoilt.append(f"answers {row[0]}/{row[1]}")


# Any: as above.
def _rows(
    connection: Connection, columns: list[Column[Any]], where: ColumnElement[bool] | None = None
) -> Iterator[Sequence[Any]]:
    query = select(*columns) if where is None else select(*columns).where(where)
    yield from connection.execution_options(yield_per=BATCH).execute(query)


def _in_document(value: object, *, is_needed: bool = False) -> Iterator[tuple[str, bool]]:
    """The names in a JSON value; needed are those that a key calls `...sha256`, or that lie in a map by case."""
    if isinstance(value, str):
        if NAME.fullmatch(value):
            yield value, is_needed
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            needed = key.endswith("sha256") if isinstance(inner, str) else key == FILES_BY_CASE
            yield from _in_document(inner, is_needed=needed or (is_needed and isinstance(inner, str)))
    elif isinstance(value, list):
        for inner in value:
            yield from _in_document(inner)
