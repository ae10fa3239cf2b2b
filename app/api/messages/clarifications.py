"""HTTP routes: clarifications: questions of teams to the jury, its answers, and announcements."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from app.api.http.deps import CurrentViewer, LoggedIn, Reading, Writing
from app.api.http.gated import GatedRoute
from app.api.http.lists.reply import Small, TheLists
from app.api.http.middleware import API
from app.api.http.snapshot import TheSnapshot
from app.services.bodies import found, refuse, same_id
from app.services.contests.capabilities import need
from app.services.contests.contests import contest_of
from app.services.errors import Conflict, NotFound
from app.services.messages.clarifications import (
    ClarificationBody,
    ClarificationView,
    after,
    capabilities_of,
    check_pace,
    check_rights,
    clarification_row,
    documents,
    facts,
)
from app.services.names import problem_called
from app.storage import clarifications as stored
from app.storage.tables import ClarificationRow

router = APIRouter(route_class=GatedRoute, tags=["clarifications"])
SHAPE: dict[str, Any] = {"response_model": ClarificationView}


@router.get(
    "/contests/{contest_id}/clarifications",
    summary="Questions, answers and announcements",
    response_model=list[ClarificationView],
)
async def list_clarifications(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: TheLists,
    from_team_id: Annotated[str | None, Query(description="only those of this team; empty: of the jury")] = None,
    reply_to_id: Annotated[str | None, Query(description="only answers to this one; empty: to none")] = None,
    problem_id: Annotated[str | None, Query(description="only on this problem; empty: on none")] = None,
) -> Any:
    """Judges see all, teams their own and what is sent to them, everybody what is sent to all."""
    problem_id = problem_id and problem_called(snapshot, problem_id)
    wanted = {"from_team_id": from_team_id, "reply_to_id": reply_to_id, "problem_id": problem_id}
    return await lists.small(CLARIFICATIONS, viewer, snapshot, **wanted)


@router.get("/contests/{contest_id}/clarifications/{clarification_id}", summary="One clarification", **SHAPE)
def get_clarification(viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, clarification_id: str) -> Any:
    """404 for what the client may not see."""
    for each in documents(viewer, snapshot, session):
        if each["id"] == clarification_id:
            return each
    raise NotFound(f"no clarification {clarification_id!r} in contest {snapshot.contest.id!r}")


@router.post("/contests/{contest_id}/clarifications", summary="Ask, answer or announce", status_code=201, **SHAPE)
def send_clarification(
    viewer: LoggedIn,
    snapshot: TheSnapshot,
    session: Writing,
    contest_id: str,
    body: ClarificationBody,
    response: Response,
) -> Any:
    """A team asks the jury; judges and admins answer, or tell all, some teams or groups; a proxy asks for a team."""
    contest = contest_of(session, contest_id)
    if body.id is not None:
        refuse([found("id", "none, as the server gives it", repr(body.id))])
    check_rights(session, viewer, contest, body)
    check_pace(session, viewer, contest)
    row = clarification_row(
        session, viewer, snapshot, contest, body, stored.next_id(session, ClarificationRow, contest_id)
    )
    session.add(row)
    response.headers["Location"] = f"{API}/contests/{contest_id}/clarifications/{row.id}"
    return after(session, viewer, snapshot, contest, row)


@router.put("/contests/{contest_id}/clarifications/{clarification_id}", summary="Bring in a clarification", **SHAPE)
def put_clarification(
    viewer: LoggedIn,
    snapshot: TheSnapshot,
    session: Writing,
    contest_id: str,
    clarification_id: str,
    body: ClarificationBody,
) -> Any:
    """With the id and the time another system gave it. Once there it stays as it is; the same again changes nothing."""
    contest = contest_of(session, contest_id)
    need(viewer, capabilities_of(session, viewer, contest), "admin_clar")
    missing = [found(name, "a value", "nothing") for name in ("id", "time") if getattr(body, name) is None]
    refuse(missing)
    same_id(clarification_id, body.id)
    row = clarification_row(session, viewer, snapshot, contest, body, clarification_id)
    there = stored.clarification(session, contest_id, clarification_id)
    if there is not None:
        if facts(there) != facts(row):
            raise Conflict(f"id: there is a clarification {clarification_id!r} already, and it says something else")
        return after(session, viewer, snapshot, contest, there)
    session.add(row)
    shown = after(session, viewer, snapshot, contest, row)
    place = f"{API}/contests/{contest_id}/clarifications/{clarification_id}"
    return JSONResponse(shown, 201, {"Location": place})


CLARIFICATIONS = Small(
    "clarifications", ClarificationView, documents, sparse=True, filters=("from_team_id", "reply_to_id", "problem_id")
)
