"""Groups, organizations and persons: three collections of a contest that are kept and changed in the same way.

An object is one thing on the whole server. The contest it was sent to brought it; other contests show it where a team
or an account of theirs refers to it, and contests open to all show everything there is.

- Visibility of groups, organizations and persons of a contest.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service import tsv
from app.accounts.service.viewer import Viewer, refuse_foreign_object
from app.contests.queries import contest_of
from app.core import table_rows
from app.core.bodies import Document, mismatch, read_all, read_one, refuse, refuse_all, same_id, taken_ids
from app.core.clics import JsonObject, slug, slug_with_letters
from app.core.db import by_id, database
from app.core.files import file_references
from app.core.files.files import FileStore
from app.core.messages import N_, NOTHING, Conflict, Fault, Message, NotFound, place
from app.core.service import Service
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import ContestRow, GroupRow, OrganizationRow, PersonRow, TeamRow
from app.teams import queries as teams_queries
from app.teams import schemas
from app.teams.service.teams import fill_row, may_see, merged, shown

OfTeam = Callable[[TeamRow], Iterable[str | None]]


def persons(viewer: Viewer, snapshot: ContestSnapshot, session: Session, contest: ContestRow) -> Sequence[PersonRow]:
    """The persons that the viewer sees: before the start only judges see any, as entrants are still secret."""
    if viewer.sees_all:
        return teams_queries.persons(session, contest)
    return [] if snapshot.state.started is None else teams_queries.public_persons(session, contest)


def teams_seen(
    viewer: Viewer, session: Session, contest: ContestRow, of_team: OfTeam
) -> tuple[set[str], set[str | None]]:
    """The teams a viewer sees, and what only the other teams are `of_team`: groups or organizations."""
    entrants = teams_queries.taking_part(session, contest)
    seen = [team for team in entrants if may_see(viewer, team)]
    shown = {id_ for team in seen for id_ in of_team(team)} | {contest.main_scoreboard_group_id}
    return {team.id for team in seen}, {id_ for team in entrants for id_ in of_team(team)} - shown


def groups_unseen(viewer: Viewer, session: Session, contest: ContestRow) -> set[str | None]:
    """The groups of which a viewer may not know, as only hidden teams have them."""
    return teams_seen(viewer, session, contest, lambda team: team.group_ids)[1]


Row = GroupRow | OrganizationRow | PersonRow


@dataclass(frozen=True, slots=True)
class DirectoryKind:
    """A kind of the people around a contest: the models, tables and files of its objects, and what refers to one."""

    name: str
    noun: str
    missing: str
    body: type[schemas.DirectoryBody]
    view: type[BaseModel]
    table: type[Row]
    files: tuple[str, ...]
    of_judges: frozenset[str]
    table_columns: table_rows.Columns
    rows: Callable[[Session, ContestRow], Sequence[Row]]
    uses: Callable[[Session, str], Mapping[str, int]]
    of_team: OfTeam = lambda _team: ()

    def documents(self, viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[dict[str, object]]:
        """The contest's objects that the viewer sees, by id."""
        contest = contest_of(session, snapshot.contest.id)
        is_person = self.table is PersonRow
        rows = persons(viewer, snapshot, session, contest) if is_person else self.rows(session, contest)
        team_ids, unseen = teams_seen(viewer, session, contest, self.of_team)
        shown = [self.document(viewer, contest.id, row, team_ids) for row in rows if row.id not in unseen]
        return [each for each in shown if each.get("role") not in schemas.IN_TEAMS or each["team_ids"]]

    def document(self, viewer: Viewer, contest_id: str, row: Row, shown_teams: set[str]) -> dict[str, object]:
        """An object as CLICS writes it; persons name only `shown_teams`."""
        address = f"contests/{contest_id}/{self.name}/{row.id}"
        written = shown(viewer, row, self.view, self.files, self.of_judges, address)
        if isinstance(row, PersonRow):
            written["team_ids"] = [team_id for team_id in row.team_ids if team_id in shown_teams]
        return written

    def check(self, known_teams: Container[str], body: schemas.DirectoryBody, where: str) -> list[Fault]:
        """Faults of a body: teams outside `known_teams`."""
        missing = {team_id for team_id in getattr(body, "team_ids", None) or [] if team_id not in known_teams}
        return [
            mismatch(place(where, "team_ids"), N_("teams that exist"), repr(team_id)) for team_id in sorted(missing)
        ]

    def fill(self, files: FileStore, row: Row, body: schemas.DirectoryBody, named: set[str], where: str) -> list[Fault]:
        """Give a row what a body names; returns what is wrong with its files."""
        faults = fill_row(files, row, body, named, self.files, where)
        names = [each["filename"] for name in self.files for each in row.details.get(name, [])]
        twice = sorted({name for name in names if names.count(name) > 1})
        return faults or [mismatch(where, N_("different file names in one object"), repr(name)) for name in twice]


GROUPS = DirectoryKind(
    name="groups",
    noun=N_("group"),
    missing=N_("no group %(object)r in contest %(contest)r"),
    body=schemas.GroupBody,
    view=schemas.GroupView,
    table=GroupRow,
    files=(),
    of_judges=frozenset(),
    table_columns=table_rows.GROUPS,
    rows=teams_queries.groups,
    uses=teams_queries.group_uses,
    of_team=lambda team: team.group_ids,
)
ORGANIZATIONS = DirectoryKind(
    name="organizations",
    noun=N_("organization"),
    missing=N_("no organization %(object)r in contest %(contest)r"),
    body=schemas.OrganizationBody,
    view=schemas.OrganizationView,
    table=OrganizationRow,
    files=("country_flag", "country_subdivision_flag", "logo"),
    of_judges=frozenset(),
    table_columns=table_rows.ORGANIZATIONS,
    rows=teams_queries.organizations,
    uses=teams_queries.organization_uses,
    of_team=lambda team: (team.organization_id,),
)
PERSONS = DirectoryKind(
    name="persons",
    noun=N_("person"),
    missing=N_("no person %(object)r in contest %(contest)r"),
    body=schemas.PersonBody,
    view=schemas.PersonView,
    table=PersonRow,
    files=("photo",),
    of_judges=frozenset({"email", "sex"}),
    table_columns=table_rows.PERSONS,
    rows=teams_queries.persons,
    uses=teams_queries.person_uses,
)
DIRECTORY_KINDS = (GROUPS, ORGANIZATIONS, PERSONS)


def one(kind: DirectoryKind, viewer: Viewer, snapshot: ContestSnapshot, session: Session, object_id: str) -> JsonObject:
    """An object of a contest; raises NotFound where the viewer may not see it."""
    for each in kind.documents(viewer, snapshot, session):
        if each["id"] == object_id:
            return each
    raise NotFound(kind.missing, object=object_id, contest=snapshot.contest.id)


def files_of(
    kind: DirectoryKind, viewer: Viewer, snapshot: ContestSnapshot, session: Session, object_id: str, name: str
) -> Sequence[file_references.StoredReference]:
    """References to the files of one property; raises NotFound where the viewer may not see the object."""
    one(kind, viewer, snapshot, session, object_id)
    row = _row(kind, session, snapshot.contest.id, object_id)
    return row.details.get(name, []) if name in kind.files else []


def store_all(
    session: Session,
    files: FileStore,
    contest_id: str,
    kind: DirectoryKind,
    document: Document,
    *,
    sees_all_ids: bool = True,
    replace: bool = False,
) -> list[Row]:
    """Store the objects of a document, all of them or none; raises BadRequest or Conflict with every fault.

    Generated ids have random letters unless whoever asks `sees_all_ids` of the server anyway.
    """
    items = tsv.items(document, "institutions" if kind is ORGANIZATIONS else kind.name, kind.table_columns)
    team_ids = by_id.ids(session, TeamRow) if kind is PERSONS else set()
    places, faults = read_all(items, kind.body, partial(kind.check, team_ids))
    given = [body.id for body, _ in places if body.id is not None]
    old = by_id.rows(session, kind.table, given)
    taken = taken_ids(kind.noun, ((body.id, where) for body, where in places), () if replace else old)
    refuse_all(faults, taken, replace=replace)
    rows: list[Row] = []
    for body, where in places:
        if body.id is None:
            session.flush()  # what was added a moment ago has taken its id
            make = slug if sees_all_ids else slug_with_letters
            body.id = make(body.name, lambda id_: session.get(kind.table, id_) is not None, kind.noun)
        row: Row = old.get(body.id) or kind.table(id=body.id, contest_id=contest_id)
        faults += kind.fill(files, row, body, set(type(body).model_fields), where)
        session.add(row)
        rows.append(row)
    refuse(faults)
    return rows


@dataclass(frozen=True, slots=True)
class Asked:
    """A change of a contest's objects: by whom, in which transaction and contest."""

    viewer: Viewer
    session: Session
    service: Service
    contest_id: str


def bring_in(kind: DirectoryKind, asked: Asked, document: Document, *, replace: bool) -> list[JsonObject]:
    """Make the objects of a document, all or none; raises BadRequest or Conflict with every fault."""
    contest_of(asked.session, asked.contest_id)
    whole = asked.viewer.is_admin
    files = asked.service.files
    rows = store_all(asked.session, files, asked.contest_id, kind, document, sees_all_ids=whole, replace=replace)
    return [_after(kind, asked, row) for row in rows]


def replace(kind: DirectoryKind, asked: Asked, object_id: str, document: Document) -> JsonObject:
    """Make an object or replace it by the body, which names its id; raises BadRequest with every fault."""
    contest_of(asked.session, asked.contest_id)
    body = read_one(document, kind.body)
    if body.id is None:
        refuse([mismatch("id", N_("the id of the address"), NOTHING)])
    same_id(object_id, body.id)
    row: Row = asked.session.get(kind.table, object_id) or kind.table(id=object_id, contest_id=asked.contest_id)
    return _filled(kind, asked, row, body, set(type(body).model_fields))


def change(kind: DirectoryKind, asked: Asked, object_id: str, document: Document) -> JsonObject:
    """Change the properties that the body names; raises BadRequest with every fault."""
    row = _row(kind, asked.session, asked.contest_id, object_id)
    database.alone(asked.session, row)
    body, named = merged(row, document, kind.body, kind.files)
    same_id(object_id, body.id)
    return _filled(kind, asked, row, body, named)


def delete(kind: DirectoryKind, asked: Asked, object_id: str) -> None:
    """Delete an object; raises Conflict where something refers to it."""
    row = _row(kind, asked.session, asked.contest_id, object_id)
    refuse_foreign_object(asked.viewer, asked.contest_id, row.contest_id, kind.noun)
    if uses := kind.uses(asked.session, object_id):
        raise Conflict(N_("%(uses)s refer to the %(noun)s"), uses=by_id.counted(uses), noun=Message(kind.noun))
    asked.session.delete(row)


def _row(kind: DirectoryKind, session: Session, contest_id: str, object_id: str) -> Row:
    rows: Sequence[Row] = kind.rows(session, contest_of(session, contest_id))
    for row in rows:
        if row.id == object_id:
            return row
    raise NotFound(kind.missing, object=object_id, contest=contest_id)


def _filled(kind: DirectoryKind, asked: Asked, row: Row, body: schemas.DirectoryBody, named: set[str]) -> JsonObject:
    known_ids = by_id.known(asked.session, TeamRow, getattr(body, "team_ids", None) or [])
    refuse(kind.check(known_ids, body, "body"))
    refuse(kind.fill(asked.service.files, row, body, named, "body"))
    asked.session.add(row)
    return _after(kind, asked, row)


def _after(kind: DirectoryKind, asked: Asked, row: Row) -> JsonObject:
    viewer, contest_id = asked.viewer, asked.contest_id
    asked.session.flush()
    # After the change: a PUT may have made the object, which then belongs to this contest.
    refuse_foreign_object(viewer, contest_id, row.contest_id, kind.noun)
    contest = contest_of(asked.session, contest_id)
    team_ids = {team.id for team in teams_queries.taking_part(asked.session, contest)}
    if isinstance(row, PersonRow) and not viewer.is_admin and not team_ids.issuperset(row.team_ids):
        names = ", ".join(row.team_ids)
        refuse([mismatch("team_ids", N_("teams of contest %(contest)s"), names, contest=contest_id)])
    return kind.document(viewer, contest_id, row, team_ids)
