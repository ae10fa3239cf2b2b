"""The inputs of final cases, where each team asks for them and has so many minutes from then on."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from app.domain.clock import utc_now
from app.grading.scoreboard_cache import ContestSnapshot
from app.services.clics import format_time, format_time_or_none
from app.services.errors import Forbidden
from app.services.viewer import Viewer


class FinalInputs(BaseModel):
    """When a team asked for the final inputs of a problem, until when it may answer, and where they are."""

    problem_id: str
    time: str | None
    deadline: str | None
    open: bool
    href: str | None


def view(snapshot: ContestSnapshot, problem_id: str, asked: datetime | None) -> FinalInputs:
    """Show a team's timer."""
    now = utc_now()
    contest = snapshot.contest
    deadline = contest.finals.deadline(contest.clock, asked)
    shown = contest.finals.shown(contest.clock, now, asked)
    return FinalInputs(
        problem_id=problem_id,
        time=None if asked is None else format_time(asked),
        deadline=format_time_or_none(deadline),
        open=contest.clock.running(now) and contest.finals.taken(contest.clock, now, asked),
        href=f"contests/{contest.id}/problems/{problem_id}/inputs.zip" if shown else None,
    )


def asking_team(viewer: Viewer, snapshot: ContestSnapshot) -> str:
    """The viewer's team; raises Forbidden where it takes no part."""
    if viewer.team_id is None or not any(team.id == viewer.team_id for team in snapshot.contest.teams):
        raise Forbidden(f"your team does not take part in contest {snapshot.contest.id}")
    return viewer.team_id
