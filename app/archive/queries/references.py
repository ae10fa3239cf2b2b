"""Stored files that rows refer to: those that must exist, and every name that could be meant at all.

- Hold the files and the rows against each other, repair files, and collect files that no row names.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from sqlalchemy import JSON, Column, ColumnElement, Connection, Table, select

from app.core.clock import utc_now
from app.core.db.database import Database
from app.core.files.files import Files, StoredFile
from app.core.files.stored_bytes import UNREADABLE, FileMissing, StoreUnavailable
from app.tables import AnswerRow, AuditRow, Base

BATCH = 1000
MOST_PLACES = 3
NAME = re.compile(r"[0-9a-f]{64}")
# Tables whose rows tell what was done once: they name files, and need none.
OF_WORK = frozenset({"jobs"})
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


def _read(
    connection: Connection,
    table: Table,
    names: list[Column[object]],
    documents: list[Column[object]],
    references: References,
) -> None:
    key = list(table.primary_key.columns)
    for row in _rows(connection, [*key, *names, *documents]):
        place = f"{table.name} {'/'.join(str(part) for part in row[: len(key)])}"
        for column, value in zip(names, row[len(key) :], strict=False):
            if value is not None:
                references.need(str(value), f"{place} {column.name}")
        for column, value in zip(documents, row[len(key) + len(names) :], strict=True):
            for digest, is_needed in _in_document(value):
                if is_needed and table.name not in OF_WORK:
                    references.need(digest, f"{place} {column.name}")
                else:
                    references.named.add(digest)


def _read_answers(connection: Connection, references: References, *, verify: bool) -> None:
    """Answers are the many: those that lie in their rows need no file, and are read only to be verified."""
    table = Base.metadata.tables[AnswerRow.__tablename__]
    key = [table.c.submission_id, table.c.test_case_id, table.c.sha256]
    for row in _rows(connection, key, table.c.data.is_(None) & table.c.sha256.is_not(None)):
        references.need(str(row[2]), f"answers {row[0]}/{row[1]}")
    if verify:
        for row in _rows(connection, [*key, table.c.data], table.c.data.is_not(None)):
            if hashlib.sha256(cast(bytes, row[3])).hexdigest() != row[2]:
                references.spoilt.append(f"answers {row[0]}/{row[1]}")


def _rows(
    connection: Connection, columns: list[Column[object]], where: ColumnElement[bool] | None = None
) -> Iterator[Sequence[object]]:
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


# Far longer than anything takes from keeping its files to writing its rows: an upload, an import, a reference run.
SECONDS_OF_GRACE = 86_400.0
MOST_SHOWN = 1000
# Receives how many files of how many have been read, and the bytes of the last one.
Step = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of the store: `kind` is missing, damaged or rows; beside it what is at fault, and who needs it."""

    kind: str
    name: str
    places: Sequence[str] = ()
    why: str = ""


@dataclass
class Checked:
    """The result of a check. `orphans` are files no row names, of which `old` may be collected; sizes in bytes."""

    files: int = 0
    size: int = 0
    faults: list[Fault] = field(default_factory=list)
    orphans: int = 0
    orphan_size: int = 0
    old: list[StoredFile] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Repaired:
    """The result of a repair: files restored, orphans and unfinished files removed, bytes won by that."""

    restored: Sequence[str]
    removed: int
    size: int
    unfinished: int


def check(
    database: Database,
    files: Files,
    *,
    grace: float = SECONDS_OF_GRACE,
    rows: bool = True,
    step: Step = lambda _done, _all, _size: None,
) -> Checked:
    """Read every file of the store and, with `rows`, every row; safe beside a running server.

    Files are listed before the rows are read, so that a file is called an orphan only if it was there before.
    """
    stored = list(files.stored())
    with database.snapshot() as connection:
        row_faults = _row_faults(connection) if rows else []
        checked = Checked(len(stored), sum(each.size for each in stored), row_faults)
        references = read_references(connection, verify=rows)
    checked.faults += [Fault("rows", place, why="other bytes than were sent") for place in references.spoilt]
    latest = utc_now().timestamp() - max(grace, files.least_grace)
    unnamed = [each for each in stored if each.sha256 not in references.named]
    checked.orphans, checked.orphan_size = len(unnamed), sum(each.size for each in unnamed)
    checked.old = [each for each in unnamed if each.stored_at <= latest]
    sizes = dict.fromkeys(references.needed, 0) | {each.sha256: each.size for each in stored}
    for at, name in enumerate(sorted(sizes), start=1):
        fault = _fault_of(files, name, references)
        if fault is not None:
            checked.faults.append(fault)
        step(at, len(sizes), sizes[name])
    return checked


def repair(database: Database, files: Files, checked: Checked, source: Files | None = None) -> Repaired:
    """Fetch missing and damaged files from `source` (a backup's), and collect old files of no row."""
    faulty = [fault.name for fault in checked.faults if fault.kind in {"missing", "damaged"}]
    restored = [] if source is None else [name for name in faulty if _restore(files, source, name)]
    removed = collect(database, files, checked.old)
    return Repaired(restored, len(removed), sum(each.size for each in removed), files.tidy())


def collect(database: Database, files: Files, old: Sequence[StoredFile]) -> list[StoredFile]:
    """Remove those of the `old` files that no row names now and that no one has kept since they were looked at."""
    if not old:
        return []
    with database.snapshot() as connection:
        named = read_references(connection).named
    return [each for each in old if each.sha256 not in named and files.collect(each)]


def _fault_of(files: Files, name: str, references: References) -> Fault | None:
    places = references.needed.get(name, [])
    try:
        files.examine(name)
    except StoreUnavailable:
        raise  # nothing is known of the file
    except FileMissing as error:
        # One that was listed and that no row needs may have been collected in the meantime.
        return Fault("missing", name, places, str(error)) if places else None
    except OSError as error:
        return Fault("damaged", name, places, str(error))
    return None


def copy_file(source: Files, target: Files, name: str) -> None:
    """Copy a file as it is stored."""
    with source.opened(name) as packed:
        target.keep_packed(name, packed)


def _restore(files: Files, source: Files, name: str) -> bool:
    try:
        copy_file(source, files, name)
    except UNREADABLE:
        return False
    return True


def _row_faults(connection: Connection) -> list[Fault]:
    """Faults of pages and references that SQLite finds itself; PostgreSQL has its own programs for that."""
    if connection.dialect.name != "sqlite":
        return []
    faults = [
        Fault("rows", "integrity_check", why=str(text))
        for (text,) in connection.exec_driver_sql(f"PRAGMA integrity_check({MOST_SHOWN})")
        if text != "ok"
    ]
    for table, rowid, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        faults.append(Fault("rows", f"{table} {rowid}", why=f"refers to a row of {parent} that there is not"))
    return faults
