"""The broker: RabbitMQ, with a queue that is replicated and on disk (a quorum queue).

A message says that judgements are queued, and no more: its content is ignored, and the worker reads the
rows. So it may come twice, late or never; a lost one costs the half second until workers look again.

Guarantee 1 rests on the rows, guarantee 7 on the loops of the sender and of the consumer, which connect again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pydantic import BaseModel, Field

from app.core.loops import Loop

QUEUE = "jurado.judgements"
# A worker that is silent for two of them is cut off, and its messages go to others.
HEARTBEAT_SECONDS = 10
BLOCKED_SECONDS = 30
CONNECTING_SECONDS = 5
SECONDS_TO_CONNECT = 2.0
IDLE_SECONDS = 0.5
MISSING = "a broker needs pika: install jurado[distributed], such as `pip install 'jurado[distributed]'`"


class BrokerMissing(Exception):
    """The library of the broker is not installed; the message says what to install."""


class BrokerAway(Exception):
    """The broker does not answer; the message says why."""


# Any: pika has no types
def parameters_of(url: str) -> Any:
    """The parameters of a connection to the broker, as pika takes them; raises BrokerMissing without pika."""
    try:
        import pika  # type: ignore[import-untyped]
    except ImportError:
        raise BrokerMissing(MISSING) from None
    parameters = pika.URLParameters(url)
    parameters.heartbeat = HEARTBEAT_SECONDS
    parameters.blocked_connection_timeout = BLOCKED_SECONDS
    parameters.socket_timeout = parameters.stack_timeout = CONNECTING_SECONDS
    return parameters


# Any: pika has no types
def open_channel(parameters: Any) -> Any:
    """Connect for one thread, and make the queue. A message is stored once `basic_publish` returns."""
    from pika import BlockingConnection

    channel = BlockingConnection(parameters).channel()
    channel.queue_declare(QUEUE, durable=True, arguments={"x-queue-type": "quorum"})
    channel.confirm_delivery()
    return channel


class Sender:
    """Calls workers from a thread of its own, so that no caller waits for the broker. Any thread may call it."""

    def __init__(self, url: str) -> None:
        self._parameters = parameters_of(url)
        self._channel: Any = None
        self._is_called = False
        self._loop = Loop("broker", self._step, HEARTBEAT_SECONDS / 2)
        self._loop.start()

    def call(self) -> None:
        """A live judgement has been queued, and is durable."""
        self._is_called = True
        self._loop.wake()

    def close(self) -> None:
        """Send the last message, if the broker takes it, and stop."""
        self._loop.close()
        with suppress(Exception):  # the broker is away: workers find the rows
            self._step()
            self._channel.connection.close()

    def _step(self) -> None:
        """Send one message for all calls since the last step; an idle connection only answers heartbeats."""
        is_called, self._is_called = self._is_called, False
        try:
            if is_called:
                self._channel = self._channel or open_channel(self._parameters)
                self._channel.basic_publish("", QUEUE, b"")
            if self._channel is not None:
                self._channel.connection.process_data_events()
        except Exception:
            self._channel, self._is_called = None, is_called
            raise


class Consumer:
    """Calls `act` for each message, in a thread; a broker that is away is tried again."""

    def __init__(self, url: str, act: Callable[[], None]) -> None:
        self._parameters = parameters_of(url)
        self._act = act
        self.loop = Loop("messages", self._step, 0.0)

    def _step(self) -> None:
        channel = open_channel(self._parameters)
        with channel.connection:
            for method, *_ in channel.consume(QUEUE, auto_ack=True, inactivity_timeout=IDLE_SECONDS):
                if method is not None:
                    self._act()
                if self.loop.closing:
                    return


class QueueFacts(BaseModel):
    """A queue of the broker."""

    name: str
    ready: int = Field(description="messages that no worker has")
    consumers: int = Field(description="workers that take from it")


def queue_state(url: str) -> QueueFacts:
    """Ask the broker within seconds; raises BrokerAway."""
    try:
        parameters = parameters_of(url)
        parameters.socket_timeout = parameters.stack_timeout = SECONDS_TO_CONNECT
        parameters.blocked_connection_timeout = SECONDS_TO_CONNECT
        channel = open_channel(parameters)
        with channel.connection:
            queue = channel.queue_declare(QUEUE, passive=True).method
            return QueueFacts(name=QUEUE, ready=int(queue.message_count), consumers=int(queue.consumer_count))
    except Exception as error:  # pika's, which is imported only where there is a broker, or of the network
        raise BrokerAway(str(error) or type(error).__name__) from None
