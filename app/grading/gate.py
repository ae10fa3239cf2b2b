"""The gate that submissions pass on their way into the database; applying a rejudging closes it for a moment."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

Place = tuple[str, str]
"""A contest and a problem."""


class Gate:
    """Lets submissions to a problem of a contest through, or makes them wait. It may be used from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: Counter[Place] = Counter()
        self._inside: Counter[Place] = Counter()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    @asynccontextmanager
    async def passed(self, place: Place) -> AsyncIterator[None]:
        """Wait until the place is open; it can be closed, but not emptied, before the end of the block."""
        while (opened := self._enter(place)) is not None:
            await opened.wait()
        try:
            yield
        finally:
            self._leave(place)

    @contextmanager
    def closed(self, places: Collection[Place], seconds: float) -> Iterator[bool]:
        """Close the places until the end of the block; gives whether, within so many seconds, all inside have left."""
        with self._changed:
            self._held.update(places)
        try:
            yield self._emptied(places, seconds)
        finally:
            with self._changed:
                self._held.subtract(places)
                self._held += Counter()  # drops those nobody holds
                waiting, self._waiting = self._waiting, []
            for loop, opened in waiting:
                with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    loop.call_soon_threadsafe(opened.set)

    def _emptied(self, places: Collection[Place], seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not any(self._inside[place] for place in places), seconds)

    def _enter(self, place: Place) -> asyncio.Event | None:
        """Go in; where the place is closed, give what tells that one may try again."""
        with self._changed:
            if self._held[place] > 0:
                opened = asyncio.Event()
                self._waiting.append((asyncio.get_running_loop(), opened))
                return opened
            self._inside[place] += 1
            return None

    def _leave(self, place: Place) -> None:
        with self._changed:
            self._inside[place] -= 1
            if not self._inside[place]:
                del self._inside[place]
                self._changed.notify_all()
