"""Self-registration: the terms of each contest, and the accounts that came by them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.tables import AccountRow, RegisteredRow, RegistrationRow


def terms(session: Session, contest_id: str, *, for_update: bool = False) -> RegistrationRow | None:
    """The terms of a contest, locked until the transaction ends if they are `for_update`; None for none."""
    query = select(RegistrationRow).where(RegistrationRow.contest_id == contest_id)
    return session.scalars(query.with_for_update() if for_update else query).one_or_none()


def count(session: Session, contest_id: str) -> int:
    """The number of accounts that registered for a contest."""
    query = select(func.count()).select_from(RegisteredRow).where(RegisteredRow.contest_id == contest_id)
    return session.scalar(query) or 0


def registered(session: Session, contest_id: str) -> Sequence[tuple[RegisteredRow, AccountRow]]:
    """The accounts that registered for a contest, the first one first."""
    query = select(RegisteredRow, AccountRow).join(AccountRow, AccountRow.id == RegisteredRow.account_id)
    query = query.where(RegisteredRow.contest_id == contest_id).order_by(RegisteredRow.time, RegisteredRow.account_id)
    return [(row, account) for row, account in session.execute(query)]


def accounts_of_team(session: Session, team_id: str) -> int:
    """The number of accounts of a team."""
    query = select(func.count()).select_from(AccountRow).where(AccountRow.team_id == team_id)
    return session.scalar(query) or 0
