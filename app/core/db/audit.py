"""The audit log: what organisers, judges and admins change, kept in the transaction of the change itself.

An actor is set for a request or a job (`acting`). Every transaction that writes collects what it changes while there is
one (`Ledger`), and adds a row to the log as its last act: a change without its entry is never committed, and an entry
without its change neither. Whoever writes a new service has nothing to call.

- What entries of the audit log show of rows: values before and after, cut to a readable length, without secrets.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from pydantic import BaseModel
from sqlalchemy.orm import Session, SessionTransaction, UOWTransaction

from app.core.clock import utc_now
from app.core.json_documents import AuditChanges, AuditObject
from app.domain.documents import JsonValue
from app.tables import AccountRow, AuditRow, Base, ContestRow

LONGEST_VALUE = 200
MOST_VALUES = 40
DEEPEST = 3
# Columns and keys whose values are never written down; the log only says that they changed.
SECRET = re.compile(r"password|token|secret|digest|code|key")
HIDDEN = "(hidden)"
ADDED, CHANGED, DELETED = "added", "changed", "deleted"
Shown = dict[str, JsonValue]


def object_change(row: Base, what: str) -> AuditObject | None:
    """The change of a row that a session flushes; None where it is as it was."""
    before, after = _values(row, what)
    if what == CHANGED and before == after:
        return None
    if isinstance(row, ContestRow) and "duration_ms" in after and row.start_time and not row.pauses:
        for values in (before, after):  # what readers of the log know; pauses move it
            if isinstance(length := values.get("duration_ms"), int):
                values["end"] = row.start_time + timedelta(milliseconds=length)
    keys = sa.inspect(type(row)).primary_key_from_instance(row)
    row_id, table, was, is_now = "/".join(map(str, keys)), row.__tablename__, readable(before), readable(after)
    return {"table": table, "id": row_id, "what": what, "before": was, "after": is_now}


def joined(old: AuditObject, new: AuditObject) -> AuditObject:
    """Two changes of one object in one transaction as one."""
    what = old["what"] if new["what"] == CHANGED else new["what"]
    before, after = {**new["before"], **old["before"]}, {**old["after"], **new["after"]}
    return {**old, "what": what, "before": before, "after": after}


def readable(values: Mapping[str, object]) -> Shown:
    """Values by name as JSON; empty ones are left out."""
    shown = {name: _shown(name, value) for name, value in values.items()}
    return {name: value for name, value in shown.items() if value not in (None, {}, [], "")}


def _values(row: Base, what: str) -> tuple[dict[str, object], dict[str, object]]:
    before: dict[str, object] = {}
    after: dict[str, object] = {}
    for attribute in sa.inspect(row).mapper.column_attrs:
        name = attribute.key
        history = sa.inspect(row).attrs[name].history
        old = _document(next(iter(history.deleted or history.unchanged or ()), None))
        new = _document(getattr(row, name))
        if what == CHANGED and (not history.has_changes() or old == new):
            continue
        if what == CHANGED and isinstance(old, dict) and isinstance(new, dict):
            names = [key for key in {**old, **new} if old.get(key) != new.get(key)]
            old, new = ({key: each[key] for key in names if key in each} for each in (old, new))
        if what != ADDED:
            before[name] = old
        if what != DELETED:
            after[name] = new
    return before, after


def _document(value: object) -> object:
    """Give the value of a column as it is stored: models are JSON."""
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def _shown(name: str, value: object, depth: int = 0) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if SECRET.search(name):
        return HIDDEN
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if depth < DEEPEST and isinstance(value, dict):
        first = list(value.items())[:MOST_VALUES]
        return {_cut(str(key)): _shown(str(key), each, depth + 1) for key, each in first}
    if depth < DEEPEST and isinstance(value, list | tuple):
        return [_shown("", each, depth + 1) for each in value[:MOST_VALUES]]
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


LEDGER = "audit_ledger"
MOST_OBJECTS = 20
LONGEST_PATH = 500
BETWEEN_SWEEPS = 200
# Tables that follow from other changes, or from time.
UNAUDITED = frozenset({"audit_log", "clock", "events", "judgements", "raw_scores"})


@dataclass(frozen=True, slots=True)
class Actor:
    """Whoever makes changes: an account with its role, from an address, by a credential; and what it has asked for."""

    account_id: str | None
    role: str
    address: str
    credential: str
    operation: str
    method: str
    path: str
    contest_id: str | None = None
    problem_id: str | None = None


@dataclass(slots=True)
class Retention:
    """How long entries are kept: `days` (0: forever), and at most so many; the start of a server sets the days."""

    days: int = 730
    most: int = 1_000_000


RETENTION = Retention()
_ACTOR: ContextVar[Actor | None] = ContextVar("actor", default=None)


def actor() -> Actor | None:
    """Whoever makes changes now; None: no one whose changes are kept."""
    return _ACTOR.get()


@contextmanager
def acting(by: Actor | None) -> Iterator[None]:
    """Keep all changes that are made meanwhile as those of an actor; threads that are started do not inherit it."""
    token = _ACTOR.set(by)
    try:
        yield
    finally:
        _ACTOR.reset(token)


# A row of the log, by the names of its columns.
Entry = dict[str, object]
State = tuple[dict[tuple[str, str | None], AuditObject], Counter[tuple[str, str]], set[str]]


class Ledger:
    """The changes of one transaction: objects with their values before and after, and counts by table."""

    def __init__(self, by: Actor) -> None:
        self.by = by
        self.objects: dict[tuple[str, str | None], AuditObject] = {}
        self.counts: Counter[tuple[str, str]] = Counter()
        self.contest_ids: set[str] = set()
        self.flushing = False
        self._marks: dict[SessionTransaction, State] = {}

    def mark(self, savepoint: SessionTransaction) -> None:
        """Remember the state at a savepoint."""
        self._marks[savepoint] = (dict(self.objects), Counter(self.counts), set(self.contest_ids))

    def go_back(self, transaction: SessionTransaction) -> None:
        """Drop what was collected since a savepoint, or all of it where the whole transaction is rolled back."""
        self.objects, self.counts, self.contest_ids = self._marks.pop(transaction, ({}, Counter(), set()))
        self.flushing = False

    def note_object(self, row: Base, what: str) -> None:
        """Note a row that is written by the session."""
        table = row.__tablename__
        change = None if table in UNAUDITED else object_change(row, what)
        if change is None:
            return
        self.counts[table, what] += 1
        contest_id = row.id if isinstance(row, ContestRow) else getattr(row, "contest_id", None)
        if contest_id is not None:
            self.contest_ids.add(str(contest_id))
        key = table, change["id"]
        old = self.objects.get(key)
        if old is not None:
            self.objects[key] = joined(old, change)
        elif len(self.objects) < MOST_OBJECTS:
            self.objects[key] = change

    def note_statement(self, table: str, what: str, values: Sequence[Mapping[str, object]]) -> None:
        """Note a statement beside the session's own, with the values that it names."""
        if table in UNAUDITED:
            return
        self.counts[table, what] += len(values)
        for each in values[: max(0, MOST_OBJECTS - len(self.objects))]:
            contest_id = each.get("contest_id") or each.get("contest_id_1")
            if contest_id is not None:
                self.contest_ids.add(str(contest_id))
            key = table, f"statement {len(self.objects)}"
            self.objects[key] = {"table": table, "id": None, "what": what, "before": {}, "after": readable(each)}

    def entry(self, connection: sa.Connection) -> Entry | None:
        """The row of the log; None where nothing was changed."""
        if not self.counts:
            return None
        only = next(iter(self.contest_ids)) if len(self.contest_ids) == 1 else None
        changes: AuditChanges = {"objects": list(self.objects.values()), "counts": _by_table(self.counts)}
        return entry(connection, self.by, changes, only)


def entry(connection: sa.Connection, by: Actor, changes: AuditChanges, contest_id: str | None = None) -> Entry:
    """The row of the log for changes of an actor; `contest_id` where the request names no contest."""
    username = connection.scalar(sa.select(AccountRow.username).where(AccountRow.id == by.account_id))
    return {
        **asdict(by),
        "time": utc_now(),
        "username": username or by.account_id or "",
        "path": by.path[:LONGEST_PATH],
        "contest_id": by.contest_id or contest_id,
        "changes": changes,
    }


@contextmanager
def audited(connection: sa.Connection, transaction: sa.RootTransaction) -> Iterator[None]:
    """Collect what a transaction changes, and add its entry at the end, unless it was taken back (a dry run)."""
    by = actor()
    if by is None:
        yield
        return
    ledger = connection.info[LEDGER] = Ledger(by)
    sa.event.listen(connection, "before_execute", _note_statement)  # an engine's listener would cost every statement
    try:
        yield
    finally:
        del connection.info[LEDGER]
    row = ledger.entry(connection) if transaction.is_active else None
    if row is not None:
        add(connection, [row])


def add(connection: sa.Connection, rows: Sequence[Entry]) -> None:
    """Add entries to the log, and now and then remove those that are too old or too many."""
    for row in rows:
        (number,) = connection.execute(sa.insert(AuditRow).values(row)).inserted_primary_key or (0,)
        if number % BETWEEN_SWEEPS == 0:
            sweep(connection, number)


def sweep(connection: sa.Connection, newest: int, retention: Retention = RETENTION) -> None:
    """Remove the entries that the settings keep no longer; `newest` is the number of the last one."""
    oldest = utc_now() - timedelta(days=retention.days) if retention.days else None
    too_old = AuditRow.time < oldest if oldest is not None else sa.false()
    connection.execute(sa.delete(AuditRow).where(sa.or_(AuditRow.id <= newest - retention.most, too_old)))


def concern(session: Session, contest_id: str) -> None:
    """Note that the changes of a transaction concern a contest, where no row of them names it."""
    ledger: Ledger | None = session.info.get(LEDGER)
    if ledger is not None:
        ledger.contest_ids.add(contest_id)


def watch_session(session: Session, connection: sa.Connection) -> None:
    """Let the objects of a session be noted while its connection has a ledger."""
    ledger: Ledger | None = connection.info.get(LEDGER)
    if ledger is not None:
        session.info[LEDGER] = ledger
        for name, listener in LISTENERS.items():
            sa.event.listen(session, name, listener)


def _note_statement(
    connection: sa.Connection,
    statement: object,
    multiparams: Sequence[Mapping[str, object]],
    params: Mapping[str, object],
    _options: Mapping[str, object],
) -> None:
    ledger: Ledger | None = connection.info.get(LEDGER)
    if ledger is None or ledger.flushing or not isinstance(statement, sa.UpdateBase):
        return
    what = ADDED if statement.is_insert else DELETED if statement.is_delete else CHANGED
    values = list(multiparams) or ([params] if params else [statement.compile().params])
    ledger.note_statement(str(getattr(statement.table, "name", statement.table)), what, values)


def _before_flush(session: Session, _context: UOWTransaction, _instances: object) -> None:
    session.info[LEDGER].flushing = True


def _after_flush(session: Session, _context: UOWTransaction) -> None:
    ledger: Ledger = session.info[LEDGER]
    for what, rows in ((ADDED, session.new), (CHANGED, session.dirty), (DELETED, session.deleted)):
        for row in rows:
            ledger.note_object(row, what)
    ledger.flushing = False


def _at_savepoint(session: Session, transaction: SessionTransaction) -> None:
    if transaction.nested:
        session.info[LEDGER].mark(transaction)


def _after_rollback(session: Session, previous: SessionTransaction) -> None:
    session.info[LEDGER].go_back(previous)


LISTENERS: Mapping[str, Callable[..., object]] = {
    "before_flush": _before_flush,
    "after_flush": _after_flush,
    "after_transaction_create": _at_savepoint,
    "after_soft_rollback": _after_rollback,
}


def _by_table(counts: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    by_table: dict[str, dict[str, int]] = {}
    for (table, what), count in counts.items():
        by_table.setdefault(table, {})[what] = count
    return by_table
