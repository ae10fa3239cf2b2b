"""HTTP routes: jobs and what starts them: reference runs, whose progress one can watch and which one can cancel."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.authoring.service import jobs
from app.authoring.service.jobs import Job
from app.authoring.service.reference_runs import ReferenceRunRequest
from app.authoring.service.tournaments import TournamentRequest
from app.authoring.service.tournaments import start_tournament as queue_tournament
from app.core.http.deps import CurrentViewer, Reading, TheService, Writing
from app.core.http.gated import GatedRoute
from app.core.http.middleware import API

router = APIRouter(route_class=GatedRoute, tags=["jobs"])


@router.post("/problems/{problem_id}/reference-runs", status_code=202, summary="Make expected answers with a solver")
def start_reference_run(
    problem_id: str,
    asked: ReferenceRunRequest,
    viewer: CurrentViewer,
    service: TheService,
    session: Writing,
    response: Response,
) -> Job:
    """Queue a job that solves the cases one by one; each answer is checked before it becomes the expected one."""
    job = jobs.start_run(session, service, viewer, problem_id, asked)
    response.headers["Location"] = f"{API}/jobs/{job.id}"
    return job


@router.post("/problems/{problem_id}/verification", status_code=202, summary="Verify a problem's package")
def start_verification(
    problem_id: str, viewer: CurrentViewer, service: TheService, session: Writing, response: Response
) -> Job:
    """Queue a job that runs everything the package brings: validators, generators, checker, example submissions.

    Every upload of a package queues one. The job's result has the `report` of `jurado package verify`.
    """
    job = jobs.start_verification(session, service, viewer, problem_id)
    response.headers["Location"] = f"{API}/jobs/{job.id}"
    return job


@router.post("/problems/{problem_id}/tournaments", status_code=202, summary="Let opponents play a round robin")
def start_tournament(
    problem_id: str,
    asked: TournamentRequest,
    viewer: CurrentViewer,
    service: TheService,
    session: Writing,
    response: Response,
) -> Job:
    """Queue a job in which opponents of the problem's game play each other.

    Its `result.tournament` has the cross table with Elo ratings, also while it runs, and at the end all games. Each is
    told by its position, its players and its seed, so that it can be played again.
    """
    job = queue_tournament(session, service, viewer, problem_id, asked)
    response.headers["Location"] = f"{API}/jobs/{job.id}"
    return job


@router.get("/problems/{problem_id}/verification", summary="The latest verification of a problem's package")
def get_verification(problem_id: str, viewer: CurrentViewer, session: Reading) -> Job:
    """Its state, progress and, once it is done, its report: errors, warnings and notes, each with file and line."""
    return jobs.verification(session, viewer, problem_id)


@router.get("/jobs", summary="The latest jobs, newest first")
def list_jobs(viewer: CurrentViewer, session: Reading) -> list[Job]:
    """At most 200."""
    return jobs.newest(session, viewer)


@router.get("/jobs/{job_id}", summary="One job")
def get_job(job_id: str, viewer: CurrentViewer, session: Reading) -> Job:
    """Its state, progress, log and result."""
    return jobs.one(session, viewer, job_id)


@router.delete("/jobs/{job_id}", status_code=204, summary="Cancel a job")
def cancel_job(job_id: str, viewer: CurrentViewer, service: TheService) -> None:
    """Kill everything the job runs; what it has finished stays. 409 if it has ended already."""
    jobs.cancel(service, viewer, job_id)
