"""HTTP routes: the scoreboard as JSON, as a table and over time, awards, and opening a frozen board row by row.

The board that everyone asks for is sent before any routing (`usual_scoreboard`, guarantee 6): finding the route, its
arguments and dependencies costs five times what sending the bytes does. Those who come while a changed board is being
written wait there too: hundreds of them in the route would keep the next one from being written. Other options go
through the route; what is sent is the same.
"""

import re
from typing import Annotated, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response

from app.core.http import lists, middleware
from app.core.http.deps import (
    VIEWER,
    CurrentViewer,
    GatedRoute,
    Reading,
    TheBoards,
    ThePages,
    TheService,
    TheSnapshot,
    Writing,
    get_snapshot,
)
from app.core.http.written import CACHING, WrittenReply, has_version, wants_gzip, written
from app.feed.service.collections import BY_NAME
from app.scoreboard.service import scoreboard
from app.scoreboard.service.history import History, Scoreboard
from app.scoreboard.service.pages import WHOLE, BoardPages, Options, Page
from app.scoreboard.service.reveal import RevealBody, RevealView, next_step, reveal

router = APIRouter(route_class=GatedRoute, tags=["scoreboard"])
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The ETag of the board that the client has already.",
    "schema": {"type": "string"},
}
MOST_STEPS = 1000
Public = Annotated[bool | None, Query(description="for judges: the public scoreboard")]
Phase = Annotated[Literal["provisional", "final"] | None, Query(description="which cases give the points")]
GroupId = Annotated[str | None, Query(description="only the teams of this group, ranked among themselves")]


@router.get(
    "/contests/{contest_id}/scoreboard",
    summary="The scoreboard",
    responses={
        200: {
            "model": Scoreboard,
            "headers": {"ETag": {"description": "the version", "schema": {"type": "string"}}},
        },
        304: {"description": "it is still the version that `If-None-Match` names"},
    },
    openapi_extra={"parameters": [IF_NONE_MATCH]},
)
async def get_scoreboard(
    request: Request,
    contest_id: str,
    viewer: CurrentViewer,
    boards: TheBoards,
    pages: ThePages,
    public: Public = None,
    cases: Annotated[bool, Query(description="with each problem's raw scores, case by case")] = False,
    since: Annotated[str | None, Query(description="a version: only rows that changed after it")] = None,
    group_id: GroupId = None,
    phase: Phase = None,
) -> Response:
    """Rows in order of rank. Sends an ETag and 304 where nothing changed."""
    snapshot = await scoreboard.board_shown(boards, viewer, contest_id, public=public, group_id=group_id)
    snapshot = await scoreboard.as_asked(snapshot, phase)
    page = await pages.page_soon(snapshot, Options(cases, group_id))
    return await reply(request, since, pages, page)


JSON = scoreboard.JSON.encode()


async def reply(request: Request, since: str | None, pages: BoardPages, page: Page) -> Response:
    """A written board as it was asked for: compressed, only what has changed, or nothing where the client has it."""
    if since is not None and (changes := page.changes(since)) is not None:
        return WrittenReply([*CACHING, (b"content-type", JSON)], changes)
    tag, zipped = page.tag.encode(), None
    if since is None and wants_gzip(request) and not has_version(request, tag):
        zipped = page.zipped or await pages.zipped_soon(page)
    return written(request, JSON, tag, page.plain, zipped)


@router.get(
    "/contests/{contest_id}/scoreboard.csv",
    summary="The scoreboard as a table for spreadsheets",
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def get_scoreboard_csv(
    contest_id: str,
    viewer: CurrentViewer,
    service: TheService,
    public: Public = None,
    group_id: GroupId = None,
    phase: Phase = None,
) -> Response:
    """Rank, team, organization, points, time of the last improvement, and points per problem, as on the board."""
    snapshot = await scoreboard.board_shown(service.boards, viewer, contest_id, public=public, group_id=group_id)
    snapshot = await scoreboard.as_asked(snapshot, phase)
    text = await run_sync(scoreboard.csv_text, service, snapshot, group_id)
    name = f'attachment; filename="{contest_id}.csv"'
    return Response(text, media_type="text/csv", headers={"Content-Disposition": name, "Cache-Control": "no-cache"})


@router.get("/contests/{contest_id}/scores/history", summary="Points over time", responses={200: {"model": History}})
async def get_history(
    contest_id: str,
    viewer: CurrentViewer,
    boards: TheBoards,
    pages: ThePages,
    public: Public = None,
    team_id: Annotated[list[str] | None, Query(description="only these teams; may be given several times")] = None,
    steps: Annotated[int, Query(ge=1, le=MOST_STEPS, description="at about how many moments at most")] = 100,
) -> Response:
    """Each team's points and rank whenever they changed, by the answers sent until then; the last are the board's."""
    snapshot = await scoreboard.board_shown(boards, viewer, contest_id, public=public, group_id=None)
    return Response(await scoreboard.history_json(pages, snapshot, steps, team_id), media_type=scoreboard.JSON)


awards_router = APIRouter(route_class=GatedRoute, tags=["awards"])


@awards_router.get("/contests/{contest_id}/awards", summary="Awards", response_model=list[scoreboard.AwardView])
async def list_awards(viewer: CurrentViewer, snapshot: TheSnapshot, lists: lists.TheLists) -> Response:
    """Whom they go to is said once the results are final, and never while the board the client sees is frozen."""
    return await lists.small(BY_NAME["awards"], viewer, snapshot)


@awards_router.get("/contests/{contest_id}/awards/{award_id}", summary="One award")
def get_award(viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, award_id: str) -> scoreboard.AwardView:
    """Computed or made by an admin."""
    return scoreboard.award(viewer, snapshot, session, award_id)


@awards_router.post("/contests/{contest_id}/awards", summary="Make an award", status_code=201)
def create_award(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Writing,
    contest_id: str,
    body: scoreboard.AwardBody,
    response: Response,
) -> scoreboard.AwardView:
    """The server gives it an id made of its citation."""
    made = scoreboard.make(viewer, snapshot, session, body)
    response.headers["Location"] = f"{middleware.API}/contests/{contest_id}/awards/{made.id}"
    return made


@awards_router.put("/contests/{contest_id}/awards/{award_id}", summary="Make or replace an award")
def put_award(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Writing,
    award_id: str,
    body: scoreboard.AwardBody,
) -> scoreboard.AwardView:
    """A computed one is no longer computed then."""
    return scoreboard.put(viewer, snapshot, session, award_id, body)


@awards_router.patch("/contests/{contest_id}/awards/{award_id}", summary="Change an award")
def change_award(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Writing,
    award_id: str,
    body: scoreboard.AwardChange,
) -> scoreboard.AwardView:
    """What is left out stays; a computed award is no longer computed then."""
    return scoreboard.alter(viewer, snapshot, session, award_id, body)


@awards_router.delete("/contests/{contest_id}/awards/{award_id}", summary="Delete an award", status_code=204)
def delete_award(viewer: CurrentViewer, snapshot: TheSnapshot, session: Writing, award_id: str) -> None:
    """A computed one is not given; PUT gives it again."""
    scoreboard.delete(viewer, snapshot, session, award_id)


reveal_router = APIRouter(route_class=GatedRoute, tags=["scoreboard"])


@reveal_router.get("/contests/{contest_id}/reveal", summary="What the next step opens")
def get_reveal(_viewer: CurrentViewer, session: Reading, boards: TheBoards, contest_id: str) -> RevealView:
    """For judges: in the order of the public scoreboard, from the bottom."""
    return next_step(session, boards, contest_id)


@reveal_router.post("/contests/{contest_id}/reveal", summary="Open the next place of a frozen board")
def reveal_places(_viewer: CurrentViewer, service: TheService, contest_id: str, body: RevealBody) -> RevealView:
    """From the bottom up, after the end. With the last place the board is thawed."""
    return reveal(service, contest_id, body.step)


# The queries of the scoreboard that `usual_scoreboard` knows.
USUAL = re.compile(rb"(?:since=[0-9a-f]{1,40})?")


async def usual_scoreboard(request: Request) -> Response:
    """The scoreboard for `app.core.http.deps.Direct`, where the query is `USUAL`: what the route sends."""
    pages: BoardPages = request.app.state.pages
    snapshot = await get_snapshot(request.path_params["contest_id"], request.scope[VIEWER], pages.boards)
    since = request.scope["query_string"].removeprefix(b"since=").decode() or None
    return await reply(request, since, pages, await pages.page_soon(snapshot, WHOLE))
