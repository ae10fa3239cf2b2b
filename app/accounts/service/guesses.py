"""Guessing passwords is dear, and nobody's guesses refuse the right password.

Whether a password is right is known only once it has been checked, which takes a core for 20 ms. So checks wait for
turns: one at a time for each account, round robin over the addresses that ask for it, and a few at a time in all, round
robin over all addresses. After many wrong passwords each further wrong one keeps the account's turn for a second, and
the address's for a moment. A right one gives its turns back at once. Seconds are counted by a clock that is never set.

Where several servers check passwords, each counts the wrong ones of all, and keeps a turn for as many times as long.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from threading import Lock

from app.core.turns import Turns

MINUTE = 60.0
CHECKS_AT_ONCE = 2  # each takes 19 MiB and a core; more at once would only starve the requests of those logged in
MOST_WAITING = 2000  # a whole school may share an address, and log in at the same second
MOST_GUESSES_WAITING = 200
MOST_FOR_AN_ACCOUNT = 20


@dataclass(frozen=True, slots=True)
class Price:
    """The price of wrong passwords: so many a minute are free, each further one takes seconds."""

    free: int
    seconds: float


OF_ONE_ACCOUNT = Price(10, 1.0)
OF_ONE_ADDRESS = Price(200, 0.05)


Tell = Callable[[tuple[str, str], int], object]
"""Told of each key that is counted, and how many of it are remembered."""


class Failures:
    """The wrong passwords of the last minute, by what they were for; `steady` counts seconds and is never set."""

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._times: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()
        self._guard = Lock()
        self.tell: Tell = lambda _key, _most: None

    def add(self, key: tuple[str, str], most: int) -> None:
        """Count one more, and tell the other servers; the last `most` of a key are remembered."""
        self.add_elsewhere(key, most)
        self.tell(key, most)

    def add_elsewhere(self, key: tuple[str, str], most: int) -> None:
        """Count one more that another server has told of; from any thread."""
        with self._guard:
            self._add(key, most)

    def _add(self, key: tuple[str, str], most: int) -> None:
        now = self._steady()
        while self._times and next(iter(self._times.values()))[-1] <= now - MINUTE:
            self._times.popitem(last=False)
        self._times.setdefault(key, deque(maxlen=most)).append(now)
        self._times.move_to_end(key)

    def reach(self, key: tuple[str, str], most: int) -> bool:
        """Whether there were so many within a minute."""
        with self._guard:
            times = tuple(self._times.get(key, ()))
        return len(times) >= most and times[-most] > self._steady() - MINUTE


class Attempt:
    """A check of a password, whose outcome is noted before its turns end."""

    failed = False


class Guesses:
    """Gives out the turns in which passwords are checked; used in one event loop."""

    def __init__(
        self,
        account: Price = OF_ONE_ACCOUNT,
        address: Price = OF_ONE_ADDRESS,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.failures = Failures(steady)
        self.servers: Callable[[], int] = lambda: 1
        self._account = account
        self._address = address
        self._turns = Turns(CHECKS_AT_ONCE, MOST_WAITING)
        self._lanes: dict[tuple[str, str], Turns] = {}

    @asynccontextmanager
    async def turn(self, username: str, source: str) -> AsyncIterator[Attempt]:
        """Wait for the turn to check a password for this name; raises TooManyRequests where too many wait."""
        attempt = Attempt()
        account, address = ("account", username), ("address", source)
        async with AsyncExitStack() as turns:
            await turns.enter_async_context(self._lane(account, source, MOST_FOR_AN_ACCOUNT, self._account, attempt))
            if self._is_hot(address, self._address):
                lane = self._lane(address, username, MOST_GUESSES_WAITING, self._address, attempt)
                await turns.enter_async_context(lane)
            await turns.enter_async_context(self._check(source))
            yield attempt
            if attempt.failed:
                self.failures.add(account, self._account.free)
                self.failures.add(address, self._address.free)

    @asynccontextmanager
    async def _check(self, source: str) -> AsyncIterator[None]:
        await self._turns.take(source)
        try:
            yield
        finally:
            self._turns.leave()

    @asynccontextmanager
    async def _lane(
        self, key: tuple[str, str], asker: str, most_waiting: int, price: Price, attempt: Attempt
    ) -> AsyncIterator[None]:
        """Be the only one in this lane; a failure keeps it for a while where there were many."""
        lane = self._lanes.setdefault(key, Turns(1, most_waiting))
        await lane.take(asker)
        try:
            yield
        finally:
            if attempt.failed and self._is_hot(key, price):
                seconds = price.seconds * self.servers()
                asyncio.get_running_loop().call_later(seconds, self._leave, key, lane)
            else:
                self._leave(key, lane)

    def _leave(self, key: tuple[str, str], lane: Turns) -> None:
        lane.leave()
        if lane.idle:
            self._lanes.pop(key, None)

    def _is_hot(self, key: tuple[str, str], price: Price) -> bool:
        return self.failures.reach(key, price.free)
