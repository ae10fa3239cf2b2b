"""HTTP routes: the sources a team attached to a submission: kept and not judged, for the team itself and for judges."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.core.http.deps import CurrentViewer, Reading, TheService
from app.core.http.downloads import OCTETS, stored_file
from app.core.http.gated import GatedRoute
from app.core.http.snapshot import TheSnapshot
from app.submissions.service.report_bodies import SourceFile
from app.submissions.service.sources import source, sources

router = APIRouter(route_class=GatedRoute, tags=["submissions"])


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/sources",
    summary="The sources of a submission",
)
def list_sources(
    contest_id: str, submission_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> list[SourceFile]:
    """Their names and sizes, and where each can be had."""
    return list(sources(viewer, snapshot, session, submission_id).values())


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/sources/{name:path}",
    response_class=Response,
    responses=OCTETS,
    summary="One source file",
)
def get_source(
    name: str,
    contest_id: str,
    submission_id: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
) -> Response:
    """As it was sent."""
    file = source(viewer, snapshot, session, submission_id, name)
    headers = {"Content-Disposition": "attachment"}  # never shown by a browser: it is somebody's file
    return stored_file(service.files, file.sha256, file.size, "application/octet-stream", headers)
