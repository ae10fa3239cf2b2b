"""Work that follows the commit of the transaction that asks for it."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy.orm import Session

from app.core.db.base import Base

_CALLS = "after_commit"
# The lock of an update that leaves the key alone: rows that refer to it may come meanwhile.
NOT_ITS_KEY = {"key_share": True}


def alone(session: Session, row: Base) -> None:
    """Read a row again, which nobody else changes before the end of this transaction.

    Some columns hold many properties, and who changes one of them writes all.
    """
    session.refresh(row, with_for_update=NOT_ITS_KEY)


def after_commit(session: Session, call: Callable[[], None]) -> None:
    """Run a function once the request's transaction is committed; a rollback drops it."""
    session.info.setdefault(_CALLS, []).append(call)


def run_after_commit(session: Session) -> None:
    """Run what `after_commit` was given, once each; the session's transaction has been committed."""
    for call in session.info.pop(_CALLS, []):
        call()


def drop_after_commit(session: Session) -> None:
    """Forget what `after_commit` was given, where the transaction is rolled back by hand and its session goes on."""
    session.info.pop(_CALLS, None)


# Description of the reply 200 of such a run.
DRY = "What would have been made (`dry_run`)"
