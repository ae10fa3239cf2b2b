"""Counts of a worker for Prometheus: what it judged, how often it tried, and how long answers waited for it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from app.core.clock import utc_now
from app.judging.service.engine import Engine
from app.submissions.queries.judgements import Outcome, Task

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class WorkerMetrics:
    """The counts of one worker, in a registry of their own."""

    def __init__(self, engine: Engine) -> None:
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
        self.registry.register(_State(engine))
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
    """Graders and their judgements, looked at at each scrape."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def collect(self) -> Iterator[Metric]:
        """Look at them."""
        state = self._engine.graders()
        yield GaugeMetricFamily("jurado_worker_graders", "graders of this worker able to work", value=state.alive)
        yield GaugeMetricFamily("jurado_worker_spare_graders", "its warm graders in reserve", value=state.spare)
        yield CounterMetricFamily("jurado_worker_grader_deaths", "its graders that died", value=state.deaths)
        yield GaugeMetricFamily("jurado_worker_at_work", "judgements claimed, not done", value=self._engine.at_work)
        yield InfoMetricFamily("jurado_worker_build", "version", value={"version": version("jurado")})

    def describe(self) -> Iterator[Metric]:
        """Return nothing: all is looked at at a scrape alone."""
        return iter(())
