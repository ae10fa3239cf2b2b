"""Reading submissions: the CLICS list, the files as a zip, and the answer that counts for a case."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict
from sqlalchemy.orm import Session

from app.domain.scoring import Answers, submission_answers
from app.grading.scoreboard_cache import ContestSnapshot
from app.services import clics
from app.services.bodies import Sparse
from app.services.viewer import Viewer
from app.services.visibility import is_practice, may_see, may_see_answers, worth_of
from app.storage import submission_queries
from app.storage.attempts import attempt_team
from app.storage.tables import SubmissionRow


class FileReference(BaseModel):
    """A file and where it can be had."""

    href: str
    filename: str
    mime: str


class Submission(Sparse):
    """A CLICS submission; `files` is empty for those who may not read them. `practice`: after the end, on no board."""

    model_config = ConfigDict(extra="allow")

    id: str
    language_id: str
    problem_id: str
    team_id: str | None
    account_id: str | None = None
    time: str
    contest_time: str
    entry_point: None = None
    files: list[FileReference]
    practice: bool


def document(viewer: Viewer, snapshot: ContestSnapshot, row: SubmissionRow) -> dict[str, Any]:
    """One submission as this viewer may see it."""
    full = may_see_answers(viewer, snapshot, row)
    practice = is_practice(snapshot, row)
    document = clics.submission_json(row.shown_id, row.contest_id, row, files=full, practice=practice)
    if full and row.comment is not None:
        document["comment"] = row.comment
    if not viewer.sees_all:
        del document["account_id"]  # which may be another one than their own, the only one they see
    return document


def numbered(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, ids: Collection[int] | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each of these submissions (None: all) that the viewer may know of, with the number of its row."""
    for row in submission_queries.submissions(session, snapshot.contest.id, ids):
        if may_see(viewer, snapshot, row):
            yield row.id, document(viewer, snapshot, row)


def brought(session: Session, row: SubmissionRow, case_name: str) -> bool:
    """Whether a submission itself brought the answer for a case."""
    return any(sent.case_name == case_name for sent in submission_queries.sent_answers(session, row.id))


def carried_from(snapshot: ContestSnapshot, row: SubmissionRow, case_name: str) -> int | None:
    """The earlier submission whose answer stands for a case this one brought no file for."""
    counted = carried(snapshot, row).get(case_name)
    return None if counted is None else counted.submission_id


def carried(snapshot: ContestSnapshot, row: SubmissionRow) -> Answers:
    """The answers a submission stands for; while it is not judged, only those it takes over from earlier ones."""
    worth = worth_of(snapshot, row)
    if worth is not None:
        return worth.answers
    problem = snapshot.contest.problem(row.problem_id)
    if problem is None:
        return {}
    tries = snapshot.of(attempt_team(row), row.problem_id)
    # Judged without any score, it shows what it takes over.
    tries = [replace(attempt, scores={}) if attempt.id == row.id else attempt for attempt in tries]
    return next((found for each, found in submission_answers(tries, problem.rule) if each.id == row.id), {})
