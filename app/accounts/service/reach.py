"""The reach of whoever makes and changes teams and accounts: of an admin all of the server; of an owner of contests
what was made for these.

A team that was made for a contest leaves its owners' reach while it takes part in a contest of others: whoever could
set the password of its account would take part there, too. In an undecided contest open to all, every team takes part
that has an account. An account that has a role elsewhere leaves the reach, too.

- Passwords that an admin or owner renews.
"""

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.service.grants import OWNER, is_undecided
from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.core import clics, clock
from app.core.db import audit, by_id
from app.core.messages import N_, Message, NotFound, did_you_mean
from app.core.passwords import hash_password, make_password
from app.core.service import Service
from app.tables import AccountRow, GroupRow, OrganizationRow, PersonRow, TeamRow
from app.teams import queries as teams_queries

NO_TEAM = N_("no team %(team)r")
NO_OWN_TEAM = N_("no team %(team)r that was made for a contest of yours and takes part in no other")
NO_ACCOUNT = N_("no account %(account)r")
NO_OWN_ACCOUNT = N_("no account %(account)r that was made for a contest of yours and has no role elsewhere")


@dataclass(frozen=True, slots=True)
class Reach:
    """The ids of what somebody may change or name.

    whole  all of the server; then the ids below say nothing
    teams  by their ids, the contest that keeps each
    """

    whole: bool = True
    teams: Mapping[str, str] = field(default_factory=dict)
    accounts: Container[str] = ()
    groups: Container[str] = ()
    organizations: Container[str] = ()
    persons: Container[str] = ()

    def within(self, ids: Iterable[str], reached: Container[str]) -> set[str]:
        """Those of the ids that are in reach; `reached` is one of the collections above."""
        return {each for each in ids if self.whole or each in reached}


EVERYTHING = Reach()


def reach_of(session: Session, viewer: Viewer) -> Reach:
    """The reach of a viewer, who is an admin or owns contests."""
    if viewer.is_admin:
        return EVERYTHING
    owned = {each for each, role in viewer.grants.contests.items() if role == OWNER}
    owned_teams = teams_queries.of_contests(session, owned)
    rows = teams_queries.accounts_of(session, owned_teams)
    elsewhere = teams_queries.in_others(session, owned)
    # In a contest open to all no one is enrolled by name, so that taking part shows by what a team has done there.
    now = clock.utc_now()
    rows_open = contests_queries.open_to_all(session)
    open_ids = [row.id for row in rows_open if row.id not in owned and is_undecided(row, now)]
    elsewhere |= teams_queries.competing(session, open_ids)
    teams = {id_: of for id_, of in owned_teams.items() if id_ not in elsewhere}
    rows = [row for row in rows if row.type == "team" and row.team_id in teams]
    roles = accounts_queries.roles_of(session, [row.id for row in rows])
    rows = [row for row in rows if row.id not in roles or roles[row.id].are_within(owned)]
    team_rows = by_id.rows(session, TeamRow, teams).values()
    organizations = {row.organization_id for row in team_rows if row.organization_id is not None}
    persons = {row.person_id for row in rows if row.person_id is not None}
    return Reach(
        whole=False,
        teams=teams,
        accounts=frozenset(row.id for row in rows),
        groups=teams_queries.made_for(session, GroupRow, owned).union(*(row.group_ids for row in team_rows)),
        organizations=teams_queries.made_for(session, OrganizationRow, owned) | organizations,
        persons=teams_queries.made_for(session, PersonRow, owned) | persons,
    )


def team_within(session: Session, viewer: Viewer, team_id: str) -> tuple[TeamRow, Viewer]:
    """A team that the viewer may change, and the viewer as it stands in the team's contest; raises NotFound."""
    row, reach = session.get(TeamRow, team_id), reach_of(session, viewer)
    if row is None or not reach.within([team_id], reach.teams):
        known_ids = [each.id for each in teams_queries.teams(session)] if reach.whole else list(reach.teams)
        raise NotFound(did_you_mean(Message(NO_TEAM if reach.whole else NO_OWN_TEAM, team=team_id), team_id, known_ids))
    concern(session, reach, [team_id])
    return row, viewer.at(reach.teams.get(team_id))


def account_within(session: Session, viewer: Viewer, account_id: str) -> AccountRow:
    """An account that the viewer may change; raises NotFound. The audit log notes the contest that keeps its team."""
    row, reach = session.get(AccountRow, account_id), reach_of(session, viewer)
    if row is None or not reach.within([account_id], reach.accounts):
        raise NotFound(NO_ACCOUNT if reach.whole else NO_OWN_ACCOUNT, account=account_id)
    concern(session, reach, [row.team_id])
    return row


def concern(session: Session, reach: Reach, team_ids: Collection[str | None]) -> None:
    """Note the contests that keep these teams in the audit log, where their owners read it."""
    for team_id in team_ids:
        if team_id in reach.teams:
            audit.concern(session, reach.teams[str(team_id)])


@clics.example({"account_id": "ants", "username": "ants", "password": "k7fmq-2xwrt-hn9bd"})
class PasswordMade(BaseModel):
    """A password that the server made. It is shown in this reply and never again."""

    account_id: str
    username: str
    password: str


def renew_password(service: Service, viewer: Viewer, account_id: str) -> PasswordMade:
    """Give an account another password and revoke its tokens; raises NotFound."""
    with service.database.read() as session:
        account_within(session, viewer, account_id)  # before the hash
    password = make_password()
    password_hash = hash_password(password)
    with service.database.write(quiet=True) as session:
        row = account_within(session, viewer, account_id)
        row.password_hash = password_hash
        accounts_queries.remove_tokens(session, account_id)
    return PasswordMade(account_id=account_id, username=row.username, password=password)
