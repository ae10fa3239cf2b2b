"""Roles granted to an account, and those that rest while its team competes.

A role rests while the account's team takes part in another contest that has one of the same problems and is undecided:
else a contestant of one contest would read its hidden data as a judge of another. In the contest itself it rests for
teams that are enrolled there by name. Contests for practice decide nothing, and let no role rest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, cast

from sqlalchemy.orm import Session

from app.accounts.queries import roles as stored
from app.accounts.queries.roles import Roles
from app.core.clock import utc_now
from app.domain.practice import is_for_practice
from app.problems.queries.scoring_input import clock
from app.tables import AccountRow, ContestRow

Granted = Literal["owner", "judge"]
OWNER: Granted = "owner"
JUDGE: Granted = "judge"


@dataclass(frozen=True, slots=True)
class Grants:
    """The roles of an account by contest and by problem, without those that rest.

    organiser  whether it may make contests and problems of its own
    resting    the ids of the contests and problems at which its role rests
    may_rest   whether a role may come to rest, or wake, without a change of the account
    """

    contests: Mapping[str, Granted] = field(default_factory=dict, hash=False)
    problems: Mapping[str, Granted] = field(default_factory=dict, hash=False)
    organiser: bool = False
    resting: frozenset[str] = frozenset()
    may_rest: bool = False

    @property
    def any(self) -> bool:
        """Whether there are any, resting ones included."""
        return bool(self.organiser or self.contests or self.problems or self.resting)


NO_GRANTS = Grants()


def grants_of(session: Session, account: AccountRow) -> Grants:
    """The roles of an account now."""
    return grants_of_all(session, [account]).get(account.id, NO_GRANTS)


def grants_of_all(session: Session, accounts: Sequence[AccountRow]) -> dict[str, Grants]:
    """The roles of these accounts now, by id; accounts without any are absent."""
    if not accounts:
        return {}
    team_of = {account.id: account.team_id for account in accounts}
    roles = stored.roles_of(session, team_of)
    return {account_id: _grants(session, team_of[account_id], each) for account_id, each in roles.items()}


def _grants(session: Session, team_id: str | None, roles: Roles) -> Grants:
    if team_id is None or not (roles.contests or roles.problems):
        return Grants(_awake(roles.contests), _awake(roles.problems), roles.organiser)
    resting = _resting(session, team_id, roles)
    contests, problems = _awake(roles.contests, resting), _awake(roles.problems, resting)
    return Grants(contests, problems, roles.organiser, frozenset(resting), may_rest=True)


def _awake(roles: Mapping[str, str], resting: Collection[str] = ()) -> Mapping[str, Granted]:
    return {each: cast(Granted, role) for each, role in roles.items() if each not in resting}


def is_undecided(contest: ContestRow, now: datetime) -> bool:
    """Return whether the results of a contest matter and are still secret or can change: not in one for practice."""
    times = clock(contest)
    return not is_for_practice(times) and not times.decided(now)


def _resting(session: Session, team_id: str, roles: Roles) -> set[str]:
    """The contests and problems at which the roles of a team's account rest. Ids of both kinds may be the same:
    then both rest, which withholds too much rather than too little.
    """
    now, enrolled = utc_now(), stored.enrolled(session, team_id)
    contests = [row for row in stored.contests_of_team(session, team_id) if is_undecided(row, now)]
    uuids = stored.uuids_by_contest(session, {*roles.contests, *(row.id for row in contests)})
    competed = {row.id: uuids.get(row.id, set()) for row in contests}
    resting = {
        contest_id
        for contest_id in roles.contests
        if (contest_id in competed and contest_id in enrolled)
        or any(each & uuids.get(contest_id, set()) for other, each in competed.items() if other != contest_id)
    }
    played = set().union(*competed.values())
    return resting | {each for each, uuid in stored.uuids_of(session, roles.problems).items() if uuid in played}
