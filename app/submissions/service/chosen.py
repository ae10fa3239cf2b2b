"""The submission a team wants to be judged by after the end, in place of its last or best one.

- The inputs of final cases, where each team asks for them and has so many minutes from then on.
- Quota of a team at a problem: submissions left, and the time of the next one.
"""

from datetime import datetime

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.contests.schemas import Limits
from app.contests.service.changes import why_not_running
from app.contests.service.visibility import is_official, is_own, the_problem
from app.core import bodies, clics
from app.core.clock import utc_now
from app.core.messages import N_, BadRequest, Conflict, Forbidden
from app.core.service import Service
from app.domain import contests, participation
from app.games import queries as games_queries
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries
from app.submissions.queries.usage import bytes_used, counted_times


class ChosenBody(bodies.Body):
    """The submission that shall count."""

    submission_id: bodies.Line


class Chosen(BaseModel):
    """The submission a team has chosen at a problem; null: the one the contest's rule takes."""

    problem_id: str
    submission_id: str | None
    time: str | None


def choose(
    service: Service, viewer: Viewer, snapshot: ContestSnapshot, problem_id: str, asked: ChosenBody | None
) -> Chosen:
    """Store a team's choice (None: the contest's rule decides), durable when this returns; raises why it may not."""
    the_problem(snapshot, problem_id)
    _check_may_choose(viewer, snapshot)
    submission_id = None if asked is None else _own_submission(service, viewer, snapshot, problem_id, asked)
    assert viewer.team_id is not None, "see rights.TABLE"
    with service.database.write(quiet=True) as session:
        contests_queries.choose(session, (snapshot.contest.id, viewer.team_id, problem_id), submission_id, utc_now())
    service.boards.changed(snapshot.contest.id)
    with service.database.read() as session:
        return _view(session, viewer, snapshot, problem_id)


def chosen(viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str) -> Chosen:
    """The choice of the viewer's team at a problem; raises NotFound for a problem it does not see."""
    the_problem(snapshot, problem_id)
    return _view(session, viewer, snapshot, problem_id)


def _check_may_choose(viewer: Viewer, snapshot: ContestSnapshot) -> None:
    """Raise Forbidden or Conflict where the viewer may not choose now."""
    contest = snapshot.contest
    _own_team(viewer, snapshot)
    if not contest.settings.choose:
        raise Conflict(N_("teams do not choose submissions in this contest"))
    if contest.own_clock(viewer.team_id).ended(utc_now()) or contest.clock.ended(utc_now()):
        raise Forbidden(N_("the contest is over: what was chosen stays"))


def _own_team(viewer: Viewer, snapshot: ContestSnapshot) -> str:
    """The viewer's team; raises Forbidden where it takes no part."""
    if viewer.team_id is None or not any(team.id == viewer.team_id for team in snapshot.contest.teams):
        raise Forbidden(N_("your team does not take part in contest %(contest)s"), contest=snapshot.contest.id)
    return viewer.team_id


def _own_submission(
    service: Service, viewer: Viewer, snapshot: ContestSnapshot, problem_id: str, asked: ChosenBody
) -> int:
    """The number of the submission to choose; raises BadRequest unless it is the team's own to this problem."""
    with service.database.read() as session:
        row = submission_queries.submission(session, snapshot.contest.id, asked.submission_id)
    if row is None or not is_own(viewer, row) or row.problem_id != problem_id or not is_official(snapshot, row):
        raise BadRequest(
            N_("expected a submission of your team to problem %(problem)r, found %(found)r"),
            where="submission_id",
            problem=problem_id,
            found=asked.submission_id,
        )
    return row.id


def _view(session: Session, viewer: Viewer, snapshot: ContestSnapshot, problem_id: str) -> Chosen:
    row = contests_queries.choice(session, snapshot.contest.id, viewer.team_id or "", problem_id)
    shown = {} if row is None else submission_queries.shown_ids(session, {row.submission_id})
    return Chosen(
        problem_id=problem_id,
        submission_id=None if row is None else shown[row.submission_id],
        time=clics.format_time_or_none(None if row is None else row.time),
    )


class FinalInputs(BaseModel):
    """The time at which a team asked for a problem's final inputs, its deadline, and their address."""

    problem_id: str
    time: str | None
    deadline: str | None
    open: bool
    href: str | None


def final_inputs(viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str) -> FinalInputs:
    """The timer of the viewer's team at a problem, unset before the team has asked."""
    the_problem(snapshot, problem_id)
    asked = contests_queries.asked(session, snapshot.contest.id, viewer.team_id or "", problem_id)
    return _view_of_final_inputs(snapshot, problem_id, asked)


def ask(service: Service, viewer: Viewer, snapshot: ContestSnapshot, problem_id: str) -> tuple[FinalInputs, bool]:
    """Start the timer of the viewer's team, once; returns it, and whether it is new.

    Raises Forbidden or Conflict where it may not ask now.
    """
    problem = the_problem(snapshot, problem_id)
    place, now = (snapshot.contest.id, _own_team(viewer, snapshot), problem_id), utc_now()
    asked, is_new = _asked(service, place), False
    if asked is None:
        _check_may_ask(service, snapshot, problem, now)
        with service.database.write(quiet=True) as session:
            is_new = contests_queries.ask(session, place, now)
        asked = _asked(service, place)
    return _view_of_final_inputs(snapshot, problem_id, asked), is_new


def _asked(service: Service, place: contests_queries.Place) -> datetime | None:
    with service.database.read() as session:
        return contests_queries.asked(session, *place)


def _check_may_ask(service: Service, snapshot: ContestSnapshot, problem: contests.ScoredProblem, now: datetime) -> None:
    """Raise Conflict where there is nothing to ask for now."""
    contest = snapshot.contest
    if contest.finals.window is None:
        raise Conflict(N_("teams cannot ask for final inputs in this contest"))
    if not contest.clock.running(now):
        raise Conflict(N_("final inputs are not available: %(reason)s"), reason=why_not_running(contest.clock, now))
    judges = service.boards.snapshot(contest.id, public=False)
    whole = None if judges is None else judges.contest.problem(problem.id)
    if whole is None or not whole.final_cases:
        raise Conflict(N_("problem %(problem)r has no final inputs"), problem=problem.id)


def _view_of_final_inputs(snapshot: ContestSnapshot, problem_id: str, asked: datetime | None) -> FinalInputs:
    now = utc_now()
    contest = snapshot.contest
    deadline = contest.finals.deadline(contest.clock, asked)
    shown = contest.finals.shown(contest.clock, now, asked)
    return FinalInputs(
        problem_id=problem_id,
        time=None if asked is None else clics.format_time(asked),
        deadline=clics.format_time_or_none(deadline),
        open=contest.clock.running(now) and contest.finals.taken(contest.clock, now, asked),
        href=f"contests/{contest.id}/problems/{problem_id}/inputs.zip" if shown else None,
    )


class QuotaView(BaseModel):
    """The limits, how many submissions count against them, how many are left and when the next one is taken.

    A game that is open counts already.

    `bytes_used` are those of the team's answers and sources in the whole contest, `bytes_limit` what there may be
    (null: any number). `left` null: there is no limit to their number. `next_allowed` null: at
    once, or (where none is left) never.
    """

    problem_id: str
    team_id: str
    limits: Limits
    used: int
    left: int | None
    next_allowed: str | None
    bytes_used: int
    bytes_limit: int | None


def quota_of(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str, team_id: str | None
) -> QuotaView:
    """The quota of the viewer's team, or for judges of the team they name, at a problem; raises why it is not shown."""
    the_problem(snapshot, problem_id)
    contest, team = snapshot.contest, _team(viewer, snapshot, team_id)
    entry = contests_queries.entry(session, contest.id, problem_id)
    assert entry is not None, "it is one of the contest's problems"
    limits = entry.limits.over(contest.settings.limits)
    times = [
        *counted_times(session, contest.id, team, problem_id),
        *games_queries.open_starts(session, contest.id, team, problem_id),
    ]
    used = participation.quota(limits, times, utc_now())
    return QuotaView(
        problem_id=problem_id,
        team_id=team,
        limits=limits,
        used=used.used,
        left=used.left,
        next_allowed=None if used.exhausted else clics.format_time_or_none(used.next),
        bytes_used=bytes_used(session, contest.id, team),
        bytes_limit=contest.settings.team_bytes,
    )


def _team(viewer: Viewer, snapshot: ContestSnapshot, team_id: str | None) -> str:
    if not viewer.sees_all and (viewer.team_id is None or team_id not in {None, viewer.team_id}):
        raise Forbidden(N_("only the team itself and judges may see this"))
    team = viewer.team_id if team_id is None else team_id
    if team is None:
        raise BadRequest(
            N_("expected the team whose quota to show, found none: this account has no team"), where="team_id"
        )
    if not any(each.id == team for each in snapshot.contest.teams):
        raise BadRequest(
            N_("expected a team of contest %(contest)s, found %(found)r"),
            where="team_id",
            contest=snapshot.contest.id,
            found=team,
        )
    return team
