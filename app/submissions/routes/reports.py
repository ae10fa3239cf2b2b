"""HTTP routes: the report on a submission: what became of every file, every case and every group, and why."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from app.core.http.deps import CurrentViewer, Reading, TheService
from app.core.http.downloads import ANY_FILE
from app.core.http.gated import GatedRoute
from app.core.http.snapshot import TheSnapshot
from app.submissions.service.report_bodies import Report
from app.submissions.service.reports import image, report

router = APIRouter(route_class=GatedRoute, tags=["submissions"])


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/report",
    summary="What became of a submission",
    response_model_exclude_unset=True,
)
def get_report(
    contest_id: str, submission_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> Report:
    """Per file whether it was taken; per case verdict, raw score, points and message; per group its points."""
    return report(viewer, snapshot, session, submission_id)


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/images/{case_name}/{image_name}",
    response_class=Response,
    responses={**ANY_FILE, 304: {"description": "the client has it already"}},
    summary="An image that a checker left",
)
def get_image(
    request: Request,
    contest_id: str,
    submission_id: str,
    case_name: str,
    image_name: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
) -> Response:
    """One that the report lists for this viewer. An SVG, which may hold scripts, comes as a download."""
    shown = image(viewer, snapshot, session, submission_id, case_name, image_name)
    kind = "attachment" if shown.mime == "image/svg+xml" else "inline"
    headers = {
        "ETag": f'"{shown.sha256}"',
        "Cache-Control": "private, no-cache",  # asked for again each time: the reader may have lost the right to it
        "Vary": "Authorization",
        "Content-Disposition": f'{kind}; filename="{shown.name}"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
    }
    if shown.sha256 in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(service.files.load(shown.sha256), media_type=shown.mime, headers=headers)
