"""Limits of the load that one client or request causes (guarantee 6).

- Heavy work runs in threads, and only so much of it at once: other requests keep the interpreter's time.
- JSON of strangers is counted before it is parsed, parsed outside the event loop if it is large, and limited in depth.
- Turns are given out round robin over clients. An IPv6 client is its /64, as a subscriber may use any address of it.
- Work that many ask for at once is done once: a thousand clients that ask for a new scoreboard cost one board.
"""

import asyncio
import json
import re
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from ipaddress import IPv6Address
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter
from anyio.lowlevel import RunVar
from anyio.to_thread import run_sync

from app.core.messages import N_, BadRequest, TooManyRequests
from app.domain.documents import JsonValue

T = TypeVar("T")
R = TypeVar("R")
# Bytes that are read without changing threads, which would cost more than reading them.
LIGHT = 64 * 1024
# Threads of each lane. Work that mostly waits for a network takes little time of the processor, and some memory. Logins
# have two, as each takes 19 MiB and a core (`app.accounts.service.grants`). Histories of boards and opponents of games
# have their own: whoever waits for one takes no thread from others.
AT_ONCE = {"work": 2, "network": 16, "lists": 2, "logins": 2, "histories": 1, "games": 2}
_lanes: RunVar[dict[str, CapacityLimiter]] = RunVar("jurado.lanes")


async def run_heavy(call: Callable[[], T], lane: str = "work") -> T:
    """The result of `call`, made in a thread as soon as one of its lane is free."""
    try:
        lanes = _lanes.get()
    except LookupError:
        lanes = {name: CapacityLimiter(most) for name, most in AT_ONCE.items()}
        _lanes.set(lanes)
    return await run_sync(call, limiter=lanes[lane])


DEEPEST = 64
MOST_OF_AN_ACCOUNT = 5_000
# Values of a document; imports of many objects have a bound of their own.
MOST_OF_AN_ADMIN = 50_000
# Strings, the last one perhaps cut off: whatever the bytes, a search never looks twice at one of them.
TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
MARKS = (b",", b"[", b"{")


async def read_json(data: bytes, most: int) -> JsonValue:
    """The value of a JSON text of at most `most` values; raises BadRequest, or ValueError where it is no JSON."""
    return _read(data, most) if len(data) <= LIGHT else await run_heavy(lambda: _read(data, most))


def check_values(data: bytes, most: int) -> None:
    """Raise BadRequest for a JSON text of more than `most` values, arrays and objects counted twice, unparsed."""
    # json.loads holds the interpreter's lock until its end: what it gets is bounded before.
    # Marks inside of texts are no values, but looking for texts takes ten times as long.
    if _marks(data) >= most and _marks(TEXTS.sub(b"", data)) >= most:
        raise BadRequest(N_("expected at most %(most)s values, found more"), where="body", most=most)


def is_within(value: object, most: int) -> bool:
    """Whether a value has at most so many values, nested at most `DEEPEST` deep."""
    level, count = [value], 1
    for _ in range(DEEPEST):
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = []
        for values in inner:
            count += len(values)
            if count > most:
                return False
            level.extend(each for each in values if isinstance(each, dict | list))
        if not level:
            return True
    return False


def body_text(data: bytes) -> str:
    """Decode a request's body, with or without a byte-order mark; raises BadRequest where it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequest(
            N_("expected UTF-8, found byte %(byte)s at %(start)s"),
            where="body",
            byte=error.object[error.start],
            start=error.start,
        ) from None


def _read(data: bytes, most: int) -> JsonValue:
    check_values(data, most)
    text = body_text(data)
    try:
        value: JsonValue = json.loads(text)
        is_shallow = is_within(value, most=len(data) + 1)
    except json.JSONDecodeError:
        raise  # whoever asks says where
    except ValueError as error:  # a number of thousands of digits
        raise BadRequest(N_("expected JSON, found %(found)s"), where="body", found=str(error)[:80]) from None
    except RecursionError:
        is_shallow = False
    if not is_shallow:
        raise BadRequest(
            N_("expected values nested at most %(most)s deep, found deeper ones"), where="body", most=DEEPEST
        )
    return value


def _marks(data: bytes) -> int:
    return sum(map(data.count, MARKS))


BITS_OF_A_SUBSCRIBER = 64


def source_of(address: str) -> str:
    """The address to count by: of IPv6 the /64, of IPv4 written as IPv6 the IPv4; what is no address, as it is."""
    if ":" not in address:
        return address
    try:
        parsed = IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    network = int(parsed) >> BITS_OF_A_SUBSCRIBER << BITS_OF_A_SUBSCRIBER
    return f"{IPv6Address(network)}/{BITS_OF_A_SUBSCRIBER}"


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
        """Whether all turns are free; then no one waits either."""
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


class SharedWork:
    """Results by key, each made by one while the others wait: `now` in any thread, `soon` in one event loop.

    A result must depend on nothing but its key and the moment at which making it began. `look` returns the result that
    is at hand, or None where it must be made; whoever makes it puts it where `look` finds it.

    Invariants: at most one thread works on a key through `now`, at most one task through `soon`. Nothing is held of a
    key that no one works on or waits for, so that names of things that do not exist fill no memory.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: WeakValueDictionary[Hashable, threading.Lock] = WeakValueDictionary()
        self._tasks: dict[Hashable, asyncio.Future[Any]] = {}

    def now(self, key: Hashable, look: Callable[[], T | None], make: Callable[[], R]) -> T | R:
        """The result at hand, or else a new one. Blocks: not for the event loop.

        `look` is asked again once the key's turn has come, so of all threads that wait only the first one works.
        """
        if (at_hand := look()) is not None:
            return at_hand
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            if (made_meanwhile := look()) is not None:
                return made_meanwhile
            return make()

    async def soon(
        self,
        key: Hashable,
        work: Callable[[], T],
        look: Callable[[], T | None] | None = None,
        lane: str | None = None,
    ) -> T:
        """The result of `work`, done in a thread, of a lane if one is named; those who wait for it take no thread."""
        return await self.joined(key, partial(run_sync, work) if lane is None else partial(run_heavy, work, lane), look)

    async def joined(
        self, key: Hashable, begin: Callable[[], Awaitable[T]], look: Callable[[], T | None] | None = None
    ) -> T:
        """The result of a coroutine that all who come before its end share; it continues without those who leave.

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
        if newest is None or newest.done():  # awaiting one that is done would keep the loop busy forever
            newest = self._tasks[key] = asyncio.ensure_future(begin())
            newest.add_done_callback(partial(self._ended, key))
        return await asyncio.shield(newest)

    def _ended(self, key: Hashable, task: asyncio.Future[T]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]
        if not task.cancelled():
            task.exception()  # all who waited may have left: then no one else looks at it
