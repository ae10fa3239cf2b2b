"""A problem as one contest has it: the problem's rows, or the manifest of the earlier version that it is pinned to.

Rows made of a manifest are in no session and only read; each case has the id of its own row, which answers refer to.

- Jobs: long work for an admin, as rows that outlive the process that works on them.
"""

from collections.abc import Sequence
from uuid import uuid4

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.core.json_documents import JobParams, JobResult, ManifestDocument
from app.problems.queries import problems
from app.tables import ContestProblemRow, JobRow, ProblemRow, ProblemVersionRow, TestCaseRow, TestGroupRow

# The kind of jobs that verify a stored package.
VERIFICATION = "verification"


def number(session: Session, contest_id: str, problem_id: str) -> int | None:
    """The earlier version that a contest is pinned to; None where it has the problem as it is."""
    entry = session.get(ContestProblemRow, (contest_id, problem_id))
    if entry is None or entry.version is None:
        return None
    return None if entry.version == session.get_one(ProblemRow, problem_id).version else entry.version


def manifest(session: Session, contest_id: str, problem_id: str) -> ManifestDocument | None:
    """The manifest of the earlier version that a contest is pinned to, not to be changed; None: it has the rows."""
    pinned = number(session, contest_id, problem_id)
    return None if pinned is None else superseded(session, problem_id, pinned)


def superseded(session: Session, problem_id: str, version: int) -> ManifestDocument:
    """The manifest of an earlier version, not to be changed: a session reads it once for all who ask."""
    known = session.get_one(ProblemVersionRow, (problem_id, version)).manifest
    assert known is not None, "only the newest version has no manifest"
    return known


def row(session: Session, contest_id: str, problem_id: str) -> ProblemRow:
    """The row of an existing problem as a contest has it."""
    live, known = session.get_one(ProblemRow, problem_id), manifest(session, contest_id, problem_id)
    return live if known is None else row_of(live, known)


def row_of(live: ProblemRow, known: ManifestDocument) -> ProblemRow:
    """The row of a problem as an earlier version has it."""
    return ProblemRow(id=live.id, created=live.created, updated=live.updated, version=live.version, **known["columns"])


def groups(session: Session, contest_id: str, problem_id: str) -> Sequence[TestGroupRow]:
    """The groups of a problem as a contest has them, in order."""
    known = manifest(session, contest_id, problem_id)
    if known is None:
        return problems.groups(session, problem_id)
    return [TestGroupRow(problem_id=problem_id, **group) for group in known["groups"]]


def cases(session: Session, contest_id: str, problem_id: str) -> Sequence[TestCaseRow]:
    """The test cases of a problem as a contest has them, in order."""
    known = manifest(session, contest_id, problem_id)
    return problems.test_cases(session, problem_id) if known is None else cases_of(session, problem_id, known)


def cases_of(session: Session, problem_id: str, known: ManifestDocument) -> Sequence[TestCaseRow]:
    """The test cases of a problem as an earlier version has them, in order."""
    ids = case_ids(session, problem_id)
    rows = [
        TestCaseRow(id=ids[name], problem_id=problem_id, name=name, removed=False, **case)
        for name, case in known["cases"].items()
    ]
    return sorted(rows, key=lambda case: case.ordinal)


def case_ids(session: Session, problem_id: str) -> dict[str, int]:
    """The ids of a problem's cases by name, also of those that have been removed."""
    query = select(TestCaseRow.name, TestCaseRow.id).where(TestCaseRow.problem_id == problem_id)
    return {name: id_ for name, id_ in session.execute(query)}  # noqa: C416 - a Row is no pair


def ordinals(session: Session, contest_id: str) -> dict[str, dict[int, int]]:
    """The cases' ordinals by their ids, of each problem that a contest has in an earlier version."""
    query = (
        select(ContestProblemRow.problem_id, ContestProblemRow.version)
        .join(ProblemRow, ProblemRow.id == ContestProblemRow.problem_id)
        .where(ContestProblemRow.contest_id == contest_id, ContestProblemRow.version != ProblemRow.version)
    )
    pinned = [problem_id for problem_id, _ in session.execute(query)]
    return {each: {case.id: case.ordinal for case in cases(session, contest_id, each)} for each in pinned}


QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
ENDED = frozenset({DONE, FAILED, CANCELLED})
LOG_TAIL = 8000


def add(session: Session, kind: str, params: JobParams, account_id: str | None) -> JobRow:
    """Queue a job."""
    job = JobRow(id=uuid4().hex, kind=kind, state=QUEUED, params=params, account_id=account_id, created=utc_now())
    session.add(job)
    session.flush()
    return job


def jobs(
    session: Session, kind: str | None = None, *, is_open: bool = False, limit: int | None = None
) -> Sequence[JobRow]:
    """The jobs, of a kind if one is given, or only those that have not ended; newest first."""
    query = select(JobRow).order_by(JobRow.created.desc(), JobRow.id).limit(limit)
    query = query if kind is None else query.where(JobRow.kind == kind)
    return session.scalars(query.where(JobRow.state.not_in(ENDED)) if is_open else query).all()


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
    job = session.get(JobRow, job_id)
    if job is None or job.state in ENDED:
        return False
    end(job, CANCELLED, {**(job.result or {}), "error": "cancelled"})
    return True


def begin(session: Session, job_id: str) -> JobRow | None:
    """Start a queued job; None if it is not queued any longer (cancelled in the meantime)."""
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
