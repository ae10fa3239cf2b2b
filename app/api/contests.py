"""Contests: what they are called, and when they run."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.api import clics, contest_changes, contest_details, file_references, openapi
from app.api.auth import Viewer
from app.api.bodies import same_id
from app.api.contest_bodies import ChangedContest, ContestBody, ContestChange, ContestView, view
from app.api.contest_times import times_change
from app.api.deps import AdminOnly, CurrentViewer, Reading, TheBoards, TheService, Writing, after_commit
from app.api.downloads import ANY_FILE
from app.api.errors import Conflict
from app.api.gated import GatedRoute
from app.api.middleware import API
from app.api.named import NoContest
from app.domain import contests as rules
from app.domain.clock import utc_now
from app.grading.boards import Standing
from app.storage import contests as stored
from app.storage import teams
from app.storage.scored import clock
from app.storage.tables import ContestRow

router = APIRouter(route_class=GatedRoute, tags=["contests"])
NOT_IN_IDS = re.compile(r"[^a-z0-9]+")
THAW_ONLY = frozenset({"id", "scoreboard_thaw_time"})


class Provider(BaseModel):
    """Who answers."""

    name: str
    version: str


class ApiInformation(BaseModel):
    """Which API this is."""

    version: str
    version_url: str
    provider: Provider


class RemovedInterval(BaseModel):
    """A pause: from when until when (null: still), and the contest time at which the contest's clock stood still."""

    start: str
    end: str | None
    contest_time: str


class StateView(BaseModel):
    """The moments at which something happened to a contest; null: not yet. And the pauses taken out of its time."""

    started: str | None
    frozen: str | None
    ended: str | None
    thawed: str | None
    finalized: str | None
    end_of_updates: str | None
    removed_intervals: list[RemovedInterval]


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
    return file_references.reply(service.files, contest_of(session, contest_id).details.get("banner", []), file_name)


@router.get(
    "/contests/{contest_id}/logo/{file_name}", summary="A contest's logo", response_class=Response, responses=ANY_FILE
)
def get_contest_logo(
    _viewer: CurrentViewer, session: Reading, service: TheService, contest_id: str, file_name: str
) -> Response:
    """An image."""
    return file_references.reply(service.files, contest_of(session, contest_id).details.get("logo", []), file_name)


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
    row = contest_changes.make(body, body.id or free_id(session, body.name))
    contest_details.change(session, service.files, row, body)
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
    contest_changes.change(row, body, now)
    if body.finalized and (count := stored.unjudged(session, row)):
        raise Conflict(f"finalized: {count} submissions are still to be judged")
    if body.finalized:
        teams.enrol_those_there(session, row)
    contest_details.change(session, service.files, row, body)
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
    contest_changes.pause(row, utc_now())
    after_commit(session, lambda: boards.changed(contest_id))
    return view(row)


@router.post("/contests/{contest_id}/resume", summary="Let a paused contest go on")
def resume_contest(_viewer: AdminOnly, session: Writing, boards: TheBoards, contest_id: str) -> ContestView:
    """From the contest time at which it was paused."""
    row = contest_of(session, contest_id, for_update=True)
    contest_changes.resume(row, utc_now())
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


def documents(_viewer: Viewer, standing: Standing, session: Session) -> list[ContestView]:
    """The contest itself."""
    row = stored.get(session, standing.contest.id)
    return [] if row is None else [view(row)]


def state_documents(_viewer: Viewer, standing: Standing, _session: Session) -> list[StateView]:
    """The contest's state."""
    return [state_view(standing.state, standing.contest.clock)]


def state_view(happened: rules.State, times: rules.Clock) -> StateView:
    """What has happened, and the pauses taken out of the contest's time."""
    removed = clics.intervals_json(times)
    return StateView.model_validate({**clics.state_json(happened), "removed_intervals": removed})


def refuse_overlaps(session: Session, row: ContestRow, team_ids: Collection[str]) -> None:
    """Raise Conflict where one of the teams would be in two contests at once, unless one of these allows it."""
    clashes = stored.overlapping(session, row, team_ids, utc_now())
    if not clashes:
        return
    faults = [
        {"where": team_id, "expected": f"no contest at the time of {row.id}", "found": f"contest {other}"}
        for team_id, other in clashes
    ]
    team_id, other = clashes[0]
    more = f", and {len(clashes) - 1} more such" if len(clashes) > 1 else ""
    raise Conflict(
        f"team {team_id!r} takes part in contest {other!r} at the same time{more}; settings.allow_overlap permits it",
        errors=faults,
    )


def contest_of(session: Session, contest_id: str, *, for_update: bool = False) -> ContestRow:
    """The contest, locked until the transaction ends if it is `for_update`; raises NotFound."""
    row = stored.get(session, contest_id, for_update=for_update)
    if row is None:
        raise NoContest(contest_id)
    return row


def free_id(session: Session, name: str) -> str:
    """An id made of a contest's name that no contest has yet."""
    return slug(name, lambda contest_id: stored.get(session, contest_id) is not None, "contest")


def slug(name: str, taken: Callable[[str], bool], otherwise: str) -> str:
    """An id made of a name, or of `otherwise` where nothing of the name can be in one, that is not taken."""
    base = NOT_IN_IDS.sub("-", name.lower()).strip("-")[:30].strip("-") or otherwise
    number = 1
    found = base
    while taken(found):
        number += 1
        found = f"{base}-{number}"
    return found
