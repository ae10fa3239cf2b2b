"""Counts of the database, the graders and the stored files for Prometheus, read at each scrape."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy.orm import Session

from app.domain.clock import the_clock, utc_now
from app.metrics import Metrics
from app.service import Service
from app.services.health.stored_files import damaged_files
from app.storage import health as stored
from app.storage.database import Database


def register(metrics: Metrics, service: Service) -> None:
    """Let the metrics of a process tell what its service counts."""
    metrics.registry.register(StoredCounts(service.database))
    metrics.registry.register(GraderCounts(service))
    metrics.registry.register(JudgedCounts(service.database))


class StoredCounts(Collector):
    """Counts of the database, read at each scrape: right across restarts and several servers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[Metric]:
        """Read the counts."""
        with self._database.read() as session:
            queue = stored.queue(session)
            submissions = stored.submission_count(session)
        yield CounterMetricFamily("jurado_submissions", "submissions accepted", value=submissions)
        yield GaugeMetricFamily("jurado_waiting", "judgements not done", value=queue.length)
        oldest = 0.0 if queue.oldest is None else (utc_now() - queue.oldest).total_seconds()
        yield GaugeMetricFamily("jurado_oldest_waiting_seconds", "age of the oldest of them", value=oldest)

    def describe(self) -> Iterator[Metric]:
        """Return nothing: rows are read at a scrape alone."""
        return iter(())


class GraderCounts(Collector):
    """Counts of graders, clock and stored files, read at each scrape."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """Ask the engine."""
        state = self._service.engine.graders()
        yield GaugeMetricFamily("jurado_graders", "graders able to work", value=state.alive)
        yield GaugeMetricFamily("jurado_spare_graders", "warm graders in reserve", value=state.spare)
        yield CounterMetricFamily("jurado_grader_deaths", "graders that died", value=state.deaths)
        lacks = sum(map(bool, state.protections.values()))
        last, damaged = self._service.scrub.last, len(damaged_files(self._service))
        yield GaugeMetricFamily("jurado_damaged_files", "stored files known to be missing or damaged", value=damaged)
        yield GaugeMetricFamily("jurado_scrubbed_files", "files that the last pass over all has read", value=last.files)
        ended = 0.0 if last.ended is None else last.ended.timestamp()
        yield GaugeMetricFamily("jurado_scrub_ended_seconds", "when that pass ended, Unix time; 0: none", value=ended)
        ahead = the_clock().ahead().total_seconds()
        yield GaugeMetricFamily("jurado_clock_ahead_seconds", "time ahead of the system's clock", value=ahead)
        yield GaugeMetricFamily("jurado_grader_protections_missing", "protections the system lacks", value=lacks)

    def describe(self) -> Iterator[Metric]:
        """Return nothing: rows are read at a scrape alone."""
        return iter(())


class JudgedCounts(Collector):
    """Counts of verdicts in the database, read at each scrape."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._settled = 0
        self._settled_ms = 0

    def collect(self) -> Iterator[Metric]:
        """Read the counts."""
        with self._database.read() as session:
            verdicts = stored.verdict_counts(session)
            checking = self._checking_ms(session)
        family = CounterMetricFamily("jurado_verdicts", "judgements done, by their type", labels=["type"])
        for type_, count in sorted(verdicts.items()):
            family.add_metric([type_], count)
        yield family
        yield CounterMetricFamily("jurado_checking_seconds", "time checkers took", value=checking / 1000)

    def _checking_ms(self, session: Session) -> int:
        # Only what came since the last scrape is added up: in a long contest there are millions of rows.
        with self._lock:
            settled = stored.settled(session)
            if settled > self._settled:
                self._settled_ms += stored.checking_ms(session, self._settled, settled)
                self._settled = settled
            return self._settled_ms + stored.checking_ms(session, self._settled)

    def describe(self) -> Iterator[Metric]:
        """Return nothing: rows are read at a scrape alone."""
        return iter(())
