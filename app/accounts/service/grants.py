"""Roles granted to an account, and those that rest while its team competes.

A role rests while the account's team takes part in another contest that has one of the same problems and is undecided:
else a contestant of one contest would read its hidden data as a judge of another. In the contest itself it rests for
teams that are enrolled there by name. Contests for practice decide nothing, and let no role rest.

- Guessing passwords is dear, and no one's guesses refuse the right password.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, cast

from sqlalchemy.orm import Session

from app.accounts import queries as queries_accounts
from app.contests.queries import clock
from app.core.clock import utc_now
from app.core.load import Turns
from app.domain.participation import is_for_practice
from app.tables import AccountRow, ContestRow
from app.teams import queries as teams_queries

Granted = Literal["owner", "judge"]
OWNER: Granted = "owner"


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
    roles = queries_accounts.roles_of(session, team_of)
    return {account_id: _grants(session, team_of[account_id], each) for account_id, each in roles.items()}


def _grants(session: Session, team_id: str | None, roles: queries_accounts.Roles) -> Grants:
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


def _resting(session: Session, team_id: str, roles: queries_accounts.Roles) -> set[str]:
    """The contests and problems at which the roles of a team's account rest. Ids of both kinds may be the same:
    then both rest, which withholds too much rather than too little.
    """
    now, enrolled = utc_now(), queries_accounts.enrolled(session, team_id)
    contests = [row for row in teams_queries.contests_of_team(session, team_id) if is_undecided(row, now)]
    uuids = queries_accounts.uuids_by_contest(session, {*roles.contests, *(row.id for row in contests)})
    competed = {row.id: uuids.get(row.id, set()) for row in contests}
    resting = {
        contest_id
        for contest_id in roles.contests
        if (contest_id in competed and contest_id in enrolled)
        or any(each & uuids.get(contest_id, set()) for other, each in competed.items() if other != contest_id)
    }
    played = set().union(*competed.values())
    return resting | {
        each for each, uuid in queries_accounts.uuids_of(session, roles.problems).items() if uuid in played
    }


MINUTE = 60.0
CHECKS_AT_ONCE = 2  # each takes 19 MiB and a core; more at once would only starve the requests of those logged in
MOST_WAITING = 2000  # a whole school may share an address, and log in at the same second
MOST_FOR_AN_ACCOUNT = 20


GUESSES_FREE = 10  # wrong passwords of an account within a minute; each further one keeps its turn for a while
SECONDS_OF_A_GUESS = 1.0


# Told of each key that is counted, and how many of it are remembered.
Tell = Callable[[tuple[str, str], int], object]


class Failures:
    """The wrong passwords of the last minute, by what they were for; `steady` counts seconds and is never set."""

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._times: dict[tuple[str, str], deque[float]] = {}
        self._swept = steady()
        self.tell: Tell = lambda _key, _most: None

    def add(self, key: tuple[str, str], most: int) -> None:
        """Count one more, and tell the other servers; the last `most` of a key are remembered."""
        self.add_elsewhere(key, most)
        self.tell(key, most)

    def add_elsewhere(self, key: tuple[str, str], most: int) -> None:
        """Count one more that another server has told of; from any thread, so that one of two may stay uncounted."""
        now = self._steady()
        if now - self._swept > MINUTE:
            self._swept = now
            for old in [each for each, times in list(self._times.items()) if not times or times[-1] <= now - MINUTE]:
                self._times.pop(old, None)
        self._times.setdefault(key, deque(maxlen=most)).append(now)

    def reach(self, key: tuple[str, str], most: int) -> bool:
        """Whether there were so many within a minute."""
        times = self._times.get(key, ())
        return len(times) >= most and times[-most] > self._steady() - MINUTE


class Attempt:
    """A check of a password, whose outcome is noted before its turns end."""

    failed = False


class Guesses:
    """Gives out the turns in which passwords are checked; used in one event loop."""

    def __init__(
        self,
        free: int = GUESSES_FREE,
        seconds: float = SECONDS_OF_A_GUESS,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.failures = Failures(steady)
        self.servers: Callable[[], int] = lambda: 1
        self._free = free
        self._seconds = seconds
        self._turns = Turns(CHECKS_AT_ONCE, MOST_WAITING)
        self._lanes: dict[str, Turns] = {}

    @asynccontextmanager
    async def turn(self, username: str, source: str) -> AsyncIterator[Attempt]:
        """Wait for the turn to check a password for this name; raises TooManyRequests where too many wait.

        One password of an account is checked at a time. After many wrong ones, each further one keeps its turn for a
        while; those who ask take turns, so that no one's guesses keep the right password out.
        """
        attempt = Attempt()
        lane = self._lanes.setdefault(username, Turns(1, MOST_FOR_AN_ACCOUNT))
        await lane.take(source)
        try:
            await self._turns.take(source)
            try:
                yield attempt
            finally:
                self._turns.leave()
        finally:
            self._end(username, lane, attempt)

    def _end(self, username: str, lane: Turns, attempt: Attempt) -> None:
        """Count a wrong password, and give the turn back: at once, or later if there were many."""
        key = ("account", username)
        if attempt.failed:
            self.failures.add(key, self._free)
        if attempt.failed and self.failures.reach(key, self._free):
            seconds = self._seconds * self.servers()
            asyncio.get_running_loop().call_later(seconds, self._leave, username, lane)
        else:
            self._leave(username, lane)

    def _leave(self, username: str, lane: Turns) -> None:
        lane.leave()
        if lane.idle:
            self._lanes.pop(username, None)
