"""The composition root of a worker: graders and jobs that are fed by the broker, and no HTTP."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial

import structlog

from app.core.db import by_id
from app.core.db.clock import ClockKeeper, start_clock
from app.core.db.database import Database
from app.core.db.locks import WORKER, Locks, Presence, Work
from app.core.db.serving import Hold
from app.core.db.writer import Writer
from app.core.files.open_files import open_files
from app.core.files.temporary import remove_leftovers
from app.core.settings import Settings
from app.judging.service.distributed.actors import Consumer
from app.judging.service.distributed.broker import JOBS, JUDGEMENTS, REJUDGINGS
from app.judging.service.distributed.worker_metrics import WorkerMetrics
from app.judging.service.engine import Engine
from app.judging.service.jobs import JobRunner
from app.judging.service.staff import engine_settings
from app.sandbox import groups

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.worker")

SECONDS_BETWEEN_LOOKS = 0.05


class Worker:
    """Judges and runs jobs until it is closed; `engine` has its graders, `metrics` what it counts."""

    def __init__(self, settings: Settings) -> None:
        remove_leftovers()
        groups.remove_leftovers()
        self._database = Database(settings.database, settings.timeouts, shared=True)
        time_source = start_clock(self._database)
        self._locks = Locks(self._database.url)
        self._writer = Writer(self._database)
        self._clock = ClockKeeper(self._writer, source=time_source)
        self._presence = Presence(self._writer, WORKER)
        self._files = open_files(settings)
        self.engine = Engine(
            self._database,
            self._writer,
            replace(engine_settings(settings, self._files), process_id=self._presence.id),
            _told_by_the_commit,
        )
        self.engine.files.on_fault = self._tell_of_file
        self._jobs = JobRunner(self._database, self._files, self.engine, _told_by_the_commit, self._locks)
        self._consumers = [
            Consumer(settings.broker_url, JUDGEMENTS, partial(self.engine.call, again=False)),
            Consumer(settings.broker_url, REJUDGINGS, partial(self.engine.call, again=True)),
            Consumer(settings.broker_url, JOBS, self._jobs.wake),
        ]
        self._presence.work = self._work
        self.metrics = WorkerMetrics(self.engine)

    def watch(self, hold: Hold, stop: threading.Event) -> None:
        """Write nothing while the lock of the database is lost; set `stop` where another process has taken it alone."""

        def end(why: str) -> None:
            log.critical("another process has the database for itself; this worker stops", error=why)
            stop.set()

        hold.watch(self._database.bar, self._database.unbar, end)

    def start(self, stop: threading.Event) -> None:
        """Start the graders, and take messages as soon as one of them is warm, unless `stop` is set before.

        Messages that were taken earlier would wait for it, while workers whose graders are warm have nothing to do.
        """
        self._presence.start(self._locks)
        self.engine.start()
        while not self.engine.is_warm:
            if stop.wait(SECONDS_BETWEEN_LOOKS):
                return
        for consumer in self._consumers:
            consumer.start()
        self._jobs.start()

    def close(self) -> None:
        """Finish the judgements at hand and leave the rest, and running jobs, to other workers."""
        for consumer in self._consumers:
            consumer.stop()
        self._jobs.close()
        self.engine.close()
        self._presence.close()
        self._clock.close()
        self._writer.close()
        self._files.close()
        self._locks.close()
        self._database.close()

    def _tell_of_file(self, sha256: str, error: str) -> None:
        self._writer.submit(by_id.send, by_id.unreadable(sha256, error))

    def _work(self) -> Work:
        state = self.engine.graders()
        return Work(state.alive, state.deaths, self.engine.at_work)


def _told_by_the_commit(*_: object) -> None:
    """Boards are at the servers, who hear of what changes by the notices of the commits."""
