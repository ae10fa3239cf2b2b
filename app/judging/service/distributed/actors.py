"""A worker's consumers, whose messages let it look at rows, and the jobs that it runs.

A message only wakes: whatever it says, and whoever sent it, a worker looks at the rows that are due.

Guarantee 7: the job watch stops a job that another worker may run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import dramatiq
from dramatiq.broker import Consumer as Receiver
from dramatiq.broker import MessageProxy
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from dramatiq.common import q_name

from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.loops import FOREVER, Loop
from app.judging.service.distributed.broker import LANES, Lane, message_of, open_broker
from app.judging.service.references import MOST_ATTEMPTS, JobRunner
from app.problems.queries import pins

SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_BETWEEN_JOBS = 2.0
IDLE_MS = 500
LONGEST_STOP_MS = 120_000


class QuorumBroker(RabbitmqBroker):
    """RabbitMQ with quorum queues: a message that was taken outlives a restart, and any minority of a cluster."""

    def _build_queue_arguments(self, queue_name: str) -> dict[str, object]:
        arguments: dict[str, object] = super()._build_queue_arguments(queue_name)  # type: ignore[no-untyped-call]
        return {**arguments, "x-queue-type": "quorum"}

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Receiver:
        """Consume a queue of a lane, or the one of its delayed messages; `timeout` in milliseconds."""
        lane = next(each for each in LANES if each.queue == q_name(queue_name))
        return Received(super().consume(queue_name, prefetch, timeout), queue_name, lane)


class Received(Receiver):
    """The messages of a queue, each as a server sends it: nothing that others write into them is believed."""

    def __init__(self, inner: Receiver, queue: str, lane: Lane) -> None:
        self._inner = inner
        self._queue = queue
        self._lane = lane

    def __next__(self) -> MessageProxy | None:
        """The next message; None where none comes in time."""
        message = next(self._inner)
        if message is not None:
            message._message = message_of(self._lane, self._queue)
        return message

    def ack(self, message: MessageProxy) -> None:
        """Acknowledge a message."""
        self._inner.ack(message)

    def nack(self, message: MessageProxy) -> None:
        """Reject a message."""
        self._inner.nack(message)

    def close(self) -> None:
        """Give back what is not acknowledged."""
        self._inner.close()


class Consumer:
    """Calls `act` for each message of a lane, in a thread; dramatiq wants one worker a broker, so each has its own."""

    def __init__(self, url: str, lane: Lane, act: Callable[[], None]) -> None:
        self._broker = open_broker(url, [lane])
        dramatiq.actor(actor_name=lane.actor, queue_name=lane.queue, broker=self._broker)(act)
        self._worker = dramatiq.Worker(self._broker, queues={lane.queue}, worker_threads=1, worker_timeout=IDLE_MS)
        self._worker.queue_prefetch = 1

    def start(self) -> None:
        """Begin to take messages; a broker that is away is tried again each few seconds."""
        self._worker.start()

    def stop(self) -> None:
        """Take no more messages."""
        self._worker.stop(LONGEST_STOP_MS)
        self._broker.close()


class Jobs:
    """Runs jobs one at a time, each under a lock, so that no two workers run the same."""

    def __init__(self, database: Database, runner: JobRunner, locks: Locks) -> None:
        self._database = database
        self._runner = runner
        self._locks = locks
        self._loop = Loop("jobs", self._step, SECONDS_BETWEEN_JOBS)

    def start(self) -> None:
        """Begin with those that wait, or whose worker has died."""
        self._loop.start()

    def wake(self) -> None:
        """A job has been queued (and is durable)."""
        self._loop.wake()

    def close(self) -> None:
        """Kill the job that runs, and stop: another worker takes it up."""
        self._runner.close()
        self._loop.close()

    def _step(self) -> None:
        with self._database.read() as session:
            job_ids = list(pins.open_ids(session))
        for job_id in job_ids:
            if not self._loop.closing:
                self.run(job_id)

    def run(self, job_id: str) -> None:
        """Run a job that has not ended, unless another worker runs it."""
        lock = f"job {job_id}"
        if not self._locks.take(lock):
            return
        try:
            with self._database.write(quiet=True) as session:
                pins.take_up_interrupted(session, MOST_ATTEMPTS, job_id)
            with self._watched(job_id, lock):
                self._runner.work_on(job_id)
        finally:
            self._locks.give_back(lock)

    @contextmanager
    def _watched(self, job_id: str, lock: str) -> Iterator[None]:
        """Stop the job as soon as it is cancelled, or another worker may have its lock."""

        def look() -> float | None:
            if self._locks.take(lock) and not self._is_over(job_id):
                return None
            self._runner.stop(job_id)
            return FOREVER

        watching = Loop("job watch", look, SECONDS_BETWEEN_LOOKS, delay=SECONDS_BETWEEN_LOOKS)
        watching.start()
        try:
            yield
        finally:
            watching.close()

    def _is_over(self, job_id: str) -> bool:
        with self._database.read() as session:
            job = pins.get(session, job_id)
            return job is None or job.state in pins.ENDED
