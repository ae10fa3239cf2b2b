"""HTTP routes: a class list, whose rows make accounts of persons."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.accounts.routes.account_import import TheOptions, WritingAccounts, finish
from app.core.bodies import openapi_body
from app.core.http.bodies import TheDocument
from app.core.http.deps import CurrentViewer, TheService
from app.core.http.gated import GatedRoute
from app.core.transactions import DRY
from app.teams.schemas.class_list_bodies import PeopleMade, PersonRowBody
from app.teams.service.class_list import bring_in

router = APIRouter(route_class=GatedRoute, tags=["accounts"])


@router.post(
    "/people",
    summary="Import a class list: accounts with their teams, organizations and groups",
    status_code=201,
    response_model=PeopleMade,
    responses={200: {"model": PeopleMade, "description": DRY}},
    openapi_extra=openapi_body(PersonRowBody),
)
def import_people(
    viewer: CurrentViewer,
    service: TheService,
    session: WritingAccounts,
    document: TheDocument,
    response: Response,
    options: TheOptions,
    contest_id: Annotated[
        str | None, Query(description="let their teams take part in this contest, whose owners may change the new ones")
    ] = None,
) -> PeopleMade:
    """A table (CSV or TSV) or a list (JSON, YAML) of people. All of them or, with every fault listed, none.

    Teams, organizations and groups that are not there are made. An account that is there already is left alone if it
    is the same; else replace=true changes it, and it keeps its password unless it is given one. Owners of a contest
    name it; their lists name only what was made for it.
    """
    made = bring_in(session, service, viewer, document, options, contest_id)
    finish(options, session, response, secret=any(each.password for each in made.people))
    return made
