"""Revoke password reset codes in the transaction that changes their account.

Every session that writes watches for changed accounts and roles, so no caller can forget to revoke a code.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import event, inspect, select
from sqlalchemy.orm import Session, UOWTransaction

from app.tables import (
    AccountRow,
    Base,
    ContestRoleRow,
    ContestRow,
    OrganiserRow,
    PasswordResetRow,
    ProblemRoleRow,
    ProblemRow,
)

RIGHTS = ("password_hash", "type", "team_id")


def watch_session(session: Session) -> None:
    """Revoke the codes of accounts whose password, type, team or roles this session changes."""
    event.listen(session, "before_flush", _revoke)


def _revoke(session: Session, _context: UOWTransaction, _instances: object) -> None:
    account_ids = {each for row in [*session.new, *session.dirty, *session.deleted] for each in _changed(session, row)}
    if account_ids:
        for row in session.scalars(select(PasswordResetRow).where(PasswordResetRow.account_id.in_(account_ids))):
            session.delete(row)


def _changed(session: Session, row: Base) -> Iterator[str]:
    """Yield the accounts whose rights change with a row."""
    if isinstance(row, AccountRow) and row in session.dirty:
        if any(inspect(row).attrs[name].history.has_changes() for name in RIGHTS):
            yield row.id
    elif isinstance(row, OrganiserRow) or (isinstance(row, ContestRoleRow | ProblemRoleRow) and row.pending is None):
        yield row.account_id
    elif isinstance(row, ContestRow) and row in session.deleted:  # its roles are deleted with it
        in_contest = ContestRoleRow.contest_id == row.id, ContestRoleRow.pending.is_(None)
        yield from session.scalars(select(ContestRoleRow.account_id).where(*in_contest))
    elif isinstance(row, ProblemRow) and row in session.deleted:
        at_problem = ProblemRoleRow.problem_id == row.id, ProblemRoleRow.pending.is_(None)
        yield from session.scalars(select(ProblemRoleRow.account_id).where(*at_problem))
