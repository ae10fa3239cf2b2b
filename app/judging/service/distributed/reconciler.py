"""The reconciler: one process of an installation finds rows that nobody works on, and has them sent again.

The rows are the outbox: whoever commits one sends news of it at once, and may be killed in between; a broker may lose
all that it was told. What has stayed as it is for too long is sent again then, by the process that holds the lock.

- Patience with rows that nobody seems to work on: more with what has been begun, and double after each try.
- Sending news of rows to the broker, in a thread of its own: whoever has committed a row waits for no broker.

Guarantees 1 and 7: each has a loop, as the sender must not wait for the database, nor the reconciler for the broker.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from app.core import tracing
from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.loops import Loop
from app.judging.queries import rejudging_steps
from app.judging.queries.judging_tasks import OpenJudgement, is_any_open, open_judgements
from app.judging.service.distributed.broker import JOBS, JUDGEMENTS, REJUDGINGS, Lane, message_of, waiting
from app.problems.queries import pins
from app.submissions.queries import judgements
from app.submissions.tables import RUNNING

if TYPE_CHECKING:
    from dramatiq.brokers.rabbitmq import RabbitmqBroker


# From a commit to the first worker's claim, with a broker that is idle: many times what that takes.
SECONDS_UNTIL_BEGUN = 3.0
# The broker itself gives a dead worker's messages to others; this is for a broker that has lost them.
SECONDS_UNTIL_DONE = 60.0


@dataclass
class _Watched:
    """A row as it was at first, since when it has been like that, and the seconds it may stay so."""

    is_rejudging: bool
    state: str
    attempt: int
    since: float
    seconds: float


class Patience:
    """Which rows are due to be sent again. Not thread-safe: its owner looks in one thread."""

    def __init__(self) -> None:
        self._watched: dict[int, _Watched] = {}

    def due(
        self, rows: Sequence[OpenJudgement], now: float, *, queued_lanes: Collection[bool] = ()
    ) -> list[OpenJudgement]:
        """The rows that have stayed as they are for too long, at `now` seconds; each counts as sent then.

        `queued_lanes` are those (True: rejudgings) in whose queues messages wait: what nobody has begun waits there,
        and may be missing from the rows.
        """
        for id_ in self._watched.keys() - {row.id for row in rows}:
            watched = self._watched[id_]
            if watched.state != RUNNING and watched.is_rejudging in queued_lanes:
                watched.since = now
            else:
                del self._watched[id_]
        return [row for row in rows if self._is_due(row, now, is_queued=row.is_rejudging in queued_lanes)]

    def _is_due(self, row: OpenJudgement, now: float, *, is_queued: bool) -> bool:
        watched = self._watched.get(row.id)
        if watched is None or (watched.state, watched.attempt) != (row.state, row.attempt):
            seconds = SECONDS_UNTIL_DONE if row.state == RUNNING else SECONDS_UNTIL_BEGUN
            doubled = 0.0 if watched is None else watched.seconds
            self._watched[row.id] = _Watched(row.is_rejudging, row.state, row.attempt, now, max(seconds, doubled))
            return False
        if is_queued and row.state != RUNNING:
            watched.since = now
            return False
        if now - watched.since < watched.seconds:
            return False
        watched.since, watched.seconds = now, 2 * watched.seconds
        return True


NAME = "jurado.broker"
sender_log: structlog.stdlib.BoundLogger = structlog.get_logger(NAME)
STANDARD_LOG = logging.getLogger(NAME)  # which knows its level without a look through structlog's proxies

# Rows that wait for a broker that is away; of more the reconciler tells it when it is back.
MOST_KEPT = 100_000
# Wait for more where the last look found some: the submissions of a commit are told of one by one.
SECONDS_TO_GATHER = 0.002
# A judgement's number and its team.
LIVE_JUDGEMENT = tuple[int, str]


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
                sender_log.debug("workers are told", queue=lane.queue, rows=list(rows))

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


log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.reconciler")

LOCK = "reconciler"
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_BETWEEN_JOBS = 15.0


class Reconciler:
    """A loop that looks at the open rows of all servers, while this process holds the lock.

    `take_up` may be called by any thread; `resent` counts the rows that were sent again.
    """

    def __init__(self, database: Database, sender: Sender, broker: RabbitmqBroker, locks: Locks) -> None:
        self._database = database
        self._sender = sender
        self._broker = broker
        self._locks = locks
        self._patience = Patience()
        self._sent_again: set[int] = set()
        self._jobs_sent: dict[str, float] = {}
        self._taking_up = False
        self._loop = Loop("reconciler", self._step, SECONDS_BETWEEN_LOOKS)
        self.resent = 0

    def start(self) -> None:
        """Begin to look."""
        self._loop.start()

    def take_up(self) -> None:
        """A rejudging has been opened, changed or cancelled here: what it has is sent at once."""
        self._taking_up = True
        self._loop.wake()

    def close(self) -> None:
        """Stop looking, and let another process look."""
        self._loop.close()
        self._broker.close()
        self._locks.give_back(LOCK)

    def _step(self) -> None:
        if self._taking_up:
            self._taking_up = False
            try:
                self._send_rejudgings()
            except Exception:
                self._taking_up = True  # the next step sends them
                raise
        if self._locks.take(LOCK):
            self._look(time.monotonic())

    def _send_rejudgings(self) -> None:
        """Send the judgements of rejudgings that this process has not sent yet."""
        with self._database.read() as session:
            ids = judgements.waiting(session, rejudging=True)
        self._sender.rejudgings(id_ for id_ in ids if id_ not in self._sent_again)
        self._sent_again = set(ids)

    def _look(self, now: float) -> None:
        rejudging_steps.take_in_all_late(self._database)
        with self._database.read() as session:
            is_any = is_any_open(session)
            job_ids = list(pins.open_ids(session))
        queued = self._queued_lanes() if is_any else set()
        with self._database.read() as session:
            rows = open_judgements(session, queued_lanes=queued) if is_any else []
        due = self._patience.due(rows, now, queued_lanes=queued)
        if due:
            self.resent += len(due)  # first: they may be judged before the next statement
            log.info("rows that nobody seemed to work on are sent again", judgements=len(due))
        self._sender.judgements((row.id, row.team_id) for row in due if not row.is_rejudging)
        self._sender.rejudgings(row.id for row in due if row.is_rejudging)
        self._look_at_jobs(job_ids, now)

    def _queued_lanes(self) -> set[bool]:
        """The lanes (True: rejudgings) in whose queues messages wait for a worker."""
        lanes = ((JUDGEMENTS, False), (REJUDGINGS, True))
        return {is_rejudging for lane, is_rejudging in lanes if waiting(self._broker, lane)}

    def _look_at_jobs(self, job_ids: list[str], now: float) -> None:
        """Send jobs that have not ended now and then: a worker begins none that another one works on."""
        self._jobs_sent = {id_: self._jobs_sent.get(id_, now) for id_ in job_ids}
        due = [id_ for id_, sent in self._jobs_sent.items() if now - sent >= SECONDS_BETWEEN_JOBS]
        if due and not waiting(self._broker, JOBS):
            for job_id in due:
                self._jobs_sent[job_id] = now
                self._sender.job(job_id)
