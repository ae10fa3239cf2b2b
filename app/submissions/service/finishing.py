"""Waiting for judgements that somebody else makes, for those who need them done."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from app.core.db.database import Database
from app.submissions.queries import judgements

SECONDS_BETWEEN_LOOKS = 0.02


def all_done(database: Database, judgement_ids: Sequence[int], seconds: float, is_closing: Callable[[], bool]) -> bool:
    """Wait until these are done; False where that takes longer than `seconds`, or the engine closes."""
    until = time.monotonic() + seconds
    while True:
        with database.read() as session:
            if not judgements.unjudged(session, judgement_ids):
                return True
        if time.monotonic() >= until or is_closing():
            return False
        time.sleep(SECONDS_BETWEEN_LOOKS)
