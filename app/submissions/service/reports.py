"""The report on a submission: what became of every file, every case and every group, and why.

- The standing of the viewer's own team at a problem: the answers that count, and their points, live in any freeze.
- Waiting for judgements that someone else makes, for those who need them done.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.visibility import message_of, shows_feedback, worth_of
from app.core import bodies, clics, json_documents, messages
from app.core.clics import format_reltime, format_time, number
from app.core.messages import N_, NotFound
from app.domain.contests import CaseKind, ScoredProblem
from app.domain.counting import Answers, counted_answers, exact, submission_answers
from app.domain.documents import ImageDocument, MessageDocument
from app.domain.scoring import ProblemPoints, problem_points, weights
from app.domain.scoring import shown as shown_points
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_queries, submissions
from app.submissions.queries.submissions import SentAnswer
from app.submissions.service.judgements import JUDGEMENT, Judgement, is_newer, judgement_document
from app.submissions.service.submissions import carried, readable
from app.submissions.tables import DONE, RUNNING
from app.tables import JudgementRow, RawScoreRow, SubmissionRow


class ReportedFile(BaseModel):
    """A file that was sent: the case it was taken for, or why it was ignored."""

    name: str
    case: str | None
    ignored: str | None
    reason: object = Field(None, exclude=True)  # the same as a message, which pages translate

    @classmethod
    def of(cls, note: json_documents.FileNoteDocument) -> Self:
        """Return a stored note with its reason in English."""
        why = note["ignored"]
        reason = None if why is None else messages.Message(why["source"], **why["values"])
        return cls(name=note["name"], case=note["case"], ignored=None if reason is None else str(reason), reason=reason)


class ReportedImage(ImageDocument):
    """An image that a package's own checker left, and where it can be had; `judgeimage...` are for judges."""

    href: str


class ReportedCase(bodies.Sparse):
    """A test case: the answer that stands for it, its verdict, its raw score and its points."""

    name: str
    group: str | None = Field(description="null for a final case that is still hidden")
    kind: str
    max_points: float
    points: float | None
    file: str | None = Field(description="the file in this submission; null: none")
    size: int | None
    sha256: str | None
    carried_over_from: str | None = Field(description="the earlier submission whose answer stands for this case")
    verdict: str | None
    raw: int | float | None
    max_raw: int | float | None
    message: MessageDocument
    judge_message: str | None = Field(None, description="for judges: what a package's own checker says to them alone")
    images: list[ReportedImage] | None = Field(None, description="images that the account may see; absent without any")
    run_time: float | None = Field(description="seconds that the checker took")


class ReportedGroup(BaseModel):
    """A group's points, and the reason where it gives none."""

    name: str
    kind: str
    aggregation: str
    points: float
    max_points: float
    why: str | None


CASE: clics.JsonObject = {
    "name": "01-sample",
    "group": "sample",
    "kind": "sample",
    "max_points": 0.0,
    "points": 0.0,
    "file": "01-sample.out",
    "size": 12,
    "sha256": "c0535e4be2b79ffd93291305436bf889314e4a3faec05ecffcbb7df31ad9e51a",
    "carried_over_from": None,
    "verdict": "accepted",
    "raw": 1,
    "max_raw": 1,
    "message": {"key": "pegs-left", "text": "1 peg is left", "args": {"pegs": 1}},
    "run_time": 0.012,
}


@clics.example(
    {
        "submission_id": "1",
        "problem_id": "comesolo",
        "team_id": "ants",
        "time": clics.EXAMPLES_TIME,
        "contest_time": clics.CONTEST_TIME,
        "judgement": JUDGEMENT,
        "state": "done",
        "points": 42.5,
        "max_points": 100.0,
        "files": [
            {"name": "01-sample.out", "case": "01-sample", "ignored": None},
            {"name": "notes.md", "case": None, "ignored": "no test case of this name"},
        ],
        "cases": [CASE],
        "groups": [
            {
                "name": "secret",
                "kind": "provisional",
                "aggregation": "sum",
                "points": 42.5,
                "max_points": 100.0,
                "why": None,
            }
        ],
    }
)
class Report(bodies.Sparse):
    """The result of every file, every case and every group of a submission."""

    submission_id: str
    problem_id: str
    team_id: str | None
    time: str
    contest_time: str
    judgement: Judgement
    state: str = Field(description="`done` once it is judged")
    error: str | None = Field(None, description="for judges: what failed in the judge itself")
    points: float | None
    max_points: float
    files: list[ReportedFile]
    cases: list[ReportedCase]
    groups: list[ReportedGroup]


FOR_TEAMS = "teamimage"
WAITING: MessageDocument = {"key": "waiting", "text": "waiting to be judged", "args": {}}
EMBARGOED: MessageDocument = {"key": "final-case", "text": "counts after the end of the contest", "args": {}}
NOTHING: MessageDocument = {"key": "no-answer", "text": "no answer was sent for this test case", "args": {}}


@dataclass(frozen=True, slots=True)
class _Standing:
    """The answers a submission stands for, and their points; `is_judged` False: points of what it takes over alone."""

    answers: Answers
    points: ProblemPoints
    is_judged: bool


def report(viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str) -> Report:
    """The report on a submission; raises Forbidden, or NotFound, also once its problem left the contest."""
    row = readable(viewer, snapshot, session, submission_id)
    problem = snapshot.contest.problem(row.problem_id)
    if problem is None:
        raise NotFound(
            N_("contest %(contest)r no longer has the problem %(problem)r"),
            contest=row.contest_id,
            problem=row.problem_id,
        )
    judgement = submission_queries.current_judgement(session, row.id)
    standing = _standing(snapshot, problem, row)
    longest = submission_queries.longest_runs(session, row.contest_id, [row.id])
    sent = submissions.sent_answers(session, row)
    document = judgement_document(snapshot, judgement, row, longest.get(judgement.id))
    shown = Report(
        submission_id=row.shown_id,
        problem_id=row.problem_id,
        team_id=row.team_id,
        time=format_time(row.time),
        contest_time=format_reltime(timedelta(milliseconds=row.contest_time_ms)),
        judgement=document,
        state=_state(snapshot, judgement, row, standing),
        points=standing.points.points if standing.is_judged else None,
        max_points=float(problem.rule.max_points),
        files=[ReportedFile.of(each) for each in row.files],
        cases=[*_cases(session, snapshot, problem, row, standing, sent), *_embargoed_cases(problem, sent)],
        groups=[
            ReportedGroup(
                name=each.group.name,
                kind=each.group.kind.value,
                aggregation=each.group.aggregation.value,
                points=each.points,
                max_points=each.max_points,
                why=each.why or None,
            )
            for each in standing.points.groups
        ],
    )
    if viewer.sees_all and judgement.error:
        shown.error = judgement.error
    return shown


def _state(snapshot: ContestSnapshot, judgement: JudgementRow, row: SubmissionRow, standing: _Standing) -> str:
    """The state of the judgement; one whose points the snapshot does not have yet is still running."""
    is_ahead = judgement.state == DONE and not standing.is_judged and is_newer(snapshot, judgement, row)
    return RUNNING if is_ahead else judgement.state


def _standing(snapshot: ContestSnapshot, problem: ScoredProblem, row: SubmissionRow) -> _Standing:
    answers, worth = carried(snapshot, row), worth_of(snapshot, row)
    if worth is not None:
        return _Standing(answers, worth.points, is_judged=True)
    points = problem_points(problem, answers, snapshot.bests(problem), snapshot.phase)
    return _Standing(answers, points, is_judged=False)


def _cases(
    session: Session,
    snapshot: ContestSnapshot,
    problem: ScoredProblem,
    row: SubmissionRow,
    standing: _Standing,
    sent_answers: Sequence[SentAnswer],
) -> list[ReportedCase]:
    """The cases that the viewer may know all of."""
    answers = standing.answers
    sent = {each.case_name: each for each in sent_answers}
    sources = {counted.submission_id for counted in answers.values()}
    scores = submission_queries.current_scores(session, {row.id, *sources})
    shown_ids = submission_queries.shown_ids(session, sources)
    kinds = {group.name: group.kind for group in problem.groups}
    scale, counting = float(weights(problem, snapshot.phase).scale), problem.counting(snapshot.phase)
    cases = []
    for case in problem.cases:
        counted, mine = answers.get(case.name), sent.get(case.name)
        source = row.id if mine is not None or counted is None else counted.submission_id
        kind = kinds[case.group]
        case_view = _case(case.name, case.group, kind, mine)
        case_view.max_points = shown_points(float(case.points) * scale) if kind in counting else 0.0
        if standing.is_judged or mine is None:
            case_view.points = standing.points.case_points.get(case.name, 0.0)
            # After a judge error the points are of an earlier answer although the submission has one itself.
            if counted is not None and counted.submission_id != row.id:
                case_view.carried_over_from = shown_ids.get(counted.submission_id)
        score = scores.get((source, case.name))
        if score is not None:
            _add_score(case_view, snapshot, score)
            _add_images(case_view, snapshot, score, row)
        elif mine is not None and not standing.is_judged:
            case_view.message = WAITING
        cases.append(case_view)
    return cases


def _embargoed_cases(problem: ScoredProblem, sent_answers: Sequence[SentAnswer]) -> list[ReportedCase]:
    """The final cases the submission has answers for, as long as nothing may be known of what these are worth."""
    known = {case.name for case in problem.cases}
    return [
        _case(sent.case_name, None, CaseKind.FINAL, sent, EMBARGOED)
        for sent in sent_answers
        if sent.case_name not in known
    ]


def _case(
    name: str, group: str | None, kind: CaseKind, sent: SentAnswer | None, message: MessageDocument = NOTHING
) -> ReportedCase:
    """A case with its answer, and without any score."""
    return ReportedCase(
        name=name,
        group=group,
        kind=kind.value,
        max_points=0.0,
        points=None,
        file=None if sent is None else sent.file_name,
        size=None if sent is None else sent.size,
        sha256=None if sent is None else sent.sha256,
        carried_over_from=None,
        verdict=None,
        raw=None,
        max_raw=None,
        message=message,
        run_time=None,
    )


def _add_score(case_view: ReportedCase, snapshot: ContestSnapshot, score: RawScoreRow) -> None:
    case_view.verdict = score.verdict
    case_view.raw = number(exact(score.raw_num, score.raw_den))
    case_view.max_raw = number(exact(score.max_raw_num, score.max_raw_den))
    case_view.message = message_of(snapshot, score.verdict, score.message)
    case_view.run_time = score.run_time_ms / 1000
    if score.judge_message and not snapshot.public:
        case_view.judge_message = score.judge_message


def _add_images(case_view: ReportedCase, snapshot: ContestSnapshot, score: RawScoreRow, row: SubmissionRow) -> None:
    """Add the images: those for teams under the rules of messages, those for judges where all may be seen."""
    place = f"contests/{row.contest_id}/submissions/{row.shown_id}/images/{case_view.name}"
    images = [
        ReportedImage(**image, href=f"{place}/{image['name']}")
        for image in score.images or ()
        if not snapshot.public or (image["name"].startswith(FOR_TEAMS) and shows_feedback(snapshot, score.verdict))
    ]
    if images:
        case_view.images = images


def image(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str, case_name: str, image_name: str
) -> ReportedImage:
    """One of the images in a report; raises NotFound or Forbidden as the report does."""
    for case in report(viewer, snapshot, session, submission_id).cases:
        for each in (case.images if case.name == case_name else None) or ():
            if each["name"] == image_name:
                return each
    raise NotFound(
        N_("submission %(submission)s has no image %(image)r for a test case %(case)r"),
        submission=submission_id,
        image=image_name,
        case=case_name,
    )


def own_answers(viewer: Viewer, snapshot: ContestSnapshot, problem: ScoredProblem) -> Answers | None:
    """The answers that count for the viewer's team, by case; None for viewers without a team.

    After the end they are those of the submission that the team has chosen, if it has.
    """
    if viewer.team_id is None:
        return None
    tries = snapshot.of(viewer.team_id, problem.id)
    chosen = snapshot.contest.chosen.get((viewer.team_id, problem.id)) if snapshot.state.ended is not None else None
    for attempt, counted in submission_answers(tries, problem.rule) if chosen is not None else ():
        if attempt.id == chosen and not attempt.failed:
            return counted
    return counted_answers(tries, problem.rule, lambda answers: points_at_best(snapshot, problem, answers).points)


def points_at_best(snapshot: ContestSnapshot, problem: ScoredProblem, answers: Answers) -> ProblemPoints:
    """The points of answers at the BEST that the viewer sees."""
    return problem_points(problem, answers, snapshot.bests(problem), snapshot.phase)
