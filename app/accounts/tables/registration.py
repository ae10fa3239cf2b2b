"""Self-registration for contests, and codes with which people set new passwords."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db.base import SHA256, Base

CODE = String(64)


class RegistrationRow(Base):
    """The terms on which people register for a contest by themselves.

    code       the secret they need, kept as it is because organisers hand it out; null: none has been made
    most       accounts that may register in all
    until      the moment from which nobody may; null: none
    team_size  accounts a registered team may have
    group_id   the group of registered teams
    """

    __tablename__ = "registrations"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    is_open: Mapped[bool] = mapped_column(default=False)
    code: Mapped[str | None] = mapped_column(CODE)
    most: Mapped[int]
    until: Mapped[datetime | None]
    team_size: Mapped[int]
    group_id: Mapped[str | None] = mapped_column(ForeignKey("groups.id", ondelete="SET NULL"))


class RegisteredRow(Base):
    """An account whose owner registered it for a contest. `team_code`, of a team's first account: others join by it."""

    __tablename__ = "registered"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True, index=True)
    team_code: Mapped[str | None] = mapped_column(CODE)
    time: Mapped[datetime]


class PasswordResetRow(Base):
    """A code that sets an account's password once, kept as its sha256 only. `issued_by` is the account that made it."""

    __tablename__ = "password_resets"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True)
    digest: Mapped[str] = mapped_column(SHA256)
    created: Mapped[datetime]
    expires: Mapped[datetime]
    issued_by: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
