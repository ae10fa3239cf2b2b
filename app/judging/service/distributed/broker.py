"""The broker: RabbitMQ through dramatiq, with queues that are replicated and on disk (quorum queues).

A message names rows and says nothing else: whoever receives it reads the rows. So a message may come twice, late or
not at all; what a lost one costs is the time until the reconciler sends another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from app.judging.service.distributed.lanes import CONTEXTS, FOR_EVER, LANES, LONGEST_RETRY_MS, Lane

if TYPE_CHECKING:
    from dramatiq import Message
    from dramatiq.brokers.rabbitmq import RabbitmqBroker

HEARTBEAT_SECONDS = 10
"""A worker that is silent for two of them is given up, and its messages go to others."""
BLOCKED_SECONDS = 30
CONNECTING_SECONDS = 5
MISSING = "a broker needs dramatiq: install jurado[distributed], such as `pip install 'jurado[distributed]'`"

NO_CONTEXTS: Mapping[str, str] = MappingProxyType({})


class BrokerMissing(Exception):
    """The libraries of the broker are not installed; the message says what to install."""


def open_broker(url: str, lanes: Sequence[Lane] = LANES) -> RabbitmqBroker:
    """Make a broker with the queues of lanes, which connects when it is used.

    Raises BrokerMissing without its libraries.
    """
    try:
        from dramatiq.middleware import CurrentMessage, Retries

        from app.judging.service.distributed.received import QuorumBroker
    except ImportError:
        raise BrokerMissing(MISSING) from None
    # No other middleware: age limits would drop messages, time limits would interrupt judging.
    retries = Retries(max_retries=FOR_EVER, min_backoff=LONGEST_RETRY_MS // 4, max_backoff=LONGEST_RETRY_MS)
    broker = QuorumBroker(confirm_delivery=True, middleware=[retries, CurrentMessage()])
    broker.parameters = parameters_of(url)
    for lane in lanes:
        broker.declare_queue(lane.queue)
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


def message_of(lane: Lane, rows: Sequence[object], contexts: Mapping[str, str] = NO_CONTEXTS) -> Message[None]:
    """The message that names these rows; `contexts` are the traces of judgements, for workers that trace."""
    from dramatiq import Message

    options = {CONTEXTS: dict(contexts)} if contexts else {}
    return Message(queue_name=lane.queue, actor_name=lane.actor, args=(list(rows),), kwargs={}, options=options)


def contexts_in_message() -> Mapping[str, str]:
    """The traces that the message brought which this thread works on."""
    from dramatiq.middleware import CurrentMessage

    message = CurrentMessage.get_current_message()
    return NO_CONTEXTS if message is None else message.options.get(CONTEXTS, NO_CONTEXTS)


def waiting(broker: RabbitmqBroker, lane: Lane) -> int:
    """The number of messages in a lane's queue that no worker has; raises AMQPError while the broker is away."""
    from pika.exceptions import AMQPError  # type: ignore[import-untyped]

    try:
        return _waiting(broker, lane)
    except AMQPError:  # a connection that was idle for long is closed by the broker
        del broker.connection
        return _waiting(broker, lane)


def _waiting(broker: RabbitmqBroker, lane: Lane) -> int:
    broker.declare_queue(lane.queue, ensure=True)
    declared = broker.channel.queue_declare(queue=lane.queue, passive=True)
    return int(declared.method.message_count)
