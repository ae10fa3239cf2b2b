"""HTTP routes: opening a frozen board row by row after the end, as the jury tells how the contest ended."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.http.deps import AdminOnly, JudgeOrAdmin, Reading, TheBoards, TheService
from app.api.http.gated import GatedRoute
from app.domain.clock import utc_now
from app.domain.reveal import Step, opened, pending
from app.services.clics import format_time_or_none
from app.services.contests.contests import contest_of
from app.services.scoreboard.reveal import Opened, RevealBody, RevealView, hidden, next_opened, open_place

router = APIRouter(route_class=GatedRoute, tags=["scoreboard"])


@router.get("/contests/{contest_id}/reveal", summary="What the next step opens")
def get_reveal(_viewer: JudgeOrAdmin, session: Reading, boards: TheBoards, contest_id: str) -> RevealView:
    """For judges: the order is that of the board as everybody sees it, from the bottom."""
    row = contest_of(session, contest_id)
    snapshot = boards.snapshot(contest_id, public=True)
    assert snapshot is not None, "it has a row"
    waiting = pending(snapshot.board, hidden(snapshot))
    thawed = row.thaw_time if row.thaw_time is not None and row.thaw_time <= utc_now() else None
    return RevealView(
        opened=[],
        next=next_opened(snapshot, waiting[0]) if waiting else None,
        left=len(opened(waiting, Step.ALL)),
        thawed=format_time_or_none(thawed),
    )


@router.post("/contests/{contest_id}/reveal", summary="Open the next place of a frozen board")
def reveal_places(viewer: AdminOnly, service: TheService, contest_id: str, body: RevealBody) -> RevealView:
    """From the bottom up, after the end. With the last place the board is thawed."""
    with service.database.write() as session:
        found = open_place(session, service.boards, contest_of(session, contest_id, for_update=True), body.step)
    service.boards.changed(contest_id)
    with service.database.read() as session:
        view = get_reveal(viewer, session, service.boards, contest_id)
    return view.model_copy(update={"opened": [Opened(team_id=team, problem_id=problem) for team, problem in found]})
