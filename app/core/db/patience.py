"""Timeouts of PostgreSQL: those that it keeps itself, and those for a server that has fallen silent.

PostgreSQL ends statements, waits for locks and idle transactions by itself. A server process that has stopped (frozen,
or waiting for a dead disk) ends nothing, though its system goes on to acknowledge what it is sent: so each wait for a
reply has an end here too, a little later, and the connection is closed then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, event

from app.core.settings import Timeouts

if TYPE_CHECKING:
    from app.core.db.bounded_connection import BoundedConnection

CONNECT_SECONDS = 5
SECONDS_FOR_THE_REPLY = 5.0
"""Seconds beyond PostgreSQL's own timeout until its silence ends the connection."""
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
    from app.core.db.bounded_connection import BoundedConnection  # its driver takes 0.1 s, which SQLite needs not pay

    # Any: the arguments of the driver's connect, each of a type of its own.
    def connect(_dialect: object, _record: object, _args: object, named: dict[str, Any]) -> BoundedConnection:
        connection = BoundedConnection.connect(**{**patience.network, **named})
        try:
            connection.check_encoding()
            patience.apply(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    event.listen(engine, "do_connect", connect)
