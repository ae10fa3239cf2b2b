"""HTTP routes: judgements and runs: what became of submissions, and of each of their cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from sqlalchemy.orm import Session

from app.api.http.deps import CurrentViewer, Reading
from app.api.http.gated import GatedRoute
from app.api.http.lists.reply import TheLists
from app.api.http.lists.sheet import Large
from app.api.http.snapshot import TheSnapshot
from app.services.errors import NotFound
from app.services.filters import matching
from app.services.submissions.judgements import (
    JudgedCase,
    Judgement,
    judgement_document,
    may_see_run,
    numbered_judgements,
    numbered_runs,
    run_document,
)
from app.services.visibility import may_see_verdict
from app.storage import submission_queries

router = APIRouter(route_class=GatedRoute, tags=["judgements"])
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
    snapshot: TheSnapshot,
    lists: TheLists,
    submission_id: Annotated[str | None, Query()] = None,
    judgement_type_id: Annotated[str | None, Query()] = None,
) -> Any:
    """Those the viewer may know of, by submission and in order; with an ETag."""
    wanted = {"submission_id": submission_id, "judgement_type_id": judgement_type_id}
    if not submission_id:  # an empty one asks for those without one, of which there are none
        return await lists.large(JUDGEMENTS, viewer, snapshot, **wanted)

    def of_one(session: Session) -> list[Mapping[str, Any]]:
        owner = submission_queries.submission(session, snapshot.contest.id, submission_id)
        ids = () if owner is None else (owner.id,)
        return matching((each for _, each in numbered_judgements(viewer, snapshot, session, ids)), **wanted)

    return await lists.few(of_one)


@router.get(
    "/contests/{contest_id}/judgements/{judgement_id}",
    response_model=Judgement,
    response_model_exclude_unset=True,
    summary="One judgement",
)
def get_judgement(
    contest_id: str, judgement_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading
) -> Any:
    """Its verdict and its points."""
    found = submission_queries.judgement(session, contest_id, snapshot.contest.ids.number(judgement_id))
    if found is None or not may_see_verdict(viewer, snapshot, found[1]):
        raise NotFound(f"no judgement {judgement_id!r} in contest {contest_id!r}")
    longest = submission_queries.longest_runs(session, contest_id, str(found[1].id))
    return judgement_document(snapshot, *found, longest.get(found[0].id))


@router.get("/contests/{contest_id}/runs", response_model=list[JudgedCase], summary="All runs")
async def list_runs(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: TheLists,
    judgement_id: Annotated[str | None, Query()] = None,
    judgement_type_id: Annotated[str | None, Query()] = None,
) -> Any:
    """Teams see their own, judges all, others none unless the contest shows answers; with an ETag."""
    wanted = {"judgement_id": judgement_id, "judgement_type_id": judgement_type_id}
    if not judgement_id:
        return await lists.large(RUNS, viewer, snapshot, **wanted)

    def of_one(session: Session) -> list[Mapping[str, Any]]:
        pair = submission_queries.judgement(session, snapshot.contest.id, snapshot.contest.ids.number(judgement_id))
        ids = () if pair is None else (pair[1].id,)
        return matching((each for _, each in numbered_runs(viewer, snapshot, session, ids)), **wanted)

    return await lists.few(of_one)


@router.get("/contests/{contest_id}/runs/{run_id}", response_model=JudgedCase, summary="One run")
def get_run(contest_id: str, run_id: str, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading) -> Any:
    """What the checker found for one case of one judgement."""
    number = snapshot.contest.ids.judgement_of(run_id)
    for run in () if number is None else submission_queries.runs(session, contest_id, judgements=(number,)):
        document = run_document(snapshot, run)
        if document["id"] == run_id and may_see_run(viewer, snapshot, run):
            return document
    raise NotFound(f"no run {run_id!r} in contest {contest_id!r}")
