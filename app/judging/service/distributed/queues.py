"""The queues of the broker as it tells of them: what waits, and how many take from it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from app.judging.service.distributed.broker import MISSING, parameters_of
from app.judging.service.distributed.lanes import LANES

SECONDS_TO_CONNECT = 2.0


class QueueFacts(BaseModel):
    """A queue of the broker."""

    name: str
    ready: int = Field(description="messages that no worker has")
    delayed: int = Field(description="messages that come again after some seconds")
    consumers: int = Field(description="workers that take from it")


class BrokerAway(Exception):
    """The broker does not answer; the message says why."""


def queue_states(url: str) -> list[QueueFacts]:
    """Ask the broker on a connection of its own, within seconds; raises BrokerAway."""
    try:
        import pika  # type: ignore[import-untyped]
        from pika.exceptions import AMQPError  # type: ignore[import-untyped]

    except ImportError:
        raise BrokerAway(MISSING) from None
    parameters = parameters_of(url)
    parameters.socket_timeout = parameters.stack_timeout = SECONDS_TO_CONNECT
    parameters.blocked_connection_timeout = SECONDS_TO_CONNECT
    try:
        connection = pika.BlockingConnection(parameters)
        try:
            return [_state(connection, lane.queue) for lane in LANES]
        finally:
            connection.close()
    except (AMQPError, OSError) as error:
        raise BrokerAway(str(error) or type(error).__name__) from None


# Any: pika has no types
def _state(connection: Any, name: str) -> QueueFacts:
    ready, consumers = _look(connection, name)
    delayed, _ = _look(connection, f"{name}.DQ")
    return QueueFacts(name=name, ready=ready, delayed=delayed, consumers=consumers)


# Any: as above
def _look(connection: Any, name: str) -> tuple[int, int]:
    """Messages and consumers of a queue; none where nobody has made it yet."""
    from pika.exceptions import ChannelClosedByBroker

    channel = connection.channel()
    try:
        declared = channel.queue_declare(queue=name, passive=True)
    except ChannelClosedByBroker:
        return 0, 0
    channel.close()
    return int(declared.method.message_count), int(declared.method.consumer_count)
