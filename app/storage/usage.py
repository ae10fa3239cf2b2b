"""How many bytes of answers and sources each team has sent to each contest, known without asking the rows each time."""

from __future__ import annotations

import threading

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.storage.database import Database
from app.storage.tables import AnswerRow, SubmissionRow

Place = tuple[str, str]
"""A contest and a team."""


def bytes_used(session: Session, contest_id: str, team_id: str) -> int:
    """The bytes of all answers and sources of a team's submissions to a contest, as they were sent."""
    mine = (SubmissionRow.contest_id == contest_id, SubmissionRow.team_id == team_id)
    answers = session.scalar(
        select(func.sum(AnswerRow.size))
        .join(SubmissionRow, SubmissionRow.id == AnswerRow.submission_id)
        .where(*mine, AnswerRow.refused.is_(None))
    )
    sources = session.scalars(select(SubmissionRow.sources).where(*mine))
    return int(answers or 0) + sum(int(source["size"]) for listed in sources for source in listed)


class Usage:
    """Counts bytes from the rows once and then by itself, until an admin changes something; from any thread.

    What is reserved while an admin changes something may be missing from the count until its rows are there.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._generation = -1
        self._used: dict[Place, int] = {}
        self._guard = threading.Lock()

    def is_known(self, contest_id: str, team_id: str) -> bool:
        """Can bytes be reserved without asking the rows?"""
        with self._guard:
            return self._generation == self._database.generation and (contest_id, team_id) in self._used

    def reserve(self, contest_id: str, team_id: str, size: int, most: int) -> int | None:
        """Count `size` bytes more if that makes at most `most`, and return None; else return what is used."""
        place = (contest_id, team_id)
        while True:
            generation = self._database.generation  # before reading: a change meanwhile makes what is read out of date
            from_rows = None if self.is_known(*place) else self._read(place)
            with self._guard:
                if self._generation != generation:
                    self._used.clear()
                    self._generation = generation
                used = self._used.get(place, from_rows)
                if used is None:
                    continue  # it was known, and has been forgotten since
                fits = used + size <= most
                self._used[place] = used + size if fits else used
                return None if fits else used

    def _read(self, place: Place) -> int:
        with self._database.read() as session:
            return bytes_used(session, *place)

    def release(self, contest_id: str, team_id: str, size: int) -> None:
        """Take back what was reserved for a submission that was not taken."""
        with self._guard:
            if (contest_id, team_id) in self._used:
                self._used[contest_id, team_id] -= size
