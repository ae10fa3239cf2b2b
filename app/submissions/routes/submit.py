"""HTTP routes: taking submissions: the routes that must never lose one.

- Reading a submission from a request: a form with files, or the CLICS Contest API's JSON. Nothing is decided here.
"""

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, Request, Response

from app.core import clics
from app.core.http.deps import GatedRoute, current_viewer
from app.core.http.downloads import file, form
from app.core.http.errors import ErrorBody, body_stream, content_type
from app.core.http.forms import Expected, open_form
from app.core.load import LIGHT, run_heavy
from app.core.messages import N_, BadRequest, UnsupportedMedia
from app.core.service import Service
from app.submissions.service.submission_form import (
    LONGEST_COMMENT,
    Submission,
    SubmissionForm,
    SubmissionRequest,
    read_json,
    read_texts,
)
from app.submissions.service.submit import bring_in
from app.submissions.service.submit import submit as take

PARTS = Expected(
    texts=frozenset({"problem_id", "language_id", "team_id", "testcase", "comment"}),
    files=frozenset({"files", "sources"}),
    parts=2000,
)
REQUEST_FORMS: dict[str, object] = {
    **form(
        "SubmissionForm",
        ["problem_id", "files"],
        {
            "problem_id": {"type": "string", "description": "the problem submitted for"},
            "files": {"type": "array", "minItems": 1, "items": file("answer files, or archives of them")},
            "sources": {"type": "array", "items": file("sources, which are kept and not judged")},
            "testcase": {"type": "string", "description": "the case of a single plain file"},
            "comment": {"type": "string", "maxLength": LONGEST_COMMENT, "description": "kept with the submission"},
            "language_id": {"type": "string", "enum": [clics.LANGUAGE], "description": "there is only one"},
            "team_id": {"type": "string", "description": "for admins: the team submitted for"},
        },
    ),
    "application/json": {"schema": {"$ref": f"#/components/schemas/{SubmissionRequest.__name__}"}},
}


@asynccontextmanager
async def open_submission_form(request: Request) -> AsyncIterator[SubmissionForm]:
    """Read the body, whichever of the two forms it has; its files are gone afterwards.

    Raises BadRequest or UnsupportedMedia.
    """
    kind = content_type(request)
    if kind == "multipart/form-data":
        async with open_form(request, PARTS) as form:
            yield read_texts(form.texts, form.named("files"), form.named("sources"))
    elif kind == "application/json":
        async with body_stream(request) as body:
            light = body.seek(0, io.SEEK_END) <= LIGHT
            body.seek(0)
            yield read_json(body.read()) if light else await run_heavy(lambda: read_json(body.read()))
    else:
        raise UnsupportedMedia(
            N_("expected multipart/form-data or application/json, found %(found)s"),
            where="Content-Type",
            found=kind or "none",
        )


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
    summary="Import a submission of another system",
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
    form = open_submission_form(request)
    submission, is_new = await bring_in(service, viewer, contest_id, submission_id, form)
    return _reply(contest_id, submission, is_new=is_new)


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
    return Response(submission.model_dump_json(exclude_unset=True), 201 if is_new else 200, headers, "application/json")
