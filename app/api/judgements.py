"""Judgements and runs: what became of submissions, and of each of their cases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict
from sqlalchemy.orm import Session

from app.api.auth import Viewer
from app.api.clics import format_reltime, format_time, number
from app.api.deps import CurrentViewer, Reading
from app.api.errors import NotFound
from app.api.filters import matching
from app.api.gated import GatedRoute
from app.api.lists.reply import TheLists
from app.api.lists.sheet import Large
from app.api.standings import TheStanding, is_sealed, may_see_runs, may_see_verdict, message_of, points_of, shown_type
from app.domain.contests import PROVISIONAL, Kind, ScoredProblem
from app.domain.scoring import RawScore
from app.domain.verdicts import CaseVerdict, judgement_type
from app.grading.boards import Standing
from app.storage import judged
from app.storage.boards import attempt_team
from app.storage.judged import Run
from app.storage.judgements import DONE, exact
from app.storage.tables import JudgementRow, SubmissionRow

router = APIRouter(route_class=GatedRoute, tags=["judgements"])

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


def _contest_time(standing: Standing, moment: datetime) -> str:
    return format_reltime(standing.contest.clock.contest_time(moment))


def judged_type(standing: Standing, row: JudgementRow, submission: SubmissionRow) -> str | None:
    """The type a judgement ended with; None while it has not, or not for those who may not know of final cases."""
    if row.state != DONE or not is_sealed(standing, submission):
        return row.type if row.state == DONE else None
    problem = standing.contest.problem(submission.problem_id)
    tries = standing.of(attempt_team(submission), submission.problem_id)
    scores = next((attempt.scores for attempt in tries if attempt.id == submission.id), None)
    if problem is None or not scores:
        return None
    counting = {group.name for group in problem.groups if group.kind in PROVISIONAL}
    complete = all(case.name in scores for case in problem.cases if case.group in counting)
    return judgement_type([(s.verdict, _is_full(problem, s)) for s in scores.values()], complete=complete).value


def _is_full(problem: ScoredProblem, score: RawScore) -> bool:
    return problem.rule.kind is not Kind.ABSOLUTE or score.multiplier is None or score.multiplier >= 1


def judgement_document(
    standing: Standing, row: JudgementRow, submission: SubmissionRow, longest_ms: int | None
) -> dict[str, Any]:
    """One judgement; the score is that of the answers its submission stands for, at the BEST the viewer sees."""
    document: dict[str, Any] = {
        "id": standing.contest.ids.judgement(row.id),
        "submission_id": submission.shown_id,
        "judgement_type_id": None,
        "current": row.current,
        "start_time": format_time(row.start_time),
        "start_contest_time": _contest_time(standing, row.start_time),
        "end_time": None,
        "end_contest_time": None,
    }
    type_ = judged_type(standing, row, submission)
    if type_ is None or row.end_time is None:
        return document
    document["judgement_type_id"] = shown_type(standing, type_)
    document["end_time"] = format_time(row.end_time)
    document["end_contest_time"] = _contest_time(standing, row.end_time)
    points = points_of(standing, submission) if row.current else None
    if points is not None:
        document["score"] = points
    if longest_ms is not None and not is_sealed(standing, submission):
        document["max_run_time"] = longest_ms / 1000
    return document


def numbered_judgements(
    viewer: Viewer, standing: Standing, session: Session, ids: Collection[int] | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each judgement of these submissions (None: all) that the viewer may know of, with its submission's number."""
    contest_id = standing.contest.id
    longest = judged.longest_runs(session, contest_id, among=ids)
    for row, owner in judged.judgements(session, contest_id, among=ids):
        if may_see_verdict(viewer, standing, owner):
            yield owner.id, judgement_document(standing, row, owner, longest.get(row.id))


def numbered_runs(
    viewer: Viewer, standing: Standing, session: Session, ids: Collection[int] | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each run of these submissions (None: all) that the viewer may see, with its submission's number."""
    everybody = viewer.sees_all or bool(standing.contest.settings.get("show_others_answers", False))
    if not everybody and viewer.team_id is None:
        return
    for run in judged.runs(session, standing.contest.id, among=ids):
        if _may_see_run(viewer, standing, run):
            yield run.submission.id, run_document(standing, run)


JUDGEMENTS = Large("judgements", Judgement, numbered_judgements, filters=("judgement_type_id",), scored=True)
RUNS = Large("runs", JudgedCase, numbered_runs, sparse=False, filters=("judgement_type_id",))


@router.get(
    "/contests/{contest_id}/judgements",
    response_model=list[Judgement],
    response_model_exclude_unset=True,
    summary="All judgements",
)
async def list_judgements(
    viewer: CurrentViewer,
    standing: TheStanding,
    lists: TheLists,
    submission_id: Annotated[str | None, Query()] = None,
    judgement_type_id: Annotated[str | None, Query()] = None,
) -> Any:
    """Those the viewer may know of, by submission and in order; with an ETag."""
    wanted = {"submission_id": submission_id, "judgement_type_id": judgement_type_id}
    if not submission_id:  # an empty one asks for those without one, of which there are none
        return await lists.large(JUDGEMENTS, viewer, standing, **wanted)

    def of_one(session: Session) -> list[Mapping[str, Any]]:
        owner = judged.submission(session, standing.contest.id, submission_id)
        ids = () if owner is None else (owner.id,)
        return matching((each for _, each in numbered_judgements(viewer, standing, session, ids)), **wanted)

    return await lists.few(of_one)


@router.get(
    "/contests/{contest_id}/judgements/{judgement_id}",
    response_model=Judgement,
    response_model_exclude_unset=True,
    summary="One judgement",
)
def get_judgement(
    contest_id: str, judgement_id: str, viewer: CurrentViewer, standing: TheStanding, session: Reading
) -> Any:
    """Its verdict and its points."""
    found = judged.judgement(session, contest_id, standing.contest.ids.number(judgement_id))
    if found is None or not may_see_verdict(viewer, standing, found[1]):
        raise NotFound(f"no judgement {judgement_id!r} in contest {contest_id!r}")
    longest = judged.longest_runs(session, contest_id, str(found[1].id))
    return judgement_document(standing, *found, longest.get(found[0].id))


def run_document(standing: Standing, run: Run) -> dict[str, Any]:
    """One run, with what the checker found."""
    score, ids = run.score, standing.contest.ids
    return {
        "id": ids.run(score.judgement_id, score.test_case_id),
        "judgement_id": ids.judgement(score.judgement_id),
        "ordinal": run.ordinal,
        "judgement_type_id": RUN_TYPES[CaseVerdict(score.verdict)],
        "time": format_time(score.time),
        "contest_time": _contest_time(standing, score.time),
        "run_time": score.run_time_ms / 1000,
        "testcase": run.case_name,
        "raw": number(exact(score.raw_num, score.raw_den)),
        "message": message_of(standing, score.verdict, score.message),
    }


def _may_see_run(viewer: Viewer, standing: Standing, run: Run) -> bool:
    return may_see_runs(viewer, standing, run.submission)


@router.get("/contests/{contest_id}/runs", response_model=list[JudgedCase], summary="All runs")
async def list_runs(
    viewer: CurrentViewer,
    standing: TheStanding,
    lists: TheLists,
    judgement_id: Annotated[str | None, Query()] = None,
    judgement_type_id: Annotated[str | None, Query()] = None,
) -> Any:
    """Teams see their own, judges all, others none unless the contest shows answers; with an ETag."""
    wanted = {"judgement_id": judgement_id, "judgement_type_id": judgement_type_id}
    if not judgement_id:
        return await lists.large(RUNS, viewer, standing, **wanted)

    def of_one(session: Session) -> list[Mapping[str, Any]]:
        pair = judged.judgement(session, standing.contest.id, standing.contest.ids.number(judgement_id))
        ids = () if pair is None else (pair[1].id,)
        return matching((each for _, each in numbered_runs(viewer, standing, session, ids)), **wanted)

    return await lists.few(of_one)


@router.get("/contests/{contest_id}/runs/{run_id}", response_model=JudgedCase, summary="One run")
def get_run(contest_id: str, run_id: str, viewer: CurrentViewer, standing: TheStanding, session: Reading) -> Any:
    """What the checker found for one case of one judgement."""
    number = standing.contest.ids.judgement_of(run_id)
    for run in () if number is None else judged.runs(session, contest_id, judgements=(number,)):
        document = run_document(standing, run)
        if document["id"] == run_id and _may_see_run(viewer, standing, run):
            return document
    raise NotFound(f"no run {run_id!r} in contest {contest_id!r}")
