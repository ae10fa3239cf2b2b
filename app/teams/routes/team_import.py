"""HTTP routes: teams that come in numbers: all of them are kept, or none and every fault is listed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.accounts.routes.made import many_or_one
from app.core.bodies import openapi_body
from app.core.clics import JsonObject
from app.core.http.bodies import TheDocument
from app.core.http.deps import CurrentViewer, DryRun, TheService, Writing
from app.core.http.gated import GatedRoute
from app.core.transactions import DRY
from app.teams.service.team_changes import bring_in
from app.teams.service.teams import TeamBody, TeamView

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
    viewer: CurrentViewer,
    session: Writing,
    service: TheService,
    document_: TheDocument,
    response: Response,
    replace: Replace = False,
    dry_run: DryRun = False,
    contest_id: Annotated[
        str | None, Query(description="let them take part in this contest, whose owners may change the new ones")
    ] = None,
) -> JsonObject | list[JsonObject]:
    """One object or a list, in JSON, YAML, CSV or TSV. All of them or, with every fault listed, none.

    Institutions of a teams.tsv become organizations. Owners of a contest name it, and make teams for it.
    """
    made = bring_in(session, service, viewer, document_, replace=replace, contest_id=contest_id)
    return many_or_one(
        session, response, made, f"teams/{made[0]['id']}" if made else "", many=document_.many, dry_run=dry_run
    )
