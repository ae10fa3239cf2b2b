"""Jobs and what starts them: reference runs, whose progress one can watch and which one can cancel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, cast

from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from sqlalchemy.orm import Session

from app.accounts.service.grants import OWNER
from app.accounts.service.viewer import Viewer
from app.core import bodies, clics, json_documents
from app.core.db.database import after_commit
from app.core.faults import Faults
from app.core.messages import N_, BadRequest, Conflict, Forbidden, Message, NotFound, describe_pattern, fault
from app.core.service import Service
from app.domain.documents import ReferenceDocument
from app.judging.queries import rejudging_changes
from app.judging.service.reference_runs import REFERENCE_RUN
from app.packages.settings import solver_of
from app.problems.queries import pins, problems
from app.tables import JobRow, ProblemRow

MOST_LISTED = 200
# A time as rows have it, shown as text.
Moment = Annotated[str, BeforeValidator(clics.format_time, json_schema_input_type=str)]


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
    job = queue_run(session, problems.existing(session, problem_id), asked, viewer.account_id)
    after_commit(session, lambda: service.jobs.wake(job.id))
    return view(job)


def start_verification(session: Session, service: Service, viewer: Viewer, problem_id: str) -> Job:
    """Queue the verification of a problem's package as it is stored; raises NotFound."""
    row = problems.existing(session, problem_id)
    params: json_documents.VerificationParams = {"problem_id": problem_id, "package_sha256": row.package_sha256}
    job = pins.add(session, pins.VERIFICATION, params, viewer.account_id)
    after_commit(session, lambda: service.jobs.wake(job.id))
    return view(job)


def verification(session: Session, viewer: Viewer, problem_id: str) -> Job | None:
    """The latest verification of a problem's package; raises NotFound where there is no such problem."""
    problems.existing(session, problem_id)
    for row in pins.jobs(session, pins.VERIFICATION):
        if row.params["problem_id"] == problem_id and viewer.reads_problem(problem_id):
            return view(row)
    return None


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
    row = session.get(JobRow, job_id)
    if row is None or not viewer.reads_problem(row.params["problem_id"]):
        raise NotFound(N_("no job %(job)r"), job=job_id)
    return row


class ReferenceRunRequest(bodies.Body):
    """The cases to solve (default: cases without an expected answer) and the options; defaults from jurado.yaml."""

    testcases: list[bodies.Line] | None = Field(None, min_length=1, description="names of test cases")
    method: str | None = Field(
        None,
        pattern=describe_pattern(
            r"^[a-z0-9][a-z0-9-]{0,63}$", Message(N_("the name of a method, in small letters, digits and hyphens"))
        ),
    )
    seconds: float | None = Field(None, gt=0, le=3600)
    seed: int | None = Field(None, ge=0, lt=2**63)


def queue_run(session: Session, problem: ProblemRow, asked: ReferenceRunRequest, account_id: str | None) -> JobRow:
    """Queue a reference run for a problem as it will be with the open rejudging that changes it, if there is one.

    Raises BadRequest where there is no solver, or no such case.
    """
    wanted = rejudging_changes.wanted(session, problem.id)
    settings = wanted["columns"]["settings"]
    defaults = settings.get("reference")
    if defaults is None:
        raise BadRequest(
            N_("problem %(problem)s has no reference solver: its jurado.yaml names none"), problem=problem.id
        )
    names = _names(problem.id, wanted["cases"], asked.testcases)
    if len(names) == 1:  # how its answer is to be made may have been said when it was put
        own: ReferenceDocument = wanted["cases"][names[0]]["provenance"].get("reference", {})
        defaults = {**defaults, **own}
    params: json_documents.RunParams = {
        "problem_id": problem.id,
        "checker": settings["checker"],
        "solver": solver_of(settings, problem.id),
        "cases": names,
        "method": asked.method or defaults.get("method") or "",
        "seconds": asked.seconds or defaults["seconds"],
        "seed": asked.seed if asked.seed is not None else defaults["seed"],
        "memory": defaults["memory"],
    }
    if (program := defaults.get("program")) is not None:
        del params["solver"]
        params["program"], params["package_sha256"] = program, wanted["columns"]["package_sha256"]
    return pins.add(session, REFERENCE_RUN, params, account_id)


def queue_for_missing(session: Session, problem_id: str, account_id: str | None, name: str | None = None) -> str | None:
    """Queue a reference run for the cases (or only this one) that lack an expected answer.

    Its id; None where none lacks one, or the problem names no solver.
    """
    wanted = rejudging_changes.wanted(session, problem_id)
    missing = [each for each, case in wanted["cases"].items() if case["answer_sha256"] is None and name in {None, each}]
    if not missing or wanted["columns"]["settings"].get("reference") is None:
        return None
    asked = ReferenceRunRequest(testcases=missing)
    return queue_run(session, problems.existing(session, problem_id), asked, account_id).id


def _names(problem_id: str, cases: Mapping[str, json_documents.CaseDocument], asked: list[str] | None) -> list[str]:
    """The cases to solve, in order."""
    in_order = sorted(cases, key=lambda name: cases[name]["ordinal"])
    if asked is None:
        names = [name for name in in_order if cases[name]["answer_sha256"] is None]
        if not names:
            raise BadRequest(
                N_("every test case of %(problem)s has an expected answer; name those to solve again"),
                problem=problem_id,
            )
        return names
    if missing := sorted(set(asked) - set(cases)):
        raise BadRequest(
            N_("expected names of test cases of %(problem)s, found %(found)s"),
            where="testcases",
            problem=problem_id,
            found=", ".join(missing),
        )
    return [name for name in in_order if name in asked]


def options_of(fields: Mapping[str, str], faults: Faults) -> ReferenceDocument:
    """The options of a reference run, each value checked."""
    try:
        options = ReferenceRunRequest.model_validate(fields, strict=False)
    except ValidationError as error:
        for each in map(fault, error.errors(include_url=False)):
            faults.expect(str(each["where"]), "", str(each["expected"]), str(each["found"]))
        return {}
    return cast(ReferenceDocument, options.model_dump(exclude_none=True))  # its keys are the fields
