"""HTTP routes: awards: those the final board gives, and those that admins give, or give in place of one of them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from app.api.http.deps import AdminOnly, CurrentViewer, Reading, Writing
from app.api.http.gated import GatedRoute
from app.api.http.lists.reply import Small, TheLists, hidden
from app.api.http.middleware import API
from app.api.http.snapshot import TheSnapshot
from app.services.bodies import found, refuse, same_id
from app.services.contests.contests import slug
from app.services.scoreboard.awards import (
    AwardBody,
    AwardChange,
    AwardView,
    check_teams,
    computed,
    documents,
    keep,
    once,
    one,
)
from app.storage import clarifications as stored
from app.storage.tables import AwardRow

router = APIRouter(route_class=GatedRoute, tags=["awards"])


@router.get("/contests/{contest_id}/awards", summary="Awards", response_model=list[AwardView])
async def list_awards(viewer: CurrentViewer, snapshot: TheSnapshot, lists: TheLists) -> Any:
    """Whom they go to is said once the results are final, and never while the board the client sees is frozen."""
    return await lists.small(AWARDS, viewer, snapshot)


@router.get("/contests/{contest_id}/awards/{award_id}", summary="One award", response_model=AwardView)
def get_award(viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, award_id: str) -> Any:
    """Computed or made by an admin."""
    return one(viewer, snapshot, session, award_id)


@router.post("/contests/{contest_id}/awards", summary="Make an award", status_code=201, response_model=AwardView)
def create_award(
    viewer: AdminOnly, snapshot: TheSnapshot, session: Writing, contest_id: str, body: AwardBody, response: Response
) -> Any:
    """The server gives it an id made of its citation."""
    if body.id is not None:
        refuse([found("id", "none, as the server gives it", repr(body.id))])
    check_teams(session, contest_id, body.team_ids)
    taken = {each["id"] for each in documents(viewer, snapshot, session)} | set(stored.awards(session, contest_id))
    award_id = slug(body.citation, taken.__contains__, "award")
    session.add(AwardRow(contest_id=contest_id, id=award_id, citation=body.citation, team_ids=once(body.team_ids)))
    session.flush()
    response.headers["Location"] = f"{API}/contests/{contest_id}/awards/{award_id}"
    return one(viewer, snapshot, session, award_id)


@router.put("/contests/{contest_id}/awards/{award_id}", summary="Make or replace an award", response_model=AwardView)
def put_award(
    viewer: AdminOnly, snapshot: TheSnapshot, session: Writing, contest_id: str, award_id: str, body: AwardBody
) -> Any:
    """A computed one is no longer computed then."""
    if body.id is None:
        refuse([found("id", "the id of the address", "nothing")])
    same_id(award_id, body.id)
    check_teams(session, contest_id, body.team_ids)
    keep(session, contest_id, award_id, body.citation, body.team_ids)
    return one(viewer, snapshot, session, award_id)


@router.patch("/contests/{contest_id}/awards/{award_id}", summary="Change an award", response_model=AwardView)
def change_award(
    viewer: AdminOnly, snapshot: TheSnapshot, session: Writing, contest_id: str, award_id: str, body: AwardChange
) -> Any:
    """What is left out stays; a computed award is no longer computed then."""
    old = one(viewer, snapshot, session, award_id)
    same_id(award_id, body.id)
    nulls = [name for name in ("citation", "team_ids") if name in body.model_fields_set and getattr(body, name) is None]
    refuse([found(name, "a value", "null") for name in nulls])
    check_teams(session, contest_id, body.team_ids or [])
    given = body.team_ids if body.team_ids is not None else old["team_ids"]
    if given is None:
        refuse([found("team_ids", "the teams, as the results are not final", "nothing")])
    keep(session, contest_id, award_id, body.citation or old["citation"], given or [])
    return one(viewer, snapshot, session, award_id)


@router.delete("/contests/{contest_id}/awards/{award_id}", summary="Delete an award", status_code=204)
def delete_award(viewer: AdminOnly, snapshot: TheSnapshot, session: Writing, contest_id: str, award_id: str) -> None:
    """A computed one is not given; PUT gives it again."""
    old = one(viewer, snapshot, session, award_id)
    if award_id in computed(snapshot, session):
        keep(session, contest_id, award_id, old["citation"], [])
        stored.awards(session, contest_id)[award_id].deleted = True
    else:
        session.delete(stored.awards(session, contest_id)[award_id])


AWARDS = Small("awards", AwardView, documents, special=hidden, of_board=True)
