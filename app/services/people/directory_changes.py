"""Queries and commands on groups, organizations and persons, the same for all three collections."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.grading.contest_snapshot import ContestSnapshot
from app.service import Service
from app.services.bodies import Document, found, only_object, read_one, refuse, same_id
from app.services.clics import JsonObject
from app.services.contests.contests import contest_of
from app.services.errors import Conflict, NotFound
from app.services.file_references import Kept
from app.services.people import directory
from app.services.people.directory import Collection, Row
from app.services.people.directory_bodies import DirectoryBody
from app.services.viewer import Viewer
from app.storage import by_id, teams
from app.storage.tables import TeamRow


def one(
    collection: Collection, viewer: Viewer, snapshot: ContestSnapshot, session: Session, object_id: str
) -> JsonObject:
    """One object of a contest; raises NotFound where the viewer may not see it."""
    for each in collection.documents(viewer, snapshot, session):
        if each["id"] == object_id:
            return each
    raise _missing(collection, snapshot.contest.id, object_id)


def files_of(
    collection: Collection, viewer: Viewer, snapshot: ContestSnapshot, session: Session, object_id: str, name: str
) -> Sequence[Kept]:
    """References to the files of one property; raises NotFound where the viewer may not see the object."""
    one(collection, viewer, snapshot, session, object_id)
    row = _row(collection, session, snapshot.contest.id, object_id)
    return row.details.get(name, []) if name in collection.files else []


def bring_in(
    collection: Collection,
    viewer: Viewer,
    session: Session,
    service: Service,
    contest_id: str,
    document: Document,
    *,
    replace: bool,
) -> list[JsonObject]:
    """Make the objects of a document, all or none; raises BadRequest or Conflict with every fault."""
    contest_of(session, contest_id)
    rows = directory.bring_in(session, service.files, contest_id, collection, document, replace=replace)
    return [_after(collection, session, viewer, contest_id, row) for row in rows]


def replace(
    collection: Collection,
    viewer: Viewer,
    session: Session,
    service: Service,
    contest_id: str,
    object_id: str,
    document: Document,
) -> JsonObject:
    """Make an object or replace it by the body, which names its id; raises BadRequest with every fault."""
    contest_of(session, contest_id)
    body = read_one(document, collection.body)
    if body.id is None:
        refuse([found("id", "the id of the address", "nothing")])
    same_id(object_id, body.id)
    row: Row = session.get(collection.table, object_id) or collection.table(id=object_id, contest_id=contest_id)
    _fill(collection, session, service, row, body, set(type(body).model_fields))
    return _after(collection, session, viewer, contest_id, row)


def change(
    collection: Collection,
    viewer: Viewer,
    session: Session,
    service: Service,
    contest_id: str,
    object_id: str,
    document: Document,
) -> JsonObject:
    """Change the properties that the body names; raises BadRequest with every fault."""
    row = _row(collection, session, contest_id, object_id)
    changes = only_object(document)
    body = read_one(document, collection.body, old=collection.old(row))
    same_id(object_id, body.id)
    _fill(collection, session, service, row, body, set(changes))
    return _after(collection, session, viewer, contest_id, row)


def delete(collection: Collection, session: Session, contest_id: str, object_id: str) -> None:
    """Delete an object; raises Conflict where something refers to it."""
    row = _row(collection, session, contest_id, object_id)
    if uses := collection.uses(session, object_id):
        kinds = ", ".join(f"{count} {name}" for name, count in uses.items())
        raise Conflict(f"{kinds} refer to the {collection.noun}")
    session.delete(row)


def _row(collection: Collection, session: Session, contest_id: str, object_id: str) -> Row:
    rows: list[Row] = list(collection.rows(session, contest_of(session, contest_id)))
    for row in rows:
        if row.id == object_id:
            return row
    raise _missing(collection, contest_id, object_id)


def _missing(collection: Collection, contest_id: str, object_id: str) -> NotFound:
    return NotFound(f"no {collection.noun} {object_id!r} in contest {contest_id!r}")


def _fill(
    collection: Collection, session: Session, service: Service, row: Row, body: DirectoryBody, named: set[str]
) -> None:
    known_ids = by_id.known(session, TeamRow, getattr(body, "team_ids", None) or [])
    refuse(collection.check(known_ids, body, "body"))
    refuse(collection.fill(service.files, row, body, named, "body"))
    session.add(row)


def _after(collection: Collection, session: Session, viewer: Viewer, contest_id: str, row: Row) -> JsonObject:
    session.flush()
    team_ids = {team.id for team in teams.taking_part(session, contest_of(session, contest_id))}
    return collection.document(viewer, contest_id, row, team_ids)
