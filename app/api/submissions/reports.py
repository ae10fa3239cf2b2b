"""HTTP routes: the report on a submission: what became of every file, every case and every group, and why."""

from __future__ import annotations

from datetime import timedelta

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from app.api.http.deps import CurrentViewer, Reading
from app.api.http.gated import GatedRoute
from app.api.http.snapshot import TheSnapshot
from app.api.submissions.submissions import ReadableSubmission
from app.services.clics import format_reltime, format_time
from app.services.errors import NotFound
from app.services.submissions.judgements import judgement_document
from app.services.submissions.report_bodies import Report
from app.services.submissions.reports import cases, group_document, not_judged, sealed_cases
from app.services.submissions.submissions import carried
from app.services.visibility import worth_of
from app.storage import submission_queries

router = APIRouter(route_class=GatedRoute, tags=["submissions"])


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/report",
    summary="What became of a submission",
    responses={200: {"model": Report}},
)
def get_report(row: ReadableSubmission, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> JSONResponse:
    """Per file whether it was taken; per case verdict, raw score, points and message; per group its points."""
    problem = snapshot.contest.problem(row.problem_id)
    if problem is None:
        raise NotFound(f"contest {row.contest_id!r} has no problem {row.problem_id!r} any more")
    judgement = submission_queries.current_judgement(session, row.id)
    answers = carried(snapshot, row)
    worth = worth_of(snapshot, row)
    points = worth.points if worth is not None else not_judged(snapshot, problem, answers)
    longest = submission_queries.longest_runs(session, row.contest_id, str(row.id))
    document = {
        "submission_id": row.shown_id,
        "problem_id": row.problem_id,
        "team_id": row.team_id,
        "time": format_time(row.time),
        "contest_time": format_reltime(timedelta(milliseconds=row.contest_time_ms)),
        "judgement": judgement_document(snapshot, judgement, row, longest.get(judgement.id)),
        "state": judgement.state,
        **({"error": judgement.error} if viewer.sees_all and judgement.error else {}),
        "points": points.points if worth is not None else None,
        "max_points": float(problem.rule.max_points),
        "files": row.files,
        "cases": [
            *cases(session, snapshot, problem, row, answers, points, judged_now=worth is not None),
            *sealed_cases(session, problem, row),
        ],
        "groups": [group_document(group) for group in points.groups],
    }
    return JSONResponse(document)
