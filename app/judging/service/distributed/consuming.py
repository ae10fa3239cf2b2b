"""The consumers of a worker: dramatiq's threads, as many for each lane as it works on at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from app.core import tracing
from app.judging.service.distributed.actors import TryAgain
from app.judging.service.distributed.broker import contexts_in_message, open_broker
from app.judging.service.distributed.lanes import Lane

if TYPE_CHECKING:
    from dramatiq import Worker

IDLE_MS = 500
LONGEST_STOP_MS = 120_000


class Consumer:
    """Calls `act` with the rows of each message of a lane, in so many threads; `act` may raise TryAgain.

    No message beyond those is taken from other workers. dramatiq wants one worker a broker, so each lane has its own.
    `at_hand` counts the messages that are being worked on.
    """

    # Any: rows are of the lane's type, as its actor takes them
    def __init__(self, url: str, lane: Lane, act: Callable[[Sequence[Any]], None], threads: int) -> None:
        import dramatiq

        self._guard = threading.Lock()
        self.queue = lane.queue
        self.at_hand = 0

        # Any: rows as JSON gives them
        def acting(rows: Sequence[Any]) -> None:
            self._count(+1)
            for row, context in contexts_in_message().items() if tracing.is_on() else ():
                tracing.hand_over(int(row), context)
            try:
                act(rows)
            except TryAgain as error:
                raise dramatiq.errors.Retry(str(error), delay=error.delay_ms) from None
            finally:
                self._count(-1)

        self._broker = open_broker(url, [lane])
        dramatiq.actor(actor_name=lane.actor, queue_name=lane.queue, broker=self._broker)(acting)
        self._worker: Worker = dramatiq.Worker(
            self._broker, queues={lane.queue}, worker_threads=threads, worker_timeout=IDLE_MS
        )
        self._worker.queue_prefetch = threads

    def start(self) -> None:
        """Begin to take messages; a broker that is away is tried again each few seconds."""
        self._worker.start()

    def _count(self, change: int) -> None:
        with self._guard:
            self.at_hand += change

    def pause(self) -> None:
        """Take no more messages, and let the broker give those that are at hand to other workers at once."""
        for thread in self._worker.consumers.values():
            thread.pause()

    def resume(self) -> None:
        """Take messages again."""
        for thread in self._worker.consumers.values():
            thread.resume()

    def stop(self) -> None:
        """Take no more messages, and wait for those at hand."""
        self._worker.stop(LONGEST_STOP_MS)
        self._broker.close()
