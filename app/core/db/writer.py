"""Group commit: writes of concurrent requests share one transaction, so that one disk flush makes many durable.

A write is a handler with a payload. The writer's thread takes all waiting writes, passes each handler its payloads as
one list, and commits once.

Invariants:

- A future is settled once: after the commit of its write, or with the error that kept the write from being stored.
- One thread commits batches in order of arrival (within a batch, handler by handler), so that a write sees all writes
  that were settled before it was submitted.
- A batch that fails is rolled back, and each of its writes is tried alone, so that a bad one fails alone. Handlers must
  therefore do nothing but write rows.
- A write that waits for a lock of PostgreSQL costs the others of its batch a moment: they are committed without it, and
  it is tried again, with those of its team that come meanwhile, for as long as the database's settings let it wait.
- Futures are settled after the commit, outside of what is tried again: an error there must not store a batch twice.
- A commit in doubt is looked up before anything is tried again (`app.core.db.commits`); one that stays in doubt is an
  error and never a second try, which could store a submission twice.
"""

from __future__ import annotations

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
from sqlalchemy.exc import DBAPIError, OperationalError

from app.core.db import audit
from app.core.db.audit_values import ADDED
from app.core.db.commits import CommitInDoubt, Trace, is_locked, of_the_database
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
TRACES: dict[AnyHandler, Callable[[object, object], Trace | None]] = {}
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
# Milliseconds that each write of a batch waits again for SQLite's lock: all later writes wait behind them.
SHORT_LOCK_MS = 100
# Milliseconds that a part of a batch waits for a lock of PostgreSQL once the batch has found one that is held.
HELD_LOCK_MS = 20
# Time between two tries of what waits for a lock.
SECONDS_BETWEEN_TRIES = 0.1


class _Write:
    """One payload on its way: its handler and where its result goes (a future of `loop`, or of any thread).

    Writes of one `group` have locks in common: those of one team. `until` is when it has waited long enough for a lock
    (monotonic); None: it has waited for none.
    """

    __slots__ = ("actor", "future", "group", "handler", "loop", "may_wait", "payload", "until")

    def __init__(
        self, handler: AnyHandler, payload: object, loop: asyncio.AbstractEventLoop | None, *, may_wait: bool = False
    ) -> None:
        self.handler = handler
        self.payload = payload
        self.loop = loop
        self.may_wait = may_wait
        self.group: object = getattr(payload, "team_id", None) or id(self)
        self.until: float | None = None
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

    `committed` is when it last made something durable (monotonic). `on_commit` is called after each commit with the
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
        self._held: list[_Write] = []
        self._next_try = float("inf")
        self._pressed_until = float("-inf")
        self.committed = float("-inf")
        self.on_commit: Callable[[int, float], object] = lambda _writes, _seconds: None
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def submit(self, handler: Handler[P, R], payload: P, *, may_wait: bool = False) -> Future[R]:
        """Queue one write; the future is done once it is durable, or has failed.

        One that `may_wait` is committed with the next that may not, or `waiting_seconds` later.
        """
        write = _Write(cast(AnyHandler, handler), payload, None, may_wait=may_wait)
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
            self._survive(batch)
        while self._held:
            time.sleep(SECONDS_BETWEEN_TRIES)
            self._survive([])

    def _survive(self, batch: Sequence[_Write]) -> None:
        """Write a batch, and what is held and due; a fault of the program fails the batch's writes and ends nothing."""
        try:
            if unlocked := self._beside_held(batch) if self._held else batch:
                self._write(unlocked)
            if time.monotonic() >= self._next_try:
                self._try_held()
        except Exception as error:
            log.exception("a batch of writes failed")
            _settle([(write, None, error) for write in batch if write not in self._held])

    def _take(self) -> list[_Write] | None:
        """Wait for one write that may not wait, then take all that came meanwhile.

        None once closed; an empty list where what is held is due.
        """
        try:
            first = self._waiting.get(timeout=max(0.0, self._next_try - time.monotonic()) if self._held else None)
        except queue.Empty:
            return []
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

    def _beside_held(self, batch: Sequence[_Write]) -> list[_Write]:
        """Hold the writes of groups that are held; returns the others."""
        held = {write.group for write in self._held}
        self._held += [write for write in batch if write.group in held]
        return [write for write in batch if write.group not in held]

    def _write(self, batch: Sequence[_Write]) -> None:
        try:
            results = self._commit_again(batch)
        except CommitInDoubt as error:  # tried again, it could be stored twice
            _settle([(write, None, error) for write in batch])
        except Exception as error:
            if is_locked(error):
                self._commit_parts(batch)
            else:
                self._commit_alone(batch, SHORT_LOCK_MS if of_the_database(error) else None)
        else:
            _settle(results)

    def _try_held(self) -> None:
        held, self._held, self._next_try = self._held, [], float("inf")
        try:
            self._commit_parts(held)
        except Exception as error:
            _settle([(write, None, error) for write in held if write not in self._held])
            raise

    def _commit_parts(self, writes: Sequence[_Write]) -> None:
        """Commit all but what waits for a lock, which is held: halves of halves, down to one group.

        Where some groups in a row are locked, the rest is held untried; it is the first to be tried then.
        """
        groups: dict[object, list[_Write]] = {}
        for write in writes:
            groups.setdefault(write.group, []).append(write)
        every = list(groups.values())
        parts = [every[at : at + MOST_IN_A_BATCH] for at in reversed(range(0, len(every), MOST_IN_A_BATCH))]
        locked: list[tuple[list[_Write], Exception]] = []
        in_a_row = 0
        while parts and in_a_row < MOST_FAILURES_IN_A_ROW:
            part = parts.pop()
            if (error := self._commit_unlocked([write for group in part for write in group])) is None:
                in_a_row = 0
            elif len(part) > 1:
                parts += [part[len(part) // 2 :], part[: len(part) // 2]]
            else:
                locked.append((part[0], error))
                in_a_row += 1
        for group in [group for part in reversed(parts) for group in part]:
            self._hold(group, locked[-1][1])
        for group, error in locked:
            self._hold(group, error)

    def _commit_unlocked(self, batch: Sequence[_Write]) -> Exception | None:
        """Commit or refuse these writes; returns the error if they wait for a lock."""
        try:
            results = self._commit(batch, HELD_LOCK_MS)
        except CommitInDoubt as error:
            _settle([(write, None, error) for write in batch])
        except Exception as error:
            if is_locked(error):
                return error
            self._commit_alone(batch, HELD_LOCK_MS)
        else:
            _settle(results)
        return None

    def _hold(self, writes: Sequence[_Write], error: Exception) -> None:
        """Try writes again later, but for those that have waited long enough."""
        now = time.monotonic()
        for write in writes:
            if write.until is None:
                write.until = now + self._database.lock_seconds
            if now < write.until:
                self._held.append(write)
            else:
                _settle([(write, None, error)])
        if self._held:
            self._next_try = min(self._next_try, now + SECONDS_BETWEEN_TRIES)

    def _commit_again(self, batch: Sequence[_Write]) -> list[Settled]:
        """Commit a batch, a second time where its connection broke before: then nothing was kept."""
        try:
            return self._commit(batch)
        except DBAPIError as error:
            if not error.connection_invalidated:
                raise
            return self._commit(batch)

    def _commit(self, batch: Sequence[_Write], lock_ms: int | None = None) -> list[Settled]:
        """Commit a batch; returns the results to be handed over."""
        results: list[tuple[_Write, object]] = []
        began = time.monotonic()
        with self._database.transaction(self._engine, lock_ms=lock_ms, trace=partial(_trace, results)) as connection:
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
        """Try each by itself. Where the database takes none of some in a row, the rest is not tried either.

        What waits for a lock is held.
        """
        in_a_row = 0
        for at, write in enumerate(batch):
            try:
                results = self._commit([write], lock_ms)
            except Exception as error:
                if is_locked(error):
                    self._hold([write], error)
                else:
                    _settle([(write, None, error)])
                in_a_row = in_a_row + 1 if isinstance(error, OperationalError | CommitInDoubt) else 0
                if in_a_row == MOST_FAILURES_IN_A_ROW and is_locked(error):
                    self._hold(batch[at + 1 :], error)
                    return
                if in_a_row == MOST_FAILURES_IN_A_ROW:
                    untried = OperationalError("not tried: the database takes nothing now", None, error)
                    _settle([(left, None, untried) for left in batch[at + 1 :]])
                    return
            else:
                in_a_row = 0
                _settle(results)


def _trace(results: Sequence[tuple[_Write, object]]) -> Trace | None:
    """What looks for the first row of a batch that anybody knows how to look for: it stands for all."""
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
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more, and the rows are there
                loop.call_soon_threadsafe(_settle_here, mine)


def _settle_here(outcomes: Sequence[Settled]) -> None:
    for write, result, error in outcomes:
        write.settle(result, error)


def _audit(connection: Connection, batch: Sequence[_Write]) -> None:
    """Add entries to the audit log for those of a batch that organisers or admins have asked for."""
    for write in batch:
        if write.actor is not None:
            name = getattr(write.handler, "__name__", "write")
            changes: AuditChanges = {"objects": [], "counts": {name: {ADDED: 1}}}
            audit.add(connection, [audit.entry(connection, write.actor, changes)])


def _by_handler(batch: Sequence[_Write]) -> list[tuple[AnyHandler, list[_Write]]]:
    """The writes of each handler, in one order: else batches of two processes could wait for each other's locks."""
    groups: dict[AnyHandler, list[_Write]] = {}
    for write in batch:
        groups.setdefault(write.handler, []).append(write)
    return sorted(groups.items(), key=lambda group: getattr(group[0], "__qualname__", ""))
