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
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

# A contest and a problem.
Place = tuple[str, str]
# A kind of notice and its words.
Notice = tuple[str | float, ...]
NUMBER_BYTES = 8
SECONDS_BETWEEN_LOOKS = 0.02


class Gate:
    """Lets submissions to a problem of a contest through, or makes them wait. It may be used from any thread.

    `tell` is called with notices for other servers, and returns when they are sent.
    """

    def __init__(self) -> None:
        self._left = threading.Condition()
        self._held: Counter[Place] = Counter()
        self._inside: Counter[Place] = Counter()
        # By the number of another server's closing, until when it holds at most (monotonic), and for which places.
        self._elsewhere: dict[str, tuple[float, list[Place]]] = {}
        self.tell: Callable[[Sequence[Notice]], object] = lambda _notices: None

    @asynccontextmanager
    async def passed(self, place: Place) -> AsyncIterator[None]:
        """Wait until the place is open; it can be closed, but not emptied, before the end of the block."""
        while not self._enter(place):  # noqa: ASYNC110 - other threads open it, and wake no waiter of a loop
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        try:
            yield
        finally:
            self._leave(place)

    @contextmanager
    def closed(self, places: Collection[Place], seconds: float) -> Iterator[bool]:
        """Close the places until the end of the block; gives whether, within so many seconds, all inside have left."""
        number = secrets.token_hex(NUMBER_BYTES)
        with self._left:
            self._held.update(places)
        try:
            self.tell([("closed", number, seconds, *place) for place in places])
            with self._left:
                emptied = self._left.wait_for(lambda: not any(self._inside[place] for place in places), seconds)
            yield emptied
        finally:
            with self._left:
                self._held -= Counter(places)
            self.tell([("opened", number)])

    def close_elsewhere(self, number: str, seconds: float, contest_id: str, problem_id: str) -> None:
        """Close a place as another server has done, with those of the same number; for so many seconds at most."""
        with self._left:
            _, places = self._elsewhere.setdefault(number, (time.monotonic() + seconds, []))
            places.append((contest_id, problem_id))

    def open_elsewhere(self, number: str) -> None:
        """Open what another server had closed."""
        with self._left:
            self._elsewhere.pop(number, None)

    def is_closed(self, place: Place) -> bool:
        """Whether submissions to a place wait."""
        with self._left:
            now = time.monotonic()
            self._elsewhere = {number: each for number, each in self._elsewhere.items() if each[0] > now}
            return self._held[place] > 0 or any(place in places for _, places in self._elsewhere.values())

    def _enter(self, place: Place) -> bool:
        """Go in, unless the place is closed."""
        with self._left:
            is_open = not self.is_closed(place)
            self._inside[place] += is_open
            return is_open

    def _leave(self, place: Place) -> None:
        """Go out, after `_enter` has let in."""
        with self._left:
            self._inside -= Counter([place])
            self._left.notify_all()
