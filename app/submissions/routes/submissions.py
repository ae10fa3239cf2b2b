"""HTTP routes: reading submissions: the CLICS list, the files as a zip, and the answer that counts for a case.

- HTTP routes: judgements and runs: what became of submissions, and of each of their cases.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.contests.service.names import problem_called
from app.core.http.deps import CurrentViewer, GatedRoute, Reading, TheService, TheSnapshot
from app.core.http.downloads import ARCHIVE, BYTES, OCTETS, ZIP, type_for
from app.core.http.lists import Large
from app.core.http.replies import TheLists, ThePage
from app.feed.service.collections import BY_NAME
from app.submissions.service.judgements import (
    JudgedCase,
    Judgement,
    judgement,
    judgements_of,
    numbered_judgements,
    numbered_runs,
    run,
    runs_of,
    submission_of_judgement,
    submission_of_run,
    whose_runs,
)
from app.submissions.service.submissions import Submission, answer, files_zip, number_of, numbered, submission

router = APIRouter(route_class=GatedRoute, tags=["submissions"])
SUBMISSIONS = Large(BY_NAME["submissions"], numbered, number_of)


@router.get("/contests/{contest_id}/submissions", response_model=list[Submission], summary="All submissions")
async def list_submissions(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: TheLists,
    page: ThePage,
    team_id: Annotated[str | None, Query()] = None,
    problem_id: Annotated[str | None, Query()] = None,
    language_id: Annotated[str | None, Query()] = None,
    account_id: Annotated[str | None, Query()] = None,
) -> Response:
    """Those the viewer may know of, in order; with an ETag. `limit` and `after` ask for a page."""
    problem_id = problem_id and problem_called(snapshot, problem_id)
    wanted = {"team_id": team_id, "problem_id": problem_id, "language_id": language_id, "account_id": account_id}
    return await lists.large(SUBMISSIONS, viewer, snapshot, page, **wanted)


@router.get("/contests/{contest_id}/submissions/{submission_id}", summary="One submission")
def get_submission(
    contest_id: str, submission_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> Submission:
    """Its metadata, and its files for those who may read them."""
    return submission(viewer, snapshot, session, submission_id)


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/files",
    response_class=Response,
    responses=ARCHIVE,
    summary="The answer files of a submission",
)
def get_submission_files(
    request: Request,
    contest_id: str,
    submission_id: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
) -> Response:
    """The files that were taken as answers, as a zip (the same bytes each time), and the sources below `sources/`.

    The sources are there for the team itself and judges only.
    """
    headers = {"Content-Disposition": f'attachment; filename="{submission_id}.zip"'}
    data = files_zip(service, viewer, snapshot, session, submission_id)
    return Response(data, media_type=type_for(request, ZIP, BYTES), headers=headers)


@router.get(
    "/contests/{contest_id}/submissions/{submission_id}/answers/{case_name}",
    response_class=Response,
    responses=OCTETS,
    summary="The answer that counts for a case",
)
def get_answer(
    case_name: str,
    contest_id: str,
    submission_id: str,
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    session: Reading,
    service: TheService,
) -> Response:
    """One case's answer file as it counts for this submission; the header Jurado-Submission says who brought it."""
    counting = answer(service, viewer, snapshot, session, submission_id, case_name)
    headers = {
        "Jurado-Submission": counting.brought_by,
        "Content-Disposition": f'attachment; filename="{case_name}.out"',
    }
    return Response(counting.data, media_type="application/octet-stream", headers=headers)


judgements_router = APIRouter(route_class=GatedRoute, tags=["judgements"])
JUDGEMENTS = Large(BY_NAME["judgements"], numbered_judgements, submission_of_judgement, scored=True)
RUNS = Large(BY_NAME["runs"], numbered_runs, submission_of_run, teams=whose_runs)


@judgements_router.get(
    "/contests/{contest_id}/judgements",
    response_model=list[Judgement],
    response_model_exclude_unset=True,
    summary="All judgements",
)
async def list_judgements(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: TheLists,
    page: ThePage,
    submission_id: Annotated[str | None, Query()] = None,
    judgement_type_id: Annotated[str | None, Query()] = None,
) -> Response | list[Judgement]:
    """Those the viewer may know of, by submission and in order; with an ETag. `limit` and `after` ask for a page."""
    if submission_id:
        return await lists.few(partial(judgements_of, viewer, snapshot, submission_id, judgement_type_id))
    # An empty id asks for those without one, of which there are none.
    return await lists.large(
        JUDGEMENTS, viewer, snapshot, page, submission_id=submission_id, judgement_type_id=judgement_type_id
    )


@judgements_router.get(
    "/contests/{contest_id}/judgements/{judgement_id}",
    response_model_exclude_unset=True,
    summary="One judgement",
)
def get_judgement(
    contest_id: str, judgement_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> Judgement:
    """Its verdict and its points."""
    return judgement(viewer, snapshot, session, judgement_id)


@judgements_router.get("/contests/{contest_id}/runs", response_model=list[JudgedCase], summary="All runs")
async def list_runs(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: TheLists,
    page: ThePage,
    judgement_id: Annotated[str | None, Query()] = None,
    judgement_type_id: Annotated[str | None, Query()] = None,
) -> Response | list[JudgedCase]:
    """Teams see their own, judges all, others none unless the contest shows answers; with an ETag.

    `limit` and `after` ask for a page.
    """
    if judgement_id:
        return await lists.few(partial(runs_of, viewer, snapshot, judgement_id, judgement_type_id))
    return await lists.large(
        RUNS, viewer, snapshot, page, judgement_id=judgement_id, judgement_type_id=judgement_type_id
    )


@judgements_router.get("/contests/{contest_id}/runs/{run_id}", summary="One run")
def get_run(contest_id: str, run_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> JudgedCase:
    """What the checker found for one case of one judgement."""
    return run(viewer, snapshot, session, run_id)
