"""The engine and the jobs of a server whose rows workers work on: it tells of them.

What a request waits for (a test case that is validated, answers of an import that are tried) is asked of a grader
beside the server: a question, and no row.
"""

from __future__ import annotations

from dataclasses import replace

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.db.writer import Writer
from app.core.files.files import Files
from app.core.loops import FOREVER, Loop
from app.core.service import Engine, Jobs
from app.core.settings import Settings
from app.judging.service.distributed.broker import JOBS, JUDGEMENTS, REJUDGINGS, Sender, open_broker
from app.judging.service.engine import Engine as EmbeddedEngine
from app.judging.service.references import Closing, JobRunner
from app.judging.service.staff import EngineSettings, engine_settings
from app.problems.queries import pins
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.jobs")

LOCK = "expected answers"
# Time after which a server looks again whether the one that scores expected answers is gone.
SECONDS_BETWEEN_TRIES = 1.0


class DistributedEngine(EmbeddedEngine):
    """The engine of a server whose rows workers judge; its own graders answer questions, and take no rows."""

    def __init__(self, database: Database, writer: Writer, settings: EngineSettings, broker_url: str) -> None:
        super().__init__(
            database, writer, replace(settings, takes_rows=False), lambda _contest_id, _submission_id: None
        )
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
    """The jobs of a server whose workers run them.

    The expected answers of packages that came with the server are no job: one server scores them, and each of those
    that started looks once it has ended or died whether anything is left.
    """

    def __init__(self, database: Database, sender: Sender, scoring: JobRunner, locks: Locks) -> None:
        self._database = database
        self._sender = sender
        self._scoring = scoring
        self._locks = locks
        self._loop = Loop("expected answers", self._step, SECONDS_BETWEEN_TRIES)

    def start(self) -> None:
        """Begin to score expected answers, as soon as no other server does."""
        self._loop.start()

    def _step(self) -> float | None:
        """Score what is left once the lock is free; again where the database went away meanwhile."""
        if not self._locks.take(LOCK):
            return None
        self._score()
        return FOREVER

    def _score(self) -> None:
        try:
            self._scoring.score_expected_answers()
        except Closing:
            return
        except SQLAlchemyError:
            raise
        except Exception:
            log.exception("the expected answers could not be scored; they take no part in BEST")
        finally:
            self._locks.give_back(LOCK)

    def wake(self, _job_id: str) -> None:
        """A job has been queued (and is durable)."""
        self._sender.call(JOBS)

    def cancel(self, job_id: str) -> bool:
        """End a job; the worker that runs it looks at its row, and kills what it runs."""
        with self._database.write() as session:
            return pins.cancel(session, job_id)

    def close(self) -> None:
        """Stop scoring; another server goes on with what is left."""
        self._scoring.close()
        self._loop.close(30)


def start_engine(
    settings: Settings,
    database: Database,
    files: Files,
    writer: Writer,
    boards: ScoreboardCache,
    locks: Locks,
    process_id: str,
) -> tuple[Engine, Jobs]:
    """Start what grades the submissions of a server and runs its jobs, as its settings say."""
    asked = engine_settings(settings, files)
    engine = (
        DistributedEngine(database, writer, asked, settings.broker_url)
        if settings.distributed
        else EmbeddedEngine(database, writer, replace(asked, process_id=process_id), boards.changed)
    )
    engine.start()
    runner = JobRunner(database, files, engine, lambda _problem_id: boards.all_changed())
    jobs = DistributedJobs(database, engine.sender, runner, locks) if isinstance(engine, DistributedEngine) else runner
    jobs.start()
    return engine, jobs
