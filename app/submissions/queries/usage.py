"""Bytes of answers and sources sent to each contest, by team and in all, known without asking the rows each time."""

from __future__ import annotations

import threading

import structlog
from sqlalchemy import Text, cast, func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.core.db.database import Database
from app.problems.queries.scoring_input import clock
from app.tables import AnswerRow, ContestRow, SubmissionRow

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.usage")

Place = tuple[str, str]
"""A contest and a team."""
HAS_SOURCES = cast(SubmissionRow.sources, Text) != "[]"
"""Most have none, and reading JSON costs more than all else."""


def bytes_used(session: Session, contest_id: str, team_id: str | None = None) -> int:
    """The bytes of all answers and sources of a contest's submissions, or of one team's to it, as they were sent."""
    chosen = SubmissionRow.contest_id == contest_id
    if team_id is not None:  # no pair, for which SQLite walks through the whole contest
        chosen &= SubmissionRow.team_id == team_id
    answers = select(func.sum(AnswerRow.size)).join(SubmissionRow, SubmissionRow.id == AnswerRow.submission_id)
    sources = session.scalars(select(SubmissionRow.sources).where(chosen, HAS_SOURCES))
    of_answers = session.scalar(answers.where(chosen, AnswerRow.refused.is_(None))) or 0
    return int(of_answers) + sum(int(source["size"]) for listed in sources for source in listed)


class Usage:
    """Counts bytes from the rows once and then by itself; from any thread.

    A team's bytes are read again once an admin has changed something; what is reserved meanwhile may be missing from
    them until its rows are there. A contest's are read once in a process: after `start` in a thread of its own, as the
    first submission would otherwise wait for the rows of all.
    """

    # Invariant of `_totals`: the rows of a contest plus all that is reserved and neither written nor given back yet.
    # It holds because every submission is counted before it is written, whoever sends it, and the contest's first one
    # reads the rows before it counts itself. Only imports write submissions otherwise: they call `forget`.

    def __init__(self, database: Database) -> None:
        self._database = database
        self._generation = -1
        self._used: dict[Place, int] = {}
        self._totals: dict[str, int] = {}
        self._forgotten = 0
        self._guard = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self.learn_open, name="bytes used", daemon=True)

    def start(self) -> None:
        """Begin to read the bytes of the contests that take submissions."""
        self._thread.start()

    def close(self) -> None:
        """Stop reading."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def learn_open(self) -> None:
        """Read the bytes of every contest that has not ended; after a fault each is read when it is needed."""
        try:
            with self._database.read() as session:
                rows = session.scalars(select(ContestRow)).unique()
                open_ids = [row.id for row in rows if not clock(row).ended(utc_now())]
            for contest_id in open_ids:
                if self._closing.is_set():
                    return
                self.learn(contest_id)
        except SQLAlchemyError as error:
            log.warning("the bytes sent to contests cannot be read yet", error=str(error))

    def is_known(self, contest_id: str, team_id: str | None) -> bool:
        """Whether bytes of the contest, and of a team, can be reserved without asking the rows."""
        with self._guard:
            return contest_id in self._totals and (team_id is None or self._knows((contest_id, team_id)))

    def reserve(self, contest_id: str, team_id: str, size: int, most: int | None) -> int | None:
        """Count `size` bytes more of a team if that makes at most `most`, and return None; else return what is used.

        `most` None: they are counted, whatever they make.
        """
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
                fits = most is None or used + size <= most
                self._used[place] = used + size if fits else used
                return None if fits else used

    def release(self, contest_id: str, team_id: str, size: int) -> None:
        """Take back what was reserved of a team for a submission that was not taken."""
        with self._guard:
            if (contest_id, team_id) in self._used:
                self._used[contest_id, team_id] -= size

    def read_again(self, contest_id: str, team_id: str) -> None:
        """Read a team's bytes again: a reservation made long ago may be in them no more, and is not subtracted."""
        with self._guard:
            self._used.pop((contest_id, team_id), None)

    def reserve_total(self, contest_id: str, size: int, most: int | None) -> bool:
        """Count `size` bytes more of a contest if that makes at most `most` (None: whatever it makes); False if not."""
        while True:
            with self._guard:
                total = self._totals.get(contest_id)
                if total is not None:
                    fits = most is None or total + size <= most
                    self._totals[contest_id] = total + size if fits else total
                    return fits
            self.learn(contest_id)

    def learn(self, contest_id: str) -> None:
        """Read the bytes of a contest that is not known yet."""
        with self._guard:
            if contest_id in self._totals:
                return
            forgotten = self._forgotten
        from_rows = self._read(contest_id)
        with self._guard:
            if forgotten == self._forgotten:  # else the rows may be older than an import
                self._totals.setdefault(contest_id, from_rows)

    def release_total(self, contest_id: str, size: int) -> None:
        """Take back what was reserved of a contest for a submission that was not taken."""
        with self._guard:
            if contest_id in self._totals:
                self._totals[contest_id] -= size

    def forget(self, contest_id: str) -> None:
        """Read a contest's bytes again: an import writes its submissions. Call it before others see the contest.

        On other servers it is called once they hear of it: they know the contest only if another one had its id.
        """
        with self._guard:
            self._totals.pop(contest_id, None)
            self._forgotten += 1

    def add_elsewhere(self, contest_id: str, team_id: str, size: int) -> None:
        """Count bytes that a team has sent to a contest through another process."""
        with self._guard:
            if (contest_id, team_id) in self._used:
                self._used[contest_id, team_id] += size
            if contest_id in self._totals:
                self._totals[contest_id] += size

    def forget_all(self) -> None:
        """Read the bytes of all contests again: other processes may have written some that nobody told of."""
        with self._guard:
            self._used.clear()
            self._totals.clear()
            self._forgotten += 1

    def _knows(self, place: Place) -> bool:
        return self._generation == self._database.generation and place in self._used

    def _read(self, contest_id: str, team_id: str | None = None) -> int:
        with self._database.read() as session:
            return bytes_used(session, contest_id, team_id)
