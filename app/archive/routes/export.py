"""HTTP routes: a contest as a contest package."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from app.archive.service.export import growing_package
from app.core.http.deps import CurrentViewer, TheService
from app.core.http.downloads import ARCHIVE, BYTES, ZIP, GrowingReply, type_for
from app.core.http.gated import GatedRoute

router = APIRouter(route_class=GatedRoute, tags=["contests"])


@router.get(
    "/contests/{contest_id}/package.zip",
    response_class=StreamingResponse,
    responses={**ARCHIVE},
    summary="The contest as a contest package",
)
def export_contest(request: Request, viewer: CurrentViewer, service: TheService, contest_id: str) -> GrowingReply:
    """All of it, with the problems' packages, the submissions' files and every image. No passwords are in it.

    Stored files that are damaged, and problems that no package can hold, are missing: `unreadable.json` names them.
    """
    file = growing_package(viewer, service, contest_id)
    return GrowingReply(file, type_for(request, ZIP, BYTES), f"{contest_id}.zip")
