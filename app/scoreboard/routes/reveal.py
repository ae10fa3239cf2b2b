"""HTTP routes: opening a frozen board row by row after the end, as the jury tells how the contest ended."""

from __future__ import annotations

from fastapi import APIRouter

from app.core.http.deps import CurrentViewer, Reading, TheBoards, TheService
from app.core.http.gated import GatedRoute
from app.scoreboard.service.reveal import RevealBody, RevealView, next_step, reveal

router = APIRouter(route_class=GatedRoute, tags=["scoreboard"])


@router.get("/contests/{contest_id}/reveal", summary="What the next step opens")
def get_reveal(_viewer: CurrentViewer, session: Reading, boards: TheBoards, contest_id: str) -> RevealView:
    """For judges: the order is that of the board as everybody sees it, from the bottom."""
    return next_step(session, boards, contest_id)


@router.post("/contests/{contest_id}/reveal", summary="Open the next place of a frozen board")
def reveal_places(_viewer: CurrentViewer, service: TheService, contest_id: str, body: RevealBody) -> RevealView:
    """From the bottom up, after the end. With the last place the board is thawed."""
    return reveal(service, contest_id, body.step)
