"""The time of the database's clock, which all processes on it follow, whatever the clocks of their machines say.

Between two looks a monotonic clock tells how it goes on. A look knows the time to half of what its query took; where it
agrees with what was known as far as that, nothing changes, so that the time does not tremble.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

from sqlalchemy import text

from app.core.db.database import Database

NOW = text("SELECT clock_timestamp()")
FIRST_LOOKS = 3


class DatabaseTime:
    """A clock that tells the time of a PostgreSQL server; call it from any thread, `look` from one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        looks = [self._measured() for _ in range(FIRST_LOOKS)]
        self._known = min(looks, key=lambda each: each[2])[:2]  # replaced as a whole

    def __call__(self) -> datetime:
        """The time in UTC."""
        moment, at = self._known
        return moment + timedelta(seconds=time.monotonic() - at)

    def look(self) -> None:
        """Ask the database; raises what it raises."""
        moment, at, error = self._measured()
        known, known_at = self._known
        if abs(moment - known - timedelta(seconds=at - known_at)) > timedelta(seconds=error):
            self._known = moment, at

    def _measured(self) -> tuple[datetime, float, float]:
        """The time of the database, the monotonic moment of it, and how wrong that may be, in seconds."""
        with self._database.snapshot() as connection:
            connection.execute(text("SELECT 1"))  # a new connection and a new transaction take their time before
            before = time.monotonic()
            moment: datetime = connection.execute(NOW).scalar_one()
            after = time.monotonic()
        return moment.astimezone(UTC), (before + after) / 2, (after - before) / 2
