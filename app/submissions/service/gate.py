"""The gate that submissions pass on their way into the database; applying a rejudging closes it for a moment.

Guarantee 2: a rejudging is applied with all submissions to its problem, or they come after it. Its one lock is between
the event loop, where submissions pass, and the threads that close it.

Where several servers take submissions, the gates of all of them close: the others a moment later, so that what passes
them meanwhile still has to be looked for.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress

# A contest and a problem.
Place = tuple[str, str]
# A kind of notice and its words.
Notice = tuple[str | float, ...]
NUMBER_BYTES = 8


class Gate:
    """Lets submissions to a problem of a contest through, or makes them wait. It may be used from any thread.

    `tell` is called with notices for other servers, and returns when they are sent.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held: Counter[Place] = Counter()
        self._inside: Counter[Place] = Counter()
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
        self._elsewhere: dict[str, tuple[list[Place], threading.Timer]] = {}
        self.tell: Callable[[Sequence[Notice]], object] = lambda _notices: None

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
        number = secrets.token_hex(NUMBER_BYTES)
        self._hold(places)
        try:
            self.tell([("closed", number, seconds, *place) for place in places])
            yield self._emptied(places, seconds)
        finally:
            self._open(places)
            self.tell([("opened", number)])

    def close_elsewhere(self, number: str, seconds: float, contest_id: str, problem_id: str) -> None:
        """Close a place as another server has done, with those of the same number; for so many seconds at most."""
        place = (contest_id, problem_id)
        with self._changed:
            if number not in self._elsewhere:
                timer = threading.Timer(seconds, self.open_elsewhere, [number])
                timer.daemon = True
                timer.start()
                self._elsewhere[number] = ([], timer)
            self._elsewhere[number][0].append(place)
            self._held[place] += 1

    def open_elsewhere(self, number: str) -> None:
        """Open what another server had closed."""
        with self._changed:
            places, timer = self._elsewhere.pop(number, ((), None))
        if timer is not None:
            timer.cancel()
            self._open(places)

    def _hold(self, places: Collection[Place]) -> None:
        with self._changed:
            self._held.update(places)

    def _open(self, places: Collection[Place]) -> None:
        with self._changed:
            self._held.subtract(places)
            self._held += Counter()  # drops those nobody holds
            waiting, self._waiting = self._waiting, []
        for loop, opened in waiting:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(opened.set)

    def is_closed(self, place: Place) -> bool:
        """Whether submissions to a place wait."""
        with self._changed:
            return self._held[place] > 0

    def _emptied(self, places: Collection[Place], seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not any(self._inside[place] for place in places), seconds)

    def _enter(self, place: Place) -> asyncio.Event | None:
        """Go in; where the place is closed, give what tells that one may try again."""
        with self._changed:
            if self._held.get(place, 0) > 0:
                opened = asyncio.Event()
                self._waiting.append((asyncio.get_running_loop(), opened))
                return opened
            self._inside[place] += 1
            return None

    def _leave(self, place: Place) -> None:
        """Go out, after `_enter` has let in."""
        with self._changed:
            self._inside[place] -= 1
            if not self._inside[place]:
                del self._inside[place]
                self._changed.notify_all()
