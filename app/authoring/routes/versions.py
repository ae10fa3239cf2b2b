"""HTTP routes: versions of a problem, and the package that a contest is judged with.

- HTTP routes: which problems are in a contest, under which label, and how they are scored there.
- HTTP routes: jobs and what starts them: reference runs, whose progress one can watch and which one can cancel.
"""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from app.authoring.service import jobs, versions
from app.authoring.service.contest_problems import EntryBody, EntryChange, EntryView, add, alter, remove
from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheBoards, TheService, Writing
from app.core.http.downloads import ARCHIVE, BYTES, ZIP, TemporaryFileReply, type_for
from app.core.http.errors import ErrorBody
from app.core.http.middleware import API
from app.core.messages import N_, NotFound
from app.judging.routes import RESPONSES, TheHow, accepted
from app.judging.service.problem_changes import Preview, RejudgingView

router = APIRouter(route_class=GatedRoute, tags=["problems"])
PLACE = "/problems/{problem_id}/versions"
MOST = 2**31 - 1
Number = Annotated[int, Path(ge=1, le=MOST)]
PACKAGE: dict[int | str, dict[str, object]] = {
    **ARCHIVE,
    409: {"model": ErrorBody, "description": "No package can hold the problem as it is"},
}


@router.get(PLACE, summary="A problem's versions")
def list_versions(_viewer: CurrentViewer, session: Reading, problem_id: str) -> list[versions.VersionView]:
    """Newest first: who made each, when and why, and the contests that have it."""
    return versions.listed(session, problem_id)


@router.get(f"{PLACE}/{{number}}", summary="One version of a problem")
def get_version(_viewer: CurrentViewer, session: Reading, problem_id: str, number: Number) -> versions.VersionDetails:
    """Its settings, groups and test cases, each file by its sha256."""
    return versions.one(session, problem_id, number)


@router.get(f"{PLACE}/{{number}}/diff", summary="What a version changes")
def get_version_diff(
    _viewer: CurrentViewer,
    session: Reading,
    problem_id: str,
    number: Number,
    against: Annotated[int | None, Query(ge=1, le=MOST, description="default: the version before")] = None,
) -> versions.VersionDiff:
    """From another version to this one: in words, field by field, and case by case."""
    return versions.diff(session, problem_id, number, against)


@router.get(
    f"{PLACE}/{{number}}/package.zip", response_class=Response, responses=PACKAGE, summary="A version as a package"
)
def get_version_package(
    request: Request, problem_id: str, number: Number, _viewer: CurrentViewer, session: Reading, service: TheService
) -> Response:
    """A Kattis 2025-09 package with the test cases of the version, byte for byte."""
    file = versions.package_zip(service, session, problem_id, number)
    return TemporaryFileReply(file, type_for(request, ZIP, BYTES), f"{problem_id}-{number}.zip")


@router.post(
    f"{PLACE}/{{number}}/restore",
    response_model=versions.VersionView,
    responses=RESPONSES,
    summary="Make a version the newest again",
)
def restore_version(
    viewer: CurrentViewer, session: Writing, service: TheService, problem_id: str, number: Number, how: TheHow
) -> versions.VersionView | Response:
    """Creates a new version equal to that one. If it affects points, it becomes a rejudging."""
    outcome = versions.restore(service, viewer, session, problem_id, number, how)
    return outcome if isinstance(outcome, versions.VersionView) else accepted(outcome)


contest_problems_router = APIRouter(route_class=GatedRoute, tags=["contests"])


@contest_problems_router.post(
    "/contests/{contest_id}/problems", summary="Put a problem into a contest", status_code=201
)
def add_contest_problem(
    viewer: CurrentViewer, session: Writing, boards: TheBoards, contest_id: str, body: EntryBody, response: Response
) -> EntryView:
    """The scoring rule defaults to the problem's own."""
    shown = add(session, boards, viewer, contest_id, body)
    response.headers["Location"] = f"{API}/contests/{contest_id}/problems/{body.id}"
    return shown


@contest_problems_router.patch(
    "/contests/{contest_id}/problems/{problem_id}",
    summary="Change a problem's place, rule, limits or version",
    response_model=EntryView,
    responses=RESPONSES,
)
def change_contest_problem(
    viewer: CurrentViewer,
    session: Writing,
    service: TheService,
    contest_id: str,
    problem_id: str,
    body: EntryChange,
    how: TheHow,
) -> EntryView | Response:
    """The place changes at once; a rule or version that affects points becomes a rejudging (202).

    `version` pins the contest to a version of the problem; null lets it follow the newest. `preview=true` says what a
    rule or version would do (200).
    """
    outcome = alter(service, viewer, session, (contest_id, problem_id), body, how)
    return accepted(outcome) if isinstance(outcome, (RejudgingView, Preview)) else outcome


@contest_problems_router.delete(
    "/contests/{contest_id}/problems/{problem_id}", summary="Take a problem out", status_code=204
)
def remove_contest_problem(
    _viewer: CurrentViewer, session: Writing, boards: TheBoards, contest_id: str, problem_id: str
) -> None:
    """Only while it has no submissions here."""
    remove(session, boards, contest_id, problem_id)


jobs_router = APIRouter(route_class=GatedRoute, tags=["jobs"])


@jobs_router.post(
    "/problems/{problem_id}/reference-runs", status_code=202, summary="Make expected answers with a solver"
)
def start_reference_run(
    problem_id: str,
    asked: jobs.ReferenceRunRequest,
    viewer: CurrentViewer,
    service: TheService,
    session: Writing,
    response: Response,
) -> jobs.Job:
    """Queue a job that solves the cases one by one; each answer is checked before it becomes the expected one."""
    job = jobs.start_run(session, service, viewer, problem_id, asked)
    response.headers["Location"] = f"{API}/jobs/{job.id}"
    return job


@jobs_router.post("/problems/{problem_id}/verification", status_code=202, summary="Verify a problem's package")
def start_verification(
    problem_id: str, viewer: CurrentViewer, service: TheService, session: Writing, response: Response
) -> jobs.Job:
    """Queue a job that runs everything the package brings: validators, generators, checker, example submissions.

    Every upload of a package queues one. The job's result has the `report` of `jurado package verify`.
    """
    job = jobs.start_verification(session, service, viewer, problem_id)
    response.headers["Location"] = f"{API}/jobs/{job.id}"
    return job


@jobs_router.get("/problems/{problem_id}/verification", summary="The latest verification of a problem's package")
def get_verification(problem_id: str, viewer: CurrentViewer, session: Reading) -> jobs.Job:
    """Its state, progress and, once it is done, its report: errors, warnings and notes, each with file and line."""
    job = jobs.verification(session, viewer, problem_id)
    if job is None:
        raise NotFound(N_("the package of problem %(problem)r has not been verified"), problem=problem_id)
    return job


@jobs_router.get("/jobs", summary="The latest jobs, newest first")
def list_jobs(viewer: CurrentViewer, session: Reading) -> list[jobs.Job]:
    """At most 200."""
    return jobs.newest(session, viewer)


@jobs_router.get("/jobs/{job_id}", summary="One job")
def get_job(job_id: str, viewer: CurrentViewer, session: Reading) -> jobs.Job:
    """Its state, progress, log and result."""
    return jobs.one(session, viewer, job_id)


@jobs_router.delete("/jobs/{job_id}", status_code=204, summary="Cancel a job")
def cancel_job(job_id: str, viewer: CurrentViewer, service: TheService) -> None:
    """Kill everything the job runs; what it has finished stays. 409 if it has ended already."""
    jobs.cancel(service, viewer, job_id)
