"""Opponents that think for longer: in few threads of their own, each game in its turn, beside the event loop."""

from __future__ import annotations

from datetime import datetime

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from app.games.service.referee import Table, answer, is_quick

AT_ONCE = 2
"""Opponents that think at once. They share Python's lock, so that more would answer none of them sooner; and they take
no thread that reads the database for somebody."""


class Thinking:
    """The threads of opponents, for one event loop. Games wait in the order in which they came, each with one move."""

    def __init__(self) -> None:
        self._threads: CapacityLimiter | None = None

    async def reply(self, table: Table, now: datetime) -> Table:
        """The table after the opponent's moves; a quick one answers at once."""
        if is_quick(table):
            return answer(table, now)
        if self._threads is None:
            self._threads = CapacityLimiter(AT_ONCE)
        return await run_sync(answer, table, now, limiter=self._threads)
