"""Work that follows the commit of the transaction that asks for it."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy.orm import Session

AFTER_COMMIT = "after_commit"


def after_commit(session: Session, call: Callable[[], None]) -> None:
    """Run a function once the request's transaction is committed; a rollback drops it."""
    session.info.setdefault(AFTER_COMMIT, []).append(call)


DRY = "What would have been made (`dry_run`)"
"""Description of the reply 200 of such a run."""
