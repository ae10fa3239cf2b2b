"""Group commit: writes of concurrent requests share one transaction, so that one disk flush makes many durable.

Its thread and its queue serve guarantees 1 (stored once) and 6 (50 submissions per second on one machine).

A write is a handler with a payload. The writer's thread takes all waiting writes, passes each handler its payloads as
one list, and commits once.

Invariants:

- A future is settled once: after the commit of its write, or with the error that kept the write from being stored.
- One thread commits batches in order of arrival (within a batch, handler by handler), so that a write sees all writes
  that were settled before it was submitted.
- A batch that fails is rolled back, and each of its writes is tried alone, so that a bad one fails alone. Handlers must
  therefore do nothing but write rows.
- A write that waits for a lock costs the others of its batch a moment: each is tried again alone, with a short
  bound. A write that is still locked then is refused (503), with the others of its team in the batch.
- Futures are settled after the commit, outside of what is tried again: an error there must not store a batch twice.
- A commit in doubt is looked up before anything is tried again (`app.core.db.commits`); one that stays in doubt is an
  error and never a second try, which could store a submission twice.
"""

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import partial
from typing import TypeVar, cast

import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from app.core.db import audit, commits
from app.core.db.database import Database
from app.core.json_documents import AuditChanges

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.writer")

P = TypeVar("P")
R = TypeVar("R")
Handler = Callable[[Connection, Sequence[P]], Sequence[R]]
# A handler beside the payloads it was given with: `submit` and `call` know that they fit, and what it returns.
AnyHandler = Handler[object, object]

# By handler, what looks for the rows of a payload, by what was returned for it; None: it has none of its own. It is
# asked where the reply to a COMMIT is lost (`app.core.db.commits`).
TRACES: dict[AnyHandler, Callable[[object, object], commits.Trace | None]] = {}
MOST_IN_A_BATCH = 256
REQUESTS_THAT_PRESS = 6
# Time that a batch of so many requests counts: some batches of a rush hold few, as their replies are on their way.
SECONDS_PRESSED = 0.05
# Wait of the writer in a rush before it takes a batch, as PostgreSQL's `commit_delay`: it commits more at a time, and
# takes turns with the event loop for the interpreter's lock less often.
SECONDS_TO_GATHER = 0.002
# Time that a write which may wait is kept back at most, for one that may not: they are committed together.
SECONDS_THAT_WRITES_WAIT = 0.02
MOST_FAILURES_IN_A_ROW = 3
# Milliseconds that each write of a failed batch waits again for a lock: all later writes wait behind them.
SHORT_LOCK_MS = 100


class _Write:
    """One payload on its way: its handler and where its result goes (a future of `loop`, or of any thread).

    Writes of one `group` have locks in common: those of one team.
    """

    __slots__ = ("actor", "durable", "future", "group", "handler", "loop", "may_wait", "payload")

    def __init__(
        self,
        handler: AnyHandler,
        payload: object,
        loop: asyncio.AbstractEventLoop | None,
        *,
        may_wait: bool = False,
        durable: bool = True,
    ) -> None:
        self.durable = durable
        self.handler = handler
        self.payload = payload
        self.loop = loop
        self.may_wait = may_wait
        self.group: object = getattr(payload, "team_id", None) or id(self)
        self.actor = audit.actor()  # of the request that waits: the writer's thread has none
        self.future: Future[object] | asyncio.Future[object] = Future() if loop is None else loop.create_future()

    def settle(self, result: object, error: Exception | None) -> None:
        """Give the result to whoever waits; in its loop's thread, where it has one. A waiter may have gone."""
        with suppress(InvalidStateError, asyncio.InvalidStateError):
            if error is None:
                self.future.set_result(result)
            else:
                self.future.set_exception(error)


# A write with its result, or the error that kept it from being stored.
Settled = tuple[_Write, object, Exception | None]


class Writer:
    """The thread that writes. Start it, call it from anywhere, close it: what was accepted is written first.

    `committed` is when it last committed something (monotonic). `on_commit` is called after each commit with the
    number of its writes and the seconds that it took.
    """

    def __init__(
        self,
        database: Database,
        pressed_seconds: float = SECONDS_PRESSED,
        waiting_seconds: float = SECONDS_THAT_WRITES_WAIT,
    ) -> None:
        self._database = database
        self._pressed_seconds = pressed_seconds
        self._waiting_seconds = waiting_seconds
        self._engine = database.writers
        self._waiting: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._pressed_until = float("-inf")
        self.committed = float("-inf")
        self.on_commit: Callable[[int, float], object] = lambda _writes, _seconds: None
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def submit(self, handler: Handler[P, R], payload: P, *, may_wait: bool = False, durable: bool = True) -> Future[R]:
        """Queue one write; the future is done once it is committed (on the disk, if it is to be `durable`), or failed.

        One that `may_wait` is committed with the next that may not, or `waiting_seconds` later.
        """
        write = _Write(cast(AnyHandler, handler), payload, None, may_wait=may_wait, durable=durable)
        self._waiting.put(write)
        return cast("Future[R]", write.future)

    async def call(self, handler: Handler[P, R], payload: P) -> R:
        """Write from a coroutine and wait until it is durable."""
        write = _Write(cast(AnyHandler, handler), payload, asyncio.get_running_loop())
        self._waiting.put(write)
        return await cast("asyncio.Future[R]", write.future)

    @property
    def pressed(self) -> bool:
        """Whether requests come faster than they are made durable one by one; what other threads write is no haste."""
        return time.monotonic() < self._pressed_until

    def close(self) -> None:
        """Write what is waiting and stop."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (batch := self._take()) is not None:
            try:
                self._write(batch)
            except Exception as error:  # a fault of the program fails these writes and ends nothing
                log.exception("a batch of writes failed")
                _settle([(write, None, error) for write in batch])

    def _take(self) -> list[_Write] | None:
        """Wait for one write that may not wait, then take all that came in the meantime; None once closed."""
        first = self._waiting.get()
        if first is None:
            return None
        batch = [first]
        until = time.monotonic() + self._waiting_seconds
        while batch[-1].may_wait and self._take_into(batch, until - time.monotonic()):
            pass
        if self.pressed:
            time.sleep(SECONDS_TO_GATHER)
        while self._take_into(batch, 0.0):
            pass
        if sum(write.loop is not None for write in batch) >= REQUESTS_THAT_PRESS:
            self._pressed_until = time.monotonic() + self._pressed_seconds
        return batch

    def _take_into(self, batch: list[_Write], seconds: float) -> bool:
        """Take one more write if it comes within `seconds`; False where none comes, or no more is to be taken."""
        if len(batch) == MOST_IN_A_BATCH:
            return False
        try:
            write = self._waiting.get(timeout=seconds) if seconds > 0 else self._waiting.get_nowait()
        except queue.Empty:
            return False
        if write is None:
            self._waiting.put(None)
            return False
        batch.append(write)
        return True

    def _write(self, batch: Sequence[_Write]) -> None:
        try:
            results = self._commit(batch)
        except commits.CommitInDoubt as error:  # tried again, it could be stored twice
            _settle([(write, None, error) for write in batch])
        except Exception as error:
            self._commit_alone(batch, SHORT_LOCK_MS if commits.of_the_database(error) else None)
        else:
            _settle(results)

    def _commit(self, batch: Sequence[_Write], lock_ms: int | None = None) -> list[Settled]:
        """Commit a batch; returns the results to be handed over."""
        results: list[tuple[_Write, object]] = []
        began = time.monotonic()
        with self._database.transaction(
            self._engine,
            lock_ms=lock_ms,
            durable=any(write.durable for write in batch),
            trace=partial(_trace, results),
        ) as connection:
            for handler, writes in _by_handler(batch):
                replies = handler(connection, [write.payload for write in writes])
                results.extend(zip(writes, replies, strict=True))
            _audit(connection, batch)
        self.committed = time.monotonic()
        self._observe(len(batch), self.committed - began)
        return [(write, result, None) for write, result in results]

    def _observe(self, writes: int, seconds: float) -> None:
        try:
            self.on_commit(writes, seconds)
        except Exception:  # the rows are there: an observer's fault must not have them written again
            log.exception("a commit could not be observed")

    def _commit_alone(self, batch: Sequence[_Write], lock_ms: int | None) -> None:
        """Try each alone. If the database refuses some in a row, the rest is not tried, nor is a locked team again."""
        locked: dict[object, Exception] = {}
        in_a_row = 0
        for at, write in enumerate(batch):
            if write.group in locked:
                _settle([(write, None, locked[write.group])])
                continue
            try:
                results = self._commit([write], lock_ms)
            except Exception as error:
                _settle([(write, None, error)])
                if commits.is_locked(error):
                    locked[write.group] = error
                in_a_row = in_a_row + 1 if isinstance(error, OperationalError | commits.CommitInDoubt) else 0
                if in_a_row == MOST_FAILURES_IN_A_ROW:
                    untried = OperationalError("not tried: the database takes nothing now", None, error)
                    _settle([(left, None, untried) for left in batch[at + 1 :]])
                    return
            else:
                in_a_row = 0
                _settle(results)


def _trace(results: Sequence[tuple[_Write, object]]) -> commits.Trace | None:
    """What looks for the first row of a batch that anyone knows how to look for: it stands for all."""
    for write, result in results:
        trace_of = TRACES.get(write.handler)
        if trace_of is not None and (trace := trace_of(write.payload, result)) is not None:
            return trace
    return None


def _settle(outcomes: Sequence[Settled]) -> None:
    """Hand results over: at once to threads, and to each event loop all of its own with one call."""
    for loop in {write.loop for write, _, _ in outcomes}:
        mine = [outcome for outcome in outcomes if outcome[0].loop is loop]
        if loop is None:
            _settle_here(mine)
        else:
            with suppress(RuntimeError):  # the loop is closed: no one waits any longer, and the rows are there
                loop.call_soon_threadsafe(_settle_here, mine)


def _settle_here(outcomes: Sequence[Settled]) -> None:
    for write, result, error in outcomes:
        write.settle(result, error)


def _audit(connection: Connection, batch: Sequence[_Write]) -> None:
    """Add entries to the audit log for those of a batch that organisers or admins have asked for."""
    for write in batch:
        if write.actor is not None:
            name = getattr(write.handler, "__name__", "write")
            changes: AuditChanges = {"objects": [], "counts": {name: {audit.ADDED: 1}}}
            audit.add(connection, [audit.entry(connection, write.actor, changes)])


def _by_handler(batch: Sequence[_Write]) -> list[tuple[AnyHandler, list[_Write]]]:
    """The writes of each handler, in one order: else batches of two processes could wait for each other's locks."""
    groups: dict[AnyHandler, list[_Write]] = {}
    for write in batch:
        groups.setdefault(write.handler, []).append(write)
    return sorted(groups.items(), key=lambda group: getattr(group[0], "__qualname__", ""))
