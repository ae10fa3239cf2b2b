"""Roles of accounts per contest and per problem, and the audit log."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db.base import ID, SLUG, Base
from app.core.db.columns import BigId
from app.core.json_documents import AuditChanges

ROLE = String(8)


class OrganiserRow(Base):
    """An account that may make contests and problems of its own; `granted_by` is the id of an account."""

    __tablename__ = "organisers"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    granted_by: Mapped[str | None] = mapped_column(ID)
    granted: Mapped[datetime]


class ContestRoleRow(Base):
    """The role of an account in one contest: `owner` or `judge`.

    pending  the id or username that an owner named, until the account accepts: until then the role gives no right
    """

    __tablename__ = "contest_roles"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(ROLE)
    pending: Mapped[str | None] = mapped_column(Text)
    granted_by: Mapped[str | None] = mapped_column(ID)
    granted: Mapped[datetime]


class ProblemRoleRow(Base):
    """The role of an account at one problem: `owner` or `judge`; `pending` as in a contest."""

    __tablename__ = "problem_roles"

    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[str] = mapped_column(ROLE)
    pending: Mapped[str | None] = mapped_column(Text)
    granted_by: Mapped[str | None] = mapped_column(ID)
    granted: Mapped[datetime]


class KeptTeamRow(Base):
    """A team that the owners of a contest made for it: they may change it and its accounts."""

    __tablename__ = "kept_teams"

    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True)
    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), index=True)


class AuditRow(Base):
    """A change that an organiser, a judge or an admin made. It refers to nothing, so that it outlives what it names.

    credential  `password`, `token` with the beginning of its digest, `job` with its id, or `reset code of` and the id
                of the account that issued it
    operation   the operation of the API, by its id; `method` and `path` are the request's
    changes     what became different: see `app.accounts.queries.audit`
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
