"""HTTP routes: the report on a submission: what became of every file, every case and every group, and why."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.http.deps import CurrentViewer, Reading
from app.api.http.gated import GatedRoute
from app.api.http.snapshot import TheSnapshot
from app.services.submissions.report_bodies import Report
from app.services.submissions.reports import report

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
