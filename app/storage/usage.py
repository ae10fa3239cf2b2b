"""Bytes of answers and sources sent to each contest, by team and in all, known without asking the rows each time."""

from __future__ import annotations

import threading

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.storage.database import Database
from app.storage.tables import AnswerRow, SubmissionRow

Place = tuple[str, str]
"""A contest and a team."""


def bytes_used(session: Session, contest_id: str, team_id: str | None = None) -> int:
    """The bytes of all answers and sources of a contest's submissions, or of one team's to it, as they were sent."""
    mine = [SubmissionRow.contest_id == contest_id]
    if team_id is not None:
        mine.append(SubmissionRow.team_id == team_id)
    answers = session.scalar(
        select(func.sum(AnswerRow.size))
        .join(SubmissionRow, SubmissionRow.id == AnswerRow.submission_id)
        .where(*mine, AnswerRow.refused.is_(None))
    )
    sources = session.scalars(select(SubmissionRow.sources).where(*mine))
    return int(answers or 0) + sum(int(source["size"]) for listed in sources for source in listed)


class Usage:
    """Counts bytes from the rows once and then by itself; from any thread.

    A team's bytes are read again once an admin has changed something; what is reserved meanwhile may be missing from
    them until its rows are there. A contest's are read once in a process.
    """

    # Invariant of `_totals`: the rows of a contest plus all that is reserved and neither written nor given back yet.
    # It holds because every submission is counted before it is written, whoever sends it, and the contest's first one
    # reads the rows before it counts itself. Only imports write submissions otherwise: they call `forget`.

    def __init__(self, database: Database) -> None:
        self._database = database
        self._generation = -1
        self._used: dict[Place, int] = {}
        self._totals: dict[str, int] = {}
        self._guard = threading.Lock()

    def is_known(self, contest_id: str, team_id: str | None) -> bool:
        """Whether bytes of the contest, and of a team, can be reserved without asking the rows."""
        with self._guard:
            return contest_id in self._totals and (team_id is None or self._knows((contest_id, team_id)))

    def reserve(self, contest_id: str, team_id: str, size: int, most: int) -> int | None:
        """Count `size` bytes more of a team if that makes at most `most`, and return None; else return what is used."""
        place = (contest_id, team_id)
        while True:
            generation = self._database.generation  # before reading: a change meanwhile makes what is read out of date
            with self._guard:
                is_known = self._knows(place)
            from_rows = None if is_known else self._read(*place)
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

    def release(self, contest_id: str, team_id: str, size: int) -> None:
        """Take back what was reserved of a team for a submission that was not taken."""
        with self._guard:
            if (contest_id, team_id) in self._used:
                self._used[contest_id, team_id] -= size

    def reserve_total(self, contest_id: str, size: int, most: int | None) -> bool:
        """Count `size` bytes more of a contest if that makes at most `most` (None: whatever it makes); False if not."""
        while True:
            with self._guard:
                total = self._totals.get(contest_id)
                if total is not None:
                    fits = most is None or total + size <= most
                    self._totals[contest_id] = total + size if fits else total
                    return fits
            from_rows = self._read(contest_id)
            with self._guard:
                self._totals.setdefault(contest_id, from_rows)

    def release_total(self, contest_id: str, size: int) -> None:
        """Take back what was reserved of a contest for a submission that was not taken."""
        with self._guard:
            if contest_id in self._totals:
                self._totals[contest_id] -= size

    def forget(self, contest_id: str) -> None:
        """Read a contest's bytes again: an import writes its submissions. Call it before others see the contest."""
        with self._guard:
            self._totals.pop(contest_id, None)

    def _knows(self, place: Place) -> bool:
        return self._generation == self._database.generation and place in self._used

    def _read(self, contest_id: str, team_id: str | None = None) -> int:
        with self._database.read() as session:
            return bytes_used(session, contest_id, team_id)
