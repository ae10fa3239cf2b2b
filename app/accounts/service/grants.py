"""Roles granted to an account, and those that rest while its team competes.

A role rests while the account's team takes part in another contest that has one of the same problems and is undecided:
else a contestant of one contest would read its hidden data as a judge of another. In the contest itself it rests for
teams that are enrolled there by name. Contests for practice decide nothing, and let no role rest.

- Guessing passwords is dear, and nobody's guesses refuse the right password.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
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
MOST_GUESSES_WAITING = 200
MOST_FOR_AN_ACCOUNT = 20


@dataclass(frozen=True, slots=True)
class Price:
    """The price of wrong passwords: so many a minute are free, each further one takes seconds."""

    free: int
    seconds: float


OF_ONE_ACCOUNT = Price(10, 1.0)
OF_ONE_ADDRESS = Price(200, 0.05)


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
        account: Price = OF_ONE_ACCOUNT,
        address: Price = OF_ONE_ADDRESS,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self.failures = Failures(steady)
        self.servers: Callable[[], int] = lambda: 1
        self._account = account
        self._address = address
        self._turns = Turns(CHECKS_AT_ONCE, MOST_WAITING)
        self._lanes: dict[tuple[str, str], Turns] = {}

    @asynccontextmanager
    async def turn(self, username: str, source: str) -> AsyncIterator[Attempt]:
        """Wait for the turn to check a password for this name; raises TooManyRequests where too many wait."""
        attempt = Attempt()
        account, address = ("account", username), ("address", source)
        async with AsyncExitStack() as turns:
            await turns.enter_async_context(self._lane(account, source, MOST_FOR_AN_ACCOUNT, self._account, attempt))
            if self._is_hot(address, self._address):
                lane = self._lane(address, username, MOST_GUESSES_WAITING, self._address, attempt)
                await turns.enter_async_context(lane)
            await turns.enter_async_context(self._check(source))
            yield attempt
            if attempt.failed:
                self.failures.add(account, self._account.free)
                self.failures.add(address, self._address.free)

    @asynccontextmanager
    async def _check(self, source: str) -> AsyncIterator[None]:
        await self._turns.take(source)
        try:
            yield
        finally:
            self._turns.leave()

    @asynccontextmanager
    async def _lane(
        self, key: tuple[str, str], asker: str, most_waiting: int, price: Price, attempt: Attempt
    ) -> AsyncIterator[None]:
        """Be the only one in this lane; a failure keeps it for a while where there were many."""
        lane = self._lanes.setdefault(key, Turns(1, most_waiting))
        await lane.take(asker)
        try:
            yield
        finally:
            if attempt.failed and self._is_hot(key, price):
                seconds = price.seconds * self.servers()
                asyncio.get_running_loop().call_later(seconds, self._leave, key, lane)
            else:
                self._leave(key, lane)

    def _leave(self, key: tuple[str, str], lane: Turns) -> None:
        lane.leave()
        if lane.idle:
            self._lanes.pop(key, None)

    def _is_hot(self, key: tuple[str, str], price: Price) -> bool:
        return self.failures.reach(key, price.free)
