"""The report on a submission: what became of every file, every case and every group, and why."""

from __future__ import annotations

from typing import Any

from sqlalchemy.orm import Session

from app.domain.contests import CaseKind, ScoredProblem
from app.domain.scoring import Answers, GroupPoints, ProblemPoints, phase_scale, problem_points
from app.grading.scoreboard_cache import ContestSnapshot
from app.services.clics import number
from app.services.visibility import message_of
from app.storage import submission_queries
from app.storage.judgements import exact
from app.storage.submission_queries import SentAnswer
from app.storage.tables import RawScoreRow, SubmissionRow

WAITING = {"key": "waiting", "text": "waiting to be judged", "args": {}}
SEALED = {"key": "final-case", "text": "counts after the end of the contest", "args": {}}
NOTHING = {"key": "no-answer", "text": "no answer was sent for this test case", "args": {}}


def cases(
    session: Session,
    snapshot: ContestSnapshot,
    problem: ScoredProblem,
    row: SubmissionRow,
    answers: Answers,
    points: ProblemPoints,
    *,
    judged_now: bool,
) -> list[dict[str, Any]]:
    """Every case the viewer may know all of."""
    sent = {each.case_name: each for each in submission_queries.sent_answers(session, row.id)}
    found = submission_queries.current_scores(
        session, {row.id, *(counted.submission_id for counted in answers.values())}
    )
    kinds = {group.name: group.kind for group in problem.groups}
    scale, counting = phase_scale(problem, snapshot.phase), problem.counting(snapshot.phase)
    shown = submission_queries.shown_ids(session, {counted.submission_id for counted in answers.values()})
    documents = []
    for case in problem.cases:
        counted, mine = answers.get(case.name), sent.get(case.name)
        source = row.id if mine is not None or counted is None else counted.submission_id
        documents.append(
            {
                "name": case.name,
                "group": case.group,
                "kind": kinds[case.group].value,
                "max_points": float(case.points) * scale if kinds[case.group] in counting else 0.0,
                "points": points.case_points.get(case.name, 0.0) if judged_now or mine is None else None,
                **_answer(mine, shown.get(source) if source != row.id else None),
                **_verdict(snapshot, found.get((source, case.name)), sent=mine is not None, judged_now=judged_now),
            }
        )
    return documents


def not_judged(snapshot: ContestSnapshot, problem: ScoredProblem, answers: Answers) -> ProblemPoints:
    """The points of answers that are not judged yet."""
    return problem_points(problem, answers, snapshot.bests(problem), snapshot.phase)


def sealed_cases(session: Session, problem: ScoredProblem, row: SubmissionRow) -> list[dict[str, Any]]:
    """The final cases the submission has answers for, as long as nothing may be known of what these are worth."""
    known = {case.name for case in problem.cases}
    return [
        {
            "name": sent.case_name,
            "group": None,
            "kind": CaseKind.FINAL.value,
            "max_points": 0.0,
            "points": None,
            **_answer(sent, None),
            "verdict": None,
            "raw": None,
            "max_raw": None,
            "message": SEALED,
            "run_time": None,
        }
        for sent in submission_queries.sent_answers(session, row.id)
        if sent.case_name not in known
    ]


def _answer(sent: SentAnswer | None, carried_from: str | None) -> dict[str, Any]:
    return {
        "file": None if sent is None else sent.file_name,
        "size": None if sent is None else sent.size,
        "sha256": None if sent is None else sent.sha256,
        "carried_over_from": carried_from,
    }


def _verdict(snapshot: ContestSnapshot, score: RawScoreRow | None, *, sent: bool, judged_now: bool) -> dict[str, Any]:
    """What the checker found; nothing yet, or nothing at all, where it found nothing."""
    if score is None:
        message = WAITING if sent and not judged_now else NOTHING
        return {"verdict": None, "raw": None, "max_raw": None, "message": message, "run_time": None}
    return {
        "verdict": score.verdict,
        "raw": number(exact(score.raw_num, score.raw_den)),
        "max_raw": number(exact(score.max_raw_num, score.max_raw_den)),
        "message": message_of(snapshot, score.verdict, score.message),
        "run_time": score.run_time_ms / 1000,
    }


def group_document(group: GroupPoints) -> dict[str, Any]:
    """One group's points, and why it gives none where it gives none."""
    return {
        "name": group.group.name,
        "kind": group.group.kind.value,
        "aggregation": group.group.aggregation.value,
        "points": group.points,
        "max_points": group.max_points,
        "why": group.why or None,
    }
