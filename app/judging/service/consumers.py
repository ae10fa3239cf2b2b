"""A worker's consumers, whose messages let it look at rows: whatever they say, and whoever sent them."""

from __future__ import annotations

from collections.abc import Callable

import dramatiq
from dramatiq.broker import MessageProxy
from dramatiq.brokers.rabbitmq import RabbitmqBroker, _RabbitmqConsumer

from app.judging.service.broker import ACTOR, QUEUE, new_message, open_broker

IDLE_MS = 500
LONGEST_STOP_MS = 120_000


class QuorumBroker(RabbitmqBroker):
    """RabbitMQ with quorum queues: a message that was taken outlives a restart, and any minority of a cluster."""

    def _build_queue_arguments(self, queue_name: str) -> dict[str, object]:
        arguments: dict[str, object] = super()._build_queue_arguments(queue_name)  # type: ignore[no-untyped-call]
        return {**arguments, "x-queue-type": "quorum"}

    @property
    def consumer_class(self) -> type[Received]:
        """The consumer of the queue, or of its delayed messages."""
        return Received


class Received(_RabbitmqConsumer):
    """The messages of a queue, each as a server sends it: nothing that others write into them is believed."""

    def __next__(self) -> MessageProxy | None:
        """The next message; None where none comes in time."""
        message: MessageProxy | None = super().__next__()  # type: ignore[no-untyped-call]
        # An option such as `eta` or `throws` of a forged message would stop or end dramatiq's thread.
        if message is not None:
            message._message = new_message(self.queue_name)
        return message


class Consumer:
    """Calls `act` for each message, in a thread."""

    def __init__(self, url: str, act: Callable[[], None]) -> None:
        self._broker = open_broker(url)
        dramatiq.actor(actor_name=ACTOR, queue_name=QUEUE, broker=self._broker)(act)
        self._worker = dramatiq.Worker(self._broker, queues={QUEUE}, worker_threads=1, worker_timeout=IDLE_MS)
        self._worker.queue_prefetch = 1

    def start(self) -> None:
        """Begin to take messages; a broker that is away is tried again each few seconds."""
        self._worker.start()

    def stop(self) -> None:
        """Take no more messages."""
        self._worker.stop(LONGEST_STOP_MS)
        self._broker.close()
