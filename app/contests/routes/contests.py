"""HTTP routes: contests: what they are called, and when they run."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import JSONResponse

from app.accounts.routes.account_import import WritingAccounts
from app.contests.schemas.bodies import ChangedContest, ContestBody, ContestChange, ContestView, version
from app.contests.service import commands
from app.contests.service.contests import ApiInformation, StateView, api_information, contest_of, view
from app.core.http import file_replies
from app.core.http.deps import CurrentViewer, Reading, TheService, Writing
from app.core.http.downloads import ANY_FILE
from app.core.http.errors import ErrorBody
from app.core.http.gated import GatedRoute
from app.core.http.middleware import API

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.get("/", summary="Which API this is")
async def get_api_information(_viewer: CurrentViewer) -> ApiInformation:
    """The version of the CLICS Contest API, and who provides it."""
    return api_information()


@router.get("/contests", summary="All contests")
def list_contests(
    _viewer: CurrentViewer,
    session: Reading,
    main_scoreboard_group_id: Annotated[
        str | None, Query(description="only those with this one; empty: with none")
    ] = None,
) -> list[ContestView]:
    """Sorted by start time; contests without one come last."""
    return commands.listed(session, main_scoreboard_group_id)


@router.get("/contests/{contest_id}", summary="One contest")
def get_contest(_viewer: CurrentViewer, session: Reading, contest_id: str, response: Response) -> ContestView:
    """Its names, times and settings. The ETag is its version, for If-Match of changes."""
    shown = view(contest_of(session, contest_id))
    response.headers["ETag"] = f'"{version(shown)}"'
    return shown


@router.get(
    "/contests/{contest_id}/banner/{file_name}",
    summary="A contest's banner",
    response_class=Response,
    responses=ANY_FILE,
)
def get_contest_banner(
    _viewer: CurrentViewer, session: Reading, service: TheService, contest_id: str, file_name: str
) -> Response:
    """An image."""
    return file_replies.reply(service.files, contest_of(session, contest_id).details.get("banner", []), file_name)


@router.get(
    "/contests/{contest_id}/logo/{file_name}", summary="A contest's logo", response_class=Response, responses=ANY_FILE
)
def get_contest_logo(
    _viewer: CurrentViewer, session: Reading, service: TheService, contest_id: str, file_name: str
) -> Response:
    """An image."""
    return file_replies.reply(service.files, contest_of(session, contest_id).details.get("logo", []), file_name)


@router.get("/contests/{contest_id}/state", summary="Has it started, is it frozen, has it ended")
def get_contest_state(_viewer: CurrentViewer, session: Reading, contest_id: str) -> StateView:
    """What has happened by now."""
    return commands.state_of(session, contest_id)


@router.post("/contests", summary="Make a contest", status_code=201)
def create_contest(
    viewer: CurrentViewer, session: WritingAccounts, service: TheService, body: ContestBody, response: Response
) -> ContestView:
    """Without an id it gets one from its name. With a start in the past it is running.

    A contest whose end is in the past needs `already_over`.
    """
    made = commands.create(session, service, viewer, body)
    response.headers["Location"] = f"{API}/contests/{made.id}"
    return made


@router.patch(
    "/contests/{contest_id}",
    summary="Change a contest",
    responses={
        204: {"description": "the thaw time is as asked for"},
        412: {"model": ErrorBody, "description": "the contest is no longer the version that If-Match names"},
    },
    response_model=ChangedContest,
)
def change_contest(
    viewer: CurrentViewer,
    session: Writing,
    service: TheService,
    contest_id: str,
    body: ContestChange,
    if_match: Annotated[
        str | None, Header(description="the version of the contest (its ETag) that the change is made for; else 412")
    ] = None,
) -> Response:
    """What is left out stays. The start may only change while it is more than 30 s away, and to such a time.

    No change of times moves a freeze that has begun or opens a frozen board, unless `move_freeze` or
    `scoreboard_thaw_time` asks for it. `times_change` of the reply says what became of the times.
    """
    changed = commands.change(session, service, viewer, contest_id, body, if_match)
    if changed is None:
        return Response(status_code=204)
    return JSONResponse(changed.model_dump(mode="json"), headers={"ETag": f'"{version(changed)}"'})


@router.post("/contests/{contest_id}/pause", summary="Let a running contest's time stand still")
def pause_contest(_viewer: CurrentViewer, session: Writing, service: TheService, contest_id: str) -> ContestView:
    """Nobody may submit meanwhile; freeze and end move by what is taken out."""
    return commands.pause(session, service, contest_id)


@router.post("/contests/{contest_id}/resume", summary="Let a paused contest go on")
def resume_contest(_viewer: CurrentViewer, session: Writing, service: TheService, contest_id: str) -> ContestView:
    """From the contest time at which it was paused."""
    return commands.resume(session, service, contest_id)


@router.delete("/contests/{contest_id}", summary="Delete a contest", status_code=204)
def delete_contest(session: WritingAccounts, service: TheService, contest_id: str) -> None:
    """Only one without submissions."""
    commands.delete(session, service, contest_id)
