"""The change that a submission brought: its points against those of the team's submission before, both as of now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.visibility import SubmissionKey, is_own, worth_of
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries
from app.submissions.queries.attempts import attempt_team
from app.submissions.service.submissions import visible


@dataclass(frozen=True, slots=True)
class Gain:
    """The points that a submission has more than the one before (`since`): in all, and for each case that gives any."""

    since: str
    points: float
    cases: Mapping[str, float]


def gain(viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str) -> Gain | None:
    """The gain of a submission, for its team and judges; None before it is judged, and for the first one.

    Raises NotFound.
    """
    row = visible(viewer, snapshot, session, submission_id)
    now = worth_of(snapshot, row) if viewer.sees_all or is_own(viewer, row) else None
    if now is None:
        return None
    judged = [each for each in snapshot.of(attempt_team(row), row.problem_id) if each.scores is not None]
    ids = [each.id for each in sorted(judged, key=lambda each: (each.time, each.id))]
    at = ids.index(row.id)
    if at == 0:
        return None
    earlier = SubmissionKey(ids[at - 1], row.team_id, row.problem_id, row.account_id)
    before = worth_of(snapshot, earlier)
    assert before is not None, "each judged attempt has a worth"
    given, had = now.points.case_points, before.points.case_points
    cases = {case: given.get(case, 0.0) - had.get(case, 0.0) for case in {**had, **given}}
    shown = submission_queries.shown_ids(session, [earlier.id])
    return Gain(shown[earlier.id], now.points.points - before.points.points, cases)
