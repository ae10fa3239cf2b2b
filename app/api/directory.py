"""Groups, organizations and persons: three collections of a contest that are kept and changed in the same way.

An object is one thing on the whole server. The contest it was sent to brought it; other contests show it where a team
or an account of theirs refers to it, and contests open to all show everything there is.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.api import file_references, table_rows, tsv
from app.api.auth import Viewer
from app.api.bodies import (
    Body,
    Document,
    TheDocument,
    found,
    one_body,
    only_object,
    openapi_body,
    read_all,
    read_one,
    refuse,
    refuse_all,
    same_id,
)
from app.api.contests import contest_of, slug
from app.api.deps import DRY, AdminOnly, CurrentViewer, DryRun, Reading, TheService, Writing, end_dry_run
from app.api.directory_bodies import (
    IN_TEAMS,
    GroupBody,
    GroupView,
    OrganizationBody,
    OrganizationView,
    PersonBody,
    PersonView,
)
from app.api.directory_seen import OfTeam, persons, teams_seen
from app.api.downloads import ANY_FILE
from app.api.errors import Conflict, NotFound, place
from app.api.gated import GatedRoute
from app.api.lists.reply import Small, TheLists, hidden
from app.api.middleware import API
from app.api.standings import TheStanding
from app.api.table_rows import Columns
from app.grading.boards import Standing
from app.storage import directory as stored
from app.storage import teams
from app.storage.files import FileStore
from app.storage.tables import ContestRow, GroupRow, OrganizationRow, PersonRow

router = APIRouter(route_class=GatedRoute)
Row = GroupRow | OrganizationRow | PersonRow
Replace = Annotated[bool, Query(description="replace those that are there already, instead of refusing them")]


@dataclass(frozen=True, slots=True)
class Collection:
    """One of the three: what its objects are made of, where they are kept, and what may refer to one."""

    name: str
    noun: str
    body: type[Body]
    view: type[BaseModel]
    table: Any
    columns: tuple[str, ...]
    files: tuple[str, ...]
    of_judges: frozenset[str]
    table_columns: Columns
    rows: Callable[[Session, ContestRow], Sequence[Any]]
    uses: Callable[[Session, str], Mapping[str, int]]
    of_team: OfTeam = lambda _team: ()

    def documents(self, viewer: Viewer, standing: Standing, session: Session) -> list[Mapping[str, Any]]:
        """What the viewer sees of the contest's objects, by id."""
        contest = contest_of(session, standing.contest.id)
        is_person = self.table is PersonRow
        rows = persons(viewer, standing, session, contest) if is_person else self.rows(session, contest)
        there, unseen = teams_seen(viewer, session, contest, self.of_team)
        shown = [self.document(viewer, contest.id, row, there) for row in rows if row.id not in unseen]
        return [each for each in shown if each.get("role") not in IN_TEAMS or each["team_ids"]]

    def document(self, viewer: Viewer, contest_id: str, row: Any, there: set[str]) -> dict[str, Any]:
        """One object as CLICS writes it; persons only name teams that are `there`."""
        found: dict[str, Any] = {"id": row.id}
        address = f"contests/{contest_id}/{self.name}/{row.id}"
        for name in self.view.model_fields:
            value = getattr(row, name) if name in self.columns else row.details.get(name)
            if value is None or (name in self.of_judges and not viewer.sees_all):
                continue
            found[name] = file_references.shown(address, name, value) if name in self.files else value
        if "team_ids" in found:
            found["team_ids"] = [team_id for team_id in found["team_ids"] if team_id in there]
        return found

    def check(self, there: Container[str], body: Any, where: str) -> list[dict[str, str]]:
        """What a body refers to that is none of the teams that are `there`."""
        missing = {team_id for team_id in getattr(body, "team_ids", None) or [] if team_id not in there}
        return [found(place(where, "team_ids"), "teams that exist", repr(team_id)) for team_id in sorted(missing)]

    def fill(self, files: FileStore, row: Any, body: Any, named: set[str], where: str) -> list[dict[str, str]]:
        """Give a row what a body names; returns what is wrong with its files."""
        details: dict[str, Any] = dict(row.details or {})
        faults: list[dict[str, str]] = []
        for name in named - {"id"}:
            value = getattr(body, name)
            if name in self.files:
                value, wrong = file_references.keep(files, name, value or [], details.get(name, []), where)
                faults += wrong
            elif isinstance(value, BaseModel):
                value = value.model_dump()
            if name in self.columns:
                setattr(row, name, value if name != "team_ids" else list(dict.fromkeys(value or [])))
            else:
                details[name] = value or None
        row.details = {name: value for name, value in details.items() if value is not None}
        names = [each["filename"] for name in self.files for each in row.details.get(name, [])]
        twice = sorted({name for name in names if names.count(name) > 1})
        return faults or [found(where, "different file names in one object", repr(name)) for name in twice]

    def old(self, row: Any) -> dict[str, Any]:
        """What a row holds, as a body would say it; files are left out, and stay unless they are named."""
        columns = {name: getattr(row, name) for name in self.columns}
        return {"id": row.id, **columns, **{k: v for k, v in row.details.items() if k not in self.files}}


GROUPS = Collection(
    name="groups",
    noun="group",
    body=GroupBody,
    view=GroupView,
    table=GroupRow,
    columns=("name", "type", "icpc_id"),
    files=(),
    of_judges=frozenset(),
    table_columns=table_rows.GROUPS,
    rows=stored.groups,
    uses=stored.group_uses,
    of_team=lambda team: team.group_ids,
)
ORGANIZATIONS = Collection(
    name="organizations",
    noun="organization",
    body=OrganizationBody,
    view=OrganizationView,
    table=OrganizationRow,
    columns=("name", "formal_name", "icpc_id", "country"),
    files=("country_flag", "country_subdivision_flag", "logo"),
    of_judges=frozenset(),
    table_columns=table_rows.ORGANIZATIONS,
    rows=stored.organizations,
    uses=stored.organization_uses,
    of_team=lambda team: (team.organization_id,),
)
PERSONS = Collection(
    name="persons",
    noun="person",
    body=PersonBody,
    view=PersonView,
    table=PersonRow,
    columns=("name", "role", "icpc_id", "team_ids"),
    files=("photo",),
    of_judges=frozenset({"email", "sex"}),
    table_columns=table_rows.PERSONS,
    rows=stored.persons,
    uses=stored.person_uses,
)
COLLECTIONS = (GROUPS, ORGANIZATIONS, PERSONS)


def bring_in(
    session: Session,
    files: FileStore,
    contest_id: str,
    collection: Collection,
    document: Document,
    *,
    replace: bool = False,
) -> list[Any]:
    """Keep the objects of a document, all of them or none; raises BadRequest or Conflict with every fault."""
    read = tsv.groups if collection is GROUPS else None
    items = tsv.items(document, read, collection.table_columns)
    team_ids = teams.ids(session) if collection is PERSONS else set()
    places: list[tuple[Any, str]]
    places, faults = read_all(items, collection.body, partial(collection.check, team_ids))
    taken = _taken(session, collection, places, replace=replace)
    hint = "" if replace else "; replace=true replaces those of the same id"
    refuse_all(faults, taken, f"{len(taken)} of the {collection.name} exist already{hint}")
    old = stored.some(session, collection.table, [body.id for body, _ in places if body.id is not None])
    rows: list[Any] = []
    for body, where in places:
        if body.id is None:
            session.flush()  # what was added a moment ago has taken its id
            body.id = slug(body.name, lambda id_: session.get(collection.table, id_) is not None, collection.noun)
        row = old.get(body.id) or collection.table(id=body.id, contest_id=contest_id)
        faults += collection.fill(files, row, body, set(type(body).model_fields), where)
        session.add(row)
        rows.append(row)
    refuse(faults)
    return rows


def _taken(
    session: Session, collection: Collection, places: Sequence[tuple[Any, str]], *, replace: bool
) -> list[dict[str, str]]:
    """Every id that is given twice, or that an old object has."""
    given: set[str] = set()
    there = stored.known(session, collection.table, [body.id for body, _ in places if body.id is not None])
    taken = []
    for body, where in places:
        if body.id in given or (body.id in there and not replace):
            whose = "given twice" if body.id in given else "of an old one"
            taken.append(found(place(where, "id"), f"a new {collection.noun}", f"{body.id!r} {whose}"))
        if body.id is not None:
            given.add(body.id)
    return taken


@dataclass(frozen=True, slots=True)
class Endpoints:
    """What clients do at the addresses of one collection."""

    collection: Collection

    async def get_all(self, viewer: CurrentViewer, standing: TheStanding, lists: TheLists) -> Any:
        """By id."""
        kind = Small(self.collection.name, self.collection.view, self.collection.documents, sparse=True, special=hidden)
        return await lists.small(kind, viewer, standing)

    def get_one(self, viewer: CurrentViewer, standing: TheStanding, session: Reading, object_id: str) -> Any:
        """404 for what the contest does not show the client."""
        for each in self.collection.documents(viewer, standing, session):
            if each["id"] == object_id:
                return each
        raise self._missing(standing.contest.id, object_id)

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
        standing: TheStanding,
        session: Reading,
        service: TheService,
        contest_id: str,
        object_id: str,
        name: str,
        file_name: str,
    ) -> Response:
        """With its type; images only draw."""
        self.get_one(viewer, standing, session, object_id)
        row = self._row(session, contest_id, object_id)
        kept = row.details.get(name, []) if name in self.collection.files else []
        return file_references.reply(service.files, kept, file_name)

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
