"""What teams have sent, counted in rows and compared with their limits.

Guarantee 4: no team fills the queue or the disk. The transaction that inserts a submission counts, under the lock of
its team. Before its files are stored, a read counts as well, so that a refused submission writes none.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import NamedTuple

from sqlalchemy import BindParameter, Connection, bindparam, exists, func, select
from sqlalchemy.orm import Session

from app.contests.schemas import NO_LIMITS, Limits
from app.core.db.tables import WAITING
from app.core.messages import N_, Message
from app.domain.counting import JudgementType
from app.domain.participation import Quota, SubmissionLimits, limited, quota, times_needed
from app.submissions.tables import DONE
from app.tables import AccountRow, JudgementRow, SubmissionRow

# A contest, a team and a problem.
Place = tuple[str, str, str]
# Key of the totals of contests that a connection has counted.
COUNTED = "bytes of contests"


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a team that submits may have at most; None: unlimited.

    unjudged       submissions without a verdict, of all contests
    team_bytes     bytes of the team's answers and sources in the contest
    contest_bytes  bytes of all teams in the contest
    generation     that of the database: a total that a connection counted in another one is read again
    """

    unjudged: int | None = None
    team_bytes: int | None = None
    contest_bytes: int | None = None
    generation: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """A submission as limits see it. No limits and no allowance apply to a user who submits for a team."""

    contest_id: str
    team_id: str
    problem_id: str
    time: datetime
    size: int
    limits: Limits = NO_LIMITS
    allowance: Allowance | None = None

    @property
    def place(self) -> Place:
        """The contest, team and problem."""
        return (self.contest_id, self.team_id, self.problem_id)

    @property
    def locks(self) -> list[str]:
        """The names of the locks under which it is counted."""
        names = ["/".join(self.place)] if limited(self.limits) else []
        return names if self.allowance is None else [*names, f"team {self.team_id}"]


@dataclass(frozen=True, slots=True)
class LimitReached:
    """A submission that was refused: why, and when the team may submit again, if ever.

    `too_large`: for its bytes, so that a smaller one would be accepted.
    """

    message: Message
    again: datetime | None
    too_large: bool = False


class Usage:
    """What the teams of some claims have sent, read once; `add` counts each submission that is accepted."""

    def __init__(self, connection: Connection, claims: Collection[Claim]) -> None:
        limits = [claim for claim in claims if limited(claim.limits)]
        own = [(claim, claim.allowance) for claim in claims if claim.allowance is not None]
        needed: dict[Place, int | None] = {}
        for claim in limits:
            one, other = times_needed(claim.limits), needed.get(claim.place, 1)
            needed[claim.place] = None if one is None or other is None else max(one, other)
        self._times = {place: counted_times(connection, *place, needed[place]) for place in sorted(needed)}
        waiting = {claim.team_id for claim, most in own if most.unjudged is not None}
        unjudged = connection.execute(UNJUDGED, {"teams": sorted(waiting)}) if waiting else ()
        self._unjudged = Counter({str(team_id): count for team_id, count in unjudged})
        self._of_teams = Counter[tuple[str, str]]()
        for contest_id in {claim.contest_id for claim, most in own if most.team_bytes is not None}:
            teams = {claim.team_id for claim, _ in own if claim.contest_id == contest_id}
            sizes = connection.execute(BYTES, {"contest_id": contest_id, "teams": sorted(teams)})
            self._of_teams.update({(contest_id, str(team_id)): int(size) for team_id, size in sizes})
        totals = {claim.contest_id: most.generation for claim, most in own if most.contest_bytes is not None}
        self._totals = Counter({each: _total(connection, each, totals[each]) for each in totals})

    def refusal(self, claim: Claim) -> LimitReached | None:
        """Say which limit refuses a submission; None if it may be accepted."""
        if limited(claim.limits):
            used = quota(claim.limits, self._times[claim.place], claim.time)
            if not used.allows(claim.time):
                return LimitReached(why_not(claim.limits, used, claim.time), None if used.exhausted else used.next)
        return None if claim.allowance is None else self._beyond(claim, claim.allowance)

    def add(self, claim: Claim) -> None:
        """Count a submission that is accepted."""
        if limited(claim.limits):
            self._times[claim.place].append(claim.time)
        self._unjudged[claim.team_id] += 1
        self._of_teams[claim.contest_id, claim.team_id] += claim.size
        self._totals[claim.contest_id] += claim.size

    def _beyond(self, claim: Claim, most: Allowance) -> LimitReached | None:
        if most.unjudged is not None and self._unjudged[claim.team_id] >= most.unjudged:
            many = N_("your team has %(most)s submissions that are not judged yet: send the next ones later")
            return LimitReached(Message(many, most=most.unjudged), claim.time + timedelta(seconds=1))
        used = self._of_teams[claim.contest_id, claim.team_id]
        if most.team_bytes is not None and used + claim.size > most.team_bytes:
            of_team = N_(
                "expected at most %(most)s bytes of a team in contest %(contest)s, found %(used)s already and "
                "%(size)s in this submission"
            )
            values = {"most": most.team_bytes, "contest": claim.contest_id, "used": used, "size": claim.size}
            return LimitReached(Message(of_team, **values), None, too_large=True)
        if most.contest_bytes is not None and self._totals[claim.contest_id] + claim.size > most.contest_bytes:
            # The bytes used stay unsaid: teams could tell from them what hidden teams send.
            of_all = N_(
                "expected at most %(most)s bytes of all teams together in contest %(contest)s, found "
                "more with the %(size)s of this submission"
            )
            values = {"most": most.contest_bytes, "contest": claim.contest_id, "size": claim.size}
            return LimitReached(Message(of_all, **values), None, too_large=True)
        return None


def bytes_used(session: Connection | Session, contest_id: str, team_id: str | None = None) -> int:
    """The bytes of all answers and sources of a contest's submissions, or of one team's to it, as they were sent."""
    query = select(func.sum(SubmissionRow.size)).where(SubmissionRow.contest_id == contest_id)
    if team_id is not None:
        query = query.where(SubmissionRow.team_id == team_id)
    return int(session.execute(query).scalar() or 0)


def counted_times(
    connection: Connection | Session, contest_id: str, team_id: str, problem_id: str, latest: int | None = None
) -> list[datetime]:
    """Times of a team's own submissions to a problem, in order; those the judge failed on count against no one.

    `latest`: only so many, the latest ones, found by their ids, so that a team with many costs no more than others.
    """
    failed = exists().where(
        JudgementRow.submission_id == SubmissionRow.id,
        JudgementRow.current.is_(True),
        JudgementRow.state == DONE,
        JudgementRow.type == JudgementType.JE.value,
    )
    query = (
        select(SubmissionRow.time)
        .join(AccountRow, (AccountRow.id == SubmissionRow.account_id) & (AccountRow.team_id == SubmissionRow.team_id))
        .where(
            SubmissionRow.contest_id == contest_id,
            SubmissionRow.team_id == team_id,
            SubmissionRow.problem_id == problem_id,
            ~failed,
        )
        .order_by(SubmissionRow.id.desc())
        .limit(latest)
    )
    return sorted(connection.execute(query).scalars())


def why_not(limits: SubmissionLimits, used: Quota, now: datetime) -> Message:
    """Say which limit refuses another submission."""
    if used.exhausted:
        exhausted = N_("expected at most %(most)s submissions to this problem, found %(used)s already")
        return Message(exhausted, most=limits.max_submissions, used=used.used)
    assert used.next is not None, "else it would have been allowed"
    intervals = N_("expected at least %(interval)s s between two submissions to this problem")
    rates = N_("expected at most %(count)s submissions in any %(window)s s to this problem")
    both = N_(
        "expected at least %(interval)s s between two submissions and at most %(count)s submissions in any "
        "%(window)s s to this problem"
    )
    window = limits.per_window
    limit = Message(
        rates if limits.interval_seconds is None else intervals if window is None else both,
        interval=limits.interval_seconds,
        count=None if window is None else window.count,
        window=None if window is None else window.seconds,
    )
    left = max(1, ceil((used.next - now).total_seconds()))
    return Message(N_("%(limit)s: your team may submit again in %(seconds)s s"), limit=limit, seconds=left)


# Built once: building them takes as long as running them, for each batch of the writer (guarantee 6).
TEAMS: BindParameter[str] = bindparam("teams", expanding=True)
CONTEST = SubmissionRow.contest_id == bindparam("contest_id")
UNJUDGED = (
    select(JudgementRow.team_id, func.count())  # the index of those that wait has all it takes
    .where(JudgementRow.team_id.in_(TEAMS), WAITING, JudgementRow.rejudging_id.is_(None))
    .group_by(JudgementRow.team_id)
)
BYTES = (
    select(SubmissionRow.team_id, func.sum(SubmissionRow.size))
    .where(CONTEST, SubmissionRow.team_id.in_(TEAMS))
    .group_by(SubmissionRow.team_id)
)
BYTES_SINCE = select(func.max(SubmissionRow.id), func.sum(SubmissionRow.size)).where(
    CONTEST, SubmissionRow.id > bindparam("last")
)


class _Counted(NamedTuple):
    """Bytes of a contest's submissions up to one of them, as counted in a generation."""

    generation: int
    submission_id: int = 0
    size: int = 0


def _total(connection: Connection, contest_id: str, generation: int) -> int:
    """The bytes of a contest, where only the submissions are read that were stored since this connection counted.

    A total of 100,000 rows would cost each submission 10 ms (guarantee 6). Nothing may read it after it has inserted
    submissions that may be rolled back. Of several servers that take the last bytes at once, each may take some.
    """
    memory: dict[str, _Counted] = connection.info.setdefault(COUNTED, {})
    known = memory.get(contest_id)
    if known is None or known.generation != generation:
        known = _Counted(generation)
    last, size = connection.execute(BYTES_SINCE, {"contest_id": contest_id, "last": known.submission_id}).one()
    if last is not None:
        known = _Counted(generation, last, known.size + int(size))
    memory[contest_id] = known
    return known.size
