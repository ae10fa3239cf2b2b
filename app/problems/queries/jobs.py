"""Jobs: long work for an admin, as rows that outlive the process that works on them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.core.json_documents import JobParams, JobResult
from app.tables import JobRow

QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
ENDED = frozenset({DONE, FAILED, CANCELLED})
LOG_TAIL = 8000


def add(session: Session, kind: str, params: JobParams, account_id: str | None) -> JobRow:
    """Queue a job."""
    job = JobRow(id=uuid4().hex, kind=kind, state=QUEUED, params=params, account_id=account_id, created=utc_now())
    session.add(job)
    session.flush()
    return job


def get(session: Session, job_id: str) -> JobRow | None:
    """One job."""
    return session.get(JobRow, job_id)


def newest(session: Session, limit: int = 200) -> Sequence[JobRow]:
    """The latest jobs, newest first."""
    return session.scalars(select(JobRow).order_by(JobRow.created.desc(), JobRow.id).limit(limit)).all()


def going(session: Session, kind: str) -> Sequence[JobRow]:
    """The jobs of a kind that have not ended, newest first."""
    query = select(JobRow).where(JobRow.kind == kind, JobRow.state.not_in(ENDED))
    return session.scalars(query.order_by(JobRow.created.desc(), JobRow.id)).all()


def going_of_problem(session: Session, problem_id: str) -> list[str]:
    """Ids of the jobs about a problem that have not ended."""
    rows = session.scalars(select(JobRow).where(JobRow.state.not_in(ENDED)))
    return [row.id for row in rows if row.params.get("problem_id") == problem_id]


def of_kind(session: Session, kind: str) -> Sequence[JobRow]:
    """The jobs of a kind, newest first."""
    query = select(JobRow).where(JobRow.kind == kind)
    return session.scalars(query.order_by(JobRow.created.desc(), JobRow.id)).all()


def waiting(session: Session) -> Sequence[str]:
    """Ids of the queued jobs, oldest first."""
    return session.scalars(select(JobRow.id).where(JobRow.state == QUEUED).order_by(JobRow.created, JobRow.id)).all()


def open_ids(session: Session) -> Sequence[str]:
    """Ids of the jobs that have not ended, oldest first."""
    query = select(JobRow.id).where(JobRow.state.not_in(ENDED))
    return session.scalars(query.order_by(JobRow.created, JobRow.id)).all()


def take_up_interrupted(session: Session, most_attempts: int, job_id: str | None = None) -> None:
    """Queue again what a dead process was working on, or only this job; one interrupted too often has failed."""
    query = select(JobRow).where(JobRow.state == RUNNING)
    for job in session.scalars(query if job_id is None else query.where(JobRow.id == job_id)):
        if job.attempt < most_attempts:
            job.state = QUEUED
        else:
            end(job, FAILED, {"error": f"interrupted {job.attempt} times"})


def cancel(session: Session, job_id: str) -> bool:
    """End a job as cancelled; False if it has ended already or does not exist."""
    job = get(session, job_id)
    if job is None or job.state in ENDED:
        return False
    end(job, CANCELLED, {**(job.result or {}), "error": "cancelled"})
    return True


def begin(session: Session, job_id: str) -> JobRow | None:
    """Start a queued job; None if it is not queued any more (cancelled meanwhile)."""
    changed = session.execute(
        update(JobRow)
        .where(JobRow.id == job_id, JobRow.state == QUEUED)
        .values(state=RUNNING, attempt=JobRow.attempt + 1, started=utc_now(), progress=0.0)
    )
    return session.get(JobRow, job_id) if changed.rowcount else None  # type: ignore[attr-defined]  # a cursor result


def report(session: Session, job_id: str, progress: float, line: str, result: JobResult | None = None) -> None:
    """Note how far a running job is, what it says, and its result so far where it has one."""
    job = session.get(JobRow, job_id)
    if job is None or job.state != RUNNING:
        return
    job.progress = min(1.0, max(job.progress, progress))
    if result is not None:
        job.result = result
    if line:
        job.log = (job.log + line + "\n")[-LOG_TAIL:]


def end(job: JobRow, state: str, result: JobResult) -> None:
    """End a job, unless it has ended."""
    if job.state in ENDED:
        return
    job.state = state
    job.result = result
    job.ended = utc_now()
    if state == DONE:
        job.progress = 1.0
