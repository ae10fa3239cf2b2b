"""Reading submissions: the CLICS list, the files as a zip, and the answer that counts for a case.

- Whole collections of submissions, judgements and runs, read in batches: a large contest has millions of runs.
- The sources a team attached to a submission: kept and not judged, for the team itself and for judges.
- The change that a submission brought: its points against those of the team's submission before, both as of now.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from urllib.parse import quote

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.service.visibility import (
    SubmissionKey,
    is_own,
    is_practice,
    may_see,
    may_see_answers,
    may_see_sources,
    worth_of,
)
from app.core.messages import N_, Forbidden, NotFound
from app.core.service import Service
from app.domain.counting import Answers, submission_answers
from app.packages.zips import zip_bytes
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import attempts, submission_queries, submissions
from app.submissions.service.judgements import numbered_judgements, numbered_runs
from app.submissions.service.submission_form import Submission, view
from app.tables import SubmissionRow


def visible(viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str) -> SubmissionRow:
    """A submission of the contest; raises NotFound where the viewer may not know of it."""
    row = submission_queries.submission(session, snapshot.contest.id, submission_id)
    if row is None or not may_see(viewer, snapshot, row):
        raise NotFound(
            N_("no submission %(submission)r in contest %(contest)r"),
            submission=submission_id,
            contest=snapshot.contest.id,
        )
    return row


def readable(viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str) -> SubmissionRow:
    """A submission whose answers the viewer may read; raises NotFound or Forbidden."""
    row = visible(viewer, snapshot, session, submission_id)
    if not may_see_answers(viewer, snapshot, row):
        raise Forbidden(N_("only the team itself and judges may see this"))
    return row


def submission(viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str) -> Submission:
    """A submission as this viewer may see it; raises NotFound."""
    return document(viewer, snapshot, visible(viewer, snapshot, session, submission_id))


def files_zip(
    service: Service, viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str
) -> bytes:
    """The answer files as a zip, the same bytes each time; `sources/` is in it for viewers who may read sources.

    Raises NotFound or Forbidden.
    """
    row = readable(viewer, snapshot, session, submission_id)
    files = submissions.answer_files(session, service.files, row.id)
    for source in row.sources if may_see_sources(viewer, row) else ():
        files[f"sources/{source['name'].rpartition('/')[2]}"] = service.files.load(source["sha256"])
    return zip_bytes(files)


def answer(
    service: Service, viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str, case_name: str
) -> tuple[bytes, str]:
    """The answer that counts for a case of a submission, and the id of the submission that brought it.

    Raises NotFound or Forbidden.
    """
    row = readable(viewer, snapshot, session, submission_id)
    is_own = any(sent.case_name == case_name for sent in submissions.sent_answers(session, row))
    counted = carried(snapshot, row).get(case_name)
    source = row.id if is_own else None if counted is None else counted.submission_id
    data = None if source is None else submissions.answer_bytes(session, service.files, source, case_name)
    if source is None or data is None:
        raise NotFound(
            N_("submission %(submission)s has no answer for a test case %(case)r"),
            submission=row.shown_id,
            case=case_name,
        )
    return data, submission_queries.shown_ids(session, [source])[source]


def document(viewer: Viewer, snapshot: ContestSnapshot, row: SubmissionRow) -> Submission:
    """A submission as this viewer may see it."""
    full = may_see_answers(viewer, snapshot, row)
    shown = view(row.shown_id, row, files=full, practice=is_practice(snapshot, row))
    if full and row.comment is not None:
        shown.comment = row.comment
    if not viewer.sees_all:  # a team sees one account, its own, which need not be the one that submitted
        shown.account_id = None
        shown.model_fields_set.discard("account_id")
    return shown


def numbered(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, ids: Collection[int] | None
) -> Iterator[tuple[int, Submission]]:
    """Each of these submissions (None: all) that the viewer may know of, with the number of its row."""
    for row in submission_queries.submissions(session, snapshot.contest.id, ids):
        if may_see(viewer, snapshot, row):
            yield row.id, document(viewer, snapshot, row)


def carried(snapshot: ContestSnapshot, row: SubmissionRow) -> Answers:
    """The answers a submission stands for; while it is not judged, only those it takes over from earlier ones."""
    worth = worth_of(snapshot, row)
    if worth is not None:
        return worth.answers
    problem = snapshot.contest.problem(row.problem_id)
    if problem is None:
        return {}
    tries = snapshot.of(attempts.attempt_team(row), row.problem_id)
    # Judged without any score, it shows what it takes over.
    tries = [replace(attempt, scores={}) if attempt.id == row.id else attempt for attempt in tries]
    return next((answers for each, answers in submission_answers(tries, problem.rule) if each.id == row.id), {})


BATCH = 500
Model = TypeVar("Model")
# The documents of some submissions, each with the number of its submission.
Numbered = Callable[[Viewer, ContestSnapshot, Session, Sequence[int]], Iterator[tuple[int, Model]]]


def batches(snapshot: ContestSnapshot) -> Iterator[Sequence[int]]:
    """The numbers of all submissions in order of arrival, some at a time."""
    ids = [attempt.id for attempt in snapshot.attempts]
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


def in_batches(numbered: Numbered[Model]) -> Callable[[Viewer, ContestSnapshot, Session], Iterator[Model]]:
    """All documents that a viewer may know of, in order of their submissions, read some submissions at a time."""

    def documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> Iterator[Model]:
        for ids in batches(snapshot):
            yield from (each for _, each in numbered(viewer, snapshot, session, ids))

    return documents


submission_documents = in_batches(numbered)
judgement_documents = in_batches(numbered_judgements)
run_documents = in_batches(numbered_runs)


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
    judged = [each for each in snapshot.of(attempts.attempt_team(row), row.problem_id) if each.scores is not None]
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


class SourceFile(BaseModel):
    """A source file that came with a submission."""

    name: str
    size: int
    sha256: str
    href: str


def sources(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str
) -> Mapping[str, SourceFile]:
    """A submission's sources by their names; raises NotFound, or Forbidden where the viewer may not read them."""
    row = visible(viewer, snapshot, session, submission_id)
    if not may_see_sources(viewer, row):
        raise Forbidden(N_("only the team itself and judges may see this"))
    folder = f"contests/{row.contest_id}/submissions/{row.shown_id}/sources"
    return {
        each["name"]: SourceFile(
            name=each["name"], size=each["size"], sha256=each["sha256"], href=f"{folder}/{quote(each['name'])}"
        )
        for each in row.sources
    }


def source(viewer: Viewer, snapshot: ContestSnapshot, session: Session, submission_id: str, name: str) -> SourceFile:
    """The source of that name; raises Forbidden or NotFound."""
    file = sources(viewer, snapshot, session, submission_id).get(name)
    if file is None:
        raise NotFound(N_("submission %(submission)s has no source %(source)r"), submission=submission_id, source=name)
    return file
