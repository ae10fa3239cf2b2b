"""Submissions that arrive while a rejudging that changes their problem is open: they are judged by both versions.

The judgement by the changed version is queued in the transaction that takes the submission, so that an open rejudging
has one of every submission to its problem, and its preview stays up to date.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, insert, select

from app.core.clock import utc_now
from app.judging.queries.rejudgings import OPEN, Described, contests_of, grows
from app.submissions.queries.judgements import QUEUED
from app.tables import JudgementRow, RejudgingRow

OPEN_REJUDGINGS = select(RejudgingRow.id, RejudgingRow.contest_id, RejudgingRow.selection, RejudgingRow.changes).where(
    RejudgingRow.state == OPEN
)


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A submission that has just been inserted, and its current judgement."""

    submission_id: int
    judgement_id: int
    contest_id: str
    problem_id: str


def judged_again(connection: Connection, newcomers: Sequence[Newcomer]) -> dict[int, list[int]]:
    """Queue a judgement for each open rejudging that changes the problem; returns them by their submission.

    To be called after the submissions are inserted: on PostgreSQL the insert waits for whoever applies or cancels a
    rejudging (`rejudging_steps.lock`), so that what is read here afterwards is what holds when this commits.
    """
    rows = [
        _values(newcomer, rejudging.id)
        for rejudging in connection.execute(OPEN_REJUDGINGS)
        for newcomer in _of(rejudging, newcomers)
    ]
    queued: dict[int, list[int]] = {}
    if rows:
        made = insert(JudgementRow).returning(JudgementRow.submission_id, JudgementRow.id)
        for submission_id, judgement_id in connection.execute(made, rows):
            queued.setdefault(submission_id, []).append(judgement_id)
    return queued


def _of(rejudging: Described, newcomers: Iterable[Newcomer]) -> list[Newcomer]:
    """The newcomers that a rejudging takes in."""
    if not grows(rejudging):
        return []
    contests, problem_id = contests_of(rejudging), rejudging.changes["problem_id"]
    return [each for each in newcomers if each.problem_id == problem_id and each.contest_id in contests]


def _values(newcomer: Newcomer, rejudging_id: int) -> dict[str, object]:
    return {
        "submission_id": newcomer.submission_id,
        "state": QUEUED,
        "attempt": 0,
        "failures": 0,
        "current": False,
        "rejudging_id": rejudging_id,
        "replaced_id": newcomer.judgement_id,
        "start_time": utc_now(),
    }
