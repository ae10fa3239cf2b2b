"""The inputs of final cases, where each team asks for them and has so many minutes from then on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.queries import participations
from app.contests.queries.participations import Place
from app.contests.service.changes import why_not_running
from app.contests.service.visibility import the_problem
from app.core.clics import format_time, format_time_or_none
from app.core.clock import utc_now
from app.core.errors import Conflict, Forbidden
from app.core.messages import N_
from app.core.service import Service
from app.domain.contests import ScoredProblem
from app.scoreboard.queries.contest_snapshot import ContestSnapshot


class FinalInputs(BaseModel):
    """The time at which a team asked for a problem's final inputs, its deadline, and their address."""

    problem_id: str
    time: str | None
    deadline: str | None
    open: bool
    href: str | None


@dataclass(frozen=True, slots=True)
class Started:
    """The timer of a team that asks for final inputs; `is_new` False: it ran already."""

    inputs: FinalInputs
    is_new: bool


def final_inputs(viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem_id: str) -> FinalInputs:
    """The timer of the viewer's team at a problem, unset before the team has asked."""
    the_problem(snapshot, problem_id)
    asked = participations.asked(session, snapshot.contest.id, viewer.team_id or "", problem_id)
    return _view(snapshot, problem_id, asked)


def ask(service: Service, viewer: Viewer, snapshot: ContestSnapshot, problem_id: str) -> Started:
    """Start the timer of the viewer's team, once; raises Forbidden or Conflict where it may not ask now."""
    problem = the_problem(snapshot, problem_id)
    place, now = (snapshot.contest.id, _asking_team(viewer, snapshot), problem_id), utc_now()
    asked, is_new = _asked(service, place), False
    if asked is None:
        _check_may_ask(service, snapshot, problem, now)
        is_new = bool(service.writer.submit(participations.ask, (place, now)).result())
        asked = _asked(service, place)
    return Started(_view(snapshot, problem_id, asked), is_new)


def _asked(service: Service, place: Place) -> datetime | None:
    with service.database.read() as session:
        return participations.asked(session, *place)


def _check_may_ask(service: Service, snapshot: ContestSnapshot, problem: ScoredProblem, now: datetime) -> None:
    """Raise Conflict where there is nothing to ask for now."""
    contest = snapshot.contest
    if contest.finals.window is None:
        raise Conflict(N_("teams cannot ask for final inputs in this contest"))
    if not contest.clock.running(now):
        raise Conflict(N_("final inputs are not given out: %(reason)s"), reason=why_not_running(contest.clock, now))
    judges = service.boards.snapshot(contest.id, public=False)
    whole = None if judges is None else judges.contest.problem(problem.id)
    if whole is None or not whole.final_cases:
        raise Conflict(N_("problem %(problem)r has no final inputs"), problem=problem.id)


def _view(snapshot: ContestSnapshot, problem_id: str, asked: datetime | None) -> FinalInputs:
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


def _asking_team(viewer: Viewer, snapshot: ContestSnapshot) -> str:
    """The viewer's team; raises Forbidden where it takes no part."""
    if viewer.team_id is None or not any(team.id == viewer.team_id for team in snapshot.contest.teams):
        raise Forbidden(N_("your team does not take part in contest %(contest)s"), contest=snapshot.contest.id)
    return viewer.team_id
