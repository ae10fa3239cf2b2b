"""Whole collections of submissions, judgements and runs, read in batches: a large contest has millions of runs.

They have the submissions that the snapshot has: those that came after it was read are not on its board either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.visibility import may_see_verdict
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries
from app.submissions.service import submissions
from app.submissions.service.judgements import JudgedCase, Judgement, judgement_document, numbered_runs
from app.submissions.service.submissions import Submission

BATCH = 500


def batches(snapshot: ContestSnapshot) -> Iterator[Sequence[int]]:
    """The numbers of all submissions in order of arrival, some at a time."""
    ids = [attempt.id for attempt in snapshot.attempts]
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


def submission_documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> Iterator[Submission]:
    """The submissions that the viewer may know of, in order of arrival."""
    for ids in batches(snapshot):
        for _, document in submissions.numbered(viewer, snapshot, session, ids):
            yield document


def judgement_documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> Iterator[Judgement]:
    """The judgements that the viewer may know of, in order of their submissions."""
    contest_id = snapshot.contest.id
    for ids in batches(snapshot):
        longest = submission_queries.longest_runs(session, contest_id, among=ids)
        for row, owner in submission_queries.judgements(session, contest_id, among=ids):
            if may_see_verdict(viewer, snapshot, owner):
                yield judgement_document(snapshot, row, owner, longest.get(row.id))


def run_documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> Iterator[JudgedCase]:
    """The runs that the viewer may see, in order of their submissions."""
    for ids in batches(snapshot):
        for _, document in numbered_runs(viewer, snapshot, session, ids):
            yield document
