"""HTTP routes: groups, organizations and persons of a contest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from sqlalchemy.orm import Session

from app.api.http import file_replies
from app.api.http.bodies import TheDocument
from app.api.http.deps import AdminOnly, CurrentViewer, DryRun, Reading, TheService, Writing, end_dry_run
from app.api.http.downloads import ANY_FILE
from app.api.http.gated import GatedRoute
from app.api.http.lists.reply import Small, TheLists, hidden
from app.api.http.middleware import API
from app.api.http.snapshot import TheSnapshot
from app.services.bodies import Body, found, one_body, only_object, openapi_body, read_one, refuse, same_id
from app.services.contests.contests import contest_of
from app.services.errors import Conflict, NotFound
from app.services.people.directory import COLLECTIONS, Collection, bring_in
from app.services.transactions import DRY
from app.services.viewer import Viewer
from app.storage import teams
from app.storage.files import FileStore

router = APIRouter(route_class=GatedRoute)
Replace = Annotated[bool, Query(description="replace those that are there already, instead of refusing them")]


@dataclass(frozen=True, slots=True)
class Endpoints:
    """What clients do at the addresses of one collection."""

    collection: Collection

    async def get_all(self, viewer: CurrentViewer, snapshot: TheSnapshot, lists: TheLists) -> Any:
        """By id."""
        kind = Small(self.collection.name, self.collection.view, self.collection.documents, sparse=True, special=hidden)
        return await lists.small(kind, viewer, snapshot)

    def get_one(self, viewer: CurrentViewer, snapshot: TheSnapshot, session: Reading, object_id: str) -> Any:
        """404 for what the contest does not show the client."""
        for each in self.collection.documents(viewer, snapshot, session):
            if each["id"] == object_id:
                return each
        raise self._missing(snapshot.contest.id, object_id)

    def make(
        self,
        viewer: AdminOnly,
        session: Writing,
        service: TheService,
        contest_id: str,
        document: TheDocument,
        response: Response,
        replace: Replace = False,
        dry_run: DryRun = False,
    ) -> Any:
        """One object or a list, in JSON, YAML, CSV or TSV. All of them or, with every fault listed, none."""
        contest_of(session, contest_id)
        rows = bring_in(session, service.files, contest_id, self.collection, document, replace=replace)
        made = [self._after(session, viewer, contest_id, row) for row in rows]
        if dry_run:
            end_dry_run(session, response)
        if document.many:
            return made
        response.headers["Location"] = f"{API}/contests/{contest_id}/{self.collection.name}/{rows[0].id}"
        return made[0]

    def put(
        self,
        viewer: AdminOnly,
        session: Writing,
        service: TheService,
        contest_id: str,
        object_id: str,
        document: TheDocument,
    ) -> Any:
        """The body is the whole object, its id included."""
        contest_of(session, contest_id)
        body = read_one(document, self.collection.body)
        if body.id is None:
            refuse([found("id", "the id of the address", "nothing")])
        same_id(object_id, body.id)
        table = self.collection.table
        row = session.get(table, object_id) or table(id=object_id, contest_id=contest_id)
        self._fill(session, service.files, row, body, set(type(body).model_fields))
        return self._after(session, viewer, contest_id, row)

    def change(
        self,
        viewer: AdminOnly,
        session: Writing,
        service: TheService,
        contest_id: str,
        object_id: str,
        document: TheDocument,
    ) -> Any:
        """What is left out stays."""
        row = self._row(session, contest_id, object_id)
        changes = only_object(document)
        body = read_one(document, self.collection.body, old=self.collection.old(row))
        same_id(object_id, changes.get("id"))
        self._fill(session, service.files, row, body, set(changes))
        return self._after(session, viewer, contest_id, row)

    def delete(self, _viewer: AdminOnly, session: Writing, contest_id: str, object_id: str) -> None:
        """Only one that nothing refers to."""
        row = self._row(session, contest_id, object_id)
        if uses := self.collection.uses(session, object_id):
            kinds = ", ".join(f"{count} {name}" for name, count in uses.items())
            raise Conflict(f"{kinds} refer to the {self.collection.noun}")
        session.delete(row)

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
        self.get_one(viewer, snapshot, session, object_id)
        row = self._row(session, contest_id, object_id)
        kept = row.details.get(name, []) if name in self.collection.files else []
        return file_replies.reply(service.files, kept, file_name)

    def _row(self, session: Session, contest_id: str, object_id: str) -> Any:
        for row in self.collection.rows(session, contest_of(session, contest_id)):
            if row.id == object_id:
                return row
        raise self._missing(contest_id, object_id)

    def _missing(self, contest_id: str, object_id: str) -> NotFound:
        return NotFound(f"no {self.collection.noun} {object_id!r} in contest {contest_id!r}")

    def _fill(self, session: Session, files: FileStore, row: Any, body: Body, named: set[str]) -> None:
        there = teams.known(session, getattr(body, "team_ids", None) or [])
        refuse(self.collection.check(there, body, "body"))
        refuse(self.collection.fill(files, row, body, named, "body"))
        session.add(row)

    def _after(self, session: Session, viewer: Viewer, contest_id: str, row: Any) -> dict[str, Any]:
        session.flush()
        there = {team.id for team in teams.taking_part(session, contest_of(session, contest_id))}
        return self.collection.document(viewer, contest_id, row, there)


def _add_routes(collection: Collection) -> None:
    """Put the routes of one collection on the router."""
    all_ = f"/contests/{{contest_id}}/{collection.name}"
    one = f"{all_}/{{object_id}}"
    noun, view = collection.noun, collection.view
    endpoints = Endpoints(collection)
    body = openapi_body(collection.body)
    add = partial(router.add_api_route, tags=[collection.name])
    whole, part = collection.body.__name__, collection.body.__name__.replace("Body", "Change")
    put = partial(add, one, response_model=view, openapi_extra=one_body(whole))
    change = partial(add, one, response_model=view, openapi_extra=one_body(part))

    summary = f"The {collection.name} of a contest"
    add(all_, endpoints.get_all, operation_id=f"list_{collection.name}", summary=summary, response_model=list[view])  # type: ignore[valid-type]
    add(one, endpoints.get_one, operation_id=f"get_{noun}", summary=f"One {noun}", response_model=view)
    summary = f"Make or import {collection.name}"
    add(
        all_,
        endpoints.make,
        methods=["POST"],
        operation_id=f"create_{collection.name}",
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
    if collection.files:
        summary = f"A file of a {noun}"
        add(
            f"{one}/{{name}}/{{file_name}}",
            endpoints.get_file,
            operation_id=f"get_{noun}_file",
            summary=summary,
            response_class=Response,
            responses=ANY_FILE,
        )


for _collection in COLLECTIONS:
    _add_routes(_collection)
