"""Patience with rows that nobody seems to work on: more with what has been begun, and double after each try."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.judging.queries.open_judgements import OpenJudgement
from app.submissions.queries.judgements import RUNNING

SECONDS_UNTIL_BEGUN = 3.0
"""From a commit to the first worker's claim, with a broker that is idle: many times what that takes."""
SECONDS_UNTIL_DONE = 60.0
"""The broker itself gives a dead worker's messages to others; this is for a broker that has lost them."""


@dataclass
class _Watched:
    """A row as it was at first, since when it has been like that, and the seconds it may stay so."""

    is_rejudging: bool
    state: str
    attempt: int
    since: float
    seconds: float


class Patience:
    """Which rows are due to be sent again. Not thread-safe: its owner looks in one thread."""

    def __init__(self) -> None:
        self._watched: dict[int, _Watched] = {}

    def due(
        self, rows: Sequence[OpenJudgement], now: float, *, queued_lanes: Collection[bool] = ()
    ) -> list[OpenJudgement]:
        """The rows that have stayed as they are for too long, at `now` seconds; each counts as sent then.

        `queued_lanes` are those (True: rejudgings) in whose queues messages wait: what nobody has begun waits there,
        and may be missing from the rows.
        """
        for id_ in self._watched.keys() - {row.id for row in rows}:
            watched = self._watched[id_]
            if watched.state != RUNNING and watched.is_rejudging in queued_lanes:
                watched.since = now
            else:
                del self._watched[id_]
        return [row for row in rows if self._is_due(row, now, is_queued=row.is_rejudging in queued_lanes)]

    def _is_due(self, row: OpenJudgement, now: float, *, is_queued: bool) -> bool:
        watched = self._watched.get(row.id)
        if watched is None or (watched.state, watched.attempt) != (row.state, row.attempt):
            seconds = SECONDS_UNTIL_DONE if row.state == RUNNING else SECONDS_UNTIL_BEGUN
            doubled = 0.0 if watched is None else watched.seconds
            self._watched[row.id] = _Watched(row.is_rejudging, row.state, row.attempt, now, max(seconds, doubled))
            return False
        if is_queued and row.state != RUNNING:
            watched.since = now
            return False
        if now - watched.since < watched.seconds:
            return False
        watched.since, watched.seconds = now, 2 * watched.seconds
        return True
