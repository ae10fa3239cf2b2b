"""HTTP routes: awards: those the final board gives, and those that admins give, or give in place of one of them.

- HTTP routes: opening a frozen board row by row after the end, as the jury tells how the contest ended.
"""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheBoards, TheService, TheSnapshot, Writing
from app.core.http.lists.reply import TheLists
from app.core.http.middleware import API
from app.feed.service.collections import BY_NAME
from app.scoreboard.service.reveal import RevealBody, RevealView, next_step, reveal
from app.scoreboard.service.scoreboard import AwardBody, AwardChange, AwardView, alter, award, delete, make, put

router = APIRouter(route_class=GatedRoute, tags=["awards"])


@router.get("/contests/{contest_id}/awards", summary="Awards", response_model=list[AwardView])
async def list_awards(viewer: CurrentViewer, snapshot: TheSnapshot, lists: TheLists) -> Response:
    """Whom they go to is said once the results are final, and never while the board the client sees is frozen."""
    return await lists.small(BY_NAME["awards"], viewer, snapshot)


@router.get("/contests/{contest_id}/awards/{award_id}", summary="One award")
def get_award(viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, award_id: str) -> AwardView:
    """Computed or made by an admin."""
    return award(viewer, snapshot, session, award_id)


@router.post("/contests/{contest_id}/awards", summary="Make an award", status_code=201)
def create_award(
    viewer: CurrentViewer, snapshot: TheSnapshot, session: Writing, contest_id: str, body: AwardBody, response: Response
) -> AwardView:
    """The server gives it an id made of its citation."""
    made = make(viewer, snapshot, session, body)
    response.headers["Location"] = f"{API}/contests/{contest_id}/awards/{made.id}"
    return made


@router.put("/contests/{contest_id}/awards/{award_id}", summary="Make or replace an award")
def put_award(
    viewer: CurrentViewer, snapshot: TheSnapshot, session: Writing, contest_id: str, award_id: str, body: AwardBody
) -> AwardView:
    """A computed one is no longer computed then."""
    return put(viewer, snapshot, session, award_id, body)


@router.patch("/contests/{contest_id}/awards/{award_id}", summary="Change an award")
def change_award(
    viewer: CurrentViewer, snapshot: TheSnapshot, session: Writing, contest_id: str, award_id: str, body: AwardChange
) -> AwardView:
    """What is left out stays; a computed award is no longer computed then."""
    return alter(viewer, snapshot, session, award_id, body)


@router.delete("/contests/{contest_id}/awards/{award_id}", summary="Delete an award", status_code=204)
def delete_award(
    viewer: CurrentViewer, snapshot: TheSnapshot, session: Writing, contest_id: str, award_id: str
) -> None:
    """A computed one is not given; PUT gives it again."""
    delete(viewer, snapshot, session, award_id)


reveal_router = APIRouter(route_class=GatedRoute, tags=["scoreboard"])


@reveal_router.get("/contests/{contest_id}/reveal", summary="What the next step opens")
def get_reveal(_viewer: CurrentViewer, session: Reading, boards: TheBoards, contest_id: str) -> RevealView:
    """For judges: the order is that of the board as everybody sees it, from the bottom."""
    return next_step(session, boards, contest_id)


@reveal_router.post("/contests/{contest_id}/reveal", summary="Open the next place of a frozen board")
def reveal_places(_viewer: CurrentViewer, service: TheService, contest_id: str, body: RevealBody) -> RevealView:
    """From the bottom up, after the end. With the last place the board is thawed."""
    return reveal(service, contest_id, body.step)
