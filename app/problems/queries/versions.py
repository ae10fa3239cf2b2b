"""Versions of a problem: each change of what it consists of makes one, and contests stay with theirs until it is moved.

The newest version is the problem's rows. An earlier one is a manifest, written at the moment it is superseded, so that
it holds what was learnt of it until then, such as the scores of expected answers.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.core.json_documents import ManifestDocument, ProblemChanges, ProblemDocument
from app.problems.queries import pins, problem_diff
from app.tables import ContestProblemRow, ProblemRow, ProblemVersionRow, SubmissionRow

# The keys of changes that make another version.
PARTS = frozenset({"columns", "groups", "cases"})


@dataclass(frozen=True, slots=True)
class Author:
    """Who makes a version, and why; no account where the service itself does.

    `goes_on`: a change with the same note right after it belongs to the same version.
    """

    account_id: str | None
    note: str
    goes_on: bool = False


@contextmanager
def changing(session: Session, problem_id: str, author: Author, moving: Collection[str]) -> Iterator[None]:
    """Make what the block writes to a problem's rows its next version; what is only learnt makes none.

    Contests with submissions that are not in `moving` are pinned to the version before; all others follow.
    """
    row = lock(session, problem_id)
    if row is None:
        yield
        session.flush()
        first = session.get(ProblemVersionRow, (problem_id, 1))
        if first is not None:
            first.account_id, first.note = author.account_id, author.note
        return
    before = manifest_of(problem_diff.document(session, problem_id))
    yield
    session.flush()
    if _content(before) == _content(manifest_of(problem_diff.document(session, problem_id))):
        return
    row = session.get_one(ProblemRow, problem_id)
    staying = [entry for entry in followers(session, problem_id) if entry.contest_id not in moving]
    staying = [entry for entry in staying if has_submissions(session, entry.contest_id, problem_id)]
    if author.goes_on and not staying and _goes_on(session, row, author):
        return
    session.get_one(ProblemVersionRow, (row.id, row.version)).manifest = before
    for entry in staying:
        entry.version = row.version
    row.version += 1
    version = ProblemVersionRow(problem_id=problem_id, number=row.version, created=utc_now())
    version.account_id, version.note = author.account_id, author.note
    session.add(version)
    session.flush()


def lock(session: Session, problem_id: str) -> ProblemRow | None:
    """The problem, which nobody else changes before the end of this transaction; None if there is none."""
    return session.get(ProblemRow, problem_id, with_for_update=True, populate_existing=True)


def _goes_on(session: Session, row: ProblemRow, author: Author) -> bool:
    """Whether the newest version is the author's own for the same reason, and no contest stays with it."""
    newest = session.get(ProblemVersionRow, (row.id, row.version))
    place = (ContestProblemRow.problem_id == row.id) & (ContestProblemRow.version == row.version)
    is_pinned = session.scalar(select(exists().where(place)))
    return newest is not None and (newest.account_id, newest.note) == (author.account_id, author.note) and not is_pinned


def manifest_of(document: ProblemDocument) -> ManifestDocument:
    """A problem's document without the rules of contests."""
    return {"columns": document["columns"], "groups": document["groups"], "cases": document["cases"]}


def fingerprint(manifest: ManifestDocument) -> str:
    """The sha256 of a manifest."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _content(manifest: ManifestDocument) -> object:
    """What makes one version another: all but what is learnt of it later."""
    return manifest["columns"], manifest["groups"], problem_diff.without_learnt(manifest["cases"])


def followers(session: Session, problem_id: str) -> Sequence[ContestProblemRow]:
    """The places of a problem in contests that take each new version."""
    query = select(ContestProblemRow).where(
        ContestProblemRow.problem_id == problem_id, ContestProblemRow.version.is_(None)
    )
    return session.scalars(query.order_by(ContestProblemRow.contest_id)).all()


def has_submissions(session: Session, contest_id: str, problem_id: str) -> bool:
    """Whether anybody has submitted to a problem in a contest."""
    query = exists().where(SubmissionRow.contest_id == contest_id, SubmissionRow.problem_id == problem_id)
    return bool(session.scalar(select(query)))


def versions(session: Session, problem_id: str) -> Sequence[ProblemVersionRow]:
    """A problem's versions without their manifests, newest first."""
    query = select(ProblemVersionRow).where(ProblemVersionRow.problem_id == problem_id)
    return session.scalars(query.order_by(ProblemVersionRow.number.desc())).all()


def manifest(session: Session, problem_id: str, number: int | None) -> ManifestDocument | None:
    """The manifest of a version (None: the newest), not to be changed; None if there is no such version."""
    if number is None or number == session.get_one(ProblemRow, problem_id).version:
        return manifest_of(problem_diff.document(session, problem_id))
    if session.get(ProblemVersionRow, (problem_id, number)) is None:
        return None
    return pins.superseded(session, problem_id, number)


def make(
    session: Session, problem_id: str, changes: ProblemChanges, author: Author, contests: Collection[str]
) -> ProblemChanges:
    """Make a rejudging's changes, which move these contests; returns those that undo them."""
    if "pins" in changes:
        return _move(session, problem_id, changes["pins"])
    with changing(session, problem_id, author, contests):
        return problem_diff.write(session, problem_id, changes)


def _move(session: Session, problem_id: str, numbers: Mapping[str, int | None]) -> ProblemChanges:
    """Move a contest to another version; undoing pins it to the one that it has now."""
    ((contest_id, number),) = numbers.items()
    before, earlier = problem_diff.document(session, problem_id, contest_id), current(session, contest_id, problem_id)
    pin(session, contest_id, problem_id, number)
    after = problem_diff.document(session, problem_id, contest_id)
    return {**problem_diff.difference(after, before), "pins": {contest_id: earlier}}


def pin(session: Session, contest_id: str, problem_id: str, number: int | None) -> None:
    """Let a contest stay with a version of a problem; None: follow the newest."""
    session.get_one(ContestProblemRow, (contest_id, problem_id)).version = number
    session.get_one(ProblemRow, problem_id).updated = utc_now()  # for those who keep what they have read of it
    session.flush()


def current(session: Session, contest_id: str, problem_id: str) -> int:
    """The number of the version that a contest has."""
    entry = session.get_one(ContestProblemRow, (contest_id, problem_id))
    return entry.version or session.get_one(ProblemRow, problem_id).version


def places(session: Session, problem_id: str) -> dict[str, int | None]:
    """The contests that have a problem, each with the version that it stays with; None: it follows the newest."""
    query = select(ContestProblemRow.contest_id, ContestProblemRow.version)
    query = query.where(ContestProblemRow.problem_id == problem_id).order_by(ContestProblemRow.contest_id)
    return {contest_id: number for contest_id, number in session.execute(query)}  # noqa: C416 - a Row is no pair
