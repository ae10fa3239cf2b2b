"""The engine and the jobs of a server: beside it, or at workers that a broker feeds."""

from __future__ import annotations

from dataclasses import replace

from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.db.writer import Writer
from app.core.files.files import Files
from app.core.service import Engine, Jobs
from app.core.settings import Settings
from app.judging.service.engine import Engine as EmbeddedEngine
from app.judging.service.references import JobRunner
from app.judging.service.staff import engine_settings
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache


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
    from app.judging.service.distributed.broker import open_broker
    from app.judging.service.distributed.engine import DistributedEngine, DistributedJobs
    from app.judging.service.distributed.reconciler import Reconciler
    from app.judging.service.distributed.sender import Sender

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
