"""Work that follows the commit of the transaction that asks for it."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy.orm import Session

AFTER_COMMIT = "after_commit"


def after_commit(session: Session, call: Callable[[], None]) -> None:
    """Do something once the request's transaction is committed, and not at all if it is not."""
    session.info.setdefault(AFTER_COMMIT, []).append(call)


DRY = "What would have been made (`dry_run`)"
"""Of the 200 that such a run answers."""
