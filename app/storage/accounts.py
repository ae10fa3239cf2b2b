"""Accounts and their tokens."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app.storage.tables import AccountRow, TokenRow


def by_username(session: Session, username: str) -> AccountRow | None:
    """The account that logs in with this name."""
    return session.scalars(select(AccountRow).where(AccountRow.username == username)).one_or_none()


def by_token(session: Session, digest: str, now: datetime) -> tuple[AccountRow, datetime | None] | None:
    """The account whose token has this sha256 and has not expired, and when it will."""
    row = session.execute(
        select(AccountRow, TokenRow.expires)
        .join(TokenRow, TokenRow.account_id == AccountRow.id)
        .where(TokenRow.digest == digest, or_(TokenRow.expires.is_(None), TokenRow.expires > now))
    ).one_or_none()
    return None if row is None else (row[0], row[1])
