"""Commands on teams: make or replace, change, delete, enrol in a contest, withdraw from it.

- A class list: each row makes a person's account and links it with a team, an organization and a group.
- The import of teams: all of them are stored, or none and every fault is listed.
- Institutions that a teams.tsv names are organizations that exist.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from functools import partial

from pydantic import Field
from sqlalchemy.orm import Session

from app.accounts.service import accounts, tsv
from app.accounts.service.reach import EVERYTHING, Reach, reach_of, team_within
from app.accounts.service.viewer import Viewer, refuse_foreign_teams
from app.contests import queries as contests_queries
from app.contests.schemas import Duration
from app.contests.service.contests import contest_to_change
from app.core import table_rows
from app.core.bodies import Body, Document, Item, mismatch, read_all, refuse, refuse_all, same_id, taken_ids
from app.core.clics import Id, JsonObject
from app.core.db import by_id, database
from app.core.files.file_references import StoredReference
from app.core.files.files import FileStore
from app.core.messages import N_, Conflict, NotFound
from app.core.passwords import hash_all
from app.core.service import Service
from app.games import queries as games_queries
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.tables import ContestTeamRow, OrganizationRow, TeamRow
from app.teams import queries as teams_queries
from app.teams.schemas import PeopleMade, PersonRowBody
from app.teams.service import class_list_import, teams
from app.teams.service.teams import TeamBody, document, missing_links, put


def store_teams(
    session: Session, files: FileStore, document: Document, *, replace: bool, reach: Reach = EVERYTHING
) -> tuple[list[TeamRow], list[str]]:
    """Store the teams of a document, all or none of them, and return them with the ids of the new ones.

    Raises BadRequest or Conflict with every fault. `replace`: existing teams are replaced instead of refused. What is
    out of `reach` cannot be named.
    """
    links = teams.links_within(session, reach)
    items = tsv.items(document, "teams", table_rows.TEAMS)
    if tsv.is_versioned(document):
        groups, organizations = links
        institutions = by_id.rows(session, OrganizationRow, organizations).values()
        items = [_without_institution(item, groups, institutions) for item in items]
    places, faults = read_all(items, TeamBody, partial(teams.missing_links, links))
    old = by_id.rows(session, TeamRow, [body.id for body, _ in places])
    left = set(old) - reach.within(old, reach.teams) if replace else old
    refuse_all(faults, taken_ids("team", ((body.id, where) for body, where in places), left), replace=replace)
    rows = []
    for body, where in places:
        row, wrong = put(session, files, body, old.get(body.id), teams.named_by(body), where)
        rows.append(row)
        faults += wrong
    refuse(faults)
    return rows, [row.id for row in rows if row.id not in old]


def _without_institution(item: Item, groups: set[str], organizations: Collection[OrganizationRow]) -> Item:
    """A line as a team: groups that do not exist are dropped, as every line names one, also where there are none.

    Its organization is the one with its institution's number, or with its name and no other number.
    """
    values = dict(item.value) if isinstance(item.value, dict) else {}
    values["group_ids"] = [each for each in values["group_ids"] if each in groups]
    number, names = values.pop("number"), {values.pop(name, None) for name in ("institution", "short_name")} - {None}
    values.pop("country", None)
    if names:
        same = [row.id for row in organizations if number in {row.icpc_id or row.id, row.id}]
        named = [row for row in organizations if names & {row.name, row.formal_name}]
        same += [row.id for row in named if None in {number, row.icpc_id}]
        values["organization_id"] = same[0] if same else number or min(names)
    return Item(item.where, values)


def listed(session: Session, viewer: Viewer) -> list[JsonObject]:
    """The teams of the server; files are left out."""
    return [document(viewer, row) for row in teams_queries.teams(session)]


def one(session: Session, viewer: Viewer, team_id: str) -> JsonObject:
    """A team of the server; raises NotFound."""
    return document(viewer, teams.team_of(session, team_id))


def one_of_contest(session: Session, viewer: Viewer, contest_id: str, team_id: str) -> JsonObject:
    """A team of a contest, with its files; raises NotFound where the viewer may not see it."""
    row = teams.visible_team(session, viewer, contest_id, team_id)
    return document(viewer, row, contest_id, teams_queries.enrolled(session, contest_id))


def files_of(session: Session, viewer: Viewer, contest_id: str, team_id: str, name: str) -> Sequence[StoredReference]:
    """References to the files of one property of a team; none where the viewer may not see that property."""
    row = teams.visible_team(session, viewer, contest_id, team_id)
    shown = name in teams.FILES and (viewer.sees_all or name not in teams.OF_JUDGES)
    return row.details.get(name, []) if shown else []


def bring_in(
    session: Session,
    service: Service,
    viewer: Viewer,
    document_: Document,
    *,
    replace: bool,
    contest_id: str | None = None,
) -> list[JsonObject]:
    """Make the teams of a document, all or none; with a contest, they take part there, and its owners may change them.

    Raises BadRequest or Conflict with every fault.
    """
    reach = reach_of(session, viewer)
    rows, new_ids = store_teams(session, service.files, document_, replace=replace, reach=reach)
    if contest_id is not None:
        take_in(session, contest_id, [row.id for row in rows], new_ids)
    database.after_commit(session, service.boards.all_changed)
    return [document(viewer, row) for row in rows]


def take_in(session: Session, contest_id: str, team_ids: Sequence[str], new_ids: Sequence[str]) -> None:
    """Let teams of an import take part in the contest they were sent to, which keeps those that are new.

    Raises Forbidden for a final contest.
    """
    contest_to_change(session, contest_id)
    session.flush()
    teams_queries.enrol(session, contest_id, team_ids)
    teams_queries.keep(session, contest_id, new_ids)


def replace(session: Session, service: Service, viewer: Viewer, team_id: str, body: teams.TeamBody) -> JsonObject:
    """Make a team or replace it by the body; files that the body does not name stay. Owners make none: raises NotFound.

    Whoever owns contests replaces only teams that were made for them.
    """
    old = session.get(TeamRow, team_id)
    if not viewer.is_admin:
        old, viewer = team_within(session, viewer, team_id)
    return _put(session, service, viewer, team_id, body, old, teams.named_by(body))


def change(session: Session, service: Service, viewer: Viewer, team_id: str, changes: Document) -> JsonObject:
    """Change the properties that the body names; raises BadRequest with every fault."""
    row, viewer = team_within(session, viewer, team_id)
    database.alone(session, row)
    body, named = teams.merged(row, changes, TeamBody, teams.FILES)
    return _put(session, service, viewer, team_id, body, row, named)


def _put(
    session: Session,
    service: Service,
    viewer: Viewer,
    team_id: str,
    body: TeamBody,
    old: TeamRow | None,
    named: set[str],
) -> JsonObject:
    same_id(team_id, body.id)
    refuse(missing_links(teams.links_of(session, viewer), body, "body"))
    row, faults = put(session, service.files, body, old, named, "body")
    refuse(faults)
    database.after_commit(session, service.boards.all_changed)
    return document(viewer, row)


def delete(session: Session, service: Service, viewer: Viewer, team_id: str) -> None:
    """Delete a team; raises Conflict where it has accounts or submissions."""
    team_within(session, viewer, team_id)
    if uses := teams_queries.uses(session, team_id):
        raise Conflict(N_("the team has %(uses)s"), uses=by_id.counted(uses))
    teams_queries.remove(session, team_id)
    database.after_commit(session, service.boards.all_changed)


def enrol(
    session: Session, service: Service, viewer: Viewer, contest_id: str, body: teams.Enrolment
) -> list[JsonObject]:
    """Let teams take part in a contest; returns all its teams. Raises BadRequest naming those that do not exist."""
    contest = contest_to_change(session, contest_id)
    refuse_foreign_teams(session, viewer, contest_id, body.team_ids)
    known_ids = by_id.known(session, TeamRow, body.team_ids)
    missing = [at for at, team_id in enumerate(body.team_ids) if team_id not in known_ids]
    refuse([mismatch(f"team_ids[{at}]", N_("a team that exists"), repr(body.team_ids[at])) for at in missing])
    teams_queries.enrol(session, contest_id, body.team_ids)
    database.after_commit(session, lambda: service.boards.changed(contest_id))
    enrolled = teams_queries.enrolled(session, contest_id)
    return [document(viewer, row, contest_id, enrolled) for row in teams_queries.taking_part(session, contest)]


def withdraw(session: Session, service: Service, contest_id: str, team_id: str) -> None:
    """Let a team take part no more; raises Conflict if it has submitted to the contest or is disqualified.

    Its enrollment records the disqualification, which must outlast a new enrollment.
    """
    contest_to_change(session, contest_id)
    if (place := teams_queries.enrolled(session, contest_id).get(team_id)) is not None and place.disqualified:
        raise Conflict(
            N_("the team is disqualified in this contest and stays enrolled; revoke the disqualification first")
        )
    if count := contests_queries.submission_count(session, contest_id, team_id=team_id):
        raise Conflict(N_("the team has %(count)s submissions in this contest; hide it instead"), count=count)
    if count := games_queries.count_playing(session, contest_id, team_id):
        raise Conflict(N_("the team plays %(count)s games in this contest; hide it instead"), count=count)
    if not teams_queries.withdraw(session, contest_id, team_id):
        raise NotFound(N_("team %(team)r is not enrolled in contest %(contest)r"), team=team_id, contest=contest_id)
    database.after_commit(session, lambda: service.boards.changed(contest_id))


def bring_in_class_list(
    session: Session,
    service: Service,
    viewer: Viewer,
    document: Document,
    options: accounts.ImportOptions,
    contest_id: str | None,
) -> PeopleMade:
    """Make the accounts and teams of a class list, all or none.

    With a contest, its teams take part there, and its owners may change those that are new. Raises BadRequest or
    Conflict with every fault.
    """
    rows, faults = read_all(tsv.items(document, "people", table_rows.PEOPLE), PersonRowBody, lambda _body, _where: [])
    with service.database.read() as before:  # whoever is refused has not waited for thousands of hashes
        planned = class_list_import.People(before, reach_of(before, viewer), replace=options.replace)
        planned.plan(rows, faults)
        passwords = options.passwords_for(before, planned.accounts)
    hashes = {} if options.dry_run else hash_all({**passwords.given, **passwords.made})
    # Planned again in this transaction: others may have made accounts while passwords were hashed.
    people = class_list_import.People(session, reach_of(session, viewer), replace=options.replace)
    people.plan(rows, faults)
    people.keep(hashes, contest_id)
    if contest_id is not None:
        take_in(session, contest_id, people.team_ids, people.teams.new)
    database.after_commit(session, service.boards.all_changed)
    return PeopleMade(
        dry_run=options.dry_run,
        teams=people.teams.new,
        changed_teams=people.changed_teams,
        organizations=people.organizations.new,
        groups=people.groups.new,
        people=people.shown(passwords.made),
    )


class ContestTeamBody(Body):
    """What a contest decides about a team; omitted properties stay."""

    id: Id | None = None
    disqualified: bool | None = Field(None, strict=True)
    extra_time: Duration | None = Field(
        None, ge=timedelta(0), description="how much later than the contest the team's time ends"
    )


def change_in_contest(
    session: Session, boards: ScoreboardCache, viewer: Viewer, contest_id: str, team_id: str, body: ContestTeamBody
) -> JsonObject:
    """Disqualify a team or give it extra time; its submissions stay. Raises BadRequest, Conflict or NotFound."""
    row = contests_queries.contest_of(session, contest_id)
    database.alone(session, row)
    same_id(team_id, body.id)
    team = session.get(TeamRow, team_id)
    if team is None or not teams_queries.takes_part(session, row, team_id):
        raise NotFound(N_("no team %(team)r in contest %(contest)r"), team=team_id, contest=contest_id)
    contests_queries.refuse_final(row)
    place = decide(session, contest_id, team_id, body)
    database.after_commit(session, lambda: boards.changed(contest_id))
    return document(viewer, team, contest_id, {team_id: place})


def decide(session: Session, contest_id: str, team_id: str, body: ContestTeamBody) -> ContestTeamRow:
    """Store what a contest decides about a team."""
    place = session.get(ContestTeamRow, (contest_id, team_id)) or ContestTeamRow(contest_id=contest_id, team_id=team_id)
    if body.disqualified is not None:
        place.disqualified = body.disqualified
    if body.extra_time is not None:
        place.extra_seconds = int(body.extra_time.total_seconds())
    session.add(place)
    session.flush()
    return place
