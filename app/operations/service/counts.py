"""Counts of the database, the graders and the stored files for Prometheus, read at each scrape.

- What a server does with the notices of other processes: the same calls as with what it has written itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from shutil import disk_usage
from typing import TYPE_CHECKING, NamedTuple

from prometheus_client import PlatformCollector, ProcessCollector
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector
from sqlalchemy.orm import Session

from app.accounts.service.grants import Failures
from app.accounts.service.tokens import SESSION
from app.archive.queries.scrub import Scrub
from app.core.clock import the_clock, utc_now
from app.core.db import by_id, clock
from app.core.db.by_id import Kind
from app.core.db.clock import ReplicaState
from app.core.db.database import Database
from app.core.db.writer import Writer
from app.core.loops import states
from app.core.metrics import Metrics
from app.core.service import Service
from app.feed.service.streams import Hub
from app.operations import queries as operations_queries
from app.operations.service.readiness import damaged_files
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.submissions.service.gate import Gate

if TYPE_CHECKING:
    from app.core.db.listener import Listener


VERDICT_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
NONE_YET = operations_queries.Latencies((0,) * len(VERDICT_SECONDS))
JOB_STATES = ("queued", "running", "done", "failed", "cancelled")


def register(metrics: Metrics, service: Service, streams: Callable[[], int]) -> None:
    """Let the metrics of a process tell what its service counts; `streams` counts those that are open."""
    metrics.registry.register(ServiceCounts(service, streams))
    metrics.registry.register(PlatformCollector(registry=None))
    metrics.registry.register(ProcessCollector(registry=None))
    service.boards.on_read = metrics.read_board
    service.writer.on_commit = metrics.committed


class ServiceCounts(Collector):
    """Counts of the database, the graders, the stored files and this process, read at each scrape."""

    def __init__(self, service: Service, streams: Callable[[], int]) -> None:
        self._service = service
        self._streams = streams
        self._settled = Settled(0, 0, NONE_YET)

    def collect(self) -> Iterator[Metric]:
        """Read the counts."""
        yield from _stored(self._service.database)
        yield from _graders(self._service)
        yield from self._judged()
        yield from _of_process(self._service, self._streams())

    def describe(self) -> Iterator[Metric]:
        """Return nothing: rows are read at a scrape alone."""
        return iter(())

    def _judged(self) -> Iterator[Metric]:
        with self._service.database.read() as session:
            verdicts = operations_queries.verdict_counts(session)
            checking, latencies = self._done(session)
        family = CounterMetricFamily("jurado_verdicts", "judgements done, by their type", labels=["type"])
        for type_, count in sorted(verdicts.items()):
            family.add_metric([type_], count)
        yield family
        yield CounterMetricFamily("jurado_checking_seconds", "time checkers took", value=checking / 1000)
        bounds = [(str(bound), float(count)) for bound, count in zip(VERDICT_SECONDS, latencies.within, strict=True)]
        yield HistogramMetricFamily(
            "jurado_verdict_seconds",
            "time from submission to verdict",
            buckets=[*bounds, ("+Inf", float(latencies.count))],
            sum_value=latencies.seconds,
        )
        yield CounterMetricFamily("jurado_attempts", "attempts at judgements that are done", value=latencies.attempts)
        failures = latencies.failures
        yield CounterMetricFamily("jurado_failed_attempts", "those of them in which a checker failed", value=failures)
        yield CounterMetricFamily("jurado_lost_attempts", "those of them whose process was lost", value=latencies.lost)

    def _done(self, session: Session) -> tuple[int, operations_queries.Latencies]:
        """Milliseconds of checkers, and latencies, of all judgements that are done.

        Only judgements since the last scrape are added up: in a long contest there are millions of rows. Scrapes at
        the same time add up the same rows, each to the sum that it has read.
        """
        before, upto = self._settled, operations_queries.settled(session)
        if upto > before.upto:
            before = self._settled = Settled(
                upto,
                before.ms + operations_queries.checking_ms(session, before.upto, upto),
                before.latencies + operations_queries.latencies(session, VERDICT_SECONDS, before.upto, upto),
            )
        late = operations_queries.latencies(session, VERDICT_SECONDS, before.upto)
        return before.ms + operations_queries.checking_ms(session, before.upto), before.latencies + late


class Settled(NamedTuple):
    """Milliseconds of checkers and latencies of the judgements up to an id, below which none will change."""

    upto: int
    ms: int
    latencies: operations_queries.Latencies


def _stored(database: Database) -> Iterator[Metric]:
    """Counts of the database: right across restarts and several servers."""
    with database.read() as session:
        queue = operations_queries.queue(session)
        submissions = operations_queries.submission_count(session)
        again = operations_queries.rejudging_queue(session)
        jobs = operations_queries.job_counts(session)
        sessions = operations_queries.session_count(session, SESSION, utc_now())
        replicas = clock.replicas(session)
    yield CounterMetricFamily("jurado_submissions", "submissions accepted", value=submissions)
    yield GaugeMetricFamily("jurado_waiting", "judgements not done", value=queue.length)
    oldest = 0.0 if queue.oldest is None else (utc_now() - queue.oldest).total_seconds()
    yield GaugeMetricFamily("jurado_oldest_waiting_seconds", "age of the oldest of them", value=oldest)
    yield GaugeMetricFamily("jurado_waiting_again", "judgements of rejudgings not done", value=again)
    family = GaugeMetricFamily("jurado_jobs", "jobs by their state", labels=["state"])
    for state in sorted({*JOB_STATES, *jobs}):
        family.add_metric([state], jobs.get(state, 0))
    yield family
    yield GaugeMetricFamily("jurado_sessions", "logins of browsers that are good", value=sessions)
    yield from _lags(replicas)


def _lags(replicas: Sequence[ReplicaState]) -> Iterator[Metric]:
    """How far each replica is behind; of several of one name the last one, and 0 s while nothing is written."""
    seconds = GaugeMetricFamily(
        "jurado_replica_lag_seconds", "time a replica of the database is behind", labels=["name"]
    )
    size = GaugeMetricFamily("jurado_replica_lag_bytes", "bytes of the log a replica is behind", labels=["name"])
    for name in sorted({each.name for each in replicas if each.state is not None}):
        named = [each for each in replicas if each.name == name]
        seconds.add_metric([name], max(each.seconds_behind or 0.0 for each in named))
        size.add_metric([name], max(each.bytes_behind or 0 for each in named))
    yield from (seconds, size)


def _graders(service: Service) -> Iterator[Metric]:
    """Counts of graders, clock and stored files."""
    state = service.engine.graders()
    yield GaugeMetricFamily("jurado_graders", "graders able to work", value=state.alive)
    yield GaugeMetricFamily("jurado_spare_graders", "warm graders in reserve", value=state.spare)
    yield CounterMetricFamily("jurado_grader_deaths", "graders that died", value=state.deaths)
    lacks = sum(map(bool, state.protections.values()))
    last, damaged = service.scrub.last, len(damaged_files(service))
    yield GaugeMetricFamily("jurado_damaged_files", "stored files known to be missing or damaged", value=damaged)
    yield GaugeMetricFamily("jurado_scrubbed_files", "files that the last pass over all has read", value=last.files)
    ended = 0.0 if last.ended is None else last.ended.timestamp()
    yield GaugeMetricFamily("jurado_scrub_ended_seconds", "when that pass ended, Unix time; 0: none", value=ended)
    ahead = the_clock().ahead().total_seconds()
    yield GaugeMetricFamily("jurado_clock_ahead_seconds", "time ahead of the system's clock", value=ahead)
    yield GaugeMetricFamily("jurado_grader_protections_missing", "protections the system lacks", value=lacks)


def _of_process(service: Service, streams: int) -> Iterator[Metric]:
    """Gauges of this process and its machine: streams, boards, connections to the database, room on its disks."""
    yield GaugeMetricFamily("jurado_streams", "feeds and other streams that are open", value=streams)
    age = service.boards.age()
    yield GaugeMetricFamily("jurado_board_age_seconds", "age of the oldest change no board shows", value=age)
    family = GaugeMetricFamily("jurado_database_connections", "connections at work, by pool", labels=["pool"])
    for pool, count in service.database.connections_in_use().items():
        family.add_metric([pool], count)
    yield family
    free = GaugeMetricFamily("jurado_disk_free_bytes", "room on the disks of this machine", labels=["folder"])
    for name, folder in (("home", service.settings.home), ("files", Path(service.files.place))):
        if folder.exists():  # S3 tells no room
            free.add_metric([name], disk_usage(folder).free)
    yield free
    failures = CounterMetricFamily("jurado_loop_failures", "failed steps of background work", labels=["loop"])
    last = GaugeMetricFamily("jurado_loop_success_seconds", "Unix time of its last success", labels=["loop"])
    for loop in states():
        failures.add_metric([loop.name], loop.failures)
        if loop.succeeded is not None:
            last.add_metric([loop.name], loop.succeeded.timestamp())
    yield failures
    yield last
    yield InfoMetricFamily("jurado_build", "version", value={"version": version("jurado")})


def listening(database: Database) -> Listener | None:
    """The listener of a process, not started yet; None where it has the database for itself."""
    if database.origin is None:
        return None
    from app.core.db.listener import Listener

    return Listener(database.url, database.origin)


def hear_of_workers(listener: Listener, scrub: Scrub) -> None:
    """Let servers know of the stored files that workers wait for."""
    listener.hear(Kind.UNREADABLE, scrub.note_elsewhere)


def hear_of_rows(listener: Listener, database: Database, boards: ScoreboardCache) -> None:
    """Let changes of rows reach the caches that are made of them."""

    def board(contest_id: str, *submission_ids: int) -> None:
        for submission_id in submission_ids:
            boards.changed(contest_id, submission_id)
        if not submission_ids:
            boards.changed(contest_id)

    listener.hear(Kind.CHANGED, database.changed)
    listener.hear(Kind.BOARD, board)
    listener.lost(database.changed)


def share_counts(listener: Listener, writer: Writer, counts: Mapping[str, Failures]) -> None:
    """Count what is bounded within a minute over all servers; `counts` are by the kind of their keys."""

    def tell(key: tuple[str, str], most: int) -> None:
        writer.submit(by_id.send, (Kind.COUNTED.value, *key, most))

    def hear(kind: str, name: str, most: int) -> None:
        if kind in counts:
            counts[kind].add_elsewhere((kind, name), most)

    for each in counts.values():
        each.tell = tell
    listener.hear(Kind.COUNTED, hear)


def share_gate(listener: Listener, writer: Writer, gate: Gate) -> None:
    """Let the gate of each server close with that of all others."""

    def tell(arriving: Sequence[by_id.Notice]) -> None:
        for sent in [writer.submit(by_id.send, notice) for notice in arriving]:
            sent.result()

    gate.tell = tell
    listener.hear(Kind.CLOSED, gate.close_elsewhere)
    listener.hear(Kind.OPENED, gate.open_elsewhere)


def hear_of_followers(listener: Listener, hub: Hub) -> None:
    """Let what others write and ask for reach feeds and streams."""
    publisher = hub.publisher
    listener.hear(Kind.EVENTS, publisher.written)
    listener.lost(publisher.lost)
