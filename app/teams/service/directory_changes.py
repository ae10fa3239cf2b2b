"""Queries and commands on groups, organizations and persons, the same for all three collections."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer, refuse_foreign_object
from app.contests.queries import contest_of
from app.core.bodies import Document, mismatch, only_object, read_one, refuse, same_id
from app.core.clics import JsonObject
from app.core.db import by_id
from app.core.db.database import alone
from app.core.errors import Conflict, NotFound
from app.core.files.file_references import StoredReference
from app.core.messages import N_, Message, counted
from app.core.service import Service
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import PersonRow, TeamRow
from app.teams import queries as teams_queries
from app.teams.schemas import DirectoryBody
from app.teams.service import directory
from app.teams.service.directory import DirectoryKind, Row


def one(kind: DirectoryKind, viewer: Viewer, snapshot: ContestSnapshot, session: Session, object_id: str) -> JsonObject:
    """An object of a contest; raises NotFound where the viewer may not see it."""
    for each in kind.documents(viewer, snapshot, session):
        if each["id"] == object_id:
            return each
    raise NotFound(kind.missing, object=object_id, contest=snapshot.contest.id)


def files_of(
    kind: DirectoryKind, viewer: Viewer, snapshot: ContestSnapshot, session: Session, object_id: str, name: str
) -> Sequence[StoredReference]:
    """References to the files of one property; raises NotFound where the viewer may not see the object."""
    one(kind, viewer, snapshot, session, object_id)
    row = _row(kind, session, snapshot.contest.id, object_id)
    return row.details.get(name, []) if name in kind.files else []


def bring_in(
    kind: DirectoryKind,
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
    rows = directory.bring_in(
        session, service.files, contest_id, kind, document, sees_all_ids=viewer.is_admin, replace=replace
    )
    return [_after(kind, session, viewer, contest_id, row) for row in rows]


def replace(
    kind: DirectoryKind,
    viewer: Viewer,
    session: Session,
    service: Service,
    contest_id: str,
    object_id: str,
    document: Document,
) -> JsonObject:
    """Make an object or replace it by the body, which names its id; raises BadRequest with every fault."""
    contest_of(session, contest_id)
    body = read_one(document, kind.body)
    if body.id is None:
        refuse([mismatch("id", Message(N_("the id of the address")), Message(N_("nothing")))])
    same_id(object_id, body.id)
    row: Row = session.get(kind.table, object_id) or kind.table(id=object_id, contest_id=contest_id)
    _fill(kind, session, service, row, body, set(type(body).model_fields))
    return _after(kind, session, viewer, contest_id, row)


def change(
    kind: DirectoryKind,
    viewer: Viewer,
    session: Session,
    service: Service,
    contest_id: str,
    object_id: str,
    document: Document,
) -> JsonObject:
    """Change the properties that the body names; raises BadRequest with every fault."""
    row = _row(kind, session, contest_id, object_id)
    alone(session, row)
    changes = only_object(document)
    body = read_one(document, kind.body, old=kind.old(row))
    same_id(object_id, body.id)
    _fill(kind, session, service, row, body, set(changes))
    return _after(kind, session, viewer, contest_id, row)


def delete(kind: DirectoryKind, viewer: Viewer, session: Session, contest_id: str, object_id: str) -> None:
    """Delete an object; raises Conflict where something refers to it."""
    row = _row(kind, session, contest_id, object_id)
    refuse_foreign_object(viewer, contest_id, row.contest_id, kind.noun)
    if uses := kind.uses(session, object_id):
        raise Conflict(N_("%(uses)s refer to the %(noun)s"), uses=counted(uses), noun=Message(kind.noun))
    session.delete(row)


def _row(kind: DirectoryKind, session: Session, contest_id: str, object_id: str) -> Row:
    rows: list[Row] = list(kind.rows(session, contest_of(session, contest_id)))
    for row in rows:
        if row.id == object_id:
            return row
    raise NotFound(kind.missing, object=object_id, contest=contest_id)


def _fill(
    kind: DirectoryKind, session: Session, service: Service, row: Row, body: DirectoryBody, named: set[str]
) -> None:
    known_ids = by_id.known(session, TeamRow, getattr(body, "team_ids", None) or [])
    refuse(kind.check(known_ids, body, "body"))
    refuse(kind.fill(service.files, row, body, named, "body"))
    session.add(row)


def _after(kind: DirectoryKind, session: Session, viewer: Viewer, contest_id: str, row: Row) -> JsonObject:
    session.flush()
    refuse_foreign_object(viewer, contest_id, row.contest_id, kind.noun)
    team_ids = {team.id for team in teams_queries.taking_part(session, contest_of(session, contest_id))}
    if isinstance(row, PersonRow) and not viewer.is_admin and not team_ids.issuperset(row.team_ids):
        refuse(
            [
                mismatch(
                    "team_ids", Message(N_("teams of contest %(contest)s"), contest=contest_id), ", ".join(row.team_ids)
                )
            ]
        )
    return kind.document(viewer, contest_id, row, team_ids)
