"""Whole collections of submissions, judgements and runs, read in batches: a large contest has millions of runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.visibility import may_see_runs, may_see_verdict
from app.core.clics import JsonObject
from app.feed.queries import events
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries
from app.submissions.service import submissions
from app.submissions.service.judgements import judgement_document, run_document

T = TypeVar("T")
BATCH = 500


def batched(values: Sequence[T], size: int = BATCH) -> Iterator[Sequence[T]]:
    """Consecutive parts of a sequence, `size` values each but for the last."""
    return (values[start : start + size] for start in range(0, len(values), size))


def submission_documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> Iterator[JsonObject]:
    """The submissions that the viewer may know of, in order of arrival."""
    for ids in batched(events.submission_ids(session, snapshot.contest.id)):
        for _, document in submissions.numbered(viewer, snapshot, session, ids):
            yield document


def judgement_documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> Iterator[JsonObject]:
    """The judgements that the viewer may know of, in order of creation."""
    contest_id = snapshot.contest.id
    for ids in batched(submission_queries.visible_judgements(session, contest_id)):
        pairs = submission_queries.judgements(session, contest_id, only=ids)
        longest = submission_queries.longest_runs(session, contest_id, among={owner.id for _, owner in pairs})
        for row, owner in pairs:
            if may_see_verdict(viewer, snapshot, owner):
                yield judgement_document(snapshot, row, owner, longest.get(row.id))


def run_documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> Iterator[JsonObject]:
    """The runs that the viewer may see, in order of judgements."""
    for ids in batched(submission_queries.visible_judgements(session, snapshot.contest.id)):
        for run in submission_queries.runs(session, snapshot.contest.id, judgements=ids):
            if may_see_runs(viewer, snapshot, run.submission):
                yield run_document(snapshot, run)
