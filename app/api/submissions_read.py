"""Reading submissions: the CLICS list, the files as a zip, and the answer that counts for a case."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict
from sqlalchemy.orm import Session

from app.api import clics
from app.api.auth import Viewer
from app.api.bodies import Sparse
from app.api.deps import CurrentViewer, Reading, TheService
from app.api.downloads import ARCHIVE, BYTES, OCTETS, ZIP, type_for
from app.api.errors import Forbidden, NotFound
from app.api.gated import GatedRoute
from app.api.lists.reply import TheLists
from app.api.lists.sheet import Large
from app.api.named import problem_called
from app.api.standings import TheStanding, is_practice, may_see, may_see_answers, may_see_sources, worth_of
from app.domain.scoring import Answers, submission_answers
from app.grading.boards import Standing
from app.packages.zips import zip_bytes
from app.storage import judged
from app.storage.boards import attempt_team
from app.storage.tables import SubmissionRow

router = APIRouter(route_class=GatedRoute, tags=["submissions"])


class FileReference(BaseModel):
    """A file and where it can be had."""

    href: str
    filename: str
    mime: str


class Submission(Sparse):
    """A CLICS submission; `files` is empty for those who may not read them. `practice`: after the end, on no board."""

    model_config = ConfigDict(extra="allow")

    id: str
    language_id: str
    problem_id: str
    team_id: str | None
    account_id: str | None = None
    time: str
    contest_time: str
    entry_point: None = None
    files: list[FileReference]
    practice: bool


def document(viewer: Viewer, standing: Standing, row: SubmissionRow) -> dict[str, Any]:
    """One submission as this viewer may see it."""
    full = may_see_answers(viewer, standing, row)
    practice = is_practice(standing, row)
    document = clics.submission_json(row.shown_id, row.contest_id, row, files=full, practice=practice)
    if full and row.comment is not None:
        document["comment"] = row.comment
    if not viewer.sees_all:
        del document["account_id"]  # which may be another one than their own, the only one they see
    return document


def numbered(
    viewer: Viewer, standing: Standing, session: Session, ids: Collection[int] | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each of these submissions (None: all) that the viewer may know of, with the number of its row."""
    for row in judged.submissions(session, standing.contest.id, ids):
        if may_see(viewer, standing, row):
            yield row.id, document(viewer, standing, row)


FILTERS = ("team_id", "problem_id", "language_id", "account_id")
SUBMISSIONS = Large("submissions", Submission, numbered, filters=FILTERS)


@router.get("/contests/{contest_id}/submissions", response_model=list[Submission], summary="All submissions")
async def list_submissions(
    viewer: CurrentViewer,
    standing: TheStanding,
    lists: TheLists,
    team_id: Annotated[str | None, Query()] = None,
    problem_id: Annotated[str | None, Query()] = None,
    language_id: Annotated[str | None, Query()] = None,
    account_id: Annotated[str | None, Query()] = None,
) -> Any:
    """Those the viewer may know of, in order; with an ETag."""
    problem_id = problem_id and problem_called(standing, problem_id)
    wanted = {"team_id": team_id, "problem_id": problem_id, "language_id": language_id, "account_id": account_id}
    return await lists.large(SUBMISSIONS, viewer, standing, **wanted)


def _visible(
    contest_id: str, submission_id: str, viewer: CurrentViewer, standing: TheStanding, session: Reading
) -> SubmissionRow:
    row = judged.submission(session, contest_id, submission_id)
    if row is None or not may_see(viewer, standing, row):
        raise NotFound(f"no submission {submission_id!r} in contest {contest_id!r}")
    return row


TheSubmission = Annotated[SubmissionRow, Depends(_visible)]
"""The submission of the path; 404 where the viewer may not know of it."""


def _readable(row: TheSubmission, viewer: CurrentViewer, standing: TheStanding) -> SubmissionRow:
    if not may_see_answers(viewer, standing, row):
        raise Forbidden("only the team itself and judges may see this")
    return row


ReadableSubmission = Annotated[SubmissionRow, Depends(_readable)]
"""The submission of the path; 403 where the viewer may know of it, but not what is in it."""


@router.get("/contests/{contest_id}/submissions/{submission_id}", response_model=Submission, summary="One submission")
def get_submission(row: TheSubmission, viewer: CurrentViewer, standing: TheStanding) -> Any:
    """Its metadata, and its files for those who may read them."""
    return document(viewer, standing, row)


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/files",
    response_class=Response,
    responses=ARCHIVE,
    summary="The answer files of a submission",
)
def get_submission_files(
    request: Request, row: ReadableSubmission, viewer: CurrentViewer, session: Reading, service: TheService
) -> Response:
    """The files that were taken as answers, as a zip (the same bytes each time), and the sources below `sources/`.

    The sources are there for the team itself and judges only.
    """
    found = judged.answer_files(session, service.files, row.id)
    for source in row.sources if may_see_sources(viewer, row) else ():
        found[f"sources/{source['name'].rpartition('/')[2]}"] = service.files.load(source["sha256"])
    headers = {"Content-Disposition": f'attachment; filename="{row.shown_id}.zip"'}
    return Response(zip_bytes(found), media_type=type_for(request, ZIP, BYTES), headers=headers)


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/answers/{case_name}",
    response_class=Response,
    responses=OCTETS,
    summary="The answer that counts for a case",
)
def get_answer(
    case_name: str, row: ReadableSubmission, standing: TheStanding, session: Reading, service: TheService
) -> Response:
    """One case's answer file as it counts for this submission; the header Jurado-Submission says who brought it."""
    source = row.id if _brought(session, row, case_name) else carried_from(standing, row, case_name)
    data = None if source is None else judged.answer_bytes(session, service.files, source, case_name)
    if data is None:
        raise NotFound(f"submission {row.shown_id} has no answer for a test case {case_name!r}")
    brought_by = judged.shown_ids(session, [row.id if source is None else source])
    headers = {
        "Jurado-Submission": next(iter(brought_by.values())),
        "Content-Disposition": f'attachment; filename="{case_name}.out"',
    }
    return Response(data, media_type="application/octet-stream", headers=headers)


def _brought(session: Session, row: SubmissionRow, case_name: str) -> bool:
    return any(sent.case_name == case_name for sent in judged.sent_answers(session, row.id))


def carried_from(standing: Standing, row: SubmissionRow, case_name: str) -> int | None:
    """The earlier submission whose answer stands for a case this one brought no file for."""
    counted = carried(standing, row).get(case_name)
    return None if counted is None else counted.submission_id


def carried(standing: Standing, row: SubmissionRow) -> Answers:
    """The answers a submission stands for; while it is not judged, only those it takes over from earlier ones."""
    worth = worth_of(standing, row)
    if worth is not None:
        return worth.answers
    problem = standing.contest.problem(row.problem_id)
    if problem is None:
        return {}
    tries = standing.of(attempt_team(row), row.problem_id)
    # Judged without any score, it shows what it takes over.
    tries = [replace(attempt, scores={}) if attempt.id == row.id else attempt for attempt in tries]
    return next((found for each, found in submission_answers(tries, problem.rule) if each.id == row.id), {})
