"""Group commit: writes of concurrent requests share one transaction, so that one disk flush makes many durable.

A write is a handler with a payload. The writer's thread takes what is waiting, hands each handler its payloads as one
list, and commits once. If anything fails, the batch is rolled back and every payload is tried alone, so that a bad one
costs nobody else anything. Handlers must therefore do nothing but write rows.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from sqlalchemy import Connection

from app.storage.database import Database

P = TypeVar("P")
R = TypeVar("R")
Handler = Callable[[Connection, Sequence[P]], Sequence[R]]

MOST_IN_A_BATCH = 256


class _Write:
    """One payload on its way: its handler and where its result goes."""

    __slots__ = ("future", "handler", "payload")

    def __init__(self, handler: Handler[Any, Any], payload: Any) -> None:
        self.handler = handler
        self.payload = payload
        self.future: Future[Any] = Future()


class Writer:
    """The thread that writes. Start it, call it from anywhere, close it: what was accepted is written first."""

    def __init__(self, database: Database) -> None:
        self._engine = database.engine.execution_options(write=True)
        self._waiting: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def submit(self, handler: Handler[P, R], payload: P) -> Future[R]:
        """Queue one write; the future is done once it is durable, or has failed."""
        write = _Write(handler, payload)
        self._waiting.put(write)
        return write.future

    async def call(self, handler: Handler[P, R], payload: P) -> R:
        """Write from a coroutine and wait until it is durable."""
        return await asyncio.wrap_future(self.submit(handler, payload))

    def close(self) -> None:
        """Write what is waiting and stop."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (batch := self._take()) is not None:
            if not batch:
                continue
            try:
                self._commit(batch)
            except Exception:
                self._commit_alone(batch)

    def _take(self) -> list[_Write] | None:
        """Wait for one write, then take all that came meanwhile; None once closed."""
        first = self._waiting.get()
        if first is None:
            return None
        batch = [first]
        while len(batch) < MOST_IN_A_BATCH:
            try:
                write = self._waiting.get_nowait()
            except queue.Empty:
                break
            if write is None:
                self._waiting.put(None)
                break
            batch.append(write)
        return batch

    def _commit(self, batch: Sequence[_Write]) -> None:
        results: list[tuple[_Write, Any]] = []
        with self._engine.connect() as connection, connection.begin():
            for handler, writes in _by_handler(batch):
                found = handler(connection, [write.payload for write in writes])
                results.extend(zip(writes, found, strict=True))
        for write, result in results:
            write.future.set_result(result)

    def _commit_alone(self, batch: Sequence[_Write]) -> None:
        for write in batch:
            try:
                self._commit([write])
            except Exception as error:
                write.future.set_exception(error)


def _by_handler(batch: Sequence[_Write]) -> list[tuple[Handler[Any, Any], list[_Write]]]:
    groups: dict[Handler[Any, Any], list[_Write]] = {}
    for write in batch:
        groups.setdefault(write.handler, []).append(write)
    return list(groups.items())
