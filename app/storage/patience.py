"""Timeouts of PostgreSQL: those that it keeps itself, and those for a server that has fallen silent.

PostgreSQL ends statements, waits for locks and idle transactions by itself. A server process that has stopped (frozen,
or waiting for a dead disk) ends nothing, though its system goes on to acknowledge what it is sent: so each wait for a
reply has an end here too, a little later, and the connection is closed then.
"""

from __future__ import annotations

from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus
from sqlalchemy import Engine, event

from app.settings import Timeouts

T = TypeVar("T")
CONNECT_SECONDS = 5
SECONDS_FOR_THE_REPLY = 5.0
"""Seconds beyond PostgreSQL's own timeout until its silence ends the connection."""
SECONDS_OUTSIDE = 5.0
"""For statements outside of transactions, all of them short: is the connection alive, how did a transaction end."""
SETTINGS = (
    "SELECT set_config('statement_timeout', %s, false), set_config('lock_timeout', %s, false),"
    " set_config('idle_in_transaction_session_timeout', %s, false)"
)


class Patience:
    """Timeouts of the connections of one purpose, in seconds: of a statement, idle in a transaction, and so on."""

    def __init__(self, statement: float, idle: float, timeouts: Timeouts) -> None:
        self._settings = [f"{1000 * seconds:.0f}ms" for seconds in (statement, timeouts.lock, idle)]
        self._reply = statement + SECONDS_FOR_THE_REPLY if statement else None
        self.network = network_patience(timeouts.silent)

    def apply(self, connection: BoundedConnection) -> None:
        """Let a new connection have these bounds."""
        connection.seconds = self._reply
        connection.autocommit = True
        connection.execute(SETTINGS, self._settings)
        connection.autocommit = False


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is closed if a reply does not come in time: within `seconds`, inside of transactions."""

    seconds: float | None = None

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Wait for a reply; raises OperationalError."""
        if timeout is None:
            timeout = SECONDS_OUTSIDE if self.autocommit else self.seconds
        try:
            return super().wait(gen, interval, timeout)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.pgconn.finish()  # its reply may still come: nobody may take that for the next one's
            raise


def network_patience(silent: float) -> dict[str, int]:
    """Options of libpq for a network that is silent for so many seconds: no reply to a connect, no acknowledgement."""
    if not silent:
        return {"connect_timeout": CONNECT_SECONDS}
    return {
        "connect_timeout": CONNECT_SECONDS,
        "keepalives_idle": max(1, round(silent / 2)),
        "keepalives_interval": max(1, round(silent / 6)),
        "keepalives_count": 3,
        "tcp_user_timeout": round(1000 * silent),
    }


def be_patient(engine: Engine, patience: Patience) -> None:
    """Let every connection that a PostgreSQL engine opens have these bounds."""

    # Any: the arguments of the driver's connect, each of a type of its own.
    def connect(_dialect: object, _record: object, _args: object, named: dict[str, Any]) -> BoundedConnection:
        connection = BoundedConnection.connect(**{**patience.network, **named})
        try:
            patience.apply(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    event.listen(engine, "do_connect", connect)
