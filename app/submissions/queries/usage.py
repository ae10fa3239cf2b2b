"""Bytes of answers and sources sent to each contest, by team and in all, known without asking the rows each time.

- Allowances of teams that submit through several processes: counted in rows, in the transaction that takes more.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import structlog
from sqlalchemy import Connection, Text, cast, func, select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.contests.queries import clock
from app.core.clock import utc_now
from app.core.db.base import array_of, texts_of
from app.core.db.database import Database
from app.tables import AnswerRow, ContestRow, SubmissionRow

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.usage")

# A contest and a team.
Place = tuple[str, str]
# Most have none, and reading JSON costs more than all else.
HAS_SOURCES = cast(SubmissionRow.sources, Text) != "[]"


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


# The place of what a connection has counted.
COUNTED = "bytes of teams"
# Looks into the index for each place (OFFSET 0): a plan for all of them together would read all submissions.
SINCE = text(
    "SELECT places.at, new.id,"
    " (SELECT sum(size) FROM answers WHERE submission_id = new.id AND refused IS NULL),"
    " CASE WHEN CAST(new.sources AS text) != '[]' THEN new.sources END"
    " FROM ROWS FROM (json_array_elements_text(CAST(:contests AS json)),"
    " json_array_elements_text(CAST(:teams AS json)), unnest(CAST(:since AS bigint[])))"
    " WITH ORDINALITY AS places (contest_id, team_id, since, at)"
    " CROSS JOIN LATERAL (SELECT id, sources FROM submissions WHERE contest_id = places.contest_id"
    " AND team_id = places.team_id AND id > places.since OFFSET 0) AS new"
)


UNJUDGED = text(
    "SELECT team_id, count(*) FROM judgements"
    " WHERE team_id = ANY (ARRAY(SELECT json_array_elements_text(CAST(:teams AS json))))"
    " AND state != 'done' AND rejudging_id IS NULL GROUP BY team_id"
)


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a team may have at most in all processes together.

    unjudged    submissions that wait for their verdict, of all contests; None: any, and they are not counted
    size        bytes of answers and sources in the contest; None: any
    generation  that of the database when it was asked for: bytes that were counted in another one are counted anew
    """

    contest_id: str
    team_id: str
    unjudged: int | None
    size: int | None
    generation: int = 0

    @property
    def lock(self) -> str:
        """The name of the lock under which it is counted."""
        return f"team {self.team_id}"


class Allowances:
    """What teams have by now, read once for a batch under their locks; each submission that is taken is added."""

    def __init__(self, connection: Connection, wanted: Iterable[Allowance]) -> None:
        known = set(wanted)
        counted = {each.team_id for each in known if each.unjudged is not None}
        self._unjudged = _unjudged(connection, counted) if counted else Counter[str]()
        limited = {(each.contest_id, each.team_id): each.generation for each in known if each.size is not None}
        self._used = _used(connection, limited) if limited else Counter[Place]()

    def unjudged_too_many(self, allowance: Allowance) -> int | None:
        """The unjudged submissions that its team may have, where it has as many; else None."""
        most = allowance.unjudged
        return most if most is not None and self._unjudged[allowance.team_id] >= most else None

    def used_too_much(self, allowance: Allowance, size: int) -> int | None:
        """The bytes that its team has sent, where so many more are too many; else None."""
        if allowance.size is None:
            return None
        used = self._used[allowance.contest_id, allowance.team_id]
        return used if used + size > allowance.size else None

    def add(self, allowance: Allowance, size: int) -> None:
        """Count a submission that is taken."""
        self._unjudged[allowance.team_id] += 1
        if allowance.size is not None:
            self._used[allowance.contest_id, allowance.team_id] += size


def _unjudged(connection: Connection, team_ids: Iterable[str]) -> Counter[str]:
    """What waits of these teams alone: an index has it, whatever waits of others or was judged."""
    rows = connection.execute(UNJUDGED, {"teams": texts_of(team_ids)})
    return Counter({team_id: count for team_id, count in rows})  # noqa: C416 - a Row is no pair


class _Counted(NamedTuple):
    """Bytes of a team's submissions up to one of them, as counted in a generation."""

    generation: int
    submission_id: int = 0
    size: int = 0


def _used(connection: Connection, limited: Mapping[Place, int]) -> Counter[Place]:
    """The bytes of teams in contests, where only the submissions are read that came since this connection counted.

    None of a team comes late with a smaller id than one that was counted: ids are given, and rows committed, under its
    lock. Only imports write without it, and raise the generation.
    """
    memory: dict[Place, _Counted] = connection.info.setdefault(COUNTED, {})
    places = sorted(limited)
    for place in places:
        if place not in memory or memory[place].generation != limited[place]:
            memory[place] = _Counted(limited[place])
    contests, teams = zip(*places, strict=True)
    since = [memory[place].submission_id for place in places]
    rows = connection.execute(
        SINCE, {"contests": texts_of(contests), "teams": texts_of(teams), "since": array_of(since)}
    )
    for at, id_, of_answers, sources in rows:
        generation, last, before = memory[place := places[at - 1]]
        size = int(of_answers or 0) + sum(int(source["size"]) for source in sources or ())
        memory[place] = _Counted(generation, max(last, id_), before + size)
    return Counter({place: memory[place].size for place in places})
