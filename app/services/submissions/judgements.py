"""Judgements and runs: what became of submissions, and of each of their cases."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict
from sqlalchemy.orm import Session

from app.domain.contests import PROVISIONAL, Kind, ScoredProblem
from app.domain.scoring import RawScore
from app.domain.verdicts import CaseVerdict, judgement_type
from app.grading.scoreboard_cache import ContestSnapshot
from app.services.clics import format_reltime, format_time, number
from app.services.viewer import Viewer
from app.services.visibility import is_embargoed, may_see_runs, may_see_verdict, message_of, points_of, shown_type
from app.storage import submission_queries
from app.storage.attempts import attempt_team
from app.storage.judgements import DONE, exact
from app.storage.submission_queries import Run
from app.storage.tables import JudgementRow, SubmissionRow

RUN_TYPES = {CaseVerdict.ACCEPTED: "AC", CaseVerdict.REJECTED: "WA", CaseVerdict.JUDGE_ERROR: "JE"}


class Judgement(BaseModel):
    """A CLICS judgement; type, end and score are there once it is finished, the score for the current one."""

    model_config = ConfigDict(extra="allow")

    id: str
    submission_id: str
    judgement_type_id: str | None
    score: float | None = None
    current: bool
    start_time: str
    start_contest_time: str
    end_time: str | None
    end_contest_time: str | None
    max_run_time: float | None = None


class JudgedCase(BaseModel):
    """A CLICS run; `raw` and `message` are for the team itself and the judges."""

    model_config = ConfigDict(extra="allow")

    id: str
    judgement_id: str
    ordinal: int
    judgement_type_id: str
    time: str
    contest_time: str
    run_time: float


def _contest_time(snapshot: ContestSnapshot, moment: datetime) -> str:
    return format_reltime(snapshot.contest.clock.contest_time(moment))


def judged_type(snapshot: ContestSnapshot, row: JudgementRow, submission: SubmissionRow) -> str | None:
    """The type a judgement ended with; None while it has not, or not for those who may not know of final cases."""
    if row.state != DONE or not is_embargoed(snapshot, submission):
        return row.type if row.state == DONE else None
    problem = snapshot.contest.problem(submission.problem_id)
    tries = snapshot.of(attempt_team(submission), submission.problem_id)
    scores = next((attempt.scores for attempt in tries if attempt.id == submission.id), None)
    if problem is None or not scores:
        return None
    counting = {group.name for group in problem.groups if group.kind in PROVISIONAL}
    complete = all(case.name in scores for case in problem.cases if case.group in counting)
    return judgement_type([(s.verdict, _is_full(problem, s)) for s in scores.values()], complete=complete).value


def _is_full(problem: ScoredProblem, score: RawScore) -> bool:
    return problem.rule.kind is not Kind.ABSOLUTE or score.multiplier is None or score.multiplier >= 1


def judgement_document(
    snapshot: ContestSnapshot, row: JudgementRow, submission: SubmissionRow, longest_ms: int | None
) -> dict[str, Any]:
    """One judgement; the score is that of the answers its submission stands for, at the BEST the viewer sees."""
    document: dict[str, Any] = {
        "id": snapshot.contest.ids.judgement(row.id),
        "submission_id": submission.shown_id,
        "judgement_type_id": None,
        "current": row.current,
        "start_time": format_time(row.start_time),
        "start_contest_time": _contest_time(snapshot, row.start_time),
        "end_time": None,
        "end_contest_time": None,
    }
    type_ = judged_type(snapshot, row, submission)
    if type_ is None or row.end_time is None:
        return document
    document["judgement_type_id"] = shown_type(snapshot, type_)
    document["end_time"] = format_time(row.end_time)
    document["end_contest_time"] = _contest_time(snapshot, row.end_time)
    points = points_of(snapshot, submission) if row.current else None
    if points is not None:
        document["score"] = points
    if longest_ms is not None and not is_embargoed(snapshot, submission):
        document["max_run_time"] = longest_ms / 1000
    return document


def numbered_judgements(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, ids: Collection[int] | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each judgement of these submissions (None: all) that the viewer may know of, with its submission's number."""
    contest_id = snapshot.contest.id
    longest = submission_queries.longest_runs(session, contest_id, among=ids)
    for row, owner in submission_queries.judgements(session, contest_id, among=ids):
        if may_see_verdict(viewer, snapshot, owner):
            yield owner.id, judgement_document(snapshot, row, owner, longest.get(row.id))


def numbered_runs(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, ids: Collection[int] | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each run of these submissions (None: all) that the viewer may see, with its submission's number."""
    everybody = viewer.sees_all or snapshot.contest.settings.show_others_answers
    if not everybody and viewer.team_id is None:
        return
    for run in submission_queries.runs(session, snapshot.contest.id, among=ids):
        if may_see_run(viewer, snapshot, run):
            yield run.submission.id, run_document(snapshot, run)


def run_document(snapshot: ContestSnapshot, run: Run) -> dict[str, Any]:
    """One run, with what the checker found."""
    score, ids = run.score, snapshot.contest.ids
    return {
        "id": ids.run(score.judgement_id, score.test_case_id),
        "judgement_id": ids.judgement(score.judgement_id),
        "ordinal": run.ordinal,
        "judgement_type_id": RUN_TYPES[CaseVerdict(score.verdict)],
        "time": format_time(score.time),
        "contest_time": _contest_time(snapshot, score.time),
        "run_time": score.run_time_ms / 1000,
        "testcase": run.case_name,
        "raw": number(exact(score.raw_num, score.raw_den)),
        "message": message_of(snapshot, score.verdict, score.message),
    }


def may_see_run(viewer: Viewer, snapshot: ContestSnapshot, run: Run) -> bool:
    """Whether the viewer may see a run."""
    return may_see_runs(viewer, snapshot, run.submission)
