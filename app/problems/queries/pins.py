"""A problem as one contest has it: the problem's rows, or the manifest of the earlier version that it is pinned to.

Rows made of a manifest are in no session and only read; each case has the id of its own row, which answers refer to.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from cachetools import LRUCache
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.json_documents import ManifestDocument
from app.problems.queries import problems
from app.tables import ContestProblemRow, ProblemRow, ProblemVersionRow, TestCaseRow, TestGroupRow

MOST_KEPT = 64
_MANIFESTS: LRUCache[str, ManifestDocument] = LRUCache(MOST_KEPT)
_GUARD = Lock()


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
    """The manifest of an earlier version, not to be changed: it is read once for all who ask."""
    place = (ProblemVersionRow.problem_id == problem_id) & (ProblemVersionRow.number == version)
    fingerprint = session.scalar(select(ProblemVersionRow.fingerprint).where(place))
    assert fingerprint is not None, "only the newest version has no manifest"
    with _GUARD:
        known = _MANIFESTS.get(fingerprint)
    if known is None:
        known = session.scalars(select(ProblemVersionRow.manifest).where(place)).one()
        assert known is not None, "it has a fingerprint"
        with _GUARD:
            _MANIFESTS[fingerprint] = known
    return known


def row(session: Session, contest_id: str, problem_id: str) -> ProblemRow | None:
    """The row of a problem as a contest has it, or None if there is no such problem."""
    live = problems.get(session, problem_id)
    known = None if live is None else manifest(session, contest_id, problem_id)
    return live if live is None or known is None else row_of(live, known)


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
