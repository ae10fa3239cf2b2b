"""Groups, organizations, persons, teams, accounts and their tokens."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db.base import ID, SHA256, Base, Details


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
    """Somebody a contest has to do with: contestant, coach, staff or other. `contest_id`, `details` as for groups."""

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
    """Somebody who can log in: `type` is admin, judge, team or another CLICS account type."""

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
    """A bearer token, kept as its sha256 only. `last_used` is right to a quarter of an hour."""

    __tablename__ = "tokens"

    digest: Mapped[str] = mapped_column(SHA256, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    label: Mapped[str] = mapped_column(Text, default="")
    created: Mapped[datetime]
    expires: Mapped[datetime | None]
    last_used: Mapped[datetime | None]
