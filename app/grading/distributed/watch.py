"""A watch over a worker's database: while it does not answer, messages are better left to workers that it answers.

The broker knows nothing of it: it would leave a worker its messages for as long as their connection lives.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import structlog
from sqlalchemy import text

from app.storage.database import Database

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
        self._closing = threading.Event()
        self._threads = [
            threading.Thread(target=work, name=name, daemon=True)
            for work, name in ((self._ask, "database questions"), (self._look, "database watch"))
        ]

    def start(self) -> None:
        """Begin to ask; the database counts as answering now."""
        self._answered = time.monotonic()
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop asking; a question on its way ends by itself."""
        self._closing.set()
        if self._threads[1].is_alive():
            self._threads[1].join()

    def _ask(self) -> None:
        """Ask again and again; a network that is cut lets a question wait for its timeout."""
        while not self._closing.wait(SECONDS_BETWEEN_LOOKS):
            try:
                with self._database.read() as session:
                    session.execute(text("SELECT 1"))
            except Exception as error:  # whatever it is, there was no answer
                log.debug("the database does not answer", error=str(error))
            else:
                self._answered = time.monotonic()

    def _look(self) -> None:
        is_lost = False
        while not self._closing.wait(SECONDS_BETWEEN_LOOKS):
            was_lost, is_lost = is_lost, time.monotonic() - self._answered > self._seconds
            if is_lost and not was_lost:
                log.warning("the database does not answer: other workers get the messages that this one has")
                self._on_lost()
            elif was_lost and not is_lost:
                log.info("the database answers again: this worker takes messages")
                self._on_back()
