"""HTTP routes: problems as such, in whatever contest: their packages come and go here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response

from app.api.http.deps import AdminOnly, JudgeOrAdmin, Reading, TheService, Writing
from app.api.http.downloads import ARCHIVE, BYTES, UPLOADED_ZIP, ZIP, file, form, type_for
from app.api.http.forms import Expected, open_form
from app.api.http.gated import GatedRoute
from app.api.http.uploads import body_file
from app.api.rejudgings.problem_changes import Joins, accepted
from app.services.errors import BadRequest, Conflict, NotFound, UnsupportedMedia
from app.services.problems.packages import (
    BroughtIn,
    ProblemDetails,
    ProblemView,
    bring_in,
    details,
    existing,
    read_and_check,
    view,
)
from app.services.rejudgings.problem_changes import RESPONSES, RejudgingView
from app.storage import packing, problems
from app.storage.problems import ProblemInUse

router = APIRouter(route_class=GatedRoute, tags=["problems"])
PARTS = Expected(texts=frozenset({"id"}), files=frozenset({"package"}), parts=10)
ZIPS = frozenset({"application/zip", "application/x-zip-compressed", "application/octet-stream"})
FORM = form(
    "PackageForm",
    ["package"],
    {"package": file("a problem package, zipped"), "id": {"type": "string", "description": "the problem's id"}},
)


@router.get("/problems", summary="All problems")
def list_problems(_viewer: JudgeOrAdmin, session: Reading) -> list[ProblemView]:
    """By id, whether they are in a contest or not."""
    return [ProblemView(**view(session, row)) for row in problems.problems(session)]


@router.get("/problems/{problem_id}", summary="One problem with its test cases")
def get_problem(problem_id: str, _viewer: JudgeOrAdmin, session: Reading) -> ProblemDetails:
    """Settings, groups, test cases and where it is used."""
    return details(session, existing(session, problem_id))


@router.get(
    "/problems/{problem_id}/package.zip",
    response_class=Response,
    responses=ARCHIVE,
    summary="The problem as a package",
)
def get_problem_package(
    request: Request, problem_id: str, _viewer: JudgeOrAdmin, session: Reading, service: TheService
) -> Response:
    """A Kattis 2025-09 package with the test cases as they are now."""
    data = packing.packed(session, service.files, existing(session, problem_id))
    headers = {"Content-Disposition": f'attachment; filename="{problem_id}.zip"'}
    return Response(data, media_type=type_for(request, ZIP, BYTES), headers=headers)


@router.delete("/problems/{problem_id}", status_code=204, summary="Delete a problem")
def delete_problem(problem_id: str, _viewer: AdminOnly, session: Writing) -> None:
    """Only while no contest has it and nobody has submitted to it."""
    try:
        if not problems.remove(session, problem_id):
            raise NotFound(f"no problem {problem_id!r}")
    except ProblemInUse as used:
        raise Conflict(str(used)) from None


@router.post(
    "/problems",
    status_code=201,
    response_model=BroughtIn,
    responses=RESPONSES,
    openapi_extra={"requestBody": {"required": True, "content": {**FORM, **UPLOADED_ZIP}}},
    summary="Bring in a problem package",
)
async def import_problem(
    request: Request,
    response: Response,
    viewer: AdminOnly,
    service: TheService,
    id: Annotated[str | None, Query(description="the problem's id where the zip has no top folder")] = None,
    joins: Joins = None,
) -> Any:
    """A zip as the body, or as the file `package` of a form. A problem of that id is replaced; all errors at once.

    Where that would change what anybody has, the new version becomes a rejudging (202), to be applied.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    limit = service.settings.max_upload
    if kind == "multipart/form-data":
        async with open_form(request, PARTS) as form:
            data = form.read("package")
            if data is None:
                raise BadRequest("package: expected a zip file, found nothing")
            sent = form.file("package")
            stem = Path(sent.name if sent is not None else "").stem or None
            checked = await run_sync(read_and_check, service, data, id or form.texts.get("id"), stem)
    elif kind in ZIPS:
        async with body_file(request, limit) as path:
            checked = await run_sync(read_and_check, service, path, id, None)
    else:
        raise UnsupportedMedia(f"Content-Type: expected application/zip or multipart/form-data, found {kind or 'none'}")
    made = await run_sync(bring_in, service, checked, viewer.account_id, joins)
    if isinstance(made, RejudgingView):
        return accepted(made)
    response.headers["Location"] = f"/api/problems/{made.id}"
    return made
