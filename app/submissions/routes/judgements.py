"""HTTP routes: judgements and runs: what became of submissions, and of each of their cases."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.core.http.deps import CurrentViewer, Reading
from app.core.http.gated import GatedRoute
from app.core.http.lists.reply import TheLists, ThePage
from app.core.http.snapshot import TheSnapshot
from app.feed.service.collections import BY_NAME
from app.feed.service.lists.list_renderer import Large
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

router = APIRouter(route_class=GatedRoute, tags=["judgements"])
JUDGEMENTS = Large(BY_NAME["judgements"], numbered_judgements, submission_of_judgement, scored=True)
RUNS = Large(BY_NAME["runs"], numbered_runs, submission_of_run, teams=whose_runs)


@router.get(
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


@router.get(
    "/contests/{contest_id}/judgements/{judgement_id}",
    response_model_exclude_unset=True,
    summary="One judgement",
)
def get_judgement(
    contest_id: str, judgement_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> Judgement:
    """Its verdict and its points."""
    return judgement(viewer, snapshot, session, judgement_id)


@router.get("/contests/{contest_id}/runs", response_model=list[JudgedCase], summary="All runs")
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


@router.get("/contests/{contest_id}/runs/{run_id}", summary="One run")
def get_run(contest_id: str, run_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> JudgedCase:
    """What the checker found for one case of one judgement."""
    return run(viewer, snapshot, session, run_id)
