"""HTTP routes: contests: what they are called, and when they run."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from app.api.http import file_replies, openapi
from app.api.http.deps import AdminOnly, CurrentViewer, Reading, TheBoards, TheService, Writing
from app.api.http.downloads import ANY_FILE
from app.api.http.gated import GatedRoute
from app.api.http.middleware import API
from app.domain import contests as rules
from app.domain.clock import utc_now
from app.services import clics
from app.services.bodies import same_id
from app.services.contests import changes, details
from app.services.contests.bodies import ChangedContest, ContestBody, ContestChange, ContestView, view
from app.services.contests.contests import (
    ApiInformation,
    Provider,
    StateView,
    contest_of,
    free_id,
    refuse_overlaps,
    state_view,
)
from app.services.contests.times import times_change
from app.services.errors import Conflict
from app.services.transactions import after_commit
from app.storage import contests as stored
from app.storage import teams
from app.storage.scoring_input import clock

router = APIRouter(route_class=GatedRoute, tags=["contests"])
THAW_ONLY = frozenset({"id", "scoreboard_thaw_time"})


@router.get("/", summary="Which API this is")
async def get_api_information(_viewer: CurrentViewer) -> ApiInformation:
    """The version of the CLICS Contest API, and who provides it."""
    return information()


def information() -> ApiInformation:
    """The version of the API, and of the server."""
    return ApiInformation(
        version=clics.VERSION,
        version_url=clics.VERSION_URL,
        provider=Provider(name="Jurado", version=openapi.version()),
    )


@router.get("/contests", summary="All contests")
def list_contests(
    _viewer: CurrentViewer,
    session: Reading,
    main_scoreboard_group_id: Annotated[
        str | None, Query(description="only those with this one; empty: with none")
    ] = None,
) -> list[ContestView]:
    """Those that have a start by it, the others after them."""
    wanted = main_scoreboard_group_id
    return [view(row) for row in stored.contests(session) if wanted in {None, row.main_scoreboard_group_id or ""}]


@router.get("/contests/{contest_id}", summary="One contest")
def get_contest(_viewer: CurrentViewer, session: Reading, contest_id: str) -> ContestView:
    """Its names, times and settings."""
    return view(contest_of(session, contest_id))


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
    row = contest_of(session, contest_id)
    times = clock(row)
    return state_view(rules.state(times, utc_now(), row.finalized), times)


@router.post("/contests", summary="Make a contest", status_code=201)
def create_contest(
    _viewer: AdminOnly, session: Writing, service: TheService, body: ContestBody, response: Response
) -> ContestView:
    """Without an id it gets one from its name. A start in the past is allowed: it is running then."""
    if body.id is not None and stored.get(session, body.id) is not None:
        raise Conflict(f"there is a contest {body.id!r} already")
    row = changes.make(body, body.id or free_id(session, body.name))
    details.change(session, service.files, row, body)
    session.add(row)
    response.headers["Location"] = f"{API}/contests/{row.id}"
    return view(row)


@router.patch(
    "/contests/{contest_id}",
    summary="Change a contest",
    responses={204: {"description": "the thaw time is as asked for"}},
    response_model=ChangedContest,
)
def change_contest(
    _viewer: AdminOnly,
    session: Writing,
    service: TheService,
    boards: TheBoards,
    contest_id: str,
    body: ContestChange,
) -> Response:
    """What is left out stays. The start may only change while it is more than 30 s away, and to such a time.

    No change of times moves a freeze that has begun or opens a frozen board, unless `move_freeze` or
    `scoreboard_thaw_time` asks for it. `times_change` of the reply says what became of the times.
    """
    row = contest_of(session, contest_id, for_update=True)
    same_id(contest_id, body.id)
    before, now = clock(row), utc_now()
    changes.change(row, body, now)
    if body.finalized and (count := stored.unjudged(session, row)):
        raise Conflict(f"finalized: {count} submissions are still to be judged")
    if body.finalized:
        teams.enrol_those_there(session, row)
    details.change(session, service.files, row, body)
    if clock(row) != before:
        refuse_overlaps(session, row, stored.enrolled(session, contest_id))
    after_commit(session, lambda: boards.changed(contest_id))
    thawing = body.scoreboard_thaw_time is not None and body.model_fields_set <= THAW_ONLY
    if thawing and row.thaw_time == body.scoreboard_thaw_time:
        return Response(status_code=204)
    changed = ChangedContest(**dict(view(row)), times_change=times_change(before, clock(row), now))
    return JSONResponse(changed.model_dump(mode="json"))


@router.post("/contests/{contest_id}/pause", summary="Let a running contest's time stand still")
def pause_contest(_viewer: AdminOnly, session: Writing, boards: TheBoards, contest_id: str) -> ContestView:
    """Nobody may submit meanwhile; freeze and end move by what is taken out."""
    row = contest_of(session, contest_id, for_update=True)
    changes.pause(row, utc_now())
    after_commit(session, lambda: boards.changed(contest_id))
    return view(row)


@router.post("/contests/{contest_id}/resume", summary="Let a paused contest go on")
def resume_contest(_viewer: AdminOnly, session: Writing, boards: TheBoards, contest_id: str) -> ContestView:
    """From the contest time at which it was paused."""
    row = contest_of(session, contest_id, for_update=True)
    changes.resume(row, utc_now())
    after_commit(session, lambda: boards.changed(contest_id))
    return view(row)


@router.delete("/contests/{contest_id}", summary="Delete a contest", status_code=204)
def delete_contest(_viewer: AdminOnly, session: Writing, boards: TheBoards, contest_id: str) -> None:
    """Only one without submissions."""
    row = contest_of(session, contest_id)
    if count := stored.submission_count(session, contest_id):
        raise Conflict(f"the contest has {count} submissions")
    session.delete(row)
    after_commit(session, lambda: boards.changed(contest_id))
