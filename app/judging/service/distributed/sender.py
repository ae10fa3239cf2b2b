"""Sending news of rows to the broker, in a thread of its own: whoever has committed a row waits for no broker."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from app.core import tracing
from app.judging.service.distributed.broker import message_of
from app.judging.service.distributed.lanes import JOBS, JUDGEMENTS, REJUDGINGS, Lane

if TYPE_CHECKING:
    from dramatiq.brokers.rabbitmq import RabbitmqBroker

NAME = "jurado.broker"
log: structlog.stdlib.BoundLogger = structlog.get_logger(NAME)
STANDARD_LOG = logging.getLogger(NAME)  # which knows its level without a look through structlog's proxies

MOST_KEPT = 100_000
"""Rows that wait for a broker that is away; of more the reconciler tells it when it is back."""
SECONDS_AFTER_A_FAULT = 0.5
SECONDS_TO_GATHER = 0.002
"""Wait for more where the last look found some: the submissions of a commit are told of one by one."""
LIVE_JUDGEMENT = tuple[int, str]
"""A judgement's number and its team."""


@dataclass(frozen=True, slots=True)
class _News:
    lane: Lane
    row: object
    context: str = ""


class Sender:
    """Sends news of judgements and jobs; never blocks its callers, and never raises. Any thread may call it.

    `fault` says why the broker takes nothing now; empty where it does.
    """

    def __init__(self, broker: RabbitmqBroker) -> None:
        self._broker = broker
        self._news: queue.SimpleQueue[_News | None] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._gathers = False
        self.fault = ""
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)
        self._thread.start()

    def judgements(self, rows: Iterable[LIVE_JUDGEMENT]) -> None:
        """Judgements that contestants wait for have been queued, and are durable."""
        self._put(JUDGEMENTS, rows)

    def rejudgings(self, ids: Iterable[int]) -> None:
        """Judgements of rejudgings have been queued, and are durable."""
        self._put(REJUDGINGS, ids)

    def job(self, job_id: str) -> None:
        """A job has been queued, and is durable."""
        self._put(JOBS, [job_id])

    def _put(self, lane: Lane, rows: Iterable[object]) -> None:
        context = tracing.carried()
        for row in rows:
            if self._news.qsize() >= MOST_KEPT:
                return
            self._news.put(_News(lane, row, context))

    def close(self) -> None:
        """Send what waits, if the broker takes it, and stop."""
        self._closing.set()
        self._news.put(None)
        self._thread.join()

    def _run(self) -> None:
        while not (self._closing.is_set() and self._news.empty()):
            for lane, rows, contexts in _messages(self._take()):
                self._send(lane, rows, contexts)
        self._broker.close()

    def _take(self) -> list[_News]:
        """Wait for news, and take all that there are; in a rush also what comes in the next moment."""
        taken = [self._news.get()]
        if self._gathers:
            time.sleep(SECONDS_TO_GATHER)
        with suppress(queue.Empty):
            while True:
                taken.append(self._news.get_nowait())
        self._gathers = len(taken) > 1
        return [news for news in taken if news is not None]

    def _send(self, lane: Lane, rows: Sequence[object], contexts: Mapping[str, str]) -> None:
        """Send one message, however often the broker goes away meanwhile; given up where the sender closes."""
        while True:
            try:
                self._broker.enqueue(message_of(lane, rows, contexts))
            except Exception as error:  # of dramatiq, of pika or of the socket: each means that the broker is away
                self._note_fault(error)
                if self._closing.wait(SECONDS_AFTER_A_FAULT):
                    return
            else:
                if self.fault:
                    log.info("the broker takes messages again")
                    self.fault = ""
                if STANDARD_LOG.isEnabledFor(logging.DEBUG):
                    log.debug("workers are told", queue=lane.queue, rows=list(rows))
                return

    def _note_fault(self, error: Exception) -> None:
        why = str(error) or type(error).__name__
        if why != self.fault:
            log.warning("the broker takes no message: what waits stays in its rows", error=why)
        self.fault = why


def _messages(batch: Sequence[_News]) -> Iterator[tuple[Lane, list[object], dict[str, str]]]:
    """The rows of each lane in messages, with the traces of judgements: what contestants wait for comes first."""
    for lane in (JUDGEMENTS, REJUDGINGS, JOBS):
        contexts = {news.row: news.context for news in batch if news.lane is lane}
        rows = list(contexts)
        for start in range(0, len(rows), lane.rows):
            some = rows[start : start + lane.rows]
            traced = {str(row[0]): contexts[row] for row in some if contexts[row] and isinstance(row, tuple)}
            yield lane, some, traced
