"""HTTP routes: a contest package brought in.

- HTTP routes: a contest as a contest package.
"""

from contextlib import AsyncExitStack
from typing import Annotated

from anyio.to_thread import run_sync
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from app.archive.service.export import export
from app.archive.service.views import ImportedView, bring_in, read
from app.core.faults import SILENT, Steps
from app.core.http import deps, downloads, middleware
from app.core.http.errors import zip_body

router = APIRouter(route_class=deps.GatedRoute, tags=["contests"])


@router.post(
    "/contests/import",
    status_code=201,
    response_model=ImportedView,
    responses=downloads.TOLD,
    summary="Import a contest package",
    openapi_extra={"requestBody": {"required": True, "content": downloads.UPLOADED_ZIP}},
)
async def import_contest(
    request: Request,
    viewer: deps.CurrentViewer,
    service: deps.TheService,
    authenticator: deps.TheAuthenticator,
    id: Annotated[str | None, Query(description="id of the imported contest")] = None,
    replace: Annotated[bool, Query(description="replace existing groups, teams and so on")] = False,
    submissions: Annotated[bool, Query(description="also import the submissions; they are judged again here")] = True,
) -> Response:
    """A zip of a contest package, its documents in JSON. All faults are listed at once; nothing is half stored.
    Submissions are queued, and judged after live submissions. Accounts of admins and judges are left out.

    With `Accept: application/x-ndjson` there are lines of progress, the last one with status and body of the reply.
    """
    async with AsyncExitStack() as undo:
        path = await undo.enter_async_context(zip_body(request, service.settings.max_package))

        def work(steps: Steps) -> Response:
            steps.begin("reading")
            contents = read(path, service.settings, submissions)
            account_id = str(viewer.account_id)
            made = bring_in(service, contents, account_id, contest_id=id, replace=replace, steps=steps)
            authenticator.forget()
            return JSONResponse(made, 201, {"Location": f"{middleware.API}/contests/{made['id']}"})

        if downloads.wants_progress(request):
            return downloads.ProgressReply(request, work, undo.pop_all())
        return await run_sync(work, SILENT)


@router.get(
    "/contests/{contest_id}/package.zip",
    response_class=StreamingResponse,
    responses={**downloads.ARCHIVE},
    summary="The contest as a contest package",
)
def export_contest(
    request: Request, viewer: deps.CurrentViewer, service: deps.TheService, contest_id: str
) -> downloads.TemporaryFileReply:
    """All of it, with the problems' packages, the submissions' files and every image. No passwords are in it.

    Stored files that are damaged, and problems that no package can hold, are missing: `unreadable.json` names them.
    """
    file = export(viewer, service, contest_id)
    return downloads.TemporaryFileReply(
        file, downloads.type_for(request, downloads.ZIP, downloads.BYTES), f"{contest_id}.zip"
    )
