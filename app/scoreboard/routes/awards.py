"""HTTP routes: awards: those the final board gives, and those that admins give, or give in place of one of them."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.core.http.deps import CurrentViewer, Reading, Writing
from app.core.http.gated import GatedRoute
from app.core.http.lists.reply import TheLists
from app.core.http.middleware import API
from app.core.http.snapshot import TheSnapshot
from app.feed.service.collections import BY_NAME
from app.scoreboard.service.awards import AwardBody, AwardChange, AwardView, alter, award, delete, make, put

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
