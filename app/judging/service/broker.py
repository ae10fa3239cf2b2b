"""The broker: RabbitMQ through dramatiq, with queues that are replicated and on disk (quorum queues).

A message says that judgements wait, and no more: whoever receives it reads the rows. So a message may come twice, late
or not at all; what a lost one costs is the time until workers look again, as they do for rejudgings and jobs.

- Sending messages in a thread of its own: whoever has committed a row waits for no broker.
- The queues of the broker as it tells of them: what waits, and how many take from it.

Guarantee 1 rests on the rows, guarantee 5 on the loop of the sender.
"""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from app.core.loops import Loop

if TYPE_CHECKING:
    from dramatiq import Message
    from dramatiq.brokers.rabbitmq import RabbitmqBroker


QUEUE, ACTOR = "jurado.judgements", "judge"
# Of so many judgements there is one message, so that several workers share a rush.
CALLS_A_MESSAGE = 16
# Calls that wait for a broker that is away; workers find the rows of more.
MOST_KEPT = 10_000
# Wait for more where the last look found some: the submissions of a commit are told of one by one.
SECONDS_TO_GATHER = 0.002


# A worker that is silent for two of them is given up, and its messages go to others.
HEARTBEAT_SECONDS = 10
BLOCKED_SECONDS = 30
CONNECTING_SECONDS = 5
MISSING = "a broker needs dramatiq: install jurado[distributed], such as `pip install 'jurado[distributed]'`"


class BrokerMissing(Exception):
    """The libraries of the broker are not installed; the message says what to install."""


def open_broker(url: str) -> RabbitmqBroker:
    """Make a broker with the queue, which connects when it is used.

    Raises BrokerMissing without its libraries.
    """
    try:
        from app.judging.service.consumers import QuorumBroker
    except ImportError:
        raise BrokerMissing(MISSING) from None
    # No other middleware: a message that cannot be delivered is not needed again.
    broker = QuorumBroker(confirm_delivery=True, middleware=[])
    broker.parameters = parameters_of(url)
    broker.declare_queue(QUEUE)
    return broker


# Any: pika has no types
def parameters_of(url: str) -> Any:
    """The parameters of a connection to the broker, as pika takes them."""
    import pika  # type: ignore[import-untyped]

    parameters = pika.URLParameters(url)
    parameters.heartbeat = HEARTBEAT_SECONDS
    parameters.blocked_connection_timeout = BLOCKED_SECONDS
    parameters.socket_timeout = parameters.stack_timeout = CONNECTING_SECONDS
    return parameters


def new_message(queue: str = QUEUE) -> Message[None]:
    """The message that calls workers."""
    from dramatiq import Message

    return Message(queue_name=queue, actor_name=ACTOR, args=(), kwargs={}, options={})


class Sender:
    """Calls workers; never blocks its callers, and never raises. Any thread may call it."""

    def __init__(self, broker: RabbitmqBroker) -> None:
        self._broker = broker
        self._calls: deque[None] = deque(maxlen=MOST_KEPT)
        self._gathers = False
        self._loop = Loop("broker", self._step)
        self._loop.start()

    def call(self) -> None:
        """A judgement that somebody waits for has been queued, and is durable."""
        self._calls.append(None)
        self._loop.wake()

    def close(self) -> None:
        """Send what waits, if the broker takes it, and stop."""
        self._loop.close()
        with suppress(Exception):  # the broker is away: workers find what waits
            self._step()
        self._broker.close()

    def _step(self) -> None:
        """Send a message for all calls; in a rush also for those that come in the next moment."""
        if self._gathers:
            time.sleep(SECONDS_TO_GATHER)
        count = len([self._calls.popleft() for _ in range(len(self._calls))])
        self._gathers = count > 1
        for _ in range(0, count, CALLS_A_MESSAGE):
            self._broker.enqueue(new_message())


SECONDS_TO_CONNECT = 2.0


class QueueFacts(BaseModel):
    """A queue of the broker."""

    name: str
    ready: int = Field(description="messages that no worker has")
    consumers: int = Field(description="workers that take from it")


class BrokerAway(Exception):
    """The broker does not answer; the message says why."""


def queue_state(url: str) -> QueueFacts:
    """Ask the broker on a connection of its own, within seconds; raises BrokerAway."""
    try:
        import pika
        from pika.exceptions import AMQPError, ChannelClosedByBroker  # type: ignore[import-untyped]

    except ImportError:
        raise BrokerAway(MISSING) from None
    parameters = parameters_of(url)
    parameters.socket_timeout = parameters.stack_timeout = SECONDS_TO_CONNECT
    parameters.blocked_connection_timeout = SECONDS_TO_CONNECT
    try:
        connection = pika.BlockingConnection(parameters)
        try:
            queue = connection.channel().queue_declare(queue=QUEUE, passive=True).method
            return QueueFacts(name=QUEUE, ready=int(queue.message_count), consumers=int(queue.consumer_count))
        except ChannelClosedByBroker:  # nobody has made it yet
            return QueueFacts(name=QUEUE, ready=0, consumers=0)
        finally:
            connection.close()
    except (AMQPError, OSError) as error:
        raise BrokerAway(str(error) or type(error).__name__) from None
