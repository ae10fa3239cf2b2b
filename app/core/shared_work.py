"""Work that many ask for at once is done once: one does it, and all others wait for its result.

A thousand clients that ask for a new scoreboard at the same moment cost one board (guarantee 6).
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync

T = TypeVar("T")
R = TypeVar("R")


@dataclass(slots=True)
class _Turn:
    """The lock of one key, and how many hold it or wait for it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    threads: int = 0


class SharedWork:
    """Results by key, each made by one while the others wait: `now` in any thread, `soon` in one event loop.

    A result must depend on nothing but its key and the moment at which making it began. `look` returns the result that
    is at hand, or None where it must be made; whoever makes it puts it where `look` finds it.

    Invariants: at most one thread works on a key through `now`, at most one task through `soon`. Nothing is held of a
    key that nobody works on or waits for, so that names of things that do not exist fill no memory.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._turns: dict[Hashable, _Turn] = {}
        self._tasks: dict[Hashable, asyncio.Future[Any]] = {}

    def now(self, key: Hashable, look: Callable[[], T | None], make: Callable[[], R]) -> T | R:
        """The result at hand, or else a new one. Blocks: not for the event loop.

        `look` is asked again once the key's turn has come, so of all threads that wait only the first one works.
        """
        if (at_hand := look()) is not None:
            return at_hand
        with self._turn(key):
            if (made_meanwhile := look()) is not None:
                return made_meanwhile
            return make()

    async def soon(
        self,
        key: Hashable,
        work: Callable[[], T],
        look: Callable[[], T | None] | None = None,
        limiter: CapacityLimiter | None = None,
    ) -> T:
        """The result of `work`, done in a thread; those who wait for it take no thread."""
        return await self.joined(key, partial(run_sync, work, limiter=limiter), look)

    async def joined(
        self, key: Hashable, begin: Callable[[], Awaitable[T]], look: Callable[[], T | None] | None = None
    ) -> T:
        """The result of a coroutine that all who come before its end share; it goes on without those who leave.

        With `look`, a coroutine that had begun before the caller came gives its result only if `look` then finds it;
        the next one has begun since, and its result is taken as it is. Without `look` any result will do.
        """
        if look is not None:
            if (at_hand := look()) is not None:
                return at_hand
            if (task := self._tasks.get(key)) is not None and not task.done():
                await asyncio.shield(task)
                if (made_meanwhile := look()) is not None:
                    return made_meanwhile
        newest: asyncio.Future[T] | None = self._tasks.get(key)
        if newest is None or newest.done():  # awaiting one that is done would keep the loop busy for ever
            newest = self._tasks[key] = asyncio.ensure_future(begin())
            newest.add_done_callback(partial(self._ended, key))
        return await asyncio.shield(newest)

    def _ended(self, key: Hashable, task: asyncio.Future[T]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if not task.cancelled():
            task.exception()  # all who waited may have left: then nobody else looks at it

    @contextmanager
    def _turn(self, key: Hashable) -> Iterator[None]:
        with self._guard:
            turn = self._turns.setdefault(key, _Turn())
            turn.threads += 1
        try:
            with turn.lock:
                yield
        finally:
            with self._guard:
                turn.threads -= 1
                if not turn.threads:
                    del self._turns[key]
