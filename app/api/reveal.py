"""Opening a frozen board row by row after the end, as the jury tells how the contest ended."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.api.bodies import Body
from app.api.clics import format_time_or_none
from app.api.contests import contest_of
from app.api.deps import AdminOnly, JudgeOrAdmin, Reading, TheBoards, TheService
from app.api.errors import Conflict
from app.api.gated import GatedRoute
from app.domain.clock import utc_now
from app.domain.reveal import Pending, Place, Step, opened, pending
from app.grading.boards import Boards, Standing
from app.storage.tables import ContestRow

router = APIRouter(route_class=GatedRoute, tags=["scoreboard"])


class RevealBody(Body):
    """How much is opened."""

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
    """What was opened by this step, what comes next, how many places are left, and when the board was thawed."""

    opened: list[Opened]
    next: Next | None
    left: int
    thawed: str | None


@router.get("/contests/{contest_id}/reveal", summary="What the next step opens")
def get_reveal(_viewer: JudgeOrAdmin, session: Reading, boards: TheBoards, contest_id: str) -> RevealView:
    """For judges: the order is that of the board as everybody sees it, from the bottom."""
    row = contest_of(session, contest_id)
    standing = boards.standing(contest_id, public=True)
    assert standing is not None, "it has a row"
    waiting = pending(standing.board, _hidden(standing))
    thawed = row.thaw_time if row.thaw_time is not None and row.thaw_time <= utc_now() else None
    return RevealView(
        opened=[],
        next=_next(standing, waiting[0]) if waiting else None,
        left=len(opened(waiting, Step.ALL)),
        thawed=format_time_or_none(thawed),
    )


def _next(standing: Standing, first: Pending) -> Next:
    rank = next((row.rank for row in standing.main.rows if row.team.id == first.team_id), None)
    return Next(team_id=first.team_id, rank=rank, problem_ids=list(first.problem_ids))


@router.post("/contests/{contest_id}/reveal", summary="Open the next place of a frozen board")
def reveal_places(viewer: AdminOnly, service: TheService, contest_id: str, body: RevealBody) -> RevealView:
    """From the bottom up, after the end. With the last place the board is thawed."""
    with service.database.write() as session:
        found = _open(session, service.boards, contest_of(session, contest_id, for_update=True), body.step)
    service.boards.changed(contest_id)
    with service.database.read() as session:
        view = get_reveal(viewer, session, service.boards, contest_id)
    return view.model_copy(update={"opened": [Opened(team_id=team, problem_id=problem) for team, problem in found]})


def _open(session: Session, boards: Boards, row: ContestRow, step: Step) -> list[Place]:
    waiting = _waiting(boards, row)
    found = opened(waiting, step)
    row.revealed = [*row.revealed, *([team_id, problem_id] for team_id, problem_id in found)]
    if len(found) == len(opened(waiting, Step.ALL)):
        row.thaw_time = utc_now()
    session.flush()
    return found


def _waiting(boards: Boards, row: ContestRow) -> list[Pending]:
    """What is still hidden; raises Conflict where nothing may be opened now."""
    # Read again now that nobody else can open anything: what was kept may be from before the last step.
    boards.changed(row.id)
    standing = boards.standing(row.id, public=True)
    assert standing is not None, "it has a row"
    if standing.state.ended is None:
        raise Conflict("the contest has not ended")
    if standing.curtain.until is None:
        raise Conflict("the scoreboard is not frozen")
    visible = {team.id for team in standing.contest.teams if team.counts}
    unjudged = [a for a in standing.official() if a.scores is None and a.team_id in visible]
    if unjudged:
        raise Conflict(f"{len(unjudged)} submissions are still to be judged")
    return pending(standing.board, _hidden(standing))


def _hidden(standing: Standing) -> set[Place]:
    """The places of which more will be seen: something sent after the freeze, or a submission chosen to count."""
    curtain, contest = standing.curtain, standing.contest
    if curtain.until is None:
        return set()
    sent = {(a.team_id, a.problem_id) for a in standing.official() if curtain.hides(a.team_id, a.problem_id, a.time)}
    return sent | {place for place in contest.chosen if place not in curtain.revealed}
