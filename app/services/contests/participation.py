"""A team's part in a contest: whose clock it goes by, and whether it is disqualified."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.domain.clock import utc_now
from app.domain.participation import Participation, ParticipationKind, own_clock
from app.domain.settings import read_settings
from app.services.bodies import Body
from app.services.clics import Id, format_reltime, format_time_or_none
from app.services.contests.changes import why_not_running
from app.services.errors import Conflict, Forbidden
from app.storage import contests, teams
from app.storage.scoring_input import clock
from app.storage.tables import ContestRow


class ParticipationBody(Body):
    """Which clock of its own a team starts."""

    kind: Literal["virtual", "personal"]


class ParticipationView(BaseModel):
    """By which clock a team takes part, and where that clock is: null where it has no start, or no end as yet."""

    team_id: str
    kind: ParticipationKind
    start_time: str | None
    end_time: str | None
    contest_time: str
    running: bool


class Disqualification(Body):
    """What a contest says of one team."""

    id: Id | None = None
    disqualified: bool


def view(row: ContestRow, team_id: str, found: Participation | None) -> ParticipationView:
    """Show a team's clock."""
    now = utc_now()
    times = own_clock(clock(row), read_settings(row.settings).personal_duration, found)
    return ParticipationView(
        team_id=team_id,
        kind=ParticipationKind.OFFICIAL if found is None else found.kind,
        start_time=format_time_or_none(times.start),
        end_time=format_time_or_none(times.end),
        contest_time=format_reltime(times.contest_time(now)),
        running=times.running(now),
    )


def taking_part(session: Session, row: ContestRow, team_id: str | None) -> str:
    """The viewer's team; raises Forbidden where it takes no part in the contest."""
    if team_id is None or not teams.takes_part(session, row, team_id):
        raise Forbidden(f"your team does not take part in contest {row.id}")
    return team_id


def may_begin(session: Session, row: ContestRow, team_id: str, kind: ParticipationKind, now: datetime) -> None:
    """Raise Conflict where such a clock cannot be started now."""
    times = clock(row)
    if kind is ParticipationKind.PERSONAL:
        if read_settings(row.settings).personal_duration is None:
            raise Conflict("the contest has one clock for all teams")
        if not times.running(now):
            raise Conflict(f"your team's own clock cannot start: {why_not_running(times, now)}")
        return
    if not read_settings(row.settings).virtual:
        raise Conflict("the contest takes no virtual teams")
    if not times.decided(now):
        raise Conflict("virtual teams may start once the contest has ended and its results are seen")
    if count := contests.submission_count(session, row.id, team_id=team_id):
        raise Conflict(f"your team has {count} submissions in this contest already")
