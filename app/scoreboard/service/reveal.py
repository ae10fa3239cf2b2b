"""Opening a frozen board row by row after the end, as the jury tells how the contest ended."""

from __future__ import annotations

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.contests.service.contests import contest_of
from app.core.bodies import Body
from app.core.clics import format_time_or_none
from app.core.clock import utc_now
from app.core.errors import Conflict
from app.core.messages import N_
from app.core.service import Service
from app.domain.reveal import Pending, Place, Step, opened, pending
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.tables import ContestRow


class RevealBody(Body):
    """The extent of a step: a place, a team, or all."""

    step: Step = Field(
        Step.CELL, strict=False, description="the next problem, all problems of the next team, or everything"
    )


class Next(BaseModel):
    """The lowest team of which something is hidden, its rank by now, and its hidden problems in order.

    Its rank is null where the board is one group's, and the team not in it.
    """

    team_id: str
    rank: int | None
    problem_ids: list[str]


class Opened(BaseModel):
    """A team at a problem that everybody may see now."""

    team_id: str
    problem_id: str


class RevealView(BaseModel):
    """The places opened by this step, the next ones, the number of those left, and the time of the thaw."""

    opened: list[Opened]
    next: Next | None
    left: int
    thawed: str | None


def next_step(session: Session, boards: ScoreboardCache, contest_id: str) -> RevealView:
    """The places that the next step opens, from the bottom of the board as everybody sees it; raises NotFound."""
    row = contest_of(session, contest_id)
    snapshot = boards.snapshot(contest_id, public=True)
    assert snapshot is not None, "it has a row"
    waiting = pending(snapshot.board, hidden_places(snapshot))
    thawed = row.thaw_time if row.thaw_time is not None and row.thaw_time <= utc_now() else None
    return RevealView(
        opened=[],
        next=_next(snapshot, waiting[0]) if waiting else None,
        left=len(opened(waiting, Step.ALL)),
        thawed=format_time_or_none(thawed),
    )


def reveal(service: Service, contest_id: str, step: Step) -> RevealView:
    """Open the places of one step, durable when this returns; raises Conflict where nothing may be opened now."""
    with service.database.write() as session:
        places = _open_places(session, service.boards, contest_of(session, contest_id, for_update=True), step)
    service.boards.changed(contest_id)
    with service.database.read() as session:
        view = next_step(session, service.boards, contest_id)
    view.opened = [Opened(team_id=team, problem_id=problem) for team, problem in places]
    return view


def _next(snapshot: ContestSnapshot, first: Pending) -> Next:
    """The team and the problems that the next step opens."""
    rank = next((row.rank for row in snapshot.main.rows if row.team.id == first.team_id), None)
    return Next(team_id=first.team_id, rank=rank, problem_ids=list(first.problem_ids))


def _open_places(session: Session, boards: ScoreboardCache, row: ContestRow, step: Step) -> list[Place]:
    """Open the places of one step; the contest thaws with the last of them."""
    waiting = _waiting(boards, row)
    places = opened(waiting, step)
    row.revealed = [*row.revealed, *([team_id, problem_id] for team_id, problem_id in places)]
    if len(places) == len(opened(waiting, Step.ALL)):
        row.thaw_time = utc_now()
    session.flush()
    return places


def _waiting(boards: ScoreboardCache, row: ContestRow) -> list[Pending]:
    """The hidden places; raises Conflict where nothing may be opened now."""
    # Read again now that nobody else can open anything: what was kept may be from before the last step.
    boards.changed(row.id)
    snapshot = boards.snapshot(row.id, public=True)
    assert snapshot is not None, "it has a row"
    if snapshot.state.ended is None:
        raise Conflict(N_("the contest has not ended"))
    if snapshot.freeze.until is None:
        raise Conflict(N_("the scoreboard is not frozen"))
    visible = {team.id for team in snapshot.contest.teams if team.counts}
    unjudged = [a for a in snapshot.official() if a.scores is None and a.team_id in visible]
    if unjudged:
        raise Conflict(N_("%(count)s submissions are still to be judged"), count=len(unjudged))
    return pending(snapshot.board, hidden_places(snapshot))


def hidden_places(snapshot: ContestSnapshot) -> set[Place]:
    """The places of which more will be seen: something sent after the freeze, or a submission chosen to count."""
    freeze, contest = snapshot.freeze, snapshot.contest
    if freeze.until is None:
        return set()
    sent = {(a.team_id, a.problem_id) for a in snapshot.official() if freeze.hides(a.team_id, a.problem_id, a.time)}
    return sent | {place for place in contest.chosen if place not in freeze.revealed}
