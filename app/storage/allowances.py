"""Allowances of teams that submit through several processes: counted in rows, in the transaction that takes more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from app.storage.bulk import among
from app.storage.judgements import OPEN
from app.storage.tables import JudgementRow
from app.storage.usage import Place, bytes_of_teams


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a team may have at most in all processes together.

    unjudged  submissions that wait for their verdict, of all contests
    size      bytes of answers and sources in the contest; None: any
    """

    contest_id: str
    team_id: str
    unjudged: int
    size: int | None

    @property
    def lock(self) -> str:
        """The name of the lock under which it is counted."""
        return f"team {self.team_id}"


class Allowances:
    """What teams have by now, read once for a batch under their locks; each submission that is taken is added."""

    def __init__(self, connection: Connection, wanted: Iterable[Allowance]) -> None:
        known = set(wanted)
        self._unjudged = _unjudged(connection, {each.team_id for each in known}) if known else Counter[str]()
        limited = {(each.contest_id, each.team_id) for each in known if each.size is not None}
        self._used = bytes_of_teams(connection, limited) if limited else Counter[Place]()

    def unjudged_too_many(self, allowance: Allowance) -> bool:
        """Whether its team has as many unjudged submissions as it may."""
        return self._unjudged[allowance.team_id] >= allowance.unjudged

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
    query = (
        select(JudgementRow.team_id, func.count())
        .where(among(connection, JudgementRow.team_id, set(team_ids)))
        .where(OPEN, JudgementRow.rejudging_id.is_(None))
        .group_by(JudgementRow.team_id)
    )
    return Counter({str(team_id): count for team_id, count in connection.execute(query)})
