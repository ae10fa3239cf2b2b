"""Counts of the database, the graders and the stored files for Prometheus, read at each scrape.

- What a server does with the notices of other processes: the same calls as with what it has written itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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

from app.accounts.service import grants, tokens
from app.core.clock import the_clock, utc_now
from app.core.db import by_id
from app.core.db.database import Database
from app.core.loops import states
from app.core.service import Service
from app.core.telemetry import Metrics
from app.feed.service.hub import Hub
from app.operations import queries

if TYPE_CHECKING:
    from app.core.db.listener import Listener


VERDICT_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
NONE_YET = queries.Latencies((0,) * len(VERDICT_SECONDS))
JOB_STATES = ("queued", "running", "done", "failed", "cancelled")


def register(metrics: Metrics, service: Service, streams: Callable[[], int]) -> None:
    """Let the metrics of a process tell what its service counts; `streams` counts those that are open."""
    metrics.registry.register(ServiceCounts(service, streams))
    metrics.registry.register(PlatformCollector(registry=None))
    metrics.registry.register(ProcessCollector(registry=None))
    service.boards.on_read = metrics.boards.observe
    service.writer.on_commit = metrics.committed


class Labelled(NamedTuple):
    """Values of a figure by the values of its one label."""

    label: str
    values: Mapping[str, float]


COUNTER, GAUGE = CounterMetricFamily, GaugeMetricFamily
# A figure: its kind, name and help, and what it is now.
Figure = tuple[type[CounterMetricFamily] | type[GaugeMetricFamily], str, str, float | Labelled]


class Settled(NamedTuple):
    """Milliseconds of checkers and latencies of the judgements up to an id, below which none will change."""

    upto: int
    ms: int
    latencies: queries.Latencies


class ServiceCounts(Collector):
    """Counts of the database, the graders, the stored files and this process, read at each scrape."""

    def __init__(self, service: Service, streams: Callable[[], int]) -> None:
        self._service = service
        self._streams = streams
        self._settled = Settled(0, 0, NONE_YET)

    def collect(self) -> Iterator[Metric]:
        """Read the counts."""
        with self._service.database.read() as session:
            ms, latencies = self._done(session)
            stored = [*_stored(session), *_judged(session, ms, latencies)]
        for kind, name, text, value in (*stored, *_graders(self._service), *_of_process(self._service)):
            if isinstance(value, Labelled):
                family = kind(name, text, labels=[value.label])
                for label, each in value.values.items():
                    family.add_metric([label], each)
                yield family
            else:
                yield kind(name, text, value=value)
        yield GaugeMetricFamily("jurado_streams", "feeds and other streams that are open", value=self._streams())
        bounds = [(str(bound), float(count)) for bound, count in zip(VERDICT_SECONDS, latencies.within, strict=True)]
        yield HistogramMetricFamily(
            "jurado_verdict_seconds",
            "time from submission to verdict",
            buckets=[*bounds, ("+Inf", float(latencies.count))],
            sum_value=latencies.seconds,
        )
        yield InfoMetricFamily("jurado_build", "version", value={"version": version("jurado")})

    def describe(self) -> Iterator[Metric]:
        """Return nothing: rows are read at a scrape alone."""
        return iter(())

    def _done(self, session: Session) -> tuple[int, queries.Latencies]:
        """Milliseconds of checkers, and latencies, of all judgements that are done.

        Only judgements since the last scrape are added up: in a long contest there are millions of rows. Scrapes at
        the same time add up the same rows, each to the sum that it has read.
        """
        before, upto = self._settled, queries.settled(session)
        if upto > before.upto:
            before = self._settled = Settled(
                upto,
                before.ms + queries.checking_ms(session, before.upto, upto),
                before.latencies + queries.latencies(session, VERDICT_SECONDS, before.upto, upto),
            )
        late = queries.latencies(session, VERDICT_SECONDS, before.upto)
        return before.ms + queries.checking_ms(session, before.upto), before.latencies + late


def _stored(session: Session) -> Iterator[Figure]:
    """Counts of the database: right across restarts and several servers."""
    queue = queries.queue(session)
    yield COUNTER, "jurado_submissions", "submissions accepted", queries.submission_count(session)
    yield GAUGE, "jurado_waiting", "judgements not done", queue.length
    oldest = 0.0 if queue.oldest is None else (utc_now() - queue.oldest).total_seconds()
    yield GAUGE, "jurado_oldest_waiting_seconds", "age of the oldest of them", oldest
    yield GAUGE, "jurado_waiting_again", "judgements of rejudgings not done", queries.rejudging_queue(session)
    jobs = dict.fromkeys(JOB_STATES, 0) | queries.job_counts(session)
    yield GAUGE, "jurado_jobs", "jobs by their state", Labelled("state", jobs)
    sessions = queries.session_count(session, tokens.SESSION, utc_now())
    yield GAUGE, "jurado_sessions", "logins of browsers that are good", sessions


def _judged(session: Session, ms: int, latencies: queries.Latencies) -> Iterator[Figure]:
    """Verdicts, and what they took."""
    yield (
        COUNTER,
        "jurado_verdicts",
        "judgements done, by their type",
        Labelled("type", queries.verdict_counts(session)),
    )
    yield COUNTER, "jurado_checking_seconds", "time checkers took", ms / 1000
    yield COUNTER, "jurado_attempts", "attempts at judgements that are done", latencies.attempts
    yield COUNTER, "jurado_failed_attempts", "those of them in which a checker failed", latencies.failures
    yield COUNTER, "jurado_lost_attempts", "those of them whose process was lost", latencies.lost


def _graders(service: Service) -> Iterator[Figure]:
    """Counts of graders, clock and stored files."""
    state, last = service.engine.graders(), service.scrub.last
    yield GAUGE, "jurado_graders", "graders able to work", state.alive
    yield COUNTER, "jurado_grader_deaths", "graders that died", state.deaths
    yield (
        GAUGE,
        "jurado_grader_protections_missing",
        "protections the system lacks",
        sum(map(bool, state.protections.values())),
    )
    yield GAUGE, "jurado_damaged_files", "stored files known to be missing or damaged", len(service.scrub.faults())
    yield GAUGE, "jurado_scrubbed_files", "files that the last pass over all has read", last.files
    ended = 0.0 if last.ended is None else last.ended.timestamp()
    yield GAUGE, "jurado_scrub_ended_seconds", "when that pass ended, Unix time; 0: none", ended
    yield GAUGE, "jurado_clock_ahead_seconds", "time ahead of the system's clock", the_clock().ahead().total_seconds()


def _of_process(service: Service) -> Iterator[Figure]:
    """Gauges of this process and its machine: boards, connections to the database, room on its disks, loops."""
    yield GAUGE, "jurado_board_age_seconds", "age of the oldest change no board shows", service.boards.age()
    pools = Labelled("pool", service.database.connections_in_use())
    yield GAUGE, "jurado_database_connections", "connections at work, by pool", pools
    folders = {"home": service.settings.home, "files": Path(service.files.place)}
    room = {name: disk_usage(folder).free for name, folder in folders.items() if folder.exists()}  # S3 tells no room
    yield GAUGE, "jurado_disk_free_bytes", "room on the disks of this machine", Labelled("folder", room)
    failures = {loop.name: loop.failures for loop in states()}
    yield COUNTER, "jurado_loop_failures", "failed steps of background work", Labelled("loop", failures)
    last = {loop.name: loop.succeeded.timestamp() for loop in states() if loop.succeeded is not None}
    yield GAUGE, "jurado_loop_success_seconds", "Unix time of its last success", Labelled("loop", last)


def listening(database: Database) -> Listener | None:
    """The listener of a process, not started yet; None where it has the database for itself."""
    if database.origin is None:
        return None
    from app.core.db.listener import Listener

    return Listener(database.url, database.origin)


def hear(listener: Listener, service: Service, hub: Hub, counts: Mapping[str, grants.Failures]) -> None:
    """Take the notices of other processes as what this one has written itself, and tell them what it counts.

    `counts` are bounded within a minute over all servers; they are by the kind of their keys.
    """

    def board(contest_id: str, *submission_ids: int) -> None:
        for submission_id in submission_ids:
            service.boards.changed(contest_id, submission_id)
        if not submission_ids:
            service.boards.changed(contest_id)

    def tell(key: tuple[str, str], most: int) -> None:
        service.writer.submit(by_id.send, (by_id.Kind.COUNTED.value, *key, most))

    def counted(kind: str, name: str, most: int) -> None:
        if kind in counts:
            counts[kind].add_elsewhere((kind, name), most)

    for each in counts.values():
        each.tell = tell
    listener.hear(by_id.Kind.CHANGED, service.database.changed)
    listener.hear(by_id.Kind.BOARD, board)
    listener.hear(by_id.Kind.EVENTS, hub.publisher.written)
    listener.hear(by_id.Kind.UNREADABLE, service.scrub.note_elsewhere)
    listener.hear(by_id.Kind.COUNTED, counted)
    listener.lost(service.database.changed)
    listener.lost(lambda: hub.publisher.all_changed(again=True))
