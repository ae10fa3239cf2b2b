"""Errors that are the database's or the disk's own, and may pass: away, locked, read-only, damaged, without room."""

from __future__ import annotations

import errno

from sqlalchemy.exc import DatabaseError, DBAPIError, IntegrityError, InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
NO_TABLE = "42P01"
FULL = "53100"
LOCKED = "55P03"


def is_full(error: BaseException) -> bool:
    """Whether the disk has no room, for files or for the database."""
    if isinstance(error, OSError):
        return error.errno in NO_ROOM
    if not isinstance(error, DBAPIError):
        return False
    return _state(error) == FULL or "database or disk is full" in str(error.orig)


def of_the_database(error: BaseException) -> bool:
    """Whether the database failed, and not the statement. Damaged pages and lost tables are its own faults, too."""
    if isinstance(error, PoolTimeout | OperationalError | InterfaceError | InternalError):
        return True
    if not isinstance(error, DBAPIError) or isinstance(error, IntegrityError):
        return False
    # SQLite has no better word than DatabaseError for a file that is damaged or is no database.
    return error.connection_invalidated or _state(error) == NO_TABLE or type(error) is DatabaseError


def is_locked(error: BaseException) -> bool:
    """Whether PostgreSQL waited in vain for a lock that another transaction has."""
    return isinstance(error, DBAPIError) and _state(error) == LOCKED


def _state(error: DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)
