"""HTTP routes: the sources a team attached to a submission: kept and not judged, for the team itself and for judges."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Response

from app.api.http.deps import CurrentViewer, TheService
from app.api.http.downloads import OCTETS, stored_file
from app.api.http.gated import GatedRoute
from app.api.submissions.submissions import TheSubmission
from app.services.errors import Forbidden, NotFound
from app.services.submissions.report_bodies import SourceFile
from app.services.submissions.sources import named
from app.services.visibility import may_see_sources
from app.storage.tables import SubmissionRow

router = APIRouter(route_class=GatedRoute, tags=["submissions"])


def _with_sources(row: TheSubmission, viewer: CurrentViewer) -> SubmissionRow:
    if not may_see_sources(viewer, row):
        raise Forbidden("only the team itself and judges may see this")
    return row


SourcesOf = Annotated[SubmissionRow, Depends(_with_sources)]
"""The submission of the path; 403 where the viewer may not read its sources."""


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/sources",
    summary="The sources of a submission",
    response_model=list[SourceFile],
)
def list_sources(row: SourcesOf) -> Any:
    """Their names and sizes, and where each can be had."""
    folder = f"contests/{row.contest_id}/submissions/{row.shown_id}/sources"
    return [
        {"name": name, "size": source["size"], "sha256": source["sha256"], "href": f"{folder}/{quote(name)}"}
        for name, source in named(row).items()
    ]


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/sources/{name:path}",
    response_class=Response,
    responses=OCTETS,
    summary="One source file",
)
def get_source(name: str, row: SourcesOf, service: TheService) -> Response:
    """As it was sent."""
    found = named(row).get(name)
    if found is None:
        raise NotFound(f"submission {row.shown_id} has no source {name!r}")
    headers = {"Content-Disposition": "attachment"}  # never shown by a browser: it is somebody's file
    return stored_file(service.files, found["sha256"], found["size"], "application/octet-stream", headers)
