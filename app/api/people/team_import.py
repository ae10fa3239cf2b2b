"""HTTP routes: teams that come in numbers: all of them are kept, or none and every fault is listed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from app.api.http.bodies import TheDocument
from app.api.http.deps import AdminOnly, DryRun, TheBoards, TheService, Writing, end_dry_run
from app.api.http.gated import GatedRoute
from app.api.http.middleware import API
from app.services.bodies import openapi_body
from app.services.people.team_import import bring_in
from app.services.people.teams import TeamBody, TeamView, document
from app.services.transactions import DRY, after_commit

router = APIRouter(route_class=GatedRoute, tags=["teams"])
Replace = Annotated[bool, Query(description="replace those that are there already, instead of refusing them")]


@router.post(
    "/teams",
    summary="Make or import teams",
    status_code=201,
    response_model=TeamView | list[TeamView],
    responses={200: {"model": TeamView | list[TeamView], "description": DRY}},
    openapi_extra=openapi_body(TeamBody),
)
def create_teams(
    viewer: AdminOnly,
    session: Writing,
    service: TheService,
    boards: TheBoards,
    document_: TheDocument,
    response: Response,
    replace: Replace = False,
    dry_run: DryRun = False,
) -> Any:
    """One object or a list, in JSON, YAML, CSV or TSV. All of them or, with every fault listed, none."""
    rows = bring_in(session, service.files, document_, replace=replace)
    after_commit(session, boards.all_changed)
    made = [document(viewer, row) for row in rows]
    if dry_run:
        end_dry_run(session, response)
    if document_.many:
        return made
    response.headers["Location"] = f"{API}/teams/{rows[0].id}"
    return made[0]
