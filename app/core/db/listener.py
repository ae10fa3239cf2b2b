"""The thread that hears what other processes have committed, on a connection of its own, and says so here.

A notice that was sent while the connection was lost is gone: as soon as it is back, everything counts as changed. While
it stays lost, everything counts as changed again and again, so that nothing old is taken for new (guarantee 2).

- A connection to PostgreSQL that ends its waits itself; only who has a PostgreSQL loads the driver.
"""

import json
import time
from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar, cast

import psycopg
import structlog
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus
from sqlalchemy import Connection, text

from app.core.db import by_id, serving
from app.core.effort import EFFORT
from app.core.loops import Loop
from app.core.settings import DEFAULT_TIMEOUTS

T = TypeVar("T")


class BoundedConnection(psycopg.Connection[tuple[object, ...]]):
    """A connection that is closed if a reply does not come in time: within `seconds`, inside of transactions.

    Statements outside of them are short: is the connection alive, how did a transaction end.
    """

    seconds: float | None = None
    seconds_outside: float = DEFAULT_TIMEOUTS.reply

    def check_encoding(self) -> None:
        """Raise OperationalError unless the database holds UTF-8: of SQL_ASCII the driver gives bytes for texts."""
        encoding = self.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise psycopg.OperationalError(
                f"database {self.info.dbname}: expected the encoding UTF8, found {encoding}:"
                " make it anew with createdb --encoding=UTF8 --template=template0"
            )

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Wait for a reply; raises OperationalError."""
        if timeout is None:
            timeout = self.seconds_outside if self.autocommit else self.seconds
        try:
            return super().wait(gen, interval, timeout)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.pgconn.finish()  # its reply may still come: no one may take that for the next one's
            raise


log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.notices")

# Called with the words of a notice, in the listener's thread; must not block for long.
Hearer = Callable[..., object]
APPLICATION = "jurado notices"
SECONDS_BETWEEN_PROOFS = 1.0
SECONDS_BETWEEN_TRIES = 0.5
SECONDS_BETWEEN_ALARMS = 2.0
SECONDS_OF_SILENCE = 6.0
COUNT = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = :application"
)


class Listener:
    """Hears the notices of all other processes on a database.

    `hear` registers who is told; `lost` registers who is told that anything may have changed. Register before `start`.
    """

    def __init__(self, url: str, origin: str) -> None:
        self._origin = origin
        self._engine = serving.single_engine(url, APPLICATION, SECONDS_OF_SILENCE)
        self._hearers: defaultdict[str, list[Hearer]] = defaultdict(list)
        self._on_lost: list[Callable[[], object]] = []
        self._proven = float("-inf")
        self._alarmed = float("-inf")
        self._processes = 1
        self._connection: Connection | None = None
        self._loop = Loop("notices", self._step, 0.0, retry=SECONDS_BETWEEN_TRIES)

    def hear(self, kind: by_id.Kind, hearer: Hearer) -> None:
        """Call someone with the words of each notice of a kind."""
        self._hearers[kind.value].append(hearer)

    def lost(self, call: Callable[[], object]) -> None:
        """Call someone whenever notices may have been lost."""
        self._on_lost.append(call)

    def start(self) -> None:
        """Begin to listen: at once, or as soon as the database can be reached."""
        try:
            self._prove(self._connect())
        except Exception as error:
            log.warning("notices cannot be heard yet", error=str(error))
            self._disconnect()
        self._loop.start()

    def close(self) -> None:
        """Stop listening."""
        self._loop.close()
        self._disconnect()
        self._engine.dispose()

    @property
    def behind(self) -> float:
        """Seconds for which it is not certain that everything was heard."""
        return time.monotonic() - self._proven

    @property
    def processes(self) -> int:
        """The number of processes that listen, this one among them, as of a moment ago."""
        return self._processes

    def _step(self) -> None:
        """Hear for a second, on a new connection after a failure; while none is there, everything counts as changed."""
        try:
            self._hear_all(self._connection or self._connect())
        except Exception:
            self._disconnect()
            if time.monotonic() - self._alarmed >= SECONDS_BETWEEN_ALARMS:
                self._alarm()
            raise

    def _connect(self) -> Connection:
        self._connection = self._engine.connect()
        _driver(self._connection).execute(f"LISTEN {by_id.CHANNEL}")
        self._alarm()  # only from here on nothing is missed
        return self._connection

    def _prove(self, connection: Connection) -> None:
        # What it was sent comes before the reply to the count: that proves that all of it was heard.
        self._processes = max(1, connection.scalar(COUNT, {"application": APPLICATION}) or 1)
        self._proven = time.monotonic()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _alarm(self) -> None:
        self._alarmed = time.monotonic()
        for call in self._on_lost:
            self._survive(call)

    def _hear_all(self, connection: Connection) -> None:
        self._prove(connection)
        while time.monotonic() - self._proven < SECONDS_BETWEEN_PROOFS and not self._loop.closing:
            for heard in _driver(connection).notifies(timeout=EFFORT.seconds_to_hear):
                self._survive(self._pass_on, heard.payload)  # which any client of the database may send

    def _pass_on(self, payload: str) -> None:
        origin, kind, *words = json.loads(payload)
        # This process has told itself already, without the way through the database.
        if origin == self._origin:
            return
        for hearer in self._hearers.get(str(kind), ()):
            self._survive(hearer, *words)

    def _survive(self, call: Callable[..., object], *words: by_id.Word) -> None:
        try:
            call(*words)
        except Exception:
            log.exception("a notice could not be passed on")


def _driver(connection: Connection) -> BoundedConnection:
    return cast(BoundedConnection, connection.connection.driver_connection)
