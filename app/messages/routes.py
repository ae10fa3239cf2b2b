"""API routes of clarifications and commentary."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from app.contests.service.capabilities import problem_called
from app.core.http import lists, middleware
from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheSnapshot, Writing
from app.feed.service.collections import BY_NAME
from app.messages.service import clarifications, commentary

router = APIRouter(route_class=GatedRoute, tags=["clarifications"])


@router.get(
    "/contests/{contest_id}/clarifications",
    summary="Questions, answers and announcements",
    response_model=list[clarifications.ClarificationView],
)
async def list_clarifications(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: lists.TheLists,
    from_team_id: Annotated[str | None, Query(description="only those of this team; empty: of the jury")] = None,
    reply_to_id: Annotated[str | None, Query(description="only answers to this one; empty: to none")] = None,
    problem_id: Annotated[str | None, Query(description="only on this problem; empty: on none")] = None,
) -> Response:
    """Judges see all, teams their own and messages to them, everyone messages to all."""
    problem_id = problem_id and problem_called(snapshot, problem_id)
    wanted = {"from_team_id": from_team_id, "reply_to_id": reply_to_id, "problem_id": problem_id}
    return await lists.small(BY_NAME["clarifications"], viewer, snapshot, **wanted)


@router.get(
    "/contests/{contest_id}/clarifications/{clarification_id}",
    summary="One clarification",
    response_model=clarifications.ClarificationView,
)
def get_clarification(
    viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, clarification_id: str
) -> clarifications.ClarificationView:
    """404 for what the client may not see."""
    return clarifications.one(viewer, snapshot, session, clarification_id)


@router.post(
    "/contests/{contest_id}/clarifications",
    summary="Ask, answer or announce",
    status_code=201,
    response_model=clarifications.ClarificationView,
)
def send_clarification(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Writing,
    contest_id: str,
    body: clarifications.ClarificationBody,
    response: Response,
) -> clarifications.ClarificationView:
    """A team asks the jury; judges and admins answer, or tell all, some teams or groups; a proxy asks for a team."""
    sent = clarifications.send(viewer, snapshot, session, body)
    response.headers["Location"] = f"{middleware.API}/contests/{contest_id}/clarifications/{sent.id}"
    return sent


@router.put(
    "/contests/{contest_id}/clarifications/{clarification_id}",
    summary="Import a clarification",
    response_model=clarifications.ClarificationView,
)
def put_clarification(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Writing,
    contest_id: str,
    clarification_id: str,
    body: clarifications.ClarificationBody,
) -> clarifications.ClarificationView | Response:
    """With the id and time of another system. It cannot be changed; repeating the request has no effect."""
    shown, is_new = clarifications.bring_in(viewer, snapshot, session, clarification_id, body)
    place = f"{middleware.API}/contests/{contest_id}/clarifications/{clarification_id}"
    return JSONResponse(shown.model_dump(), 201, {"Location": place}) if is_new else shown


commentary_router = APIRouter(route_class=GatedRoute, tags=["commentary"])


@commentary_router.get(
    "/contests/{contest_id}/commentary",
    summary="What is said of the contest",
    response_model=list[commentary.CommentaryView],
)
async def list_commentary(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: lists.TheLists,
    source_id: Annotated[
        str | None, Query(description="only messages of this person; empty: of an unknown one")
    ] = None,
) -> Response:
    """All of it that speaks of nothing the client may not see, oldest first."""
    return await lists.small(BY_NAME["commentary"], viewer, snapshot, source_id=source_id)


@commentary_router.get(
    "/contests/{contest_id}/commentary/{commentary_id}",
    summary="One comment",
    response_model=commentary.CommentaryView,
)
def get_commentary(
    viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, commentary_id: str
) -> commentary.CommentaryView:
    """404 for what the client may not see."""
    return commentary.one(viewer, snapshot, session, commentary_id)


@commentary_router.post(
    "/contests/{contest_id}/commentary",
    summary="Say something",
    status_code=201,
    response_model=commentary.CommentaryView,
)
def create_commentary(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Writing,
    contest_id: str,
    body: commentary.CommentaryBody,
    response: Response,
) -> commentary.CommentaryView:
    """Analysts and admins; the time, and who says it, are the server's to know."""
    made = commentary.create(viewer, snapshot, session, body)
    response.headers["Location"] = f"{middleware.API}/contests/{contest_id}/commentary/{made.id}"
    return made
