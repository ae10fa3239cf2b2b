"""Problems: bringing a package into the tables and the file store, and reading it back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from sqlalchemy import delete, exists, func, insert, select
from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.core.faults import SILENT, Steps
from app.core.files.files import FileStore
from app.core.files.temporary import PACKAGE_PREFIX, locked_folder
from app.core.json_documents import (
    CaseDocument,
    GroupDocument,
    MetadataDocument,
    ProblemChanges,
    ProblemColumns,
    StatementDocument,
)
from app.core.messages import N_, Conflict, Message, NotFound, did_you_mean
from app.domain.counting import pair
from app.domain.documents import FoundScore
from app.packages.markdown import FOLDER, image_links, image_type, local_image
from app.packages.model import Case, Package, Statement, write_archive_file
from app.packages.texts import ahead
from app.programs.model import pack
from app.tables import ContestProblemRow, ProblemRow, ProblemVersionRow, SubmissionRow, TestCaseRow, TestGroupRow

STORING = "storing the test cases"
AT_ONCE = 16
# Bytes of a case up to which it is stored beside others: so many are in memory then.
SMALL = 2**20


@dataclass(frozen=True, slots=True)
class KeptPackage:
    """A package whose files are stored, before any row points to them; `cases` are the columns of rows, by name."""

    package: Package
    zipped: str
    statements: Mapping[str, StatementDocument]
    outputs: Mapping[str, str]
    solutions: Mapping[str, StatementDocument]
    cases: Mapping[str, CaseDocument]


def keep_package(files: FileStore, package: Package, *, archive: bool = True, steps: Steps = SILENT) -> KeptPackage:
    """Store a package's files: to be done first, so that no row points to nothing and no writer waits for the disk.

    `archive`: False to leave out the zip, of which only rows need to know.
    """
    if package.program is not None:
        files.keep(pack(package.program.files))
    return KeptPackage(
        package,
        _keep_archive(files, package, steps) if archive else "",
        keep_statements(files, package.statements, package.files),
        {case.name: files.keep(case.output.read()) for case in package.cases if case.output is not None},
        keep_statements(files, package.solutions, {}),
        _keep_cases(files, package, steps),
    )


def keep_statements(
    store: FileStore, statements: Mapping[str, Statement], package_files: Mapping[str, bytes]
) -> dict[str, StatementDocument]:
    """Store each language's text as contestants read it: with the problem's constants put in, and with its images."""
    documents: dict[str, StatementDocument] = {}
    for language, statement in statements.items():
        text = "" if statement.kind == "pdf" else statement.text
        data = statement.file.read() if statement.kind == "pdf" else text.encode()
        documents[language] = {
            "kind": statement.kind,
            "file": statement.file.name,
            "sha256": store.keep(data),
            "images": _keep_images(store, statement.kind, text, package_files),
        }
    return documents


def _keep_images(store: FileStore, kind: str, text: str, package_files: Mapping[str, bytes]) -> dict[str, str]:
    """Store the images of a package that a statement shows; gives their digests by their paths below `statement/`."""
    links = image_links(text) if kind == "md" else ()
    names = {name for _, address in links if (name := local_image(address)) is not None and image_type(name)}
    return {name: store.keep(data) for name in sorted(names) if (data := package_files.get(f"{FOLDER}/{name}"))}


def _keep_archive(files: FileStore, package: Package, steps: Steps) -> str:
    """Store the package as a zip, which is never in memory as a whole."""
    with locked_folder(PACKAGE_PREFIX) as folder:
        path = folder / "package.zip"
        write_archive_file(package, path, steps)
        return files.keep_file(path)


def ordinals(package: Package) -> list[int]:
    """The places of the cases. Final ones come last: those of the others must not tell how many there are between."""
    final = {group.name for group in package.groups if group.kind == "final"}
    order = sorted(range(len(package.cases)), key=lambda at: package.cases[at].group in final)
    places = [0] * len(order)
    for place, at in enumerate(order, start=1):
        places[at] = place
    return places


def import_package(
    session: Session, files: FileStore, package: Package, scores: Mapping[str, FoundScore] | None = None
) -> None:
    """Make a package a problem, or replace the problem of its slug."""
    put_package(session, keep_package(files, package), scores)


def put_package(session: Session, stored: KeptPackage, scores: Mapping[str, FoundScore] | None = None) -> None:
    """Make a package whose files are kept a problem, or replace the problem of its slug.

    `scores` are those of expected answers, by case, so that the reference can take part in BEST.
    """
    package, now = stored.package, utc_now()
    columns = problem_columns(stored)
    if session.get(ProblemRow, package.slug) is None:
        session.add(ProblemRow(id=package.slug, created=now, updated=now, version=1, **columns))
        session.flush()
        note = "the package was brought in"
        session.add(ProblemVersionRow(problem_id=package.slug, number=1, created=now, note=note))
    old = {row.name: row for row in all_cases(session, package.slug)}
    cases: dict[str, CaseDocument | None] = dict.fromkeys(name for name, row in old.items() if not row.removed)
    for name, case in stored.cases.items():
        known, score = old.get(name), (scores or {}).get(name)
        files = (case["input_sha256"], case["answer_sha256"])
        cases[name] = case if score is None else with_score(case, score)
        if known is None or (known.input_sha256, known.answer_sha256) != files:
            cases[name] = {**with_score(case, score), "provenance": {"from": "package"}}
    write_rows(session, package.slug, {"columns": columns, "groups": group_columns(package), "cases": cases})


def with_score(case: CaseDocument, score: FoundScore | None) -> CaseDocument:
    """A case with what its expected answer scores, where that is known."""
    raw, multiplier = (None, None) if score is None else (score.raw, score.multiplier)
    (num, den), (multiplier_num, multiplier_den) = pair(raw), pair(multiplier)
    return {
        **case,
        "reference_raw_num": num,
        "reference_raw_den": den,
        "reference_multiplier_num": multiplier_num,
        "reference_multiplier_den": multiplier_den,
    }


def write_rows(session: Session, problem_id: str, changes: ProblemChanges) -> None:
    """Write the columns, groups and cases of a problem that change; a case that is None goes.

    Answers and raw scores refer to the rows of cases, so one that goes stays as a row, and its return is a change.
    """
    row = session.get_one(ProblemRow, problem_id)
    for name, value in changes.get("columns", {}).items():
        setattr(row, name, value)
    row.updated = utc_now()  # for those who keep what they have read of it
    if "groups" in changes:
        session.execute(delete(TestGroupRow).where(TestGroupRow.problem_id == problem_id))
        session.execute(insert(TestGroupRow), [{"problem_id": problem_id, **group} for group in changes["groups"]])
    known = {case.name: case for case in all_cases(session, problem_id)} if "cases" in changes else {}
    for name, columns in changes.get("cases", {}).items():
        case = known.get(name)
        if columns is None:
            if case is not None:
                case.removed = True
            continue
        case = case or TestCaseRow(problem_id=problem_id, name=name)
        for column, value in columns.items():
            setattr(case, column, value)
        case.removed = False
        session.add(case)
    session.flush()


def problem_columns(stored: KeptPackage) -> ProblemColumns:
    """The columns that a package gives its problem's own row."""
    package = stored.package
    return {
        "uuid": package.problem.uuid,
        "names": dict(package.problem.name),
        "metadata_": {
            **_metadata(package),
            "sample_outputs": dict(stored.outputs),
            "solutions": dict(stored.solutions),
        },
        "settings": package.settings_document(),
        "statements": dict(stored.statements),
        "package_sha256": stored.zipped,
    }


def _metadata(package: Package) -> MetadataDocument:
    return cast(MetadataDocument, package.problem.model_dump(mode="json"))  # it has the model's fields


def _keep_cases(files: FileStore, package: Package, steps: Steps) -> dict[str, CaseDocument]:
    """Store the cases: small ones many at a time, as nearly all of their time is waiting for the disk."""

    def keep(numbered: tuple[Case, int]) -> tuple[str, CaseDocument]:
        return numbered[0].name, _keep_case(files, *numbered)

    numbered = list(zip(package.cases, ordinals(package), strict=True))
    small = [each for each in numbered if _size(each[0]) <= SMALL]
    columns = dict(steps.each(STORING, small, ahead(keep, small, 2 * AT_ONCE, AT_ONCE)))
    columns.update(keep(each) for each in steps.over(STORING, numbered) if each[0].name not in columns)
    return {case.name: columns[case.name] for case in package.cases}


def _size(case: Case) -> int:
    return case.input.size + (0 if case.answer is None else case.answer.size)


def _keep_case(files: FileStore, case: Case, ordinal: int) -> CaseDocument:
    given, expected = case.input.read(), None if case.answer is None else case.answer.read()
    return {
        "group_name": case.group,
        "ordinal": ordinal,
        "points_num": case.max_points.numerator,
        "points_den": case.max_points.denominator,
        "input_sha256": files.keep(given),
        "input_size": len(given),
        "answer_sha256": None if expected is None else files.keep(expected),
        "answer_size": None if expected is None else len(expected),
        "checker_args": list(case.checker_args),
    }


def group_columns(package: Package) -> list[GroupDocument]:
    """The columns of a package's groups, in order."""
    return [
        {
            "name": group.name,
            "ordinal": at,
            "kind": group.kind,
            "max_points_num": group.max_score or 0,
            "max_points_den": 1,
            "aggregation": group.aggregation,
            "require_pass": list(group.require_pass),
        }
        for at, group in enumerate(package.groups, start=1)
    ]


def problems(session: Session) -> Sequence[ProblemRow]:
    """All problems, by slug."""
    return session.scalars(select(ProblemRow).order_by(ProblemRow.id)).all()


def groups(session: Session, problem_id: str) -> Sequence[TestGroupRow]:
    """A problem's test data groups, in order."""
    query = select(TestGroupRow).where(TestGroupRow.problem_id == problem_id).order_by(TestGroupRow.ordinal)
    return session.scalars(query).all()


def test_cases(session: Session, problem_id: str) -> Sequence[TestCaseRow]:
    """A problem's test cases, in order; none that have been removed."""
    query = select(TestCaseRow).where(TestCaseRow.problem_id == problem_id, TestCaseRow.removed.is_(False))
    return session.scalars(query.order_by(TestCaseRow.ordinal)).all()


def test_case(session: Session, problem_id: str, name: str) -> TestCaseRow | None:
    """One test case by its base name, or None."""
    query = select(TestCaseRow).where(TestCaseRow.problem_id == problem_id, TestCaseRow.name == name)
    return session.scalars(query.where(TestCaseRow.removed.is_(False))).one_or_none()


def all_cases(session: Session, problem_id: str) -> Sequence[TestCaseRow]:
    """The rows of a problem's cases, those that have been removed too."""
    return session.scalars(select(TestCaseRow).where(TestCaseRow.problem_id == problem_id)).all()


def case_counts(session: Session) -> dict[str, int]:
    """The number of test cases of each problem."""
    query = select(TestCaseRow.problem_id, func.count()).where(TestCaseRow.removed.is_(False))
    query = query.group_by(TestCaseRow.problem_id)
    return {row[0]: row[1] for row in session.execute(query)}


def max_points(session: Session) -> dict[str, Fraction]:
    """Per problem, the points of all its groups as its package gives them."""
    totals: dict[str, Fraction] = {}
    for problem_id, num, den in session.execute(
        select(TestGroupRow.problem_id, TestGroupRow.max_points_num, TestGroupRow.max_points_den)
    ):
        totals[problem_id] = totals.get(problem_id, Fraction(0)) + Fraction(num, den)
    return totals


def places(session: Session, problem_id: str) -> dict[str, int | None]:
    """The contests that have a problem, each with the version that it stays with; None: it follows the newest."""
    query = select(ContestProblemRow.contest_id, ContestProblemRow.version)
    query = query.where(ContestProblemRow.problem_id == problem_id).order_by(ContestProblemRow.contest_id)
    return {contest_id: number for contest_id, number in session.execute(query)}  # noqa: C416 - a Row is no pair


def remove(session: Session, problem_id: str) -> bool:
    """Delete a problem; False if there is none. Raises Conflict where a contest has it or anyone submitted."""
    row = session.get(ProblemRow, problem_id)
    if row is None:
        return False
    if used := places(session, problem_id):
        raise Conflict(N_("%(problem)s is a problem of %(contests)s"), problem=problem_id, contests=", ".join(used))
    if session.scalar(select(exists().where(SubmissionRow.problem_id == problem_id))):
        raise Conflict(N_("%(problem)s has submissions"), problem=problem_id)
    session.delete(row)
    session.flush()
    return True


def existing(session: Session, problem_id: str) -> ProblemRow:
    """The problem of the path; raises NotFound."""
    row = session.get(ProblemRow, problem_id)
    if row is None:
        known = [each.id for each in problems(session)]
        raise NotFound(did_you_mean(Message(N_("no problem %(problem)r"), problem=problem_id), problem_id, known))
    return row
