"""The reach of whoever makes and changes teams and accounts: of an admin all of the server; of an owner of contests
what was made for these.

A team that was made for a contest leaves its owners' reach while it takes part in a contest of others: whoever could
set the password of its account would take part there, too. In an undecided contest open to all, every team takes part
that has an account. An account that has a role elsewhere leaves the reach, too.

- Passwords reset by an admin: a new one at once, or a code with which its owner sets one, once and in time.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from hmac import compare_digest

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts import queries as queries_accounts
from app.accounts.queries import Roles
from app.accounts.schemas import AccountView, Password, Username, refuse_weak, view
from app.accounts.service.grants import OWNER, Attempt, is_undecided
from app.accounts.service.tokens import Place, check, who_may
from app.accounts.service.viewer import Viewer, digest, known_viewer
from app.contests import queries as contests_queries
from app.core.bodies import Body
from app.core.clics import example, format_time
from app.core.clock import utc_now
from app.core.db import audit
from app.core.db.audit import Actor, acting
from app.core.errors import Forbidden, NotFound
from app.core.load import run_heavy
from app.core.messages import N_, Message, did_you_mean
from app.core.passwords import hash_password, make_password
from app.core.service import Service
from app.tables import AccountRow, PasswordResetRow, TeamRow
from app.teams import queries as teams_queries

NO_ROLES = Roles()
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
    elsewhere |= teams_queries.competing(session, _open_elsewhere(session, owned))
    teams = {id_: of for id_, of in owned_teams.items() if id_ not in elsewhere}
    rows = [row for row in rows if row.type == "team" and row.team_id in teams]
    roles = queries_accounts.roles_of(session, [row.id for row in rows])
    rows = [row for row in rows if not _has_roles_elsewhere(roles.get(row.id, NO_ROLES), owned)]
    return Reach(
        whole=False,
        teams=teams,
        accounts=frozenset(row.id for row in rows),
        groups=teams_queries.groups_kept_teams(session, owned, teams),
        organizations=teams_queries.organizations_kept_teams(session, owned, teams),
        persons=teams_queries.persons_kept_teams(session, owned, rows),
    )


def _open_elsewhere(session: Session, owned: Collection[str]) -> list[str]:
    """Return the undecided contests open to all teams that are none of these: who competes there is enrolled there."""
    now = utc_now()
    return [row.id for row in contests_queries.open_to_all(session) if row.id not in owned and is_undecided(row, now)]


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


def _has_roles_elsewhere(roles: Roles, owned: Collection[str]) -> bool:
    return roles.organiser or bool(roles.problems) or not set(roles.contests) <= set(owned)


HOURS = 24
MOST_HOURS = 24 * 7
WRONG = N_("expected the code of this account that has not been used and has not expired, found another")


@example({"hours": 24})
class ResetBody(Body):
    """A code to be made; the old password is good until the code is used."""

    hours: int = Field(HOURS, ge=1, le=MOST_HOURS, description="how long it is good")


@example({"account_id": "ants", "username": "ants", "code": "k7fmq-2xwrt-hn9bd", "expires": "2026-12-31T00:00:00.000Z"})
class ResetMade(BaseModel):
    """A code that sets the password of an account once. It is shown in this reply and never again."""

    account_id: str
    username: str
    code: str
    expires: str


@example({"account_id": "ants", "username": "ants", "password": "k7fmq-2xwrt-hn9bd"})
class PasswordMade(BaseModel):
    """A password that the server made. It is shown in this reply and never again."""

    account_id: str
    username: str
    password: str


@example({"username": "ants", "code": "k7fmq-2xwrt-hn9bd", "password": "open, sesame seeds"})
class NewPassword(Body):
    """The password that the owner of an account sets with a code. It takes all tokens of the account back."""

    username: Username
    code: str = Field(max_length=64)
    password: Password


def make_reset(session: Session, viewer: Viewer, account_id: str, body: ResetBody) -> ResetMade:
    """Make a code for an account, in place of an older one; raises NotFound."""
    account = account_within(session, viewer, account_id)
    now = utc_now()
    code, expires = make_password(), now + timedelta(hours=body.hours)
    row = session.get(PasswordResetRow, account_id) or PasswordResetRow(account_id=account_id)
    row.digest, row.created, row.expires, row.issued_by = digest(code), now, expires, str(viewer.account_id)
    session.add(row)
    return ResetMade(account_id=account_id, username=account.username, code=code, expires=format_time(expires))


def renew_password(service: Service, viewer: Viewer, account_id: str) -> PasswordMade:
    """Give an account another password and take back its tokens and codes; raises NotFound."""
    with service.database.read() as session:
        account_within(session, viewer, account_id)  # before the hash
    password = make_password()
    password_hash = hash_password(password)
    with service.database.write(quiet=True) as session:
        row = account_within(session, viewer, account_id)
        _set_password(session, row, password_hash)
    return PasswordMade(account_id=account_id, username=row.username, password=password)


async def use_reset_in_turn(
    service: Service, body: NewPassword, turn: AbstractAsyncContextManager[Attempt], address: str
) -> AccountView:
    """Set a password with a code, once it is the turn of whoever asks: a wrong code is a guess like a wrong password.

    Raises what `use_reset` raises.
    """
    async with turn as attempt:
        try:
            return await run_heavy(partial(use_reset, service, body, address))
        except Forbidden:
            attempt.failed = True
            raise


def use_reset(service: Service, body: NewPassword, address: str) -> AccountView:
    """Set a password with a code; raises Forbidden for a wrong one, BadRequest for a weak password.

    The audit log notes the account that issued the code as the credential, and the `address` of the client.
    """
    with service.database.read() as session:
        account, code = _admitted(session, body)
        refuse_weak(body.password, account.id, account.username, account.name)
    password_hash = hash_password(body.password)
    with acting(_user_of(account, code, address)), service.database.write(quiet=True) as session:
        account, _ = _admitted(session, body, for_update=True)
        _set_password(session, account, password_hash)
        return view(account)


def _user_of(account: AccountRow, code: PasswordResetRow, address: str) -> Actor:
    return Actor(
        account_id=account.id,
        role=account.type,
        address=address,
        credential=f"reset code of {code.issued_by}",
        operation="change_forgotten_password",
        method="POST",
        path="/account/password-reset",
    )


def _admitted(session: Session, body: NewPassword, *, for_update: bool = False) -> tuple[AccountRow, PasswordResetRow]:
    """Return the account whose code this is, and the code. The same refusal hides whether the username is known."""
    account = accounts_queries.by_username(session, body.username)
    row = None if account is None else session.get(PasswordResetRow, account.id, with_for_update=for_update)
    if account is None or row is None or row.expires <= utc_now():
        raise Forbidden(WRONG, where="code")
    if not compare_digest(row.digest, digest(body.code.strip().lower())):
        raise Forbidden(WRONG, where="code")
    _refuse_unentitled(session, row)
    return account, row


def _refuse_unentitled(session: Session, row: PasswordResetRow) -> None:
    """Raise Forbidden if the issuer of a code could not issue it for this account now."""
    viewer = known_viewer(session, session.get_one(AccountRow, row.issued_by))
    try:
        check(who_may("create_password_reset"), viewer, Place())
        account_within(session, viewer, row.account_id)
    except (Forbidden, NotFound):
        raise Forbidden(WRONG, where="code") from None


def _set_password(session: Session, account: AccountRow, password_hash: str) -> None:
    account.password_hash = password_hash
    accounts_queries.remove_tokens(session, account.id)
