"""The engine and the jobs of a server: beside it, or at workers that a broker feeds."""

from __future__ import annotations

from dataclasses import replace

from app.grading.engine import Engine as EmbeddedEngine
from app.grading.references import JobRunner
from app.grading.scoreboard_cache import ScoreboardCache
from app.grading.staff import engine_settings
from app.service import Engine, Jobs
from app.settings import Settings
from app.storage.database import Database
from app.storage.files import Files
from app.storage.locks import Locks
from app.storage.writer import Writer


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
    if settings.distributed:
        return _start_distributed(settings, database, files, writer, boards, locks)
    asked = replace(engine_settings(settings, files), process_id=process_id)
    engine = EmbeddedEngine(database, writer, asked, boards.changed)
    engine.start()
    jobs = JobRunner(database, files, engine, lambda _problem_id: boards.all_changed())
    jobs.start()
    return engine, jobs


def _start_distributed(
    settings: Settings, database: Database, files: Files, writer: Writer, boards: ScoreboardCache, locks: Locks
) -> tuple[Engine, Jobs]:
    from app.grading.distributed.broker import open_broker
    from app.grading.distributed.engine import DistributedEngine, DistributedJobs
    from app.grading.distributed.reconciler import Reconciler
    from app.grading.distributed.sender import Sender

    sender = Sender(open_broker(settings.broker_url))
    reconciler = Reconciler(database, sender, open_broker(settings.broker_url), locks)
    asked = replace(engine_settings(settings, files), takes_rows=False)
    desk = EmbeddedEngine(database, writer, asked, boards.changed)
    engine = DistributedEngine(database, desk, sender, reconciler)
    engine.start()
    scoring = JobRunner(database, files, desk, lambda _problem_id: boards.all_changed())
    jobs = DistributedJobs(database, sender, scoring, locks)
    jobs.start()
    return engine, jobs
