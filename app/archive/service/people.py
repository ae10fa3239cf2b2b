"""People of a contest that CLICS has no property for, in contest packages: self-registration, roles, and kept teams.

The terms of registration come without their code. A role is granted again where the same account, by id and username,
is here before the import; the accounts themselves are not made: as CLICS shows them, an owner is an admin.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import cast

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts.queries import accounts, registrations, roles
from app.accounts.schemas.account_bodies import Username
from app.accounts.schemas.registration_bodies import LARGEST_TEAM, MOST
from app.accounts.service.grants import Granted
from app.core.bodies import Body
from app.core.clics import Id, Time
from app.core.clock import utc_now
from app.tables import AccountRow, ContestRoleRow, ContestRow, RegisteredRow, RegistrationRow
from app.teams.queries import kept_teams


class Terms(Body):
    """The terms of self-registration; they come in closed, as their code stays where it was handed out."""

    most: int = Field(ge=0, le=MOST)
    until: Time | None = None
    team_size: int = Field(ge=1, le=LARGEST_TEAM)
    group_id: Id | None = None

    @property
    def key(self) -> Collection[str]:
        """The key of which there is one."""
        return ("registration",)


class SelfRegistered(Body):
    """An account whose owner registered it."""

    account_id: Id
    time: Time

    @property
    def key(self) -> Collection[str]:
        """The key of which there is one."""
        return (self.account_id,)


class RoleOf(Body):
    """The role of an account in the contest."""

    account_id: Id
    username: Username
    role: Granted

    @property
    def key(self) -> Collection[str]:
        """The key of which there is one."""
        return (self.account_id,)


class KeptTeam(Body):
    """A team that was made for the contest."""

    team_id: Id

    @property
    def key(self) -> Collection[str]:
        """The key of which there is one."""
        return (self.team_id,)


OfPeople = Terms | SelfRegistered | RoleOf | KeptTeam
MODELS: Mapping[str, type[OfPeople]] = {
    "registration": Terms,
    "registered": SelfRegistered,
    "roles": RoleOf,
    "kept_teams": KeptTeam,
}


class ImportedRole(BaseModel):
    """A role of the package: `granted` to the account here, or the reason why not."""

    account_id: str
    username: str
    role: Granted
    granted: bool
    reason: str | None


def document(session: Session, contest: ContestRow, team_ids: Collection[str]) -> dict[str, Sequence[OfPeople]]:
    """The objects of each of MODELS, reduced to the teams that take part."""
    terms = registrations.terms(session, contest.id)
    in_roles = {row.account_id: row.role for row in roles.of_contest(session, contest.id)}
    return {
        "registration": [] if terms is None else [_terms(terms)],
        "registered": [
            SelfRegistered.model_construct(account_id=row.account_id, time=row.time)
            for row, account in registrations.registered(session, contest.id)
            if account.team_id in team_ids and account.id not in in_roles
        ],
        "roles": [
            RoleOf.model_construct(account_id=row.id, username=row.username, role=cast(Granted, in_roles[row.id]))
            for row in accounts.accounts(session)
            if row.id in in_roles
        ],
        "kept_teams": [
            KeptTeam(team_id=team_id)
            for team_id in sorted(kept_teams.of_contests(session, [contest.id]))
            if team_id in team_ids
        ],
    }


def _terms(row: RegistrationRow) -> Terms:
    return Terms.model_construct(most=row.most, until=row.until, team_size=row.team_size, group_id=row.group_id)


def open_registration(
    session: Session, contest: ContestRow, terms: Sequence[Terms], registered: Sequence[SelfRegistered]
) -> None:
    """Keep the terms, closed and without a code, and who has registered: those places are taken."""
    for body in terms:
        row = RegistrationRow(contest_id=contest.id, is_open=False, **body.model_dump())
        session.add(row)
    for each in registered:
        session.add(RegisteredRow(contest_id=contest.id, account_id=each.account_id, time=each.time))


def keep_teams(session: Session, contest: ContestRow, teams: Sequence[KeptTeam], new_ids: Collection[str]) -> None:
    """Let the contest keep its teams that are new here: the passwords of old ones are no business of its owners."""
    kept_teams.keep(session, contest.id, [each.team_id for each in teams if each.team_id in new_ids])


def grant(
    session: Session, contest: ContestRow, bodies: Sequence[RoleOf], granted_by: str, used_here: Collection[str]
) -> list[ImportedRole]:
    """Grant the roles of the package to the accounts here.

    `used_here` are problems that are used as they are here: whoever made the package could name somebody who would read
    their hidden data then, so that with any of them no role is granted.
    """
    made = []
    for body in bodies:
        reason = _refusal(session.get(AccountRow, body.account_id), body, used_here)
        if reason is None:
            row = ContestRoleRow(contest_id=contest.id, account_id=body.account_id, role=body.role)
            row.granted_by, row.granted = granted_by, utc_now()
            session.add(row)
        made.append(ImportedRole(**body.model_dump(), granted=reason is None, reason=reason))
    session.flush()
    return made


def _refusal(account: AccountRow | None, body: RoleOf, used_here: Collection[str]) -> str | None:
    if account is None or account.username != body.username:
        return "there is no such account here"
    if account.type == "admin":
        return "the account is an admin here, and needs no role"
    if used_here:
        return (
            f"the package does not carry {', '.join(sorted(used_here))}, whose data here owners and judges would read"
        )
    return None


def refers_to_nothing(
    body: OfPeople, teams: Collection[str], groups: Collection[str], account_ids: Collection[str]
) -> tuple[str, str, str] | None:
    """The property of an object that names what is not here, with what was expected and found; None where none does."""
    if isinstance(body, Terms) and body.group_id is not None and body.group_id not in groups:
        return "group_id", "a group that exists", repr(body.group_id)
    if isinstance(body, SelfRegistered) and body.account_id not in account_ids:
        return "account_id", "an account that exists", repr(body.account_id)
    if isinstance(body, KeptTeam) and body.team_id not in teams:
        return "team_id", "a team of the contest", repr(body.team_id)
    return None
