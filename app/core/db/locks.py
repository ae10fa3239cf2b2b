"""Locks by which one of several processes does what none should do twice: publish a feed, call a webhook, end games.

They are advisory locks of PostgreSQL on a connection of their own, free again as soon as it ends, kill -9 included. Two
processes may both take themselves for the holder for a moment, after a network has failed: whatever is done under such
a lock is right if done twice, as its writes compare what they change. Guarantee 7: the lock in this process gives the
connection to one thread at a time.

- Which processes of an installation are gone without having ended in order.
- The processes of an installation, as each tells of itself: a row that is written again every few seconds.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from importlib.metadata import version
from itertools import count
from typing import NamedTuple, cast
from uuid import uuid4

import structlog
from sqlalchemy import Connection, Engine, delete, func, select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.core import clock
from app.core.db.serving import single_engine
from app.core.db.tables import ProcessRow, is_postgresql, own_insert, texts_of
from app.core.db.writer import Writer
from app.core.loops import Loop

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.locks")

SECONDS_PROVEN = 1.0
SECONDS_BETWEEN_TRIES = 0.2
SECONDS_OF_SILENCE = 6.0
APPLICATION = "jurado locks"
TRY = text("SELECT pg_try_advisory_lock(hashtextextended(:name, 0))")
SHOW = text("SELECT pg_advisory_lock_shared(:space, :number)")
PROOF = text("SELECT 1")
SHOWN = text(
    "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND CAST(classid AS bigint) = :space AND objsubid = 2"
    " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
SPACE = int.from_bytes(b"jurp")
LOCK_UNTIL_THE_END = text(
    "SELECT pg_advisory_xact_lock(hashtextextended(name, 0))"
    " FROM json_array_elements_text(CAST(:names AS json)) AS names (name)"
)
UNLOCK = text("SELECT pg_advisory_unlock(hashtextextended(:name, 0))")


class Locks:
    """The locks of one process, from any thread. Without a `url` it has the database for itself, and all locks."""

    def __init__(self, url: str | None = None) -> None:
        self._engine = None if url is None else single_engine(url, APPLICATION, SECONDS_OF_SILENCE)
        self._connection: Connection | None = None
        self._held: set[str] = set()
        self._published: list[int] = []
        self._proven = float("-inf")
        self._guard = threading.Lock()

    @property
    def is_alone(self) -> bool:
        """Whether no other process is on the database, so that all locks are held without asking."""
        return self._engine is None

    def wait_for(self, name: str, waiting: Callable[[], object] = lambda: None) -> None:
        """Wait until a lock is taken; calls `waiting` once if another process has it. Raises what the database does."""
        if self._engine is None:
            return
        for at in count():
            with self._guard:
                if self._take(self._engine, name):
                    return
            if not at:
                waiting()
            time.sleep(SECONDS_BETWEEN_TRIES)

    def publish(self, number: int) -> None:
        """Show a number of 31 bits to others for as long as this process runs, also after a connection was lost."""
        if self._engine is not None:
            with self._guard:
                connection = self._connected(self._engine)
                connection.execute(SHOW, {"space": SPACE, "number": number})
                self._published.append(number)

    def prove(self) -> None:
        """Show the published numbers on a new connection if the old one is lost; raises what the database does."""
        if self._engine is not None:
            with self._guard:
                try:
                    self._connected(self._engine).scalar(PROOF)
                except SQLAlchemyError:
                    self._drop()
                    self._connected(self._engine)

    def take(self, name: str) -> bool:
        """Take a lock, or look whether it is still held; False while another process has it, or no one can know."""
        if self._engine is None:
            return True
        with self._guard:
            try:
                return self._take(self._engine, name)
            except SQLAlchemyError as error:
                log.warning("locks cannot be taken", error=str(error))
                self._drop()
                return False

    def give_back(self, name: str) -> None:
        """Let another process have a lock."""
        with self._guard:
            if name not in self._held or self._connection is None:
                return
            self._held.discard(name)
            try:
                self._connection.execute(UNLOCK, {"name": name})
            except SQLAlchemyError:
                self._drop()

    def close(self) -> None:
        """Give all locks back."""
        with self._guard:
            self._drop()
            if self._engine is not None:
                self._engine.dispose()

    def _connected(self, engine: Engine) -> Connection:
        """The connection that holds all locks; a new one shows what was published before."""
        if self._connection is None:
            self._connection = engine.connect()
            for number in self._published:
                self._connection.execute(SHOW, {"space": SPACE, "number": number})
        return self._connection

    def _take(self, engine: Engine, name: str) -> bool:
        connection = self._connected(engine)
        if name not in self._held and connection.scalar(TRY, {"name": name}):
            self._held.add(name)
            self._proven = time.monotonic()
        elif time.monotonic() - self._proven > SECONDS_PROVEN:
            connection.scalar(PROOF)
            self._proven = time.monotonic()
        return name in self._held

    def _drop(self) -> None:
        """Give up the connection, and with it all locks."""
        self._held.clear()
        if self._connection is not None:
            # A connection that is only given back could live on with its locks.
            self._connection.invalidate()
            self._connection.close()
            self._connection = None


def lock_names(connection: Connection | Session, names: Iterable[str]) -> None:
    """Let no other transaction continue that locks one of these names, until the end of this one.

    All take them in the same order, by one statement: a batch of many teams would wait for the network with each of
    them locked. SQLite lets only one write at a time anyway.
    """
    if is_postgresql(connection) and (ordered := sorted(set(names))):
        connection.execute(LOCK_UNTIL_THE_END, {"names": texts_of(ordered)})


def number_of(process_id: str) -> int:
    """The number of 31 bits that a process shows by a lock."""
    return int(process_id.replace("-", "")[:8], 16) & 0x7FFFFFFF


def gone_processes(connection: Connection, ids: Collection[str]) -> dict[str, str]:
    """Those of these processes that are gone without having ended in order, in words.

    A restart of the database ends the locks of all: a process shows its number again before its next heartbeat, so that
    only a later heartbeat without a lock proves an end.
    """
    columns = (ProcessRow.id, ProcessRow.kind, ProcessRow.host, ProcessRow.pid)
    query = select(*columns).where(ProcessRow.id.in_(ids))
    if on_postgresql := is_postgresql(connection):
        query = query.where(ProcessRow.seen > func.pg_postmaster_start_time())
    rows = connection.execute(query).all() if ids else []
    alive = set(connection.scalars(SHOWN, {"space": SPACE})) if rows and on_postgresql else set()
    return {id_: f"{kind} on {host}, process {pid}," for id_, kind, host, pid in rows if number_of(id_) not in alive}


processes_log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.processes")

SERVER, WORKER = "server", "worker"
SECONDS_BETWEEN_SIGNS = 5.0
# A process that has given no sign for so long is taken for gone.
SILENT = timedelta(seconds=3 * SECONDS_BETWEEN_SIGNS)
REMEMBERED = timedelta(hours=1)


class Work(NamedTuple):
    """The state of a process: graders able to work, graders that died, and judgements claimed and not ended."""

    graders: int
    deaths: int = 0
    at_hand: int = 0


def write_signs(connection: Connection, rows: Sequence[Mapping[str, object]]) -> list[None]:
    """Keep signs of life, rows of processes, and forget who has been silent for an hour; a handler of the writer."""
    for row in rows:
        insert = own_insert(connection, ProcessRow).values(**row)
        state = {name: row[name] for name in ("seen", *Work._fields)}
        connection.execute(insert.on_conflict_do_update(index_elements=[ProcessRow.id], set_=state))
    now = max(cast(datetime, row["seen"]) for row in rows)
    connection.execute(delete(ProcessRow).where(ProcessRow.seen < now - REMEMBERED))
    return [None] * len(rows)


def remove_many(connection: Connection, ids: Sequence[str]) -> list[None]:
    """Take away the rows of processes that end in order; a handler of the writer."""
    connection.execute(delete(ProcessRow).where(ProcessRow.id.in_(ids)))
    return [None] * len(ids)


def processes(session: Session) -> list[ProcessRow]:
    """All processes that are known: servers first, each kind by the start."""
    return list(session.scalars(select(ProcessRow).order_by(ProcessRow.kind, ProcessRow.started, ProcessRow.id)))


class Presence:
    """A loop that gives signs of life for this process; `work` tells the state of its work, once there is any."""

    def __init__(self, writer: Writer, kind: str, locks: Locks) -> None:
        self.id = str(uuid4())
        self.work: Callable[[], Work] = lambda: Work(0)
        self._writer, self._locks = writer, locks
        self._process = {
            "id": self.id,
            "kind": kind,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "version": version("jurado"),
            "started": clock.utc_now(),
        }
        self._loop = Loop("presence", self._give, SECONDS_BETWEEN_SIGNS, delay=SECONDS_BETWEEN_SIGNS)

    def start(self) -> None:
        """Give the first sign, durable when this returns, and continue by itself; before anything is judged."""
        self._locks.publish(number_of(self.id))
        try:
            self._give()
        except Exception as error:  # the database is away: the loop tries again
            processes_log.warning("no heartbeat could be written", error=str(error))
        self._loop.start()

    def close(self) -> None:
        """Take the row away; before the writer is closed."""
        self._loop.close()
        try:
            self._writer.submit(remove_many, self.id).result()
        except Exception as error:  # the database is away: others see that this process is silent
            processes_log.warning("the end of this process could not be written", error=str(error))

    def _give(self) -> None:
        self._locks.prove()
        row = {**self._process, "seen": clock.utc_now(), **self.work()._asdict()}
        self._writer.submit(write_signs, row).result()
