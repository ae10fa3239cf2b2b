"""The last backup that was finished, so that `jurado status` knows of it."""

from __future__ import annotations

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.tables import LastBackupRow

ONLY = 1


def read(session: Session) -> LastBackupRow | None:
    """The last backup; None where none has been finished."""
    return session.get(LastBackupRow, ONLY)


def write(session: Session, row: LastBackupRow) -> None:
    """Keep this one in place of the one before."""
    session.execute(delete(LastBackupRow))
    row.id = ONLY
    session.add(row)
