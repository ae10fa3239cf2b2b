"""A worker's consumers, whose messages let it look at rows: whatever they say, and whoever sent them."""

from __future__ import annotations

from collections.abc import Callable

import dramatiq
from dramatiq.broker import Consumer as Receiver
from dramatiq.broker import MessageProxy
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from dramatiq.common import q_name

from app.judging.service.broker import LANES, Lane, message_of, open_broker

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
        # An option such as `eta` or `throws` of a forged message would stop or end dramatiq's thread.
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
