"""Sending news of rows to the broker, in a thread of its own: whoever has committed a row waits for no broker."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from app.core import tracing
from app.core.loops import Loop
from app.judging.service.distributed.broker import message_of
from app.judging.service.distributed.lanes import JOBS, JUDGEMENTS, REJUDGINGS, Lane

if TYPE_CHECKING:
    from dramatiq.brokers.rabbitmq import RabbitmqBroker

NAME = "jurado.broker"
log: structlog.stdlib.BoundLogger = structlog.get_logger(NAME)
STANDARD_LOG = logging.getLogger(NAME)  # which knows its level without a look through structlog's proxies

MOST_KEPT = 100_000
"""Rows that wait for a broker that is away; of more the reconciler tells it when it is back."""
SECONDS_TO_GATHER = 0.002
"""Wait for more where the last look found some: the submissions of a commit are told of one by one."""
LIVE_JUDGEMENT = tuple[int, str]
"""A judgement's number and its team."""


@dataclass(frozen=True, slots=True)
class _News:
    lane: Lane
    row: object
    context: str = ""


_Message = tuple[Lane, list[object], dict[str, str]]


class Sender:
    """Sends news of judgements and jobs; never blocks its callers, and never raises. Any thread may call it."""

    def __init__(self, broker: RabbitmqBroker) -> None:
        self._broker = broker
        self._news: deque[_News] = deque()
        self._messages: deque[_Message] = deque()
        self._gathers = False
        self._loop = Loop("broker", self._step)
        self._loop.start()

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
            if len(self._news) >= MOST_KEPT:
                break
            self._news.append(_News(lane, row, context))
        self._loop.wake()

    def close(self) -> None:
        """Send what waits, if the broker takes it, and stop."""
        self._loop.close()
        with suppress(Exception):  # the broker is away: the reconciler of another process tells of what waits
            self._step()
        self._broker.close()

    def _step(self) -> None:
        """Send all news; what the broker does not take is sent by the next step."""
        self._gather()
        while self._messages:
            lane, rows, contexts = self._messages[0]
            self._broker.enqueue(message_of(lane, rows, contexts))
            self._messages.popleft()
            if STANDARD_LOG.isEnabledFor(logging.DEBUG):
                log.debug("workers are told", queue=lane.queue, rows=list(rows))

    def _gather(self) -> None:
        """Take all news that there are; in a rush also what comes in the next moment."""
        if self._gathers:
            time.sleep(SECONDS_TO_GATHER)
        taken: list[_News] = []
        while self._news:
            taken.append(self._news.popleft())
        self._gathers = len(taken) > 1
        self._messages.extend(_messages(taken))


def _messages(batch: Sequence[_News]) -> Iterator[_Message]:
    """The rows of each lane in messages, with the traces of judgements: what contestants wait for comes first."""
    for lane in (JUDGEMENTS, REJUDGINGS, JOBS):
        contexts = {news.row: news.context for news in batch if news.lane is lane}
        rows = list(contexts)
        for start in range(0, len(rows), lane.rows):
            some = rows[start : start + lane.rows]
            traced = {str(row[0]): contexts[row] for row in some if contexts[row] and isinstance(row, tuple)}
            yield lane, some, traced
