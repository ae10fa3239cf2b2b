"""Test cases in a problem's document: put, numbered, and given expected answers; scores of expected answers in rows."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core import clock
from app.core.files.files import FileStore
from app.core.json_documents import CaseDocument, ProblemDocument, ProvenanceDocument
from app.domain.counting import Exact, pair
from app.domain.documents import FoundScore, ProblemSettingsDocument
from app.packages import model
from app.packages.model import Aggregation, Group, GroupKind
from app.problems.queries import problem_diff, problems
from app.tables import ProblemRow, TestCaseRow, TestGroupRow

# A stored file: its sha256 and its bytes.
Kept = tuple[str, int]


def keep(files: FileStore, data: bytes) -> Kept:
    """Store a file."""
    return files.keep(data), len(data)


@dataclass(frozen=True, slots=True)
class NewCase:
    """A test case an admin puts: files that have passed every check and are stored.

    `answer` None leaves the expected answer to a reference run; `provenance` says how it is, or is to be, made.
    `checker_args` None: those that all cases of its group have in common. `score`: of the answer, where it is known.
    """

    group: str
    name: str
    input: Kept
    answer: Kept | None = None
    provenance: ProvenanceDocument = field(default_factory=ProvenanceDocument)
    checker_args: Sequence[str] | None = None
    score: FoundScore | None = None


def put(version: ProblemDocument, new: NewCase) -> None:
    """Add a case to its group, or replace the one of its name; ordinals and points are to be shared out after.

    Without an answer, one that was there for the same input stays.
    """
    known = version["cases"].get(new.name)
    is_other = known is None or known["input_sha256"] != new.input[0]
    if is_other:  # what was shown as its answer belongs to the input that was there before
        version["columns"]["metadata_"].get("sample_outputs", {}).pop(new.name, None)
    if known is None or is_other or (new.answer is not None and new.answer[0] != known["answer_sha256"]):
        known = _case(new, _common_args(version, new.group) if known is None else known["checker_args"])
    args = known["checker_args"] if new.checker_args is None else list(new.checker_args)
    version["cases"][new.name] = {**known, "group_name": new.group, "checker_args": args}


def _case(new: NewCase, args: list[str]) -> CaseDocument:
    sha256, size = new.answer or (None, None)
    case: CaseDocument = {
        "group_name": new.group,
        "ordinal": 0,
        "points_num": 0,
        "points_den": 1,
        "input_sha256": new.input[0],
        "input_size": new.input[1],
        "answer_sha256": sha256,
        "answer_size": size,
        "checker_args": args,
        "provenance": new.provenance.copy(),
    }
    return problems.with_score(case, new.score)


def _common_args(version: ProblemDocument, group: str) -> list[str]:
    known = [case["checker_args"] for case in version["cases"].values() if case["group_name"] == group]
    return known[0] if known and all(args == known[0] for args in known) else []


def renumber(version: ProblemDocument) -> None:
    """Give every case its ordinal (final cases last) and its share of the group's points, as the format has it."""
    groups = {group["name"]: package_group(TestGroupRow(**group)) for group in version["groups"]}
    listed, cases = version["columns"]["settings"].get("testcases", model.NOTHING), version["cases"]

    def place(name: str) -> tuple[bool, str, int, str]:
        group = cases[name]["group_name"]
        return groups[group].kind == "final", group, model.place(listed, name), name

    for group in groups.values():
        own = [name for name in cases if cases[name]["group_name"] == group.name]
        points = dict.fromkeys(own, Fraction(0))
        # No one can send an answer for a case before it has an expected one.
        points |= model.shares(group, [name for name in own if cases[name]["answer_sha256"] is not None], listed)
        for name, share in points.items():
            cases[name]["points_num"], cases[name]["points_den"] = share.numerator, share.denominator
    for ordinal, name in enumerate(sorted(cases, key=place), start=1):
        cases[name]["ordinal"] = ordinal


def package_group(row: TestGroupRow) -> Group:
    """A group as packages have it."""
    most = Fraction(row.max_points_num, row.max_points_den)
    return Group(
        row.name, cast(GroupKind, row.kind), int(most), cast(Aggregation, row.aggregation), tuple(row.require_pass)
    )


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """An expected answer: its file, what it scores, and where it comes from."""

    file: Kept
    score: FoundScore
    provenance: ProvenanceDocument


def set_answer(session: Session, problem_id: str, name: str, input_sha256: str, answer: FoundAnswer) -> bool:
    """Give a case its expected answer; False if the case is gone, or has another input by now."""
    before = problem_diff.document(session, problem_id)
    case = before["cases"].get(name)
    if case is None or case["input_sha256"] != input_sha256:
        return False
    after, (sha256, size) = copy.deepcopy(before), answer.file
    answered: CaseDocument = {**case, "answer_sha256": sha256, "answer_size": size, "provenance": answer.provenance}
    after["cases"][name] = problems.with_score(answered, answer.score)
    renumber(after)
    problems.write_rows(session, problem_id, problem_diff.difference(before, after))
    return True


def touch(session: Session, problem_id: str) -> None:
    """Say that a problem has changed, for those who keep what they have read of it."""
    session.get_one(ProblemRow, problem_id).updated = clock.utc_now()


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
