"""The submission a team wants to be judged by after the end, in place of its last or best one."""

from __future__ import annotations

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.domain.clock import utc_now
from app.grading.scoreboard_cache import ContestSnapshot
from app.service import Service
from app.services.bodies import Body, Line
from app.services.clics import format_time_or_none
from app.services.errors import Conflict, Forbidden
from app.services.viewer import Viewer
from app.storage import participations, submission_queries
from app.storage.participations import Choosing


class ChosenBody(Body):
    """Which submission shall count."""

    submission_id: Line


class Chosen(BaseModel):
    """The submission a team has chosen at a problem; null: the one the contest's rule takes."""

    problem_id: str
    submission_id: str | None
    time: str | None


def may_choose(viewer: Viewer, snapshot: ContestSnapshot) -> None:
    """Raise Forbidden or Conflict where the viewer may not choose now."""
    contest = snapshot.contest
    if not any(team.id == viewer.team_id for team in contest.teams):
        raise Forbidden(f"your team does not take part in contest {contest.id}")
    if not contest.settings.choose:
        raise Conflict("teams do not choose submissions in this contest")
    if contest.own_clock(viewer.team_id).ended(utc_now()) or contest.clock.ended(utc_now()):
        raise Forbidden("the contest is over: what was chosen stays")


def write(
    service: Service, viewer: Viewer, snapshot: ContestSnapshot, problem_id: str, submission_id: int | None
) -> Chosen:
    """Store a team's choice, durable before this returns."""
    assert viewer.team_id is not None, "see TeamOnly"
    choosing = Choosing(snapshot.contest.id, viewer.team_id, problem_id, submission_id, utc_now())
    service.writer.submit(participations.choose, choosing).result()
    service.boards.changed(snapshot.contest.id)
    with service.database.read() as session:
        return view(session, viewer, snapshot, problem_id)


def view(session: Session, viewer: Viewer, snapshot: ContestSnapshot, problem_id: str) -> Chosen:
    """A team's choice at a problem."""
    row = participations.choice(session, snapshot.contest.id, viewer.team_id or "", problem_id)
    shown = {} if row is None else submission_queries.shown_ids(session, {row.submission_id})
    return Chosen(
        problem_id=problem_id,
        submission_id=None if row is None else shown[row.submission_id],
        time=format_time_or_none(None if row is None else row.time),
    )
