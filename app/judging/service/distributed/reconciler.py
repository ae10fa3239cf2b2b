"""The reconciler: one process of an installation finds rows that nobody works on, and has them sent again.

The rows are the outbox: whoever commits one sends news of it at once, and may be killed in between; a broker may lose
all that it was told. What has stayed as it is for too long is sent again then, by the process that holds the lock.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import structlog

from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.loops import Loop
from app.judging.queries import rejudging_steps
from app.judging.queries.open_judgements import is_any_open, open_judgements
from app.judging.service.distributed.broker import waiting
from app.judging.service.distributed.lanes import JOBS, JUDGEMENTS, REJUDGINGS
from app.judging.service.distributed.patience import Patience
from app.judging.service.distributed.sender import Sender
from app.problems.queries import jobs
from app.submissions.queries import judgements

if TYPE_CHECKING:
    from dramatiq.brokers.rabbitmq import RabbitmqBroker

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
        self._taking_up = threading.Event()
        self._loop = Loop("reconciler", self._step, SECONDS_BETWEEN_LOOKS)
        self.resent = 0

    def start(self) -> None:
        """Begin to look."""
        self._loop.start()

    def take_up(self) -> None:
        """A rejudging has been opened, changed or cancelled here: what it has is sent at once."""
        self._taking_up.set()
        self._loop.wake()

    def close(self) -> None:
        """Stop looking, and let another process look."""
        self._loop.close()
        self._broker.close()
        self._locks.give_back(LOCK)

    def _step(self) -> None:
        if self._taking_up.is_set():
            self._taking_up.clear()
            try:
                self._send_rejudgings()
            except Exception:
                self._taking_up.set()  # the next step sends them
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
            job_ids = list(jobs.open_ids(session))
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
