"""HTTP routes: taking submissions: the routes that must never lose one."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from app.core.errors import BadRequest
from app.core.http.deps import current_viewer
from app.core.http.errors import ErrorBody
from app.core.http.gated import GatedRoute
from app.core.messages import N_
from app.core.service import Service
from app.submissions.routes.submission_form import REQUEST_FORMS, open_submission_form
from app.submissions.service.submissions import Submission
from app.submissions.service.submit import bring_in
from app.submissions.service.submit import submit as take

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
    responses={
        201: {"model": Submission, "description": "It is kept, and will be judged"},
        422: {"model": ErrorBody, "description": "The problem is played, and takes no files"},
    },
    openapi_extra={"parameters": PARAMETERS, "requestBody": {"required": True, "content": REQUEST_FORMS}},
)
async def submit(request: Request) -> Response:
    """Take a submission as multipart/form-data or CLICS JSON; a repeated Idempotency-Key gives the first one back."""
    # Dependencies cost a third of a small submission's time, so this route, the busiest that writes, asks for itself.
    service: Service = request.app.state.service
    viewer = await current_viewer(request, request.app.state.authenticator)
    contest_id, key = request.path_params["contest_id"], _key(request)
    return _reply(contest_id, await take(service, viewer, contest_id, open_submission_form(request), key))


@router.put(
    "/contests/{contest_id}/submissions/{submission_id}",
    summary="Bring in a submission that another system took",
    responses={
        200: {"model": Submission, "description": "It was there already"},
        201: {"model": Submission, "description": "It has been taken"},
    },
    openapi_extra={
        "parameters": PUT_PARAMETERS,
        "requestBody": {"required": True, "content": REQUEST_FORMS},
    },
)
async def put_submission(request: Request) -> Response:
    """An admin gives it its id and its time. The same again changes nothing; another one of that id is refused."""
    service: Service = request.app.state.service
    viewer = await current_viewer(request, request.app.state.authenticator)
    contest_id, submission_id = request.path_params["contest_id"], request.path_params["submission_id"]
    brought = await bring_in(service, viewer, contest_id, submission_id, open_submission_form(request))
    return _reply(contest_id, brought.submission, is_new=brought.is_new)


def _key(request: Request) -> str | None:
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= LONGEST_KEY:
        raise BadRequest(
            N_("expected 1 to %(most)s characters, found %(found)s"),
            where="Idempotency-Key",
            most=LONGEST_KEY,
            found=len(key),
        )
    return key


def _reply(contest_id: str, submission: Submission, *, is_new: bool = True) -> Response:
    headers = {"Location": f"/api/contests/{contest_id}/submissions/{submission.id}"} if is_new else {}
    return Response(submission.model_dump_json(), 201 if is_new else 200, headers, "application/json")
