"""Allowances of teams that submit through several processes: counted in rows, in the transaction that takes more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, text

from app.core.db.bulk import array_of, texts_of
from app.submissions.queries.usage import Place

COUNTED = "bytes of teams"
"""The place of what a connection has counted."""
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
"""Looks into the index for each place (OFFSET 0): a plan for all of them together would read all submissions."""


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
