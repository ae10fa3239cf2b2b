"""Judgements and runs: what became of submissions, and of each of their cases."""

from collections.abc import Collection, Iterator
from datetime import datetime

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service import visibility
from app.core.clics import (
    CONTEST_TIME,
    EXAMPLES_TIME,
    JsonObject,
    example,
    format_reltime,
    format_time,
    matching,
    number,
)
from app.core.messages import N_, NotFound
from app.domain import contests
from app.domain.counting import CaseVerdict, JudgementType, exact, is_full, judgement_type
from app.domain.documents import MessageDocument
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import attempts, submission_queries
from app.submissions.tables import DONE
from app.tables import JudgementRow, SubmissionRow

RUN_TYPES = {CaseVerdict.ACCEPTED: "AC", CaseVerdict.REJECTED: "WA", CaseVerdict.JUDGE_ERROR: "JE"}


JUDGEMENT: JsonObject = {
    "id": "j3f0c96e01b7d5a28",
    "submission_id": "1",
    "judgement_type_id": "PC",
    "score": 42.5,
    "current": True,
    "start_time": EXAMPLES_TIME,
    "start_contest_time": CONTEST_TIME,
    "end_time": "2026-11-21T03:19:01.000Z",
    "end_contest_time": "1:00:01.000",
    "max_run_time": 0.012,
}


@example(JUDGEMENT)
class Judgement(BaseModel):
    """A CLICS judgement; type, end and score are there once it is finished, the score for the current one."""

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
    """A CLICS run of a test case, and what the checker found."""

    id: str
    judgement_id: str
    ordinal: int
    judgement_type_id: str
    time: str
    contest_time: str
    run_time: float
    testcase: str
    raw: int | float | None
    message: MessageDocument


def _contest_time(snapshot: ContestSnapshot, moment: datetime) -> str:
    return format_reltime(snapshot.contest.clock.contest_time(moment))


def judged_type(snapshot: ContestSnapshot, row: JudgementRow, submission: SubmissionRow) -> str | None:
    """The type a judgement ended with; None while it is open, or while its final cases are embargoed."""
    if row.state != DONE or not visibility.is_embargoed(snapshot, submission):
        return row.type if row.state == DONE else None
    problem = snapshot.contest.problem(submission.problem_id)
    attempt = snapshot.attempt(attempts.attempt_team(submission), submission.problem_id, submission.id)
    scores = None if attempt is None else attempt.scores
    if problem is None or not scores:
        return None
    counting = {group.name for group in problem.groups if group.kind in contests.PROVISIONAL}
    complete = all(case.name in scores for case in problem.cases if case.group in counting)
    absolute = problem.rule.kind is contests.Kind.ABSOLUTE
    seen = [(score.verdict, is_full(score.multiplier, absolute=absolute)) for score in scores.values()]
    return judgement_type(seen, complete=complete).value


def judgement_document(
    snapshot: ContestSnapshot, row: JudgementRow, submission: SubmissionRow, longest_ms: int | None
) -> Judgement:
    """A judgement; its score is that of the answers it stands for, at the BEST the viewer sees."""
    document = Judgement(
        id=snapshot.contest.ids.judgement(row.id),
        submission_id=submission.shown_id,
        judgement_type_id=None,
        current=row.current,
        start_time=format_time(row.start_time),
        start_contest_time=_contest_time(snapshot, row.start_time),
        end_time=None,
        end_contest_time=None,
    )
    type_ = judged_type(snapshot, row, submission)
    points = visibility.points_of(snapshot, submission) if row.current else None
    if type_ is None or row.end_time is None or (points is None and is_newer(snapshot, row, submission)):
        return document
    document.judgement_type_id = visibility.shown_type(snapshot, type_)
    document.end_time = format_time(row.end_time)
    document.end_contest_time = _contest_time(snapshot, row.end_time)
    if points is not None:
        document.score = points
    if longest_ms is not None and not visibility.is_embargoed(snapshot, submission):
        document.max_run_time = longest_ms / 1000
    return document


def is_newer(snapshot: ContestSnapshot, row: JudgementRow, submission: SubmissionRow) -> bool:
    """Whether a judgement without points was committed after the snapshot was read: it is shown once both agree.

    Otherwise a client that stops at `end_time` would miss the score. A judge error has no points.
    """
    scored = row.current and row.type != JudgementType.JE
    return scored and snapshot.contest.problem(submission.problem_id) is not None


def numbered_judgements(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, ids: Collection[int] | None
) -> Iterator[tuple[int, Judgement]]:
    """Each judgement of these submissions (None: all) that the viewer may know of, with its submission's number."""
    contest_id = snapshot.contest.id
    longest = submission_queries.longest_runs(session, contest_id, ids)
    rows = submission_queries.judgements_of(session, submission_queries.submissions(session, contest_id, ids))
    if ids is not None:
        visibility.know_points(snapshot, [owner for row, owner in rows if row.current])
    for row, owner in rows:
        if visibility.may_see_verdict(viewer, snapshot, owner):
            yield owner.id, judgement_document(snapshot, row, owner, longest.get(row.id))


def whose_runs(viewer: Viewer, snapshot: ContestSnapshot) -> submission_queries.Teams:
    """The teams whose runs a viewer may see at all."""
    if viewer.sees_all or snapshot.contest.settings.show_others_answers:
        return None
    return () if viewer.team_id is None else (viewer.team_id,)


def numbered_runs(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, ids: Collection[int] | None
) -> Iterator[tuple[int, JudgedCase]]:
    """Each run of these submissions (None: all) that the viewer may see, with its submission's number."""
    if whose_runs(viewer, snapshot) == ():
        return
    for each, owner in submission_queries.runs(session, snapshot.contest.id, among=ids):
        if visibility.may_see_runs(viewer, snapshot, owner):
            yield owner.id, run_document(snapshot, each)


def run_document(snapshot: ContestSnapshot, run: submission_queries.ScoredCase) -> JudgedCase:
    """A run, with the checker's result."""
    score, ids = run.score, snapshot.contest.ids
    return JudgedCase(
        id=ids.run(score.judgement_id, score.test_case_id),
        judgement_id=ids.judgement(score.judgement_id),
        ordinal=run.ordinal,
        judgement_type_id=RUN_TYPES[CaseVerdict(score.verdict)],
        time=format_time(score.time),
        contest_time=_contest_time(snapshot, score.time),
        run_time=score.run_time_ms / 1000,
        testcase=run.case_name,
        raw=number(exact(score.raw_num, score.raw_den)),
        message=visibility.message_of(snapshot, score.verdict, score.message),
    )


def judgements_of(
    viewer: Viewer, snapshot: ContestSnapshot, submission_id: str, type_id: str | None, session: Session
) -> list[Judgement]:
    """The judgements of one submission that the viewer may know of, of one type or of all; none of an unknown one."""
    owner = submission_queries.submission(session, snapshot.contest.id, submission_id)
    ids = () if owner is None else (owner.id,)
    documents = (each for _, each in numbered_judgements(viewer, snapshot, session, ids))
    return matching(documents, submission_id=submission_id, judgement_type_id=type_id)


def judgement(viewer: Viewer, snapshot: ContestSnapshot, session: Session, judgement_id: str) -> Judgement:
    """A judgement; raises NotFound where the viewer may know of none with that id."""
    contest = snapshot.contest
    pair = submission_queries.judgement(session, contest.id, contest.ids.number(judgement_id))
    if pair is None or not visibility.may_see_verdict(viewer, snapshot, pair[1]):
        raise NotFound(
            N_("no judgement %(judgement)r in contest %(contest)r"), judgement=judgement_id, contest=contest.id
        )
    row, owner = pair
    longest = submission_queries.longest_runs(session, contest.id, [owner.id])
    return judgement_document(snapshot, row, owner, longest.get(row.id))


def runs_of(
    viewer: Viewer, snapshot: ContestSnapshot, judgement_id: str, type_id: str | None, session: Session
) -> list[JudgedCase]:
    """The runs of one judgement that the viewer may see, of one type or of all; none of an unknown one."""
    pair = submission_queries.judgement(session, snapshot.contest.id, snapshot.contest.ids.number(judgement_id))
    ids = () if pair is None else (pair[1].id,)
    documents = (each for _, each in numbered_runs(viewer, snapshot, session, ids))
    return matching(documents, judgement_id=judgement_id, judgement_type_id=type_id)


def run(viewer: Viewer, snapshot: ContestSnapshot, session: Session, run_id: str) -> JudgedCase:
    """A run; raises NotFound where the viewer may see none with that id."""
    contest = snapshot.contest
    judged = contest.ids.judgement_of(run_id)
    for each, owner in () if judged is None else submission_queries.runs(session, contest.id, judgements=(judged,)):
        document = run_document(snapshot, each)
        if document.id == run_id and visibility.may_see_runs(viewer, snapshot, owner):
            return document
    raise NotFound(N_("no run %(run)r in contest %(contest)r"), run=run_id, contest=contest.id)
