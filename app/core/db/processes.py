"""The processes of an installation, as each tells of itself: a row that is written again every few seconds.

A process that ends in order takes its row away. One that is killed leaves it, for an hour, so that people can see what
is missing.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import NamedTuple
from uuid import uuid4

import structlog
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.core.db.commits import forget_marks
from app.core.db.locks import Locks
from app.core.db.process_locks import SPACE, number_of
from app.core.db.writer import Writer
from app.core.loops import Loop
from app.tables import ProcessRow

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.processes")

SERVER, WORKER = "server", "worker"
SECONDS_BETWEEN_SIGNS = 5.0
SILENT = timedelta(seconds=3 * SECONDS_BETWEEN_SIGNS)
"""A process that has given no sign for so long is taken for gone."""
REMEMBERED = timedelta(hours=1)


class Work(NamedTuple):
    """The state of a process: graders able to work, graders that died, and messages taken and not acknowledged."""

    graders: int
    deaths: int = 0
    at_hand: int = 0


NO_WORK = Work(0)


@dataclass(frozen=True, slots=True)
class Sign:
    """A sign of life: who gives it, when, and the state of its work."""

    id: str
    kind: str
    started: datetime
    time: datetime
    work: Work


def write_signs(connection: Connection, signs: Sequence[Sign]) -> list[None]:
    """Keep signs of life, and forget who has been silent for an hour, and old marks; a handler of the writer."""
    for sign in signs:
        state = {"seen": sign.time, **sign.work._asdict()}
        if not connection.execute(update(ProcessRow).where(ProcessRow.id == sign.id).values(**state)).rowcount:
            fixed = {"host": socket.gethostname(), "pid": os.getpid(), "version": version("jurado")}
            connection.execute(
                insert(ProcessRow).values(id=sign.id, kind=sign.kind, started=sign.started, **fixed, **state)
            )
    now = max(sign.time for sign in signs)
    connection.execute(delete(ProcessRow).where(ProcessRow.seen < now - REMEMBERED))
    forget_marks(connection, now)
    return [None] * len(signs)


def remove_many(connection: Connection, ids: Sequence[str]) -> list[None]:
    """Take away the rows of processes that end in order; a handler of the writer."""
    connection.execute(delete(ProcessRow).where(ProcessRow.id.in_(ids)))
    return [None] * len(ids)


def processes(session: Session) -> list[ProcessRow]:
    """All processes that are known: servers first, each kind by the start."""
    return list(session.scalars(select(ProcessRow).order_by(ProcessRow.kind, ProcessRow.started, ProcessRow.id)))


class Presence:
    """A loop that gives signs of life for this process; `work` tells the state of its work, once there is any."""

    def __init__(self, writer: Writer, kind: str) -> None:
        self.id = str(uuid4())
        self.work: Callable[[], Work] = lambda: NO_WORK
        self._writer = writer
        self._kind = kind
        self._started = utc_now()
        self._loop = Loop("presence", self._give, SECONDS_BETWEEN_SIGNS, delay=SECONDS_BETWEEN_SIGNS)

    def start(self, locks: Locks) -> None:
        """Give the first sign, durable when this returns, and go on by itself; before anything is judged."""
        locks.publish(number_of(self.id), SPACE)
        try:
            self._give()
        except Exception as error:  # the database is away: the loop tries again
            log.warning("no heartbeat could be written", error=str(error))
        self._loop.start()

    def close(self) -> None:
        """Take the row away; before the writer is closed."""
        self._loop.close()
        try:
            self._writer.submit(remove_many, self.id).result()
        except Exception as error:  # the database is away: others see that this process is silent
            log.warning("the end of this process could not be written", error=str(error))

    def _give(self) -> None:
        sign = Sign(self.id, self._kind, self._started, utc_now(), self.work())
        self._writer.submit(write_signs, sign).result()
