"""What a worker takes of the broker: messages as servers send them, whoever else may write to its queues.

dramatiq trusts what it decodes: a message that names another queue ends the thread which works on it, one with a moment
in a hundred years keeps a place of its worker until then, and rows that are none fail for ever. So others are rejected
as they come (the broker lays them in the queue `.XQ` for a week), and of options only those are left that are known.
What a rejected message should have named is sent again by the reconciler.
"""

from __future__ import annotations

from collections.abc import Mapping

import structlog
from dramatiq.broker import Consumer, MessageProxy
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from dramatiq.common import current_millis, q_name

from app.judging.service.distributed.lanes import CONTEXTS, FOR_EVER, LANES, LONGEST_RETRY_MS, Lane

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.broker")

MOST_ROWS = 1000
"""Rows of one message, of a version that puts more into each than this one."""


class QuorumBroker(RabbitmqBroker):
    """RabbitMQ with quorum queues: a message that was taken outlives a restart, and any minority of a cluster."""

    def _build_queue_arguments(self, queue_name: str) -> dict[str, object]:
        arguments: dict[str, object] = super()._build_queue_arguments(queue_name)  # type: ignore[no-untyped-call]
        return {**arguments, "x-queue-type": "quorum"}

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        """Consume a queue of a lane, or the one of its delayed messages; `timeout` in milliseconds."""
        lane = next(each for each in LANES if each.queue == q_name(queue_name))
        return Received(super().consume(queue_name, prefetch, timeout), queue_name, lane)


class Received(Consumer):
    """The messages of a queue that a server may have sent; `inner` receives them all."""

    def __init__(self, inner: Consumer, queue: str, lane: Lane) -> None:
        self._inner = inner
        self._queue = queue
        self._lane = lane

    def __next__(self) -> MessageProxy | None:
        """The next message; None where none comes in time, or one that is rejected."""
        message = next(self._inner)
        if message is None:
            return None
        if fault := fault_of(message, self._queue, self._lane):
            log.warning("a message that no server sends is rejected", queue=self._queue, why=fault)
            self._inner.nack(message)
            return None
        most = {"retries": FOR_EVER}
        if self._queue != self._lane.queue:  # only what is delayed waits for a moment
            most["eta"] = current_millis() + LONGEST_RETRY_MS
        known = known_options(message.options, most)
        message.options.clear()
        message.options.update(known)
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


def fault_of(message: MessageProxy, queue: str, lane: Lane) -> str:
    """Why a message is none that a server sends to a lane; empty where it may be one."""
    if message.queue_name != queue:
        return f"expected the queue {queue}, found {message.queue_name!r:.80}"
    if message.actor_name != lane.actor:
        return f"expected the actor {lane.actor}, found {message.actor_name!r:.80}"
    if message.kwargs != {} or not isinstance(message.options, dict):
        return "expected no arguments with names and an object of options, found others"
    rows = message.args[0] if len(message.args) == 1 else None
    if not isinstance(rows, list) or len(rows) > MOST_ROWS:
        return f"expected one list of at most {MOST_ROWS} rows, found {len(message.args)} arguments, or a longer list"
    odd = next((row for row in rows if not lane.is_row(row)), None)
    return "" if odd is None else f"expected rows of the lane {lane.queue}, found {odd!r:.80}"


def known_options(options: Mapping[str, object], most: Mapping[str, int]) -> dict[str, object]:
    """The options that servers and workers give: counts up to the `most` of each, and traces of judgements."""
    known: dict[str, object] = {}
    for name, bound in most.items():
        if isinstance(value := options.get(name), int) and value >= 0:
            known[name] = min(value, bound)
    contexts = options.get(CONTEXTS)
    if isinstance(contexts, dict) and all(row.isdecimal() and isinstance(each, str) for row, each in contexts.items()):
        known[CONTEXTS] = contexts
    return known
