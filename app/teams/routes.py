"""API routes of teams, class lists, groups, organizations and persons."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from app.accounts.routes.accounts import TheOptions, WritingAccounts, finish, many_or_one
from app.core.bodies import one_body, openapi_body
from app.core.clics import JsonObject
from app.core.http import downloads, lists
from app.core.http.deps import DRY, CurrentViewer, DryRun, GatedRoute, Reading, TheService, TheSnapshot, Writing
from app.core.http.errors import TheDocument
from app.feed.service.collections import BY_NAME
from app.teams.schemas import PeopleMade, PersonRowBody
from app.teams.service import directory, team_changes
from app.teams.service.teams import Enrolment, TeamBody, TeamView

router = APIRouter(route_class=GatedRoute, tags=["teams"])


@router.get("/teams", summary="All teams", response_model=list[TeamView])
def list_teams(viewer: CurrentViewer, session: Reading) -> list[JsonObject]:
    """Of every contest and of none. Their files are shown in their contests."""
    return team_changes.listed(session, viewer)


@router.get("/teams/{team_id}", summary="One team", response_model=TeamView)
def get_team(viewer: CurrentViewer, session: Reading, team_id: str) -> JsonObject:
    """Whether it takes part anywhere or not."""
    return team_changes.one(session, viewer, team_id)


@router.put("/teams/{team_id}", summary="Make or replace a team", response_model=TeamView)
def put_team(viewer: CurrentViewer, session: Writing, service: TheService, team_id: str, body: TeamBody) -> JsonObject:
    """The body is the whole team, its id included; files that it does not name stay."""
    return team_changes.replace(session, service, viewer, team_id, body)


@router.patch(
    "/teams/{team_id}", summary="Change a team", response_model=TeamView, openapi_extra=one_body("TeamChange")
)
def change_team(
    viewer: CurrentViewer, session: Writing, service: TheService, team_id: str, changes: TheDocument
) -> JsonObject:
    """What is left out stays."""
    return team_changes.change(session, service, viewer, team_id, changes)


@router.delete("/teams/{team_id}", summary="Delete a team", status_code=204)
def delete_team(viewer: CurrentViewer, session: Writing, service: TheService, team_id: str) -> None:
    """Only one without accounts and submissions."""
    team_changes.delete(session, service, viewer, team_id)


@router.get("/contests/{contest_id}/teams", summary="The teams of a contest", response_model=list[TeamView])
async def list_contest_teams(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: lists.TheLists,
    organization_id: Annotated[str | None, Query(description="only those of this organization; empty: of none")] = None,
) -> Response:
    """Hidden ones only for judges, and for themselves."""
    return await lists.small(BY_NAME["teams"], viewer, snapshot, organization_id=organization_id)


@router.get("/contests/{contest_id}/teams/{team_id}", summary="One team of a contest", response_model=TeamView)
def get_contest_team(viewer: CurrentViewer, session: Reading, contest_id: str, team_id: str) -> JsonObject:
    """404 where it does not take part, or is hidden."""
    return team_changes.one_of_contest(session, viewer, contest_id, team_id)


@router.get(
    "/contests/{contest_id}/teams/{team_id}/{name}/{file_name}",
    response_class=Response,
    responses=downloads.ANY_FILE,
    summary="A file of a team, such as its photo",
)
def get_team_file(
    viewer: CurrentViewer,
    session: Reading,
    service: TheService,
    contest_id: str,
    team_id: str,
    name: str,
    file_name: str,
) -> Response:
    """With its type; images only draw."""
    return downloads.reply(service.files, team_changes.files_of(session, viewer, contest_id, team_id, name), file_name)


@router.post("/contests/{contest_id}/teams", summary="Let teams take part", response_model=list[TeamView])
def enrol_teams(
    viewer: CurrentViewer, session: Writing, service: TheService, contest_id: str, body: Enrolment
) -> list[JsonObject]:
    """Enrolled teams do not change; the reply lists all teams of the contest."""
    return team_changes.enrol(session, service, viewer, contest_id, body)


@router.delete("/contests/{contest_id}/teams/{team_id}", summary="Remove a team from a contest", status_code=204)
def withdraw_team(_viewer: CurrentViewer, session: Writing, service: TheService, contest_id: str, team_id: str) -> None:
    """Only while it has not submitted anything there; hide it else."""
    team_changes.withdraw(session, service, contest_id, team_id)


Replace = Annotated[bool, Query(description="replace existing ones instead of refusing them")]


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

    Institutions of a teams.tsv are organizations that exist. Owners of a contest name it, and make teams for it.
    """
    made = team_changes.bring_in(session, service, viewer, document_, replace=replace, contest_id=contest_id)
    return many_or_one(
        session, response, made, f"teams/{made[0]['id']}" if made else "", many=document_.many, dry_run=dry_run
    )


class_list_router = APIRouter(route_class=GatedRoute, tags=["accounts"])


@class_list_router.post(
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

    Teams, organizations and groups that do not exist are created. An existing account with the same data does not
    change; replace=true updates a different one, and it keeps its password unless it is given one. Owners of a contest
    name it; their lists name only what was made for it.
    """
    made = team_changes.bring_in_class_list(session, service, viewer, document, options, contest_id)
    finish(options, session, response, secret=any(each.password for each in made.people))
    return made


directory_router = APIRouter(route_class=GatedRoute)


def _asked(viewer: CurrentViewer, session: Writing, service: TheService, contest_id: str) -> directory.Asked:
    return directory.Asked(viewer, session, service, contest_id)


TheAsked = Annotated[directory.Asked, Depends(_asked, scope="function")]


@dataclass(frozen=True, slots=True)
class Endpoints:
    """What clients do at the addresses of one kind."""

    kind: directory.DirectoryKind

    async def get_all(self, viewer: CurrentViewer, snapshot: TheSnapshot, lists: lists.TheLists) -> Response:
        """By id."""
        return await lists.small(BY_NAME[self.kind.name], viewer, snapshot)

    def get_one(
        self, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, object_id: str
    ) -> Mapping[str, object]:
        """404 for what the contest does not show the client."""
        return directory.one(self.kind, viewer, snapshot, session, object_id)

    def make(
        self,
        asked: TheAsked,
        document: TheDocument,
        response: Response,
        replace: Replace = False,
        dry_run: DryRun = False,
    ) -> JsonObject | list[JsonObject]:
        """One object or a list, in JSON, YAML, CSV or TSV. All of them or, with every fault listed, none."""
        made = directory.bring_in(self.kind, asked, document, replace=replace)
        address = f"contests/{asked.contest_id}/{self.kind.name}/{made[0]['id']}" if made else ""
        return many_or_one(asked.session, response, made, address, many=document.many, dry_run=dry_run)

    def put(self, asked: TheAsked, object_id: str, document: TheDocument) -> JsonObject:
        """The body is the whole object, its id included."""
        return directory.replace(self.kind, asked, object_id, document)

    def change(self, asked: TheAsked, object_id: str, document: TheDocument) -> JsonObject:
        """What is left out stays."""
        return directory.change(self.kind, asked, object_id, document)

    def delete(self, asked: TheAsked, object_id: str) -> None:
        """Only one that nothing refers to."""
        directory.delete(self.kind, asked, object_id)

    def get_file(
        self,
        viewer: CurrentViewer,
        snapshot: TheSnapshot,
        session: Reading,
        service: TheService,
        object_id: str,
        name: str,
        file_name: str,
    ) -> Response:
        """With its type; images only draw."""
        files = directory.files_of(self.kind, viewer, snapshot, session, object_id, name)
        return downloads.reply(service.files, files, file_name)


def _add_routes(kind: directory.DirectoryKind) -> None:
    """Put the routes of one kind on the router."""
    all_ = f"/contests/{{contest_id}}/{kind.name}"
    one = f"{all_}/{{object_id}}"
    noun, view = kind.noun, kind.view
    endpoints = Endpoints(kind)
    body = openapi_body(kind.body)
    add = partial(directory_router.add_api_route, tags=[kind.name])
    whole, part = kind.body.__name__, kind.body.__name__.replace("Body", "Change")
    put = partial(add, one, response_model=view, openapi_extra=one_body(whole))
    change = partial(add, one, response_model=view, openapi_extra=one_body(part))

    summary = f"The {kind.name} of a contest"
    add(all_, endpoints.get_all, operation_id=f"list_{kind.name}", summary=summary, response_model=list[view])  # type: ignore[valid-type]
    add(one, endpoints.get_one, operation_id=f"get_{noun}", summary=f"One {noun}", response_model=view)
    summary = f"Make or import {kind.name}"
    add(
        all_,
        endpoints.make,
        methods=["POST"],
        operation_id=f"create_{kind.name}",
        summary=summary,
        status_code=201,
        openapi_extra=body,
        response_model=view | list[view],  # type: ignore[valid-type]
        responses={200: {"model": view | list[view], "description": DRY}},  # type: ignore[valid-type]
    )
    put(endpoints.put, methods=["PUT"], operation_id=f"put_{noun}", summary=f"Make or replace a {noun}")
    change(endpoints.change, methods=["PATCH"], operation_id=f"change_{noun}", summary=f"Change a {noun}")
    add(
        one,
        endpoints.delete,
        methods=["DELETE"],
        operation_id=f"delete_{noun}",
        summary=f"Delete a {noun}",
        status_code=204,
    )
    if kind.files:
        summary = f"A file of a {noun}"
        add(
            f"{one}/{{name}}/{{file_name}}",
            endpoints.get_file,
            operation_id=f"get_{noun}_file",
            summary=summary,
            response_class=Response,
            responses=downloads.ANY_FILE,
        )


for _kind in directory.DIRECTORY_KINDS:
    _add_routes(_kind)
