"""Who reads waits for a place: few read at once, fewer of one viewer, and one at a time enters or sends a piece.

The event loop does everything else between two such steps, so what a submission waits for does not grow with the number
of readers. Steps go round robin over accounts and addresses.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Hashable
from typing import NamedTuple

from starlette.requests import ClientDisconnect

from app.core.errors import Unavailable
from app.core.messages import N_

Line = OrderedDict["asyncio.Future[None]", None]


class Busy(Unavailable):
    """Others read so much that this would take too long; come back after a second."""

    def __init__(self) -> None:
        super().__init__(N_("too many long reads at this moment; try again"), 1)


class Asker(NamedTuple):
    """Who wants to read: whose places are counted together, and among these, who takes turns."""

    share: Hashable
    whose: Hashable


class Place:
    """One place among those that read; given up once."""

    def __init__(self, queue: Queue, share: Hashable) -> None:
        self._queue, self._share, self._held = queue, share, True

    def leave(self) -> None:
        """Let the next one in."""
        if self._held:
            self._held = False
            self._queue.left(self._share)


class Queue:
    """Who reads and who waits; for one event loop.

    at_once  how many may be inside; `of_one` of them of one share
    seconds  how long somebody waits; None: for ever

    One enters in each turn of the event loop. Whoever waits is a connection, whose number is bounded elsewhere.
    """

    def __init__(self, at_once: int, of_one: int, seconds: float | None) -> None:
        self.at_once, self.of_one, self.seconds = at_once, of_one, seconds
        self.inside: Counter[Hashable] = Counter()
        self.waiting: OrderedDict[Hashable, OrderedDict[Hashable, Line]] = OrderedDict()
        self._is_scheduled = False

    def enter_at_once(self, asker: Asker) -> Place | None:
        """A place, if nobody has entered in this turn of the loop and there is room."""
        if self._is_scheduled or not self._is_free(asker.share):
            return None
        return self._let_in(asker.share)

    async def enter(self, asker: Asker) -> Place:
        """Wait for a place; raises Busy after some seconds."""
        return self.enter_at_once(asker) or await self.wait(asker)

    async def wait(self, asker: Asker, gone: asyncio.Future[None] | None = None) -> Place:
        """Stand in line, until the client is `gone` at most: then it raises ClientDisconnect."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line = self.waiting.setdefault(asker.share, OrderedDict()).setdefault(asker.whose, OrderedDict())
        line[turn] = None
        self._schedule()
        if gone is not None:
            gone.add_done_callback(lambda _: turn.cancel())
        try:
            async with asyncio.timeout(self.seconds):
                await turn
        except BaseException as error:
            if turn in line:
                del line[turn]
                self._drop_empty(asker.share, asker.whose)
            elif isinstance(error, TimeoutError):  # let in at the same moment
                return Place(self, asker.share)
            else:
                self.left(asker.share)
            if isinstance(error, TimeoutError):
                raise Busy from None
            if gone is not None and gone.done() and not _is_cancelled():
                gone.result()
                raise ClientDisconnect from None
            raise
        return Place(self, asker.share)

    def left(self, share: Hashable) -> None:
        """One has left: another one may enter in the loop's next turn."""
        self.inside[share] -= 1
        if not self.inside[share]:
            del self.inside[share]
        if self.waiting:
            self._schedule()

    def _is_free(self, share: Hashable) -> bool:
        return self.inside[share] < self.of_one and self.inside.total() < self.at_once

    def _let_in(self, share: Hashable) -> Place:
        self.inside[share] += 1
        self._schedule()
        return Place(self, share)

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._let_next_in)

    def _let_next_in(self) -> None:
        self._is_scheduled = False
        if self.inside.total() >= self.at_once:
            return
        share = next((each for each in self.waiting if self._is_free(each)), None)
        if share is None:
            return
        lines = self.waiting[share]
        whose, line = next(iter(lines.items()))
        turn, _ = line.popitem(last=False)
        lines.move_to_end(whose)
        self.waiting.move_to_end(share)
        self._drop_empty(share, whose)
        self.inside[share] += 1  # also for a turn that was cancelled just now: its request leaves again
        if not turn.done():
            turn.set_result(None)
        self._schedule()

    def _drop_empty(self, share: Hashable, whose: Hashable) -> None:
        lines = self.waiting[share]
        if not lines[whose]:
            del lines[whose]
        if not lines:
            del self.waiting[share]


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
