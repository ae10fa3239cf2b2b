"""HTTP routes: taking submissions: the route that must never lose one. The answer is durable before the reply."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from app.api.http.deps import admin_only, current_viewer, logged_in
from app.api.http.gated import GatedRoute
from app.api.http.openapi import SECURED
from app.api.submissions.submission_form import REQUEST_FORMS, open_parcel
from app.service import Service
from app.services import clics
from app.services.errors import BadRequest, TooManyRequests
from app.services.submissions.submissions import Submission
from app.services.submissions.submit import (
    check,
    check_id,
    check_sender,
    may_submit,
    repeated,
    room,
    there,
    wake,
    write,
)
from app.storage import submissions
from app.storage.submissions import LimitReached

router = APIRouter(route_class=GatedRoute, tags=["submissions"])
LONGEST_KEY = 255
PUT_PARAMETERS = [
    {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    for name in ("contest_id", "submission_id")
]
PARAMETERS = [
    {"name": "contest_id", "in": "path", "required": True, "schema": {"type": "string"}},
    {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "the same key again gives the first submission back",
        "schema": {"type": "string", "maxLength": LONGEST_KEY},
    },
]


@router.post(
    "/contests/{contest_id}/submissions",
    status_code=201,
    summary="Submit answer files",
    responses={201: {"model": Submission, "description": "It is kept, and will be judged"}},
    openapi_extra={**SECURED, "parameters": PARAMETERS, "requestBody": {"required": True, "content": REQUEST_FORMS}},
)
async def submit(request: Request) -> JSONResponse:
    """Take a submission as multipart/form-data or CLICS JSON; a repeated Idempotency-Key gives the first one back."""
    # Dependencies cost a third of a small submission's time, so this route, the busiest that writes, asks for itself.
    service: Service = request.app.state.service
    viewer = await logged_in(await current_viewer(request, request.app.state.authenticator))
    contest_id, key = request.path_params["contest_id"], _key(request)
    if key is not None:
        first = await run_sync(repeated, service, viewer, contest_id, key)
        if first is not None:
            return _created(contest_id, first)
    await may_submit(service, viewer, contest_id)  # before anything is read of the body
    with room(service, viewer):
        async with open_parcel(request) as parcel:
            check_sender(viewer, parcel)
            if parcel.id is not None:
                raise BadRequest(f"id: expected none (the server gives it), found {parcel.id!r}")
            async with service.gate.passed((contest_id, parcel.problem_id)):
                new, practice, keeping = await check(service, viewer, contest_id, parcel, key)
                accepted = await write(service, new, keeping)
        if isinstance(accepted, LimitReached):
            await keeping.refuse()
            wait = None if accepted.again is None else ceil((accepted.again - new.time).total_seconds())
            raise TooManyRequests(accepted.message, wait)
        if accepted.judgement_id is not None:
            wake(service, new.team_id, accepted)
            service.boards.changed(contest_id, accepted.submission_id)
    if accepted.repeated:
        keeping.give_back()
        assert key is not None  # nothing else can repeat
        return _created(contest_id, await run_sync(repeated, service, viewer, contest_id, key))
    return _created(contest_id, clics.submission_json(str(accepted.submission_id), contest_id, new, practice=practice))


@router.put(
    "/contests/{contest_id}/submissions/{submission_id}",
    summary="Bring in a submission that another system took",
    responses={
        200: {"model": Submission, "description": "It was there already"},
        201: {"model": Submission, "description": "It has been taken"},
    },
    openapi_extra={
        **SECURED,
        "parameters": PUT_PARAMETERS,
        "requestBody": {"required": True, "content": REQUEST_FORMS},
    },
)
async def put_submission(request: Request) -> JSONResponse:
    """An admin gives it its id and its time. The same again changes nothing; another one of that id is refused."""
    service: Service = request.app.state.service
    viewer = await admin_only(await logged_in(await current_viewer(request, request.app.state.authenticator)))
    contest_id, submission_id = request.path_params["contest_id"], request.path_params["submission_id"]
    async with open_parcel(request) as parcel:
        check_sender(viewer, parcel)
        check_id(parcel, submission_id)
        async with service.gate.passed((contest_id, parcel.problem_id)):
            checked, practice, _keeping = await check(service, viewer, contest_id, parcel, None)
            new = replace(checked, external_id=submission_id)
            body = clics.submission_json(submission_id, contest_id, new, practice=practice)
            if await run_sync(there, service, new):
                return JSONResponse(body)
            accepted = await service.writer.call(submissions.accept, new)
    assert not isinstance(accepted, LimitReached)  # an admin has none
    if accepted.judgement_id is not None:
        wake(service, new.team_id, accepted)
        service.boards.changed(contest_id)
    return _created(contest_id, body)


def _key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= LONGEST_KEY:
        raise BadRequest(f"Idempotency-Key: expected 1 to {LONGEST_KEY} characters, found {len(key)}")
    return key


def _created(contest_id: str, body: dict[str, Any] | None) -> JSONResponse:
    assert body is not None  # it was written down in this transaction or an earlier one
    return JSONResponse(body, 201, {"Location": f"/api/contests/{contest_id}/submissions/{body['id']}"})
