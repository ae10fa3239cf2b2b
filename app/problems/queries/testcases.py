"""Rows of test cases: put, numbered, and given expected answers and their scores."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core import clock, json_documents
from app.core.files.files import FileStore
from app.domain.counting import Exact, pair
from app.domain.documents import FoundScore, ProblemSettingsDocument
from app.packages import model
from app.packages.model import Aggregation, Group, GroupKind
from app.problems.queries import problems
from app.tables import ProblemRow, TestCaseRow, TestGroupRow


@dataclass(frozen=True, slots=True)
class NewCase:
    """A test case an admin puts: bytes that have passed every check.

    `answer` None leaves the expected answer to a reference run; `provenance` says how it is, or is to be, made.
    `checker_args` None: those of its group.
    """

    problem_id: str
    group: str
    name: str
    input: bytes
    answer: bytes | None = None
    provenance: json_documents.ProvenanceDocument = field(default_factory=json_documents.ProvenanceDocument)
    checker_args: Sequence[str] | None = None


def put_row(session: Session, files: FileStore, new: NewCase, score: FoundScore | None) -> None:
    """Add a case to its group, or replace the one of its name; ordinals and points are to be shared out after.

    `score` is what the expected answer scores, where that is known. Without an answer, one that was there for the same
    input stays.
    """
    given = files.keep(new.input)
    expected = files.keep(new.answer) if new.answer is not None else None
    row = problems.any_case(session, new.problem_id, new.name)
    is_new = row is None or row.removed
    row = row or _new_row(session, new)
    row.group_name, row.removed = new.group, False
    changed = is_new or row.input_sha256 != given or (expected is not None and row.answer_sha256 != expected)
    if row.input_sha256 not in {None, given}:
        _forget_shown(session, new)
    row.input_sha256, row.input_size = given, len(new.input)
    if changed:
        row.answer_sha256, row.answer_size = expected, None if new.answer is None else len(new.answer)
        row.reference_raw_num, row.reference_raw_den = pair(None if score is None else score.raw)
        row.reference_multiplier_num, row.reference_multiplier_den = pair(None if score is None else score.multiplier)
        row.provenance = new.provenance.copy()
    if new.checker_args is not None:
        row.checker_args = list(new.checker_args)
    session.add(row)


def _forget_shown(session: Session, new: NewCase) -> None:
    """Forget the shown answer of a case: it belongs to the input that was there before."""
    problem = session.get_one(ProblemRow, new.problem_id)
    shown = dict(problem.metadata_.get("sample_outputs", {}))
    if shown.pop(new.name, None) is not None:
        problem.metadata_ = {**problem.metadata_, "sample_outputs": shown}


def _new_row(session: Session, new: NewCase) -> TestCaseRow:
    """A case still without files; its checker gets the arguments that all cases of its group have in common."""
    sisters = [case for case in problems.test_cases(session, new.problem_id) if case.group_name == new.group]
    args = sisters[0].checker_args if sisters else []
    return TestCaseRow(
        problem_id=new.problem_id,
        group_name=new.group,
        name=new.name,
        ordinal=0,
        points_num=0,
        points_den=1,
        checker_args=args if all(case.checker_args == args for case in sisters) else [],
    )


def renumber(session: Session, problem_id: str) -> None:
    """Give every case its ordinal (final cases last) and its share of the group's points, as the format has it."""
    groups = {row.name: package_group(row) for row in problems.groups(session, problem_id)}
    known = session.get_one(ProblemRow, problem_id).settings.get("testcases", model.NOTHING)

    def place(case: TestCaseRow) -> tuple[bool, str, int, str]:
        is_final = groups[case.group_name].kind == "final"
        return is_final, case.group_name, model.place(known, case.name), case.name

    cases = sorted(problems.test_cases(session, problem_id), key=place)
    names: dict[str, list[str]] = {name: [] for name in groups}
    for case in cases:
        if case.answer_sha256 is not None:  # nobody can send an answer for it before
            names[case.group_name].append(case.name)
    parts = [model.shares(group, names[name], known) for name, group in groups.items()]
    shares = {name: each for part in parts for name, each in part.items()}
    for ordinal, case in enumerate(cases, start=1):
        points = shares.get(case.name, Fraction(0))
        case.ordinal, case.points_num, case.points_den = ordinal, points.numerator, points.denominator
    touch(session, problem_id)
    session.flush()


def touch(session: Session, problem_id: str) -> None:
    """Say that a problem has changed, for those who keep what they have read of it."""
    row = session.get_one(ProblemRow, problem_id)
    row.updated = clock.utc_now()


def package_group(row: TestGroupRow) -> Group:
    """A group as packages have it."""
    most = Fraction(row.max_points_num, row.max_points_den)
    return Group(
        row.name, cast(GroupKind, row.kind), int(most), cast(Aggregation, row.aggregation), tuple(row.require_pass)
    )


def without_score(session: Session) -> list[tuple[TestCaseRow, ProblemSettingsDocument]]:
    """Cases whose expected answer has no raw score yet, such as those of a package, each with its problem's settings.

    Those of packages' own checkers are left out: they were asked when the package came, and may take no such answer.
    """
    query = (
        select(TestCaseRow, ProblemRow.settings)
        .join(ProblemRow, ProblemRow.id == TestCaseRow.problem_id)
        .where(TestCaseRow.answer_sha256.is_not(None), TestCaseRow.reference_raw_num.is_(None))
        .where(TestCaseRow.removed.is_(False))
        .order_by(TestCaseRow.problem_id, TestCaseRow.ordinal)
    )
    return [(row[0], row[1]) for row in session.execute(query) if row[1].get("program") is None]


def set_score(session: Session, test_case_id: int, answer_sha256: str, raw: Exact, multiplier: Exact | None) -> None:
    """Keep what a case's expected answer scores, unless it has another one by now."""
    row = session.get(TestCaseRow, test_case_id)
    if row is None or row.answer_sha256 != answer_sha256:
        return
    row.reference_raw_num, row.reference_raw_den = pair(raw)
    row.reference_multiplier_num, row.reference_multiplier_den = pair(multiplier)
    touch(session, row.problem_id)


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """An expected answer: its file, the reference's exact raw score and multiplier, and where it comes from."""

    sha256: str
    size: int
    raw: Exact | None
    multiplier: Exact | None
    provenance: json_documents.ProvenanceDocument


def set_answer(session: Session, problem_id: str, name: str, input_sha256: str, answer: FoundAnswer) -> bool:
    """Give a case its expected answer; False if the case is gone, or has another input by now."""
    row = problems.test_case(session, problem_id, name)
    if row is None or row.input_sha256 != input_sha256:
        return False
    row.answer_sha256, row.answer_size = answer.sha256, answer.size
    row.reference_raw_num, row.reference_raw_den = pair(answer.raw)
    row.reference_multiplier_num, row.reference_multiplier_den = pair(answer.multiplier)
    row.provenance = answer.provenance.copy()
    session.flush()
    renumber(session, row.problem_id)
    return True
