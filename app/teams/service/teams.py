"""Teams: those there are, and those that take part in a contest."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts.service.reach import Reach, reach_of
from app.accounts.service.viewer import Viewer
from app.contests.queries import contest_of
from app.core.bodies import Body, Document, Line, Sparse, mismatch, only_object, read_one, shows
from app.core.clics import Id, JsonObject, example, format_reltime
from app.core.db import by_id
from app.core.files import file_references, files
from app.core.messages import N_, Fault, Forbidden, Message, NotFound, did_you_mean, place
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import ContestRow, ContestTeamRow, GroupRow, OrganizationRow, PersonRow, TeamRow
from app.teams import queries as teams_queries

FILES = ("photo", "video", "backup", "key_log", "tool_data", "desktop", "webcam", "audio")
LISTS = frozenset({"group_ids", "team_ids"})
Listed = GroupRow | OrganizationRow | PersonRow | TeamRow
# The ids of groups and organizations that a team may name.
Links = tuple[set[str], set[str]]
M = TypeVar("M", bound=Body)
# Properties that only judges see: its machine, whether it is hidden or disqualified, and its extra time.
OF_JUDGES = frozenset({"hidden", "disqualified", "extra_time", "backup", "key_log", "tool_data"})


class FloorPlace(Body):
    """The place of a team on the floor: metres, and degrees."""

    x: float = Field(allow_inf_nan=False)
    y: float = Field(allow_inf_nan=False)
    rotation: float = Field(ge=0, le=360, allow_inf_nan=False)


@example({"id": "ants", "name": "The Ants", "label": "1", "group_ids": ["juniors"]})
class TeamBody(Body):
    """A team to store. Its organization and groups must exist."""

    id: Id
    icpc_id: Line | None = None
    name: Line
    label: Line | None = None
    display_name: Line | None = None
    hidden: bool | None = None
    organization_id: Id | None = None
    group_ids: list[Id] | None = None
    location: FloorPlace | None = None
    photo: file_references.Files = None
    video: file_references.Files = None
    backup: file_references.Files = None
    key_log: file_references.Files = None
    tool_data: file_references.Files = None
    desktop: file_references.Files = None
    webcam: file_references.Files = None
    audio: file_references.Files = None


class Enrolment(Body):
    """Teams that are to take part."""

    team_ids: list[Id] = Field(min_length=1)


@example({"id": "ants", "name": "The Ants", "label": "1", "display_name": None, "group_ids": ["juniors"]})
@shows(TeamBody)
class TeamView(Sparse):
    """A team as CLICS shows it.

    Only judges see whether it is hidden or disqualified, its extra time and its machine.
    """

    id: str
    name: str
    label: str
    group_ids: list[str]
    location: dict[str, float] | None = None
    disqualified: bool | None = None
    extra_time: str | None = None


def documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[JsonObject]:
    """The contest's teams that this viewer may see, by id."""
    contest = contest_of(session, snapshot.contest.id)
    enrolled = teams_queries.enrolled(session, contest.id)
    return [document(viewer, row, contest.id, enrolled) for row in visible(session, viewer, contest)]


def document(
    viewer: Viewer, row: TeamRow, contest_id: str | None = None, enrolled: Mapping[str, ContestTeamRow] | None = None
) -> dict[str, object]:
    """A team as CLICS writes it; where a contest is asked for, with its files and what is decided about it there."""
    address = None if contest_id is None else f"contests/{contest_id}/teams/{row.id}"
    written = shown(viewer, row, TeamView, FILES, OF_JUDGES, address)
    written["display_name"] = row.display_name
    if contest_id is not None and viewer.sees_all:
        place = (enrolled or {}).get(row.id)
        written["disqualified"] = place is not None and place.disqualified
        written["extra_time"] = format_reltime(timedelta(seconds=0 if place is None else place.extra_seconds))
    return written


def shown(
    viewer: Viewer,
    row: Listed,
    view: type[BaseModel],
    files: Collection[str],
    of_judges: Collection[str],
    address: str | None,
) -> dict[str, object]:
    """Give the properties of a row that have a value and that the viewer may see; files where there is an address."""
    written: dict[str, object] = {}
    for name in view.model_fields:
        value = value_of(row, name)
        if value is None or (name in of_judges and not viewer.sees_all):
            continue
        if name not in files:
            written[name] = value
        elif address is not None:
            written[name] = file_references.shown(address, name, value)
    return written


# Any: columns have their own types.
def value_of(row: Listed, name: str) -> Any:
    """The value of a property: of its column, or one of the details."""
    return getattr(row, name) if name in row.__table__.columns else row.details.get(name)


def merged(row: Listed, changes: Document, body: type[M], files: Collection[str]) -> tuple[M, set[str]]:
    """Return a row as a body with the changes of a document, and the names that these have; raises BadRequest.

    Files are left out of the row's own values: those that are not named stay.
    """
    old = {name: value_of(row, name) for name in body.model_fields if name not in files}
    return read_one(changes, body, old=old), set(only_object(changes))


def may_see(viewer: Viewer, row: TeamRow) -> bool:
    """Hidden teams are seen by judges and by themselves."""
    return not row.hidden or viewer.sees_all or viewer.team_id == row.id


def visible(session: Session, viewer: Viewer, contest: ContestRow) -> list[TeamRow]:
    """The teams of a contest that this viewer may see."""
    return [row for row in teams_queries.taking_part(session, contest) if may_see(viewer, row)]


def team_of(session: Session, team_id: str) -> TeamRow:
    """The team; raises NotFound."""
    row = session.get(TeamRow, team_id)
    if row is None:
        known = [each.id for each in teams_queries.teams(session)]
        raise NotFound(did_you_mean(Message(N_("no team %(team)r"), team=team_id), team_id, known))
    return row


def put(
    session: Session, files: files.FileStore, body: TeamBody, old: TeamRow | None, named: set[str], where: str
) -> tuple[TeamRow, list[Fault]]:
    """Make a team, or change of an old one what is `named`; also returns what is wrong with its files."""
    row = old or TeamRow(id=body.id, details={})
    hidden = row.hidden
    faults = fill_row(files, row, body, named, FILES, where)
    row.label, row.hidden = row.label or row.id, bool(row.hidden)
    refuse_hiding(session, row, hidden)
    session.add(row)
    return row, faults


def fill_row(
    files: files.FileStore, row: Listed, body: Body, named: set[str], file_names: Collection[str], where: str
) -> list[Fault]:
    """Give a row what a body names, in its columns or details; returns what is wrong with its files."""
    details = dict(row.details or {})
    faults: list[Fault] = []
    for name in named - {"id"}:
        value = getattr(body, name)
        if name in file_names:
            value, wrong = file_references.keep(files, name, value or [], details.get(name, []), where)
            faults += wrong
        elif isinstance(value, BaseModel):
            value = value.model_dump()
        if name not in row.__table__.columns:
            details[name] = value
        elif name in LISTS:
            setattr(row, name, list(dict.fromkeys(value or [])))
        else:
            setattr(row, name, value)
    row.details = {name: value for name, value in details.items() if value}
    return faults


def links_of(session: Session, viewer: Viewer) -> Links:
    """The groups and organizations that the viewer may name."""
    return links_within(session, reach_of(session, viewer))


def links_within(session: Session, reach: Reach) -> Links:
    """The groups and organizations that are in reach."""
    groups = reach.within(by_id.ids(session, GroupRow), reach.groups)
    return groups, reach.within(by_id.ids(session, OrganizationRow), reach.organizations)


def missing_links(links: Links, body: TeamBody, where: str) -> list[Fault]:
    """Faults of a team: unknown groups and organizations."""
    groups, organizations = links
    missing = sorted(set(body.group_ids or []).difference(groups))
    faults = [mismatch(place(where, "group_ids"), N_("groups that exist"), repr(group_id)) for group_id in missing]
    organization = body.organization_id
    if organization is not None and organization not in organizations:
        faults.append(mismatch(place(where, "organization_id"), N_("an organization that exists"), repr(organization)))
    return faults


def refuse_hiding(session: Session, row: TeamRow, before: bool | None) -> None:
    """Boards and BEST are of the teams that are seen: none of a final contest appears or disappears any longer."""
    if before is None or before == row.hidden:
        return
    with session.no_autoflush:
        final = teams_queries.final_contests(session, row.id)
    if final:
        raise Forbidden(
            N_("team %(team)r takes part in %(names)s, which is final; finalized: false opens it again"),
            where="hidden",
            team=row.id,
            names=", ".join(final),
        )


def named_by(body: TeamBody) -> set[str]:
    """The properties that PUT sets: omitted ones are cleared, except files, which change only if named."""
    return (set(TeamBody.model_fields) - set(FILES)) | body.model_fields_set


def visible_team(session: Session, viewer: Viewer, contest_id: str, team_id: str) -> TeamRow:
    """A team of the contest that the viewer may see; raises NotFound with the nearest id."""
    contest = contest_of(session, contest_id)
    row = session.get(TeamRow, team_id)
    if row is None or not may_see(viewer, row) or not teams_queries.takes_part(session, contest, team_id):
        known = [each.id for each in visible(session, viewer, contest)]
        raise NotFound(
            did_you_mean(
                Message(N_("no team %(team)r in contest %(contest)r"), team=team_id, contest=contest_id), team_id, known
            )
        )
    return row
