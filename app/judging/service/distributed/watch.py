"""A watch over a worker's database: while it does not answer, messages are better left to workers that it answers.

The broker knows nothing of it: it would leave a worker its messages for as long as their connection lives.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.core.db.database import Database
from app.core.loops import Loop

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.worker")

SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_WITHOUT_ANSWER = 5.0
"""More than a restart of PostgreSQL takes, as all workers would stop for one that is short."""


class DatabaseWatch:
    """Calls `on_lost` when the database has not answered for `seconds`, and `on_back` when it answers again.

    Both are called in the watch's thread, in turns.
    """

    def __init__(
        self,
        database: Database,
        on_lost: Callable[[], None],
        on_back: Callable[[], None],
        seconds: float = SECONDS_WITHOUT_ANSWER,
    ) -> None:
        self._database = database
        self._seconds = seconds
        self._on_lost = on_lost
        self._on_back = on_back
        self._answered = time.monotonic()
        self._is_lost = False
        self._asking = Loop("database questions", self._ask, SECONDS_BETWEEN_LOOKS)
        self._looking = Loop("database watch", self._look, SECONDS_BETWEEN_LOOKS, delay=SECONDS_BETWEEN_LOOKS)

    def start(self) -> None:
        """Begin to ask; the database counts as answering now."""
        self._answered = time.monotonic()
        self._asking.start()
        self._looking.start()

    def close(self) -> None:
        """Stop asking; a question on its way ends by itself."""
        self._looking.close()
        self._asking.close(0)

    def _ask(self) -> None:
        """Ask again and again; a network that is cut lets a question wait for its timeout."""
        try:
            with self._database.read() as session:
                session.execute(text("SELECT 1"))
        except SQLAlchemyError as error:
            log.debug("the database does not answer", error=str(error))
        else:
            self._answered = time.monotonic()

    def _look(self) -> None:
        is_lost = time.monotonic() - self._answered > self._seconds
        if is_lost and not self._is_lost:
            log.warning("the database does not answer: other workers get the messages that this one has")
            self._on_lost()
        elif self._is_lost and not is_lost:
            log.info("the database answers again: this worker takes messages")
            self._on_back()
        self._is_lost = is_lost  # last: a step that failed is repeated
