"""Problems as such, in whatever contest: their packages come and go here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer, own, refuse_foreign_version
from app.authoring.service.jobs import queue_for_missing
from app.core import clics, json_documents
from app.core.faults import SILENT, PackageError, PackageErrors, PackageFault, Steps, of_severity
from app.core.files.files import OnlyHashes
from app.core.messages import N_, SECONDS_UNTIL_BACK, BadRequest, NotFound, Unavailable
from app.core.service import Service
from app.core.settings import Settings
from app.domain.documents import FoundScore
from app.judging.service import grader, problem_changes, verification
from app.judging.service.engine import NotJudged
from app.packages import files, model, names, verify
from app.packages.arrivals import Arrival, read_arrival
from app.problems.queries import pins, problems, versions
from app.problems.queries.versions import Author
from app.programs.apart import READER
from app.tables import ProblemRow, TestCaseRow, TestGroupRow

# Name of the file in which a package's files lie, one behind the other, while it is checked and stored.
SPOOL = "files"
# The judges whose packages are imported next to Jurado's own.
JudgeFormat = names.Format


class TestDataGroup(BaseModel):
    """A test data group as the package has it."""

    name: str
    kind: str
    aggregation: str
    max_points: float
    require_pass: list[str]


class CaseView(BaseModel):
    """A test case, its points as the package gives them, and where its expected answer comes from.

    Without an expected answer it takes no answers; `reference_run` is the job that has been started to make it.
    """

    name: str
    group: str
    ordinal: int
    max_points: float
    size: int
    sha256: str
    answer_size: int | None
    answer_sha256: str | None
    provenance: dict[str, object]
    reference_run: str | None = None


class ProblemView(BaseModel):
    """A problem in a list; `version` is the number of its newest version."""

    id: str
    uuid: str
    names: dict[str, str]
    languages: list[str]
    checker: str
    scoring: dict[str, str]
    test_data_count: int
    max_score: float
    updated: str
    version: int


class ProblemDetails(ProblemView):
    """A problem with its settings (jurado.yaml), groups, test cases, and the contests it is in."""

    settings: dict[str, object]
    license: str | None
    groups: list[TestDataGroup]
    testcases: list[CaseView]
    contests: list[str]


class BroughtIn(ProblemDetails):
    """The problem that a package has become, with the package's warnings and the job that runs its programs.

    `reference_run` is the job that makes the expected answers that the package lacks; null if it has them all.
    """

    warnings: list[PackageFault]
    verification: str
    reference_run: str | None


# The problem as it is now, or what is to be done first.
Imported = BroughtIn | problem_changes.RejudgingView | problem_changes.Preview


@dataclass(frozen=True, slots=True)
class SentPackage:
    """A package as it was sent: a zip, the id it is to have, and the name of its file for one without a top folder.

    `format`: the judge that it is of; None: told by its files.
    """

    source: Path
    slug: str | None
    stem: str | None = None
    format: JudgeFormat | None = None

    @property
    def folder(self) -> Path:
        """The folder of the sender's own in which it lies, and in which it is unpacked."""
        return self.source.parent


@dataclass(frozen=True, slots=True)
class Checked:
    """A package that may be kept, what its expected answers score, and what in it will not work as expected."""

    package: model.Package
    scores: Mapping[str, FoundScore]
    warnings: Sequence[PackageError]


def listed(session: Session, viewer: Viewer) -> list[ProblemView]:
    """The problems of the server by id, in a contest or not; for organisers, those at which they have a role."""
    return _views(session, [row for row in problems.problems(session) if viewer.reads_problem(row.id)])


def delete(session: Session, problem_id: str) -> None:
    """Delete a problem and cancel its jobs.

    Raises NotFound, or Conflict while a contest has it or someone has submitted to it.
    """
    rows = pins.jobs(session, is_open=True)
    for row in rows:
        if row.params.get("problem_id") == problem_id:
            pins.cancel(session, row.id)
    if not problems.remove(session, problem_id):
        raise NotFound(N_("no problem %(problem)r"), problem=problem_id)


def bring_in(
    service: Service, viewer: Viewer, sent: SentPackage, how: problem_changes.How, steps: Steps = SILENT
) -> Imported:
    """Check a package and store it: at once, or as a rejudging where submissions exist.

    Raises BadRequest with all faults; nothing is stored then, nor for a preview.
    """
    return _store(service, _read_and_check(service, sent, steps), viewer, how, steps)


def _views(session: Session, rows: Iterable[ProblemRow]) -> list[ProblemView]:
    """Problems as lists show them; cases and points of all of them are counted together."""
    counts, points = problems.case_counts(session), problems.max_points(session)
    return [
        ProblemView(
            id=row.id,
            uuid=row.uuid,
            names=row.names,
            languages=sorted(row.statements),
            checker=row.settings["checker"],
            scoring={name: row.settings["scoring"][name] for name in ("kind", "direction")},
            test_data_count=counts.get(row.id, 0),
            max_score=float(points.get(row.id, 0)),
            updated=clics.format_time(row.updated),
            version=row.version,
        )
        for row in rows
    ]


def one(session: Session, problem_id: str) -> ProblemDetails:
    """Settings, groups, test cases and contests of a problem: everything judges may read of it; raises NotFound."""
    row = problems.existing(session, problem_id)
    (view,) = _views(session, [row])
    return ProblemDetails(
        **dict(view),
        settings=dict(row.settings),
        license=row.metadata_.get("license"),
        groups=[group_view(group) for group in problems.groups(session, row.id)],
        testcases=[case_view(case) for case in problems.test_cases(session, row.id)],
        contests=list(problems.places(session, row.id)),
    )


def group_view(group: TestGroupRow) -> TestDataGroup:
    """A group as judges may read it."""
    return TestDataGroup(
        name=group.name,
        kind=group.kind,
        aggregation=group.aggregation,
        max_points=group.max_points_num / group.max_points_den,
        require_pass=group.require_pass,
    )


def case_view(case: TestCaseRow) -> CaseView:
    """A test case as judges may read it."""
    return CaseView(
        name=case.name,
        group=case.group_name,
        ordinal=case.ordinal,
        max_points=case.points_num / case.points_den,
        size=case.input_size,
        sha256=case.input_sha256,
        answer_size=case.answer_size,
        answer_sha256=case.answer_sha256,
        provenance=dict(case.provenance or {}),
    )


def _read_and_check(service: Service, sent: SentPackage, steps: Steps) -> Checked:
    """Read and check: nothing is stored unless everything is right."""
    try:
        settings = service.settings
        steps.begin("reading")
        arrival = READER.read(
            read_arrival,
            (sent.source, sent.slug, sent.stem, sent.format),
            settings.package_read_seconds,
            [sent.source],
            sent.folder,
            limits=limits_of(settings),
            spool=sent.folder / SPOOL,
        )
        return check_package(service, arrival, steps)
    except PackageErrors as faults:
        errors = of_severity(faults.errors, "error")
        message = (
            N_("the package has 1 fault: %(fault)s")
            if len(errors) == 1
            else N_("the package has %(count)s faults: %(fault)s")
        )
        listed = [error.as_data() for error in faults.errors]
        raise BadRequest(message, count=len(errors), fault=errors[0], errors=listed) from None


def limits_of(settings: Settings) -> files.Limits:
    """The limits of packages that are brought in."""
    return replace(
        files.LIMITS,
        archive=settings.max_package,
        total=settings.max_package_inflated,
        files=settings.max_package_files,
    )


def _store(service: Service, checked: Checked, viewer: Viewer, how: problem_changes.How, steps: Steps) -> Imported:
    """Store a checked package: at once, or as a rejudging where submissions exist."""
    package = checked.package
    stored = problems.keep_package(OnlyHashes() if how.preview else service.files, package, steps=steps)
    steps.begin("writing")
    with service.database.write(quiet=how.preview) as session:
        is_new = session.get(ProblemRow, package.slug) is None
        if not is_new:
            refuse_foreign_version(viewer, package.slug)

        def write() -> None:
            problems.put_package(session, stored, checked.scores)

        if is_new and how.preview:
            return problem_changes.preview_of_new(package.slug, versions.package_document(stored))
        author = Author(viewer.account_id, f"a new version of {package.slug} has been brought in")
        opened = problem_changes.change(session, package.slug, write, author, how)
        if isinstance(opened, problem_changes.Preview):
            return opened
        if is_new:
            own(session, viewer, "problems", package.slug)
        problem = None if opened is not None else one(session, package.slug)
        params: json_documents.VerificationParams = {"problem_id": package.slug, "package_sha256": stored.zipped}
        run_id = queue_for_missing(session, package.slug, viewer.account_id)
        job_id = pins.add(session, pins.VERIFICATION, params, viewer.account_id).id
    if run_id is not None:
        service.jobs.wake(run_id)
    service.jobs.wake(job_id)
    if problem is not None:
        warnings = [each.as_data() for each in checked.warnings]
        return BroughtIn(**dict(problem), warnings=warnings, verification=job_id, reference_run=run_id)
    assert opened is not None, "one of the two"
    service.engine.wake(rejudging=True)
    return opened.model_copy(update={"reference_run": run_id})


def check_package(service: Service, arrival: Arrival, steps: Steps = SILENT) -> Checked:
    """Hold a package against every rule, its checker run by the graders or in their sandbox.

    Raises PackageErrors with every fault, warnings included, if one of them is an error; Unavailable without graders.
    """
    package = arrival.package
    desk = verification.GraderDesk(service.engine, service.settings.package_check_seconds)
    try:
        examined = verify.examine(package, desk, broken=arrival.broken, steps=steps)
    except NotJudged as failed:
        raise Unavailable(
            N_("the package could not be checked: %(failed)s"), SECONDS_UNTIL_BACK, failed=failed
        ) from None
    if of_severity(examined.faults, "error"):
        raise PackageErrors(examined.faults)
    scores = {name: grader.found_score(0, score) for name, score in examined.scores.items()}
    return Checked(package, scores, of_severity(examined.faults, "warning"))
