"""Turns at something scarce, given out fairly: round robin over those who ask, first come first served within each."""

from __future__ import annotations

import asyncio
from collections import deque

from app.core.errors import TooManyRequests
from app.core.messages import N_

SECONDS_TO_RETRY = 2


class Turns:
    """At most `at_once` have a turn, at most `most_waiting` of one asker wait for one; used in one event loop."""

    def __init__(self, at_once: int, most_waiting: int) -> None:
        self._at_once = at_once
        self._most_waiting = most_waiting
        self._taken = 0
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @property
    def idle(self) -> bool:
        """Whether all turns are free; then nobody waits either."""
        return self._taken == 0

    async def take(self, asker: str) -> None:
        """Wait for a turn, to be given back with `leave`; raises TooManyRequests where too many wait already."""
        if self._taken < self._at_once:
            self._taken += 1
            return
        queue = self._waiting.setdefault(asker, deque())
        if len(queue) >= self._most_waiting:
            raise TooManyRequests(N_("too many logins wait already, try again later"), SECONDS_TO_RETRY)
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was given the turn in the same moment
                self.leave()
            raise

    def leave(self) -> None:
        """Give a turn back: to the next asker's first who still waits for it."""
        while self._waiting:
            asker = next(iter(self._waiting))
            queue = self._waiting.pop(asker)
            turn = queue.popleft()
            if queue:
                self._waiting[asker] = queue  # behind all others
            if not turn.done():
                turn.set_result(None)
                return
        self._taken -= 1
