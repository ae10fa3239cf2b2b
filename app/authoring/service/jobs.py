"""Jobs and what starts them: reference runs, whose progress one can watch and which one can cancel."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator
from sqlalchemy.orm import Session

from app.accounts.service.grants import OWNER
from app.accounts.service.viewer import Viewer
from app.authoring.service.reference_runs import ReferenceRunRequest, queue_run
from app.core.clics import format_time
from app.core.db.database import after_commit
from app.core.errors import Conflict, Forbidden, NotFound
from app.core.json_documents import VerificationParams
from app.core.messages import N_
from app.core.service import Service
from app.problems.queries import pins
from app.problems.queries.pins import VERIFICATION
from app.problems.queries.problems import existing
from app.tables import JobRow

MOST_LISTED = 200
# A time as rows have it, shown as text.
Moment = Annotated[str, BeforeValidator(format_time, json_schema_input_type=str)]


class Job(BaseModel):
    """Long work: `progress` 0..1, the end of its log, and its result once it has ended."""

    id: str
    kind: str
    state: str
    params: dict[str, object]
    progress: float
    log: str
    result: dict[str, object] | None
    attempt: int
    created: Moment
    started: Moment | None
    ended: Moment | None


def start_run(session: Session, service: Service, viewer: Viewer, problem_id: str, asked: ReferenceRunRequest) -> Job:
    """Queue a reference run, which starts after the commit; raises BadRequest or NotFound."""
    job = queue_run(session, existing(session, problem_id), asked, viewer.account_id)
    after_commit(session, lambda: service.jobs.wake(job.id))
    return view(job)


def queue_verification(session: Session, problem_id: str, package_sha256: str, account_id: str | None) -> str:
    """Queue the verification of a problem's package; returns the job's id."""
    params: VerificationParams = {"problem_id": problem_id, "package_sha256": package_sha256}
    return pins.add(session, VERIFICATION, params, account_id).id


def start_verification(session: Session, service: Service, viewer: Viewer, problem_id: str) -> Job:
    """Queue the verification of a problem's package as it is stored; raises NotFound."""
    row = existing(session, problem_id)
    job_id = queue_verification(session, problem_id, row.package_sha256, viewer.account_id)
    after_commit(session, lambda: service.jobs.wake(job_id))
    return one(session, viewer, job_id)


def verification(session: Session, viewer: Viewer, problem_id: str) -> Job:
    """The latest verification of a problem's package; raises NotFound where there is none."""
    existing(session, problem_id)
    for row in pins.jobs(session, VERIFICATION):
        if row.params["problem_id"] == problem_id and viewer.reads_problem(problem_id):
            return view(row)
    raise NotFound(N_("the package of problem %(problem)r has not been verified"), problem=problem_id)


def newest(session: Session, viewer: Viewer) -> list[Job]:
    """The latest jobs that the viewer may see, newest first; of the last 200."""
    return [
        view(row) for row in pins.jobs(session, limit=MOST_LISTED) if viewer.reads_problem(row.params["problem_id"])
    ]


def one(session: Session, viewer: Viewer, job_id: str) -> Job:
    """A job; raises NotFound."""
    return view(_job_row(session, viewer, job_id))


def cancel(service: Service, viewer: Viewer, job_id: str) -> None:
    """Cancel a job; whoever runs it kills its processes within a second. What it has finished stays.

    Raises Conflict where it has ended, NotFound, or Forbidden for whoever does not own its problem.
    """
    with service.database.write() as session:
        problem_id = _job_row(session, viewer, job_id).params["problem_id"]
        if not (viewer.is_admin or viewer.grants.problems.get(problem_id) == OWNER):
            raise Forbidden(N_("only an owner of the problem or an admin may do this"))
        if not pins.cancel(session, job_id):
            raise Conflict(N_("job %(job)s has ended already"), job=job_id)


def view(row: JobRow) -> Job:
    """A job as it is shown."""
    return Job.model_validate(row, from_attributes=True)


def _job_row(session: Session, viewer: Viewer, job_id: str) -> JobRow:
    """A job that the viewer may see; raises NotFound."""
    row = pins.get(session, job_id)
    if row is None or not viewer.reads_problem(row.params["problem_id"]):
        raise NotFound(N_("no job %(job)r"), job=job_id)
    return row
