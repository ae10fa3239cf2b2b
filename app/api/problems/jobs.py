"""HTTP routes: jobs and what starts them: reference runs, whose progress one can watch and which one can cancel."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.api.http.deps import AdminOnly, JudgeOrAdmin, Reading, TheService, Writing
from app.api.http.gated import GatedRoute
from app.api.http.middleware import API
from app.services.errors import Conflict
from app.services.problems.jobs import Job, ReferenceRunRequest, job_row, queue_run, view
from app.services.problems.packages import existing
from app.services.transactions import after_commit
from app.storage import jobs

router = APIRouter(route_class=GatedRoute, tags=["jobs"])


@router.post("/problems/{problem_id}/reference-runs", status_code=202, summary="Make expected answers with a solver")
def start_reference_run(
    problem_id: str,
    asked: ReferenceRunRequest,
    viewer: AdminOnly,
    service: TheService,
    session: Writing,
    response: Response,
) -> Job:
    """Queue a job that solves the cases one by one; each answer is checked before it becomes the expected one."""
    job = queue_run(session, existing(session, problem_id), asked, viewer.account_id)
    after_commit(session, lambda: service.jobs.wake(job.id))
    response.headers["Location"] = f"{API}/jobs/{job.id}"
    return view(job)


@router.get("/jobs", summary="The latest jobs, newest first")
def list_jobs(_viewer: JudgeOrAdmin, session: Reading) -> list[Job]:
    """At most 200."""
    return [view(row) for row in jobs.newest(session)]


@router.get("/jobs/{job_id}", summary="One job")
def get_job(job_id: str, _viewer: JudgeOrAdmin, session: Reading) -> Job:
    """Its state, progress, log and result."""
    return view(job_row(session, job_id))


@router.delete("/jobs/{job_id}", status_code=204, summary="Cancel a job")
def cancel_job(job_id: str, _viewer: AdminOnly, service: TheService) -> None:
    """Kill everything the job runs; what it has finished stays. 409 if it has ended already."""
    with service.database.read() as session:
        job_row(session, job_id)
    if not service.jobs.cancel(job_id):
        raise Conflict(f"job {job_id} has ended already")
