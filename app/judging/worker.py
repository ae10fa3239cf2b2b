"""The composition root of a worker: graders and jobs, which the broker only wakes, and no HTTP.

- Its counts for Prometheus: what it judged, how often it tried, and how long answers waited for it.
"""

import threading
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from app.core.clock import utc_now
from app.core.db import by_id, clock, serving
from app.core.db.database import Database
from app.core.db.locks import WORKER, Locks, Presence
from app.core.db.writer import Writer
from app.core.files.open_files import open_files
from app.core.files.temporary import remove_leftovers
from app.core.settings import Settings
from app.judging.queries.judging_tasks import Task
from app.judging.service.broker import Consumer
from app.judging.service.engine import Engine
from app.judging.service.graders import engine_settings
from app.judging.service.jobs import JobRunner
from app.submissions.queries.judgements import Outcome

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.worker")

SECONDS_BETWEEN_LOOKS = 0.05
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class Worker:
    """Judges and runs jobs until it is closed; `engine` has its graders, `metrics` what it counts."""

    def __init__(self, settings: Settings) -> None:
        remove_leftovers()
        self._database = Database(settings.database, settings.timeouts, shared=True)
        time_source = clock.start_clock(self._database)
        self._locks = Locks(self._database.url)
        self._writer = Writer(self._database)
        self._clock = clock.ClockKeeper(self._writer, source=time_source)
        self._presence = Presence(self._writer, WORKER, self._locks)
        self._files = open_files(settings)
        self._files.on_fault = self._report_file
        self.engine = Engine(
            self._database,
            self._writer,
            replace(engine_settings(settings, self._files), process_id=self._presence.id),
            _told_by_the_commit,
        )
        self._jobs = JobRunner(self._database, self._files, self.engine, _told_by_the_commit, self._locks)
        self._consumer = Consumer(settings.broker_url, self.engine.wake)
        self._presence.work = self.engine.work
        self.metrics = WorkerMetrics(self.engine)

    def watch(self, hold: serving.Hold, stop: threading.Event) -> None:
        """Write nothing while the lock of the database is lost; set `stop` where another process has taken it alone."""

        def end(why: str) -> None:
            log.critical("another process has the database for itself; this worker stops", error=why)
            stop.set()

        hold.watch(self._database.bar, self._database.unbar, end)

    def start(self, stop: threading.Event) -> None:
        """Start the graders, and take messages as soon as one of them is warm, unless `stop` is set before.

        Messages that were taken earlier would wait for it, while workers whose graders are warm have nothing to do.
        """
        self._presence.start()
        self.engine.start()
        while not self.engine.pids:
            if stop.wait(SECONDS_BETWEEN_LOOKS):
                return
        self._consumer.loop.start()
        self._jobs.start()

    def close(self) -> None:
        """Finish the judgements at hand and leave the rest, and running jobs, to other workers."""
        self._consumer.loop.close()
        self._jobs.close()
        self.engine.close()
        self._presence.close()
        self._clock.close()
        self._writer.close()
        self._locks.close()
        self._database.close()

    def _report_file(self, sha256: str, error: str) -> None:
        self._writer.submit(by_id.send, by_id.unreadable(sha256, error))


def _told_by_the_commit(*_: object) -> None:
    """Boards are at the servers, who hear of what changes by the notices of the commits."""


class WorkerMetrics(Collector):
    """The counts of one worker, in a registry of their own; graders and their judgements are read at each scrape."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
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
        self.registry.register(self)
        self.registry.register(PlatformCollector(registry=None))
        self.registry.register(ProcessCollector(registry=None))
        engine.watch(self._begun, self._attempted, self._recorded)

    def collect(self) -> Iterator[Metric]:
        """Read them."""
        state = self._engine.graders()
        yield GaugeMetricFamily("jurado_worker_graders", "graders of this worker able to work", value=state.alive)
        yield CounterMetricFamily("jurado_worker_grader_deaths", "its graders that died", value=state.deaths)
        yield GaugeMetricFamily("jurado_worker_at_work", "judgements claimed, not done", value=self._engine.at_work)
        yield InfoMetricFamily("jurado_worker_build", "version", value={"version": version("jurado")})

    def describe(self) -> Iterator[Metric]:
        """Return nothing: they are read at a scrape alone."""
        return iter(())

    def _histogram(self, name: str, text: str) -> Histogram:
        return Histogram(name, text, buckets=SECONDS, registry=self.registry)

    def _begun(self, task: Task) -> None:
        """Count an answer that someone waits for: those of rejudgings are of any age."""
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
