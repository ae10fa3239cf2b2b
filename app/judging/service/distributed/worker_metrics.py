"""Counts of a worker for Prometheus: what it judged, how often it tried, and how long answers waited for it.

- A watch over a worker's database: while it does not answer, messages are better left to workers that it answers.
- What a worker takes of the broker: messages as servers send them, whoever else may write to its queues.

Guarantee 7: the watch has two loops, as a question to a database that was cut off waits for its timeout.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version

import structlog
from dramatiq.broker import Consumer, MessageProxy
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from dramatiq.common import current_millis, q_name
from prometheus_client import CollectorRegistry, Counter, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.core.clock import utc_now
from app.core.db.database import Database
from app.core.loops import Loop
from app.judging.service.distributed.broker import CONTEXTS, FOR_EVER, LANES, LONGEST_RETRY_MS, Lane
from app.judging.service.engine import Engine
from app.submissions.queries.judgements import Outcome, Task

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class WorkerMetrics:
    """The counts of one worker, in a registry of their own; `at_hand` tells its messages by queue."""

    def __init__(self, engine: Engine, at_hand: Callable[[], Mapping[str, int]]) -> None:
        self.registry = CollectorRegistry()
        self._judged = Counter(
            "jurado_worker_judgements", "judgements that are durable, by type", ("type",), registry=self.registry
        )
        self._attempts = Counter(
            "jurado_worker_attempts",
            "attempts at judgements: judged, failed (by the checker), killed (from outside), waits (file or sandbox)",
            ("ending",),
            registry=self.registry,
        )
        self._given_up = Counter(
            "jurado_worker_given_up", "judgements given up after attempts lost with processes", registry=self.registry
        )
        self._attempt_seconds = self._histogram("jurado_worker_attempt_seconds", "time of an attempt")
        self._queue_seconds = self._histogram("jurado_worker_queue_seconds", "time from submission to a grader here")
        self._verdict_seconds = self._histogram(
            "jurado_worker_verdict_seconds", "time from submission to a durable verdict of this worker"
        )
        for type_ in ("AC", "PC", "WA", "JE"):
            self._judged.labels(type_)
        for ending in ("judged", "failed", "killed", "waits"):
            self._attempts.labels(ending)
        self.registry.register(_State(engine, at_hand))
        self.registry.register(PlatformCollector(registry=None))
        self.registry.register(ProcessCollector(registry=None))
        engine.watch(self._begun, self._attempted, self._recorded)

    def _histogram(self, name: str, text: str) -> Histogram:
        return Histogram(name, text, buckets=SECONDS, registry=self.registry)

    def _begun(self, task: Task) -> None:
        """Count an answer that somebody waits for: those of rejudgings are of any age."""
        if task.rejudging_id is None and task.submitted is not None:
            self._queue_seconds.observe((utc_now() - task.submitted).total_seconds())

    def _attempted(self, ending: str, seconds: float) -> None:
        self._attempts.labels(ending).inc()
        self._attempt_seconds.observe(seconds)

    def _recorded(self, task: Task, outcome: Outcome) -> None:
        self._judged.labels(outcome.type).inc()
        if task.lost and outcome.type == "JE":
            self._given_up.inc()
        if task.rejudging_id is None and task.submitted is not None:
            self._verdict_seconds.observe((outcome.time - task.submitted).total_seconds())


class _State(Collector):
    """Graders and messages at hand, looked at at each scrape."""

    def __init__(self, engine: Engine, at_hand: Callable[[], Mapping[str, int]]) -> None:
        self._engine = engine
        self._at_hand = at_hand

    def collect(self) -> Iterator[Metric]:
        """Look at them."""
        state = self._engine.graders()
        yield GaugeMetricFamily("jurado_worker_graders", "graders of this worker able to work", value=state.alive)
        yield GaugeMetricFamily("jurado_worker_spare_graders", "its warm graders in reserve", value=state.spare)
        yield CounterMetricFamily("jurado_worker_grader_deaths", "its graders that died", value=state.deaths)
        family = GaugeMetricFamily("jurado_worker_messages", "messages taken, not acknowledged", labels=["queue"])
        for queue, count in self._at_hand().items():
            family.add_metric([queue], count)
        yield family
        yield InfoMetricFamily("jurado_worker_build", "version", value={"version": version("jurado")})

    def describe(self) -> Iterator[Metric]:
        """Return nothing: all is looked at at a scrape alone."""
        return iter(())


log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.worker")

SECONDS_BETWEEN_LOOKS = 0.5
# More than a restart of PostgreSQL takes, as all workers would stop for one that is short.
SECONDS_WITHOUT_ANSWER = 5.0


class DatabaseWatch:
    """Calls `on_lost` when the database has not answered for `seconds`, and `on_back` when it answers again.

    Both are called in the watch's thread, in turns.
    """

    def __init__(
        self,
        database: Database,
        on_lost: Callable[[], None],
        on_back: Callable[[], None],
        seconds: float = SECONDS_WITHOUT_ANSWER,
    ) -> None:
        self._database = database
        self._seconds = seconds
        self._on_lost = on_lost
        self._on_back = on_back
        self._answered = time.monotonic()
        self._is_lost = False
        self._asking = Loop("database questions", self._ask, SECONDS_BETWEEN_LOOKS)
        self._looking = Loop("database watch", self._look, SECONDS_BETWEEN_LOOKS, delay=SECONDS_BETWEEN_LOOKS)

    def start(self) -> None:
        """Begin to ask; the database counts as answering now."""
        self._answered = time.monotonic()
        self._asking.start()
        self._looking.start()

    def close(self) -> None:
        """Stop asking; a question on its way ends by itself."""
        self._looking.close()
        self._asking.close(0)

    def _ask(self) -> None:
        """Ask again and again; a network that is cut lets a question wait for its timeout."""
        try:
            with self._database.read() as session:
                session.execute(text("SELECT 1"))
        except SQLAlchemyError as error:
            log.debug("the database does not answer", error=str(error))
        else:
            self._answered = time.monotonic()

    def _look(self) -> None:
        is_lost = time.monotonic() - self._answered > self._seconds
        if is_lost and not self._is_lost:
            log.warning("the database does not answer: other workers get the messages that this one has")
            self._on_lost()
        elif self._is_lost and not is_lost:
            log.info("the database answers again: this worker takes messages")
            self._on_back()
        self._is_lost = is_lost  # last: a step that failed is repeated


received_log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.broker")

# Rows of one message, of a version that puts more into each than this one.
MOST_ROWS = 1000


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
            received_log.warning("a message that no server sends is rejected", queue=self._queue, why=fault)
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
