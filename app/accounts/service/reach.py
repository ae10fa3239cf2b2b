"""The reach of whoever makes and changes teams and accounts: of an admin all of the server; of an owner of contests
what was made for these.

A team that was made for a contest leaves its owners' reach while it takes part in a contest of others: whoever could
set the password of its account would take part there, too. In an undecided contest open to all, every team takes part
that has an account. An account that has a role elsewhere leaves the reach, too.

- New passwords and reset codes that an admin or owner creates.
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts import schemas
from app.accounts.service.grants import OWNER, is_undecided
from app.accounts.service.viewer import Viewer, digest, known_viewer
from app.contests import queries as contests_queries
from app.core import bodies, clics, clock
from app.core.db import audit, by_id
from app.core.messages import N_, Forbidden, Message, NotFound, did_you_mean
from app.core.passwords import hash_all, hash_password, make_password
from app.core.service import Service
from app.tables import AccountRow, GroupRow, OrganizationRow, PersonRow, TeamRow, TokenRow
from app.teams import queries as teams_queries

NO_TEAM = N_("no team %(team)r")
NO_OWN_TEAM = N_("no team %(team)r that was made for a contest of yours and takes part in no other")
NO_ACCOUNT = N_("no account %(account)r")
NO_RESET = N_("the link has expired or was used already; ask the organizers for another one")
RESET_LASTS = timedelta(days=3)
MOST_AT_ONCE = 5000
NO_OWN_ACCOUNT = N_("no account %(account)r that was made for a contest of yours and has no role elsewhere")


@dataclass(frozen=True, slots=True)
class Reach:
    """The ids of what someone may change or name.

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
    return accounts_within(session, viewer, [account_id])[0]


def accounts_within(session: Session, viewer: Viewer, account_ids: Sequence[str]) -> list[AccountRow]:
    """Accounts that the viewer may change, in their order; raises NotFound for the first of all others."""
    reach, rows = reach_of(session, viewer), []
    for account_id in account_ids:
        row = session.get(AccountRow, account_id)
        if row is None or not reach.within([account_id], reach.accounts):
            raise NotFound(NO_ACCOUNT if reach.whole else NO_OWN_ACCOUNT, account=account_id)
        rows.append(row)
    concern(session, reach, [row.team_id for row in rows])
    return rows


def concern(session: Session, reach: Reach, team_ids: Collection[str | None]) -> None:
    """Note the contests that keep these teams in the audit log, where their owners read it."""
    for team_id in team_ids:
        if team_id in reach.teams:
            audit.concern(session, reach.teams[str(team_id)])


@clics.example({"account_ids": ["ants", "bees"]})
class AccountIds(bodies.Body):
    """Accounts to change."""

    account_ids: list[clics.Id] = Field(min_length=1, max_length=MOST_AT_ONCE)


@clics.example({"account_id": "ants", "username": "ants", "password": "k7fmq-2xwrt-hn9bd", "name": "Ana Pérez",
          "team": "The Ants"})  # fmt: skip
class PasswordMade(BaseModel):
    """A password that the server created. It is shown in this reply and never again."""

    account_id: str
    username: str
    password: str
    name: str
    team: str | None


@clics.example({"account_id": "ants", "username": "ants", "name": "Ana Pérez", "code": "k7fmq-2xwrt-hn9bd",
          "expires": "2026-12-31T00:00:00.000Z"})  # fmt: skip
class ResetMade(BaseModel):
    """A code that sets the password of an account once. It is shown in this reply and never again."""

    account_id: str
    username: str
    name: str
    code: str
    expires: str


@clics.example({"code": "k7fmq-2xwrt-hn9bd", "password": "open, sesame seeds"})
class ForgottenChange(bodies.Body):
    """A password that the owner of an account sets with a reset code."""

    code: str = Field(max_length=64)
    password: schemas.Password


def renew_passwords(service: Service, viewer: Viewer, account_ids: Sequence[str]) -> list[PasswordMade]:
    """Give accounts new passwords and revoke their tokens and reset codes; raises NotFound."""
    with service.database.read() as session:
        accounts_within(session, viewer, account_ids)  # before the hashes
    passwords = {each: make_password() for each in account_ids}
    hashes = hash_all(passwords)
    with service.database.write(quiet=True) as session:
        rows = accounts_within(session, viewer, list(passwords))
        names = by_id.names(session, TeamRow)
        for row in rows:
            row.password_hash = hashes[row.id]
            accounts_queries.remove_tokens(session, row.id)
        return [
            PasswordMade(
                account_id=row.id,
                username=row.username,
                password=passwords[row.id],
                name=row.name or row.username,
                team=names.get(str(row.team_id)),
            )
            for row in rows
        ]


def make_resets(session: Session, viewer: Viewer, account_ids: Sequence[str]) -> list[ResetMade]:
    """Create a reset code for each account in place of an older one; the old password stays until it is used."""
    now, made = clock.utc_now(), []
    for row in accounts_within(session, viewer, account_ids):
        accounts_queries.remove_resets(session, row.id)
        code, expires = make_password(), now + RESET_LASTS
        token = TokenRow(digest=digest(code), account_id=row.id, created=now, expires=expires)
        token.issued_by = viewer.account_id
        session.add(token)
        values = {"account_id": row.id, "username": row.username, "name": row.name or row.username}
        made.append(ResetMade(**values, code=code, expires=clics.format_time(expires)))
    return made


def account_of_reset(session: Session, code: str) -> AccountRow:
    """The account of a reset code; raises Forbidden unless its issuer may change the account now."""
    pair = accounts_queries.by_token(session, digest(code.strip().lower()), clock.utc_now(), is_reset=True)
    if pair is not None:
        account, row = pair
        issuer = known_viewer(session, session.get_one(AccountRow, row.issued_by))
        reach = reach_of(session, issuer)
        if reach.within([account.id], reach.accounts):
            return account
    raise Forbidden(NO_RESET)


def use_reset(service: Service, body: ForgottenChange) -> schemas.AccountView:
    """Set a password with a reset code, which works once; raises Forbidden, or BadRequest for a weak password."""
    with service.database.read() as session:
        row = account_of_reset(session, body.code)
        schemas.refuse_weak(body.password, row.id, row.username)
    password_hash = hash_password(body.password)
    with service.database.write(quiet=True) as session:
        row = account_of_reset(session, body.code)
        if not accounts_queries.remove_tokens(session, row.id):  # another request has just used it
            raise Forbidden(NO_RESET)
        row.password_hash = password_hash
        return schemas.view(row)
