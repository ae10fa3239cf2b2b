"""HTTP routes: a class list, whose rows make accounts of persons."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.api.http.bodies import TheDocument
from app.api.http.deps import AdminOnly, TheAuthenticator, TheBoards, TheService, Writing
from app.api.http.gated import GatedRoute
from app.api.people.account_import import TheWish
from app.services import table_rows
from app.services.bodies import openapi_body, read_all
from app.services.contests.changes import refuse_final
from app.services.contests.contests import contest_of, refuse_overlaps
from app.services.people import tsv
from app.services.people.account_import import hashed
from app.services.people.class_list import nothing_more
from app.services.people.class_list_bodies import PeopleMade, PersonRowBody
from app.services.people.class_list_import import People
from app.services.transactions import DRY, after_commit
from app.storage import teams

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
    _viewer: AdminOnly,
    service: TheService,
    session: Writing,
    authenticator: TheAuthenticator,
    boards: TheBoards,
    document: TheDocument,
    response: Response,
    wish: TheWish,
    contest_id: Annotated[str | None, Query(description="let their teams take part in this contest")] = None,
) -> PeopleMade:
    """A table (CSV or TSV) or a list (JSON, YAML) of people. All of them or, with every fault listed, none.

    Teams, organizations and groups that are not there are made. An account that is there already is left alone if it
    is the same; else replace=true changes it, and it keeps its password unless it is given one.
    """
    rows, faults = read_all(tsv.items(document, None, table_rows.PEOPLE), PersonRowBody, nothing_more)
    with service.database.read() as before:  # whoever is refused has not waited for thousands of hashes
        planned = People(before, replace=wish.replace)
        planned.plan(rows, faults)
        passwords = wish.passwords_for(before, planned.accounts)
    hashes = {} if wish.dry_run else hashed(passwords)
    people = People(session, replace=wish.replace)
    people.plan(rows, faults)
    people.keep(hashes)
    if contest_id is not None:
        contest = contest_of(session, contest_id)
        refuse_final(contest)
        refuse_overlaps(session, contest, people.team_ids)
        teams.enrol(session, contest_id, people.team_ids)
    after_commit(session, authenticator.forget)
    after_commit(session, boards.all_changed)
    made = PeopleMade(
        dry_run=wish.dry_run,
        teams=people.teams.new,
        organizations=people.organizations.new,
        groups=people.groups.new,
        people=people.shown(passwords.made),
    )
    wish.finish(session, response, secret=bool(passwords.made))
    return made
