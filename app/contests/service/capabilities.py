"""Capabilities of an account in a contest, as the CLICS Contest API calls them.

- A team's part in a contest: whose clock it goes by, and whether it is disqualified.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.contests.schemas import ContestSettings
from app.contests.service.changes import why_not_running
from app.core import bodies, clics, clock
from app.core.messages import N_, Conflict, Forbidden, Message, NotFound, Unauthorized, did_you_mean
from app.core.service import Service
from app.domain.participation import Participation, ParticipationKind, own_clock
from app.tables import ContestRow
from app.teams import queries as teams_queries

if TYPE_CHECKING:
    from app.scoreboard.queries.contest_snapshot import ContestSnapshot

OF_ADMINS = (
    "contest_start",
    "contest_thaw",
    "proxy_submit",
    "admin_submit",
    "post_clar",
    "proxy_clar",
    "admin_clar",
    "post_comment",
)
OF_JUDGES = ("post_clar", "admin_clar")
OF_ANALYSTS = ("post_comment",)
OF_PROXIES = ("proxy_submit", "proxy_clar")
OF_TEAMS = ("team_submit", "post_clar")


def capabilities(viewer: Viewer, settings: ContestSettings, *, takes_part: bool) -> tuple[str, ...]:
    """The viewer's capabilities; `settings` are the contest's, which may let its staff act for teams."""
    if viewer.manages:
        return OF_ADMINS
    if viewer.role == "judge":
        return OF_JUDGES
    if viewer.role == "team":
        return OF_TEAMS if takes_part else ()
    if viewer.account_type == "analyst":
        return OF_ANALYSTS
    if viewer.account_type == "staff" and settings.staff_act_for_teams:
        return OF_PROXIES
    return ()


def need(viewer: Viewer, allowed: tuple[str, ...], *wanted: str) -> None:
    """Raise Unauthorized or Forbidden where the viewer has none of the capabilities wanted."""
    if not viewer.logged_in:
        raise Unauthorized(N_("log in to do this"))
    if not set(wanted) & set(allowed):
        raise Forbidden(N_("this needs one of the capabilities %(names)s"), names=", ".join(wanted))


class ParticipationBody(bodies.Body):
    """The kind of clock that a team starts."""

    kind: Literal["virtual", "personal"]


class ParticipationView(BaseModel):
    """The clock by which a team takes part, and its times; null where the start or the end is still unknown."""

    team_id: str
    kind: ParticipationKind
    start_time: str | None
    end_time: str | None
    contest_time: str
    running: bool


def participation(session: Session, viewer: Viewer, contest_id: str) -> ParticipationView:
    """The clock of the viewer's team: the contest's, unless it has its own. Raises Forbidden or NotFound."""
    row = contests_queries.contest_of(session, contest_id)
    team_id = _taking_part(session, row, viewer.team_id)
    return _view(session, row, team_id)


def begin(service: Service, viewer: Viewer, contest_id: str, body: ParticipationBody) -> tuple[ParticipationView, bool]:
    """Start the own clock of the viewer's team, once; durable when this returns. Raises Conflict where it cannot start.

    Returns the clock as it runs, and whether it is new.
    """
    now, kind = clock.utc_now(), ParticipationKind(body.kind)
    with service.database.read() as session:
        row = contests_queries.contest_of(session, contest_id)
        team_id = _taking_part(session, row, viewer.team_id)
        running = contests_queries.participation(session, contest_id, team_id)
        if running is None:
            _check_start(session, row, team_id, kind, now)
    if running is not None and running.kind is not kind:
        virtual, personal = N_("your team's virtual clock runs already"), N_("your team's personal clock runs already")
        raise Conflict(virtual if running.kind is ParticipationKind.VIRTUAL else personal)
    with service.database.write(quiet=True) as session:
        # Of two requests at once one starts the clock, and the other finds it running.
        is_new = running is None and contests_queries.begin(session, contest_id, team_id, Participation(kind, now))
        shown = _view(session, row, team_id)
    service.boards.changed(contest_id)
    return shown, is_new


def _view(session: Session, row: ContestRow, team_id: str) -> ParticipationView:
    """Show a team's clock."""
    own = contests_queries.participation(session, row.id, team_id)
    extra = contests_queries.extra_time(session, row.id, team_id)
    now = clock.utc_now()
    times = own_clock(contests_queries.clock(row), row.settings.personal_duration, own, extra)
    return ParticipationView(
        team_id=team_id,
        kind=ParticipationKind.OFFICIAL if own is None else own.kind,
        start_time=clics.format_time_or_none(times.start),
        end_time=clics.format_time_or_none(times.end),
        contest_time=clics.format_reltime(times.contest_time(now)),
        running=times.running(now),
    )


def _taking_part(session: Session, row: ContestRow, team_id: str | None) -> str:
    """The viewer's team; raises Forbidden where it takes no part in the contest."""
    if team_id is None or not teams_queries.takes_part(session, row, team_id):
        raise Forbidden(N_("your team does not take part in contest %(contest)s"), contest=row.id)
    return team_id


def _check_start(session: Session, row: ContestRow, team_id: str, kind: ParticipationKind, now: datetime) -> None:
    """Raise Conflict where such a clock cannot be started now."""
    times = contests_queries.clock(row)
    if kind is ParticipationKind.PERSONAL:
        if row.settings.personal_duration is None:
            raise Conflict(N_("the contest has one clock for all teams"))
        if not times.running(now):
            raise Conflict(N_("your team's own clock cannot start: %(reason)s"), reason=why_not_running(times, now))
        return
    if not row.settings.virtual:
        raise Conflict(N_("the contest takes no virtual teams"))
    if not times.decided(now):
        raise Conflict(N_("virtual teams may start once the contest has ended and its results are seen"))
    if count := contests_queries.submission_count(session, row.id, team_id=team_id):
        raise Conflict(N_("your team has %(count)s submissions in this contest already"), count=count)


def called(name: str, labels: Mapping[str, str]) -> str | None:
    """The id of the problem that a name stands for, given the labels by id.

    An id comes before a label, and a label as written before one in other letters; None where two would do.
    """
    if name in labels:
        return name
    same = [id_ for id_, label in labels.items() if label == name]
    alike = same or [id_ for id_, label in labels.items() if label.lower() == name.lower()]
    return alike[0] if len(alike) == 1 else None


def problem_called(snapshot: ContestSnapshot, name: str) -> str:
    """The id of the problem that a name stands for; the name itself where it stands for none that is shown."""
    labels = {problem.id: snapshot.contest.labels[problem.id] for problem in snapshot.problems}
    return called(name, labels) or name


def no_problem(snapshot: ContestSnapshot, name: str) -> NotFound:
    """The refusal of a name that stands for no problem that is shown, with the nearest one."""
    known = [problem.id for problem in snapshot.problems]
    return NotFound(
        did_you_mean(
            Message(N_("no problem %(problem)r in contest %(contest)r"), problem=name, contest=snapshot.contest.id),
            name,
            known,
        )
    )
