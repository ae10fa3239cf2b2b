"""The report on a submission: what became of every file, every case and every group, and why."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from fastapi import APIRouter
from fastapi.responses import JSONResponse
from sqlalchemy.orm import Session

from app.api.clics import format_reltime, format_time, number
from app.api.deps import CurrentViewer, Reading
from app.api.errors import NotFound
from app.api.gated import GatedRoute
from app.api.judgements import judgement_document
from app.api.report_bodies import Report
from app.api.standings import TheStanding, message_of, worth_of
from app.api.submissions_read import ReadableSubmission, carried
from app.domain.contests import CaseKind, ScoredProblem
from app.domain.scoring import Answers, GroupPoints, ProblemPoints, phase_scale, problem_points
from app.grading.boards import Standing
from app.storage import judged
from app.storage.judged import SentAnswer
from app.storage.judgements import exact
from app.storage.tables import RawScoreRow, SubmissionRow

router = APIRouter(route_class=GatedRoute, tags=["submissions"])

WAITING = {"key": "waiting", "text": "waiting to be judged", "args": {}}
SEALED = {"key": "final-case", "text": "counts after the end of the contest", "args": {}}
NOTHING = {"key": "no-answer", "text": "no answer was sent for this test case", "args": {}}


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/report",
    summary="What became of a submission",
    responses={200: {"model": Report}},
)
def get_report(row: ReadableSubmission, viewer: CurrentViewer, standing: TheStanding, session: Reading) -> JSONResponse:
    """Per file whether it was taken; per case verdict, raw score, points and message; per group its points."""
    problem = standing.contest.problem(row.problem_id)
    if problem is None:
        raise NotFound(f"contest {row.contest_id!r} has no problem {row.problem_id!r} any more")
    judgement = judged.current_judgement(session, row.id)
    answers = carried(standing, row)
    worth = worth_of(standing, row)
    points = worth.points if worth is not None else _not_judged(standing, problem, answers)
    longest = judged.longest_runs(session, row.contest_id, str(row.id))
    document = {
        "submission_id": row.shown_id,
        "problem_id": row.problem_id,
        "team_id": row.team_id,
        "time": format_time(row.time),
        "contest_time": format_reltime(timedelta(milliseconds=row.contest_time_ms)),
        "judgement": judgement_document(standing, judgement, row, longest.get(judgement.id)),
        "state": judgement.state,
        **({"error": judgement.error} if viewer.sees_all and judgement.error else {}),
        "points": points.points if worth is not None else None,
        "max_points": float(problem.rule.max_points),
        "files": row.files,
        "cases": [
            *_cases(session, standing, problem, row, answers, points, judged_now=worth is not None),
            *_sealed_cases(session, problem, row),
        ],
        "groups": [group_document(group) for group in points.groups],
    }
    return JSONResponse(document)


def _cases(
    session: Session,
    standing: Standing,
    problem: ScoredProblem,
    row: SubmissionRow,
    answers: Answers,
    points: ProblemPoints,
    *,
    judged_now: bool,
) -> list[dict[str, Any]]:
    """Every case the viewer may know all of."""
    sent = {each.case_name: each for each in judged.sent_answers(session, row.id)}
    found = judged.current_scores(session, {row.id, *(counted.submission_id for counted in answers.values())})
    kinds = {group.name: group.kind for group in problem.groups}
    scale, counting = phase_scale(problem, standing.phase), problem.counting(standing.phase)
    shown = judged.shown_ids(session, {counted.submission_id for counted in answers.values()})
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
                **_verdict(standing, found.get((source, case.name)), sent=mine is not None, judged_now=judged_now),
            }
        )
    return documents


def _not_judged(standing: Standing, problem: ScoredProblem, answers: Answers) -> ProblemPoints:
    return problem_points(problem, answers, standing.bests(problem), standing.phase)


def _sealed_cases(session: Session, problem: ScoredProblem, row: SubmissionRow) -> list[dict[str, Any]]:
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
        for sent in judged.sent_answers(session, row.id)
        if sent.case_name not in known
    ]


def _answer(sent: SentAnswer | None, carried_from: str | None) -> dict[str, Any]:
    return {
        "file": None if sent is None else sent.file_name,
        "size": None if sent is None else sent.size,
        "sha256": None if sent is None else sent.sha256,
        "carried_over_from": carried_from,
    }


def _verdict(standing: Standing, score: RawScoreRow | None, *, sent: bool, judged_now: bool) -> dict[str, Any]:
    """What the checker found; nothing yet, or nothing at all, where it found nothing."""
    if score is None:
        message = WAITING if sent and not judged_now else NOTHING
        return {"verdict": None, "raw": None, "max_raw": None, "message": message, "run_time": None}
    return {
        "verdict": score.verdict,
        "raw": number(exact(score.raw_num, score.raw_den)),
        "max_raw": number(exact(score.max_raw_num, score.max_raw_den)),
        "message": message_of(standing, score.verdict, score.message),
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
