"""A connection to PostgreSQL that ends its waits itself; only who has a PostgreSQL loads the driver."""

from __future__ import annotations

from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus

T = TypeVar("T")
SECONDS_OUTSIDE = 5.0
"""For statements outside of transactions, all of them short: is the connection alive, how did a transaction end."""


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is closed if a reply does not come in time: within `seconds`, inside of transactions."""

    seconds: float | None = None

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
            timeout = SECONDS_OUTSIDE if self.autocommit else self.seconds
        try:
            return super().wait(gen, interval, timeout)
        except psycopg.OperationalError:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                self.pgconn.finish()  # its reply may still come: nobody may take that for the next one's
            raise
