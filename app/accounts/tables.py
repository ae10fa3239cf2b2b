"""Groups, organizations, persons, teams, accounts and their tokens.

- Self-registration for contests.
- Roles of accounts per contest and per problem, and the audit log.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column, synonym

from app.core.db.tables import ID, SHA256, SLUG, Base, BigId, Details
from app.core.json_documents import AuditChanges


class GroupRow(Base):
    """A group of teams, such as a site or a division. `contest_id`: the contest that brought it; others show it too
    where a team of theirs is in it. `details` are further CLICS properties, such as a location.
    """

    __tablename__ = "groups"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    contest_id: Mapped[str | None] = mapped_column(ForeignKey("contests.id", ondelete="SET NULL"), index=True)
    name: Mapped[str] = mapped_column(Text)
    type: Mapped[str | None] = mapped_column(Text)
    icpc_id: Mapped[str | None] = mapped_column(Text)
    details: Mapped[Details] = mapped_column(default=dict)


class OrganizationRow(Base):
    """A university or another body teams belong to. `contest_id` and `details` as for groups."""

    __tablename__ = "organizations"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    contest_id: Mapped[str | None] = mapped_column(ForeignKey("contests.id", ondelete="SET NULL"), index=True)
    name: Mapped[str] = mapped_column(Text)
    formal_name: Mapped[str | None] = mapped_column(Text)
    icpc_id: Mapped[str | None] = mapped_column(Text)
    country: Mapped[str | None] = mapped_column(String(3))
    details: Mapped[Details] = mapped_column(default=dict)


class PersonRow(Base):
    """Someone a contest has to do with: contestant, coach, staff or other. `contest_id`, `details` as for groups."""

    __tablename__ = "persons"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    contest_id: Mapped[str | None] = mapped_column(ForeignKey("contests.id", ondelete="SET NULL"), index=True)
    name: Mapped[str] = mapped_column(Text)
    role: Mapped[str] = mapped_column(String(16))
    icpc_id: Mapped[str | None] = mapped_column(Text)
    team_ids: Mapped[list[str]] = mapped_column(default=list)
    details: Mapped[Details] = mapped_column(default=dict)


class TeamRow(Base):
    """A team; hidden ones are not on boards and never BEST."""

    __tablename__ = "teams"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    label: Mapped[str] = mapped_column(Text)
    display_name: Mapped[str | None] = mapped_column(Text)
    hidden: Mapped[bool] = mapped_column(default=False)
    icpc_id: Mapped[str | None] = mapped_column(Text)
    organization_id: Mapped[str | None] = mapped_column(ForeignKey("organizations.id"), index=True)
    group_ids: Mapped[list[str]] = mapped_column(default=list, server_default="[]")
    details: Mapped[Details] = mapped_column(default=dict, server_default="{}")


class AccountRow(Base):
    """Someone who can log in: `type` is admin, judge, team or another CLICS account type."""

    __tablename__ = "accounts"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    username: Mapped[str] = mapped_column(Text, unique=True)
    password_hash: Mapped[str | None] = mapped_column(Text)
    name: Mapped[str | None] = mapped_column(Text)
    type: Mapped[str] = mapped_column(String(16))
    team_id: Mapped[str | None] = mapped_column(ForeignKey("teams.id"))
    person_id: Mapped[str | None] = mapped_column(ForeignKey("persons.id"))
    created: Mapped[datetime]


class TokenRow(Base):
    """A bearer token, kept as its sha256 only.

    issued_by  the account that created it as a code for a new password, which is no bearer token; null: a token
    """

    __tablename__ = "tokens"

    digest: Mapped[str] = mapped_column(SHA256, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    label: Mapped[str] = mapped_column(Text, default="")
    created: Mapped[datetime]
    expires: Mapped[datetime | None]
    issued_by: Mapped[str | None] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)


class RegistrationRow(Base):
    """The terms on which people register for a contest by themselves.

    code       the secret they need, kept as it is because organisers hand it out; null: none has been made
    most       accounts that may register in all
    until      the moment from which no one may; null: none
    group_id   the group of registered teams
    """

    __tablename__ = "registrations"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    is_open: Mapped[bool] = mapped_column(default=False)
    code: Mapped[str | None] = mapped_column(String(64))
    most: Mapped[int]
    until: Mapped[datetime | None]
    group_id: Mapped[str | None] = mapped_column(ForeignKey("groups.id", ondelete="SET NULL"))


class RegisteredRow(Base):
    """An account whose owner registered it for a contest."""

    __tablename__ = "registered"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True, index=True)
    time: Mapped[datetime]


ROLE = String(8)


class OrganiserRow(Base):
    """An account that may make contests and problems of its own; `granted_by` is the id of an account."""

    __tablename__ = "organisers"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    granted_by: Mapped[str | None] = mapped_column(ID)
    granted: Mapped[datetime]


class RoleRow(Base):
    """The role of an account at an object, a contest or a problem: `owner` or `judge`."""

    __abstract__ = True
    if TYPE_CHECKING:
        object_id: Mapped[str]
        account_id: Mapped[str]

    role: Mapped[str] = mapped_column(ROLE)
    granted_by: Mapped[str | None] = mapped_column(ID)
    granted: Mapped[datetime]


class ContestRoleRow(RoleRow):
    """The role of an account in one contest."""

    __tablename__ = "contest_roles"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True, index=True)
    object_id: Mapped[str] = synonym("contest_id")


class ProblemRoleRow(RoleRow):
    """The role of an account at one problem."""

    __tablename__ = "problem_roles"

    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True, index=True)
    object_id: Mapped[str] = synonym("problem_id")


class KeptTeamRow(Base):
    """A team that the owners of a contest made for it: they may change it and its accounts."""

    __tablename__ = "kept_teams"

    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True)
    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), index=True)


class AuditRow(Base):
    """A change that an organiser, a judge or an admin made. It refers to nothing, so that it outlives what it names.

    credential  `password`, `token` with the beginning of its digest, or `job` with its id
    operation   the operation of the API, by its id; `method` and `path` are the request's
    changes     what became different: see `app.core.db.audit`
    """

    __tablename__ = "audit_log"

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    time: Mapped[datetime] = mapped_column(index=True)
    account_id: Mapped[str | None] = mapped_column(ID, index=True)
    username: Mapped[str] = mapped_column(Text)
    role: Mapped[str] = mapped_column(String(16))
    address: Mapped[str] = mapped_column(Text)
    credential: Mapped[str] = mapped_column(Text)
    operation: Mapped[str] = mapped_column(String(64), index=True)
    method: Mapped[str] = mapped_column(String(8))
    path: Mapped[str] = mapped_column(Text)
    contest_id: Mapped[str | None] = mapped_column(ID, index=True)
    problem_id: Mapped[str | None] = mapped_column(SLUG)
    changes: Mapped[AuditChanges]
