"""The engine and the jobs of a server whose rows workers work on: it tells of them.

What a request waits for (a test case that is validated, answers of an import that are tried) is asked of a grader
beside the server: a question, and no row.
"""

from __future__ import annotations

from dataclasses import replace

import structlog

from app.core.db.database import Database
from app.core.db.writer import Writer
from app.core.files.files import Files
from app.core.settings import Settings
from app.judging.service.distributed.broker import JOBS, JUDGEMENTS, REJUDGINGS, Sender, open_broker
from app.judging.service.engine import Engine
from app.judging.service.jobs import JobRunner
from app.judging.service.staff import EngineSettings, engine_settings
from app.problems.queries import pins
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.jobs")


class DistributedEngine(Engine):
    """The engine of a server whose rows workers judge; its own graders answer questions, and take no rows."""

    takes_rows = False

    def __init__(self, database: Database, writer: Writer, settings: EngineSettings, broker_url: str) -> None:
        super().__init__(database, writer, settings, lambda _contest_id, _submission_id: None)
        self.sender = Sender(open_broker(broker_url))

    def wake(self) -> None:
        """A judgement of a submission has been queued (and is durable), or was put before all others."""
        self.sender.call(JUDGEMENTS)

    def take_up(self) -> None:
        """Judgements of a rejudging have been queued (and are durable), or some are gone."""
        self.sender.call(REJUDGINGS)

    def close(self) -> None:
        """Stop answering questions, and send what is to be sent."""
        super().close()
        self.sender.close()


class DistributedJobs:
    """The jobs of a server whose workers run them."""

    def __init__(self, database: Database, sender: Sender) -> None:
        self._database = database
        self._sender = sender

    def wake(self, _job_id: str) -> None:
        """A job has been queued (and is durable)."""
        self._sender.call(JOBS)

    def cancel(self, job_id: str) -> bool:
        """End a job; the worker that runs it looks at its row, and kills what it runs."""
        with self._database.write() as session:
            return pins.cancel(session, job_id)

    def close(self) -> None:
        """Stop nothing: workers run the jobs."""


def start_engine(
    settings: Settings,
    database: Database,
    files: Files,
    writer: Writer,
    boards: ScoreboardCache,
    process_id: str,
) -> tuple[Engine, JobRunner | DistributedJobs]:
    """Start what grades the submissions of a server and runs its jobs, as its settings say."""
    asked = engine_settings(settings, files)
    if settings.distributed:
        distributed = DistributedEngine(database, writer, asked, settings.broker_url)
        distributed.start()
        return distributed, DistributedJobs(database, distributed.sender)
    engine = Engine(database, writer, replace(asked, process_id=process_id), boards.changed)
    engine.start()
    jobs = JobRunner(database, files, engine, lambda _problem_id: boards.all_changed())
    jobs.start()
    return engine, jobs
