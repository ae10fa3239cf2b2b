"""HTTP routes: groups, organizations and persons of a contest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.accounts.routes.accounts import many_or_one
from app.core.bodies import one_body, openapi_body
from app.core.clics import JsonObject
from app.core.http import downloads
from app.core.http.deps import CurrentViewer, DryRun, GatedRoute, Reading, TheService, TheSnapshot, Writing
from app.core.http.downloads import ANY_FILE
from app.core.http.errors import TheDocument
from app.core.http.lists.reply import TheLists
from app.core.transactions import DRY
from app.feed.service.collections import BY_NAME
from app.teams.service import directory_changes
from app.teams.service.directory import DIRECTORY_KINDS, DirectoryKind

router = APIRouter(route_class=GatedRoute)
Replace = Annotated[bool, Query(description="replace those that are there already, instead of refusing them")]


@dataclass(frozen=True, slots=True)
class Endpoints:
    """What clients do at the addresses of one kind."""

    kind: DirectoryKind

    async def get_all(self, viewer: CurrentViewer, snapshot: TheSnapshot, lists: TheLists) -> Response:
        """By id."""
        return await lists.small(BY_NAME[self.kind.name], viewer, snapshot)

    def get_one(
        self, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, object_id: str
    ) -> Mapping[str, object]:
        """404 for what the contest does not show the client."""
        return directory_changes.one(self.kind, viewer, snapshot, session, object_id)

    def make(
        self,
        viewer: CurrentViewer,
        session: Writing,
        service: TheService,
        contest_id: str,
        document: TheDocument,
        response: Response,
        replace: Replace = False,
        dry_run: DryRun = False,
    ) -> JsonObject | list[JsonObject]:
        """One object or a list, in JSON, YAML, CSV or TSV. All of them or, with every fault listed, none."""
        made = directory_changes.bring_in(self.kind, viewer, session, service, contest_id, document, replace=replace)
        address = f"contests/{contest_id}/{self.kind.name}/{made[0]['id']}" if made else ""
        return many_or_one(session, response, made, address, many=document.many, dry_run=dry_run)

    def put(
        self,
        viewer: CurrentViewer,
        session: Writing,
        service: TheService,
        contest_id: str,
        object_id: str,
        document: TheDocument,
    ) -> JsonObject:
        """The body is the whole object, its id included."""
        return directory_changes.replace(self.kind, viewer, session, service, contest_id, object_id, document)

    def change(
        self,
        viewer: CurrentViewer,
        session: Writing,
        service: TheService,
        contest_id: str,
        object_id: str,
        document: TheDocument,
    ) -> JsonObject:
        """What is left out stays."""
        return directory_changes.change(self.kind, viewer, session, service, contest_id, object_id, document)

    def delete(self, viewer: CurrentViewer, session: Writing, contest_id: str, object_id: str) -> None:
        """Only one that nothing refers to."""
        directory_changes.delete(self.kind, viewer, session, contest_id, object_id)

    def get_file(
        self,
        viewer: CurrentViewer,
        snapshot: TheSnapshot,
        session: Reading,
        service: TheService,
        contest_id: str,
        object_id: str,
        name: str,
        file_name: str,
    ) -> Response:
        """With its type; images only draw."""
        files = directory_changes.files_of(self.kind, viewer, snapshot, session, object_id, name)
        return downloads.reply(service.files, files, file_name)


def _add_routes(kind: DirectoryKind) -> None:
    """Put the routes of one kind on the router."""
    all_ = f"/contests/{{contest_id}}/{kind.name}"
    one = f"{all_}/{{object_id}}"
    noun, view = kind.noun, kind.view
    endpoints = Endpoints(kind)
    body = openapi_body(kind.body)
    add = partial(router.add_api_route, tags=[kind.name])
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
            responses=ANY_FILE,
        )


for _kind in DIRECTORY_KINDS:
    _add_routes(_kind)
