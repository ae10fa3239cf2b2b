"""The submission a team wants to be judged by after the end, in place of its last or best one."""

from __future__ import annotations

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.queries import participations
from app.contests.queries.participations import Choosing
from app.contests.service.visibility import is_official, is_own, the_problem
from app.core.bodies import Body, Line
from app.core.clics import format_time_or_none
from app.core.clock import utc_now
from app.core.errors import BadRequest, Conflict, Forbidden
from app.core.messages import N_
from app.core.service import Service
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries


class ChosenBody(Body):
    """The submission that shall count."""

    submission_id: Line


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
    choosing = Choosing((snapshot.contest.id, viewer.team_id, problem_id), submission_id, utc_now())
    service.writer.submit(participations.choose, choosing).result()
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
    if not any(team.id == viewer.team_id for team in contest.teams):
        raise Forbidden(N_("your team does not take part in contest %(contest)s"), contest=contest.id)
    if not contest.settings.choose:
        raise Conflict(N_("teams do not choose submissions in this contest"))
    if contest.own_clock(viewer.team_id).ended(utc_now()) or contest.clock.ended(utc_now()):
        raise Forbidden(N_("the contest is over: what was chosen stays"))


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
    row = participations.choice(session, snapshot.contest.id, viewer.team_id or "", problem_id)
    shown = {} if row is None else submission_queries.shown_ids(session, {row.submission_id})
    return Chosen(
        problem_id=problem_id,
        submission_id=None if row is None else shown[row.submission_id],
        time=format_time_or_none(None if row is None else row.time),
    )
