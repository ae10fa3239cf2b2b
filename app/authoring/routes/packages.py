"""HTTP routes: problems as such, in whatever contest: their packages come and go here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from app.accounts.routes.account_import import WritingAccounts
from app.authoring.service import packages
from app.authoring.service.packages import BroughtIn, ProblemDetails, ProblemView, SentPackage
from app.core.errors import BadRequest, UnsupportedMedia
from app.core.http.deps import CurrentViewer, Reading, TheAuthenticator, TheService
from app.core.http.downloads import ARCHIVE, BYTES, UPLOADED_ZIP, ZIP, TemporaryFileReply, file, form, type_for
from app.core.http.errors import ErrorBody
from app.core.http.forms import Expected, open_form
from app.core.http.gated import GatedRoute
from app.core.http.middleware import API
from app.core.http.progress import TOLD, ProgressReply, wants_progress
from app.core.http.uploads import ZIPS, body_file, content_type, written
from app.core.messages import N_
from app.core.progress import Steps
from app.judging.routes.problem_changes import PREVIEWED, RESPONSES, TheHow, accepted
from app.judging.service.rejudgings.previews import Preview
from app.judging.service.rejudgings.problem_changes import RejudgingView

router = APIRouter(route_class=GatedRoute, tags=["problems"])
PARTS = Expected(texts=frozenset({"id"}), files=frozenset({"package"}), parts=10)
FORM = form(
    "PackageForm",
    ["package"],
    {"package": file("a problem package, zipped"), "id": {"type": "string", "description": "the problem's id"}},
)


@router.get("/problems", summary="All problems")
def list_problems(viewer: CurrentViewer, session: Reading) -> list[ProblemView]:
    """By id, whether they are in a contest or not. Organisers see those at which they have a role."""
    return packages.listed(session, viewer)


@router.get("/problems/{problem_id}", summary="One problem with its test cases")
def get_problem(problem_id: str, _viewer: CurrentViewer, session: Reading, response: Response) -> ProblemDetails:
    """Settings, groups, test cases and where it is used. The ETag is its version, for If-Match of changes."""
    shown = packages.one(session, problem_id)
    response.headers["ETag"] = f'"{shown.version}"'
    return shown


@router.get(
    "/problems/{problem_id}/package.zip",
    response_class=Response,
    responses={**ARCHIVE, 409: {"model": ErrorBody, "description": "No package can hold the problem as it is"}},
    summary="The problem as a package",
)
def get_problem_package(
    request: Request, problem_id: str, _viewer: CurrentViewer, session: Reading, service: TheService
) -> Response:
    """A Kattis 2025-09 package with the test cases as they are now; 409 while no secret one has an expected answer."""
    packed = packages.package_zip(service, session, problem_id)
    return TemporaryFileReply(packed, type_for(request, ZIP, BYTES), f"{problem_id}.zip")


@router.delete("/problems/{problem_id}", status_code=204, summary="Delete a problem")
def delete_problem(problem_id: str, _viewer: CurrentViewer, service: TheService, session: WritingAccounts) -> None:
    """Only while no contest has it and nobody has submitted to it; its jobs are cancelled."""
    packages.delete(service, session, problem_id)


@router.post(
    "/problems",
    status_code=201,
    response_model=BroughtIn,
    responses={**PREVIEWED, **RESPONSES, 200: {**PREVIEWED[200], **TOLD[200]}},
    openapi_extra={"requestBody": {"required": True, "content": {**FORM, **UPLOADED_ZIP}}},
    summary="Bring in a problem package",
)
async def import_problem(
    request: Request,
    viewer: CurrentViewer,
    service: TheService,
    authenticator: TheAuthenticator,
    how: TheHow,
    id: Annotated[str | None, Query(description="the problem's id where the zip has no top folder")] = None,
    format: Annotated[
        packages.JudgeFormat | None, Query(description="the judge that the zip is of; told by its files")
    ] = None,
) -> Response:
    """A zip as the body, or as the file `package` of a form. A problem of that id is replaced; all errors at once.

    A zip of another judge is turned into a package, and the warnings say how.

    Where that would change what anybody has, the new version becomes a rejudging (202), to be applied. With `Accept:
    application/x-ndjson` there are lines of progress, the last one with the status and the body of the reply.
    """
    async with AsyncExitStack() as undo:
        sent = await undo.enter_async_context(_open_package(request, id, format, service.settings.max_package))

        def work(steps: Steps) -> Response:
            outcome = packages.bring_in(service, viewer, sent, how, steps)
            authenticator.forget(viewer.account_id)  # it may own a problem more
            if isinstance(outcome, (RejudgingView, Preview)):
                return accepted(outcome)
            return JSONResponse(outcome.model_dump(mode="json"), 201, {"Location": f"{API}/problems/{outcome.id}"})

        if wants_progress(request):
            return ProgressReply(request, work, undo.pop_all())
        return await run_sync(work, Steps())


@asynccontextmanager
async def _open_package(
    request: Request, slug: str | None, format: packages.JudgeFormat | None, limit: int
) -> AsyncIterator[SentPackage]:
    """Read a package from the body or from a form; its file is gone afterwards. Raises BadRequest, UnsupportedMedia."""
    kind = content_type(request)
    if kind == "multipart/form-data":
        async with open_form(request, PARTS) as form:
            upload = form.file("package")
            if upload is None:
                raise BadRequest(N_("expected a zip file, found nothing"), where="package")
            async with written(upload.stream) as path:
                yield SentPackage(path, slug or form.texts.get("id"), Path(upload.name).stem or None, format)
    elif kind in ZIPS:
        async with body_file(request, limit) as path:
            yield SentPackage(path, slug, None, format)
    else:
        raise UnsupportedMedia(
            N_("expected application/zip or multipart/form-data, found %(found)s"),
            where="Content-Type",
            found=kind or "none",
        )
