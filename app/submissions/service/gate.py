"""The gate that submissions pass on their way into the database; applying a rejudging closes it for a moment.

Where several servers take submissions, the gates of all of them close: the others a moment later, so that what passes
them meanwhile still has to be looked for.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress

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

    def passed(self, place: Place) -> Passage:
        """Wait until the place is open; it can be closed, but not emptied, before the end of the block."""
        return Passage(self, place)

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

    def enter(self, place: Place) -> asyncio.Event | None:
        """Go in; where the place is closed, give what tells that one may try again."""
        with self._changed:
            if self._held.get(place, 0) > 0:
                opened = asyncio.Event()
                self._waiting.append((asyncio.get_running_loop(), opened))
                return opened
            self._inside[place] += 1
            return None

    def leave(self, place: Place) -> None:
        """Go out, after `enter` has let in."""
        with self._changed:
            self._inside[place] -= 1
            if not self._inside[place]:
                del self._inside[place]
                self._changed.notify_all()


class Passage:
    """The way through a gate of one submission, as a context: it waits to go in, and leaves at the end."""

    __slots__ = ("_gate", "_place")

    def __init__(self, gate: Gate, place: Place) -> None:
        self._gate = gate
        self._place = place

    async def __aenter__(self) -> None:
        while (opened := self._gate.enter(self._place)) is not None:
            await opened.wait()

    async def __aexit__(self, *_: object) -> None:
        self._gate.leave(self._place)
