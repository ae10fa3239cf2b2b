"""HTTP routes: the scoreboard as JSON, as a table and over time."""

from __future__ import annotations

from typing import Annotated, Literal

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response

from app.core.errors import BadRequest
from app.core.http.deps import CurrentViewer, GatedRoute, TheBoards, ThePages
from app.core.http.lists.reply import WrittenReply
from app.core.messages import N_
from app.scoreboard.service.bodies import CompactScoreboard, History, Scoreboard, ScoreTable
from app.scoreboard.service.pages import BoardPages, CompactPage, Options, Page
from app.scoreboard.service.scoreboard import (
    AS_COMPACT,
    AS_JSON,
    CACHING,
    COMPACT,
    JSON,
    Wanted,
    as_asked,
    board_shown,
    csv_text,
    history_json,
    table_json,
)

router = APIRouter(route_class=GatedRoute, tags=["scoreboard"])
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The ETag of the board that the client has already.",
    "schema": {"type": "string"},
}
MOST_STEPS = 1000
Public = Annotated[bool | None, Query(description="for judges: the board as everybody sees it")]
Phase = Annotated[Literal["provisional", "final"] | None, Query(description="which cases give the points")]
Virtual = Annotated[bool, Query(description="with the virtual teams among the others")]
GroupId = Annotated[str | None, Query(description="only the teams of this group, ranked among themselves")]


@router.get(
    "/contests/{contest_id}/scoreboard",
    summary="The scoreboard",
    responses={
        200: {
            "model": Scoreboard,
            "content": {COMPACT: {"schema": {"$ref": f"#/components/schemas/{CompactScoreboard.__name__}"}}},
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
    virtual: Virtual = False,
    form: Annotated[Literal["whole", "compact"], Query(description="compact: arrays, with each id once")] = "whole",
) -> Response:
    """Rows in order of rank. Sends an ETag and 304 where nothing changed.

    The compact form has a thirtieth of the bytes: points in hundredths, cut, and the team's
    time in whole seconds, cut.
    """
    options = Options(cases, group_id, form == "compact")
    if options.cases and options.compact:
        raise BadRequest(N_("expected false with form=compact, which has no raw scores; found true"), where="cases")
    snapshot = await board_shown(boards, viewer, contest_id, public=public, group_id=group_id)
    snapshot = await as_asked(snapshot, phase, virtual=virtual)
    page = await pages.page_soon(snapshot, options)
    given = dict(request.scope["headers"])
    wanted = Wanted.of(given.get(b"if-none-match", b""), given.get(b"accept-encoding", b""), since)
    return await reply(wanted, pages, page)


async def reply(wanted: Wanted, pages: BoardPages, page: Page) -> Response:
    """A written board as it was asked for: zipped, only what has changed, or nothing where the client has it."""
    since = wanted.since
    kind = AS_COMPACT if isinstance(page, CompactPage) else AS_JSON
    if since is None and page.tag in wanted.known:
        return WrittenReply([*CACHING, (b"etag", page.tag.encode())], status_code=304)
    if since is not None and (changes := page.changes(since)) is not None:
        return WrittenReply([*CACHING, kind], changes)
    headers = [*CACHING, kind, (b"etag", page.tag.encode())]
    if not wanted.zipped:
        return WrittenReply(headers, page.plain)
    zipped = page.zipped or await pages.zipped_soon(page)
    return WrittenReply([*headers, (b"content-encoding", b"gzip")], zipped)


@router.get(
    "/contests/{contest_id}/scoreboard.csv",
    summary="The scoreboard as a table for spreadsheets",
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def get_scoreboard_csv(
    contest_id: str,
    viewer: CurrentViewer,
    boards: TheBoards,
    public: Public = None,
    group_id: GroupId = None,
    phase: Phase = None,
    virtual: Virtual = False,
) -> Response:
    """Rank, team, points, time of the last improvement and the points at each problem: the figures of the board."""
    snapshot = await board_shown(boards, viewer, contest_id, public=public, group_id=group_id)
    snapshot = await as_asked(snapshot, phase, virtual=virtual)
    text = await run_sync(csv_text, snapshot, group_id)
    name = f'attachment; filename="{contest_id}.csv"'
    return Response(text, media_type="text/csv", headers={"Content-Disposition": name, "Cache-Control": "no-cache"})


@router.get(
    "/contests/{contest_id}/scoreboard.json",
    summary="The scoreboard as a table, in JSON",
    responses={200: {"model": ScoreTable}},
)
async def get_scoreboard_table(
    contest_id: str,
    viewer: CurrentViewer,
    boards: TheBoards,
    public: Public = None,
    group_id: GroupId = None,
    phase: Phase = None,
    virtual: Virtual = False,
) -> Response:
    """The table of scoreboard.csv, with names and labels in place of ids."""
    snapshot = await board_shown(boards, viewer, contest_id, public=public, group_id=group_id)
    snapshot = await as_asked(snapshot, phase, virtual=virtual)
    return Response(
        await run_sync(table_json, snapshot, group_id), media_type=JSON, headers={"Cache-Control": "no-cache"}
    )


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
    snapshot = await board_shown(boards, viewer, contest_id, public=public, group_id=None)
    return Response(await history_json(pages, snapshot, steps, team_id), media_type=JSON)
