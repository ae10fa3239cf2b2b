"""A worker in this process: an engine fed by messages of a real RabbitMQ, over the contest of the rogue checker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.db.writer import Writer
from app.core.files.open_files import LocalFiles
from app.judging.service.broker import Consumer, Sender
from app.judging.service.engine import Engine
from app.judging.service.graders import EngineSettings
from app.submissions.queries import submissions
from app.submissions.queries.submissions import Accepted, NewSubmission
from app.submissions.tables import DONE
from app.tables import JudgementRow
from tests.builders.grading import PROGRAM, add_rogue_contest
from tests.builders.waiting import until


class Working:
    """A sender, as a server has it, and a worker whose graders have the rogue checker."""

    def __init__(self, url: str, broker_url: str, folder: Path, *, seconds: float = 60.0) -> None:
        self.broker_url = broker_url
        self.database = Database(url)
        self.files = LocalFiles(folder)
        add_rogue_contest(self.database, self.files)
        self.writer = Writer(self.database)
        self.sender = Sender(broker_url)
        self.locks = Locks(url)
        self.engine = self.new_engine(seconds)
        self.consumers = [Consumer(broker_url, self.engine.wake)]

    def new_engine(self, seconds: float = 60.0) -> Engine:
        """The engine of a worker."""
        settings = EngineSettings(1, 2**31, seconds, self.files, PROGRAM)
        return Engine(self.database, self.writer, settings, lambda _contest, _submission: None)

    def start(self) -> None:
        """Let the worker take messages."""
        self.engine.start()
        for consumer in self.consumers:
            consumer.loop.start()

    def accept(self, new: NewSubmission, *, tell: bool = True) -> int:
        """Make a submission durable, and tell of it unless the server was killed in between."""
        accepted = self.writer.submit(submissions.accept, new).result()
        assert isinstance(accepted, Accepted)
        assert accepted.judgement_id is not None
        if tell:
            self.sender.call()
        return accepted.judgement_id

    def rows(self) -> list[JudgementRow]:
        """The judgements, oldest first."""
        with self.database.read() as session:
            return list(session.query(JudgementRow).order_by(JudgementRow.id))

    def wait(self) -> None:
        """Wait until all are judged."""
        until(lambda: all(row.state == DONE for row in self.rows()))

    def close(self) -> None:
        """Stop the worker and the server."""
        self.engine.close()
        for consumer in self.consumers:
            consumer.loop.close()
        self.sender.close()
        self.writer.close()
        self.locks.close()
        self.database.close()


@contextmanager
def working(url: str, broker_url: str, folder: Path, *, seconds: float = 60.0) -> Iterator[Working]:
    """A worker that runs."""
    worker = Working(url, broker_url, folder, seconds=seconds)
    worker.start()
    try:
        yield worker
    finally:
        worker.close()
