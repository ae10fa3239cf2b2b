"""The broker: RabbitMQ through dramatiq, with queues that are replicated and on disk (quorum queues).

A message names rows and says nothing else: whoever receives it reads the rows. So a message may come twice, late or
not at all; what a lost one costs is the time until the reconciler sends another.

- The kinds of work that messages name: their queues, their actors, and what a row is in each.
- The queues of the broker as it tells of them: what waits, and how many take from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from dramatiq import Message
    from dramatiq.brokers.rabbitmq import RabbitmqBroker


# Rows that are open stay so until they are judged; that many failures of a checker end them is counted in the rows.
FOR_EVER = 10**9
# A message that failed, as the database was away, comes again within this time.
LONGEST_RETRY_MS = 5000
JOB_ID = re.compile(r"[A-Za-z0-9_.-]{1,36}")
# The option of a message that has the traces of its judgements, by their numbers.
CONTEXTS = "jurado_traces"


class Lane(NamedTuple):
    """A kind of work: its queue, the actor that does it, how many rows a message names, and what a row is, as JSON."""

    queue: str
    actor: str
    rows: int
    is_row: Callable[[object], bool]


def _is_number(row: object) -> bool:
    return type(row) is int and 0 < row < 2**63


def _is_judgement(row: object) -> bool:
    return isinstance(row, list) and len(row) == 2 and _is_number(row[0]) and isinstance(row[1], str)


def _is_job(row: object) -> bool:
    return isinstance(row, str) and JOB_ID.fullmatch(row) is not None


# Answers that contestants wait for. Few rows a message, so that several workers share a rush.
JUDGEMENTS = Lane("jurado.judgements", "judge", 16, _is_judgement)
REJUDGINGS = Lane("jurado.rejudgings", "judge_again", 16, _is_number)
JOBS = Lane("jurado.jobs", "run_job", 1, _is_job)
LANES = (JUDGEMENTS, REJUDGINGS, JOBS)


# A worker that is silent for two of them is given up, and its messages go to others.
HEARTBEAT_SECONDS = 10
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

        from app.judging.service.distributed.worker_metrics import QuorumBroker
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
        import pika
        from pika.exceptions import AMQPError

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
