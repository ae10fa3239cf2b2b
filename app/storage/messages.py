"""Clarifications, commentary and awards made by hand: what is said in a contest, and given at its end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.storage.ids import as_id
from app.storage.tables import AwardRow, ClarificationRow, CommentaryRow


def clarifications(session: Session, contest_id: str) -> Sequence[ClarificationRow]:
    """All of a contest's, oldest first."""
    query = select(ClarificationRow).where(ClarificationRow.contest_id == contest_id)
    rows = session.scalars(query.order_by(ClarificationRow.time)).all()
    return sorted(rows, key=lambda row: (row.time, _order(row.id)))


def clarification(session: Session, contest_id: str, id_: str) -> ClarificationRow | None:
    """One of them, or None."""
    return session.get(ClarificationRow, (id_, contest_id))


def times_since(session: Session, contest_id: str, account_id: str, since: datetime) -> Sequence[datetime]:
    """When an account has sent something in a contest since a moment."""
    mine = (ClarificationRow.contest_id == contest_id) & (ClarificationRow.account_id == account_id)
    return session.scalars(select(ClarificationRow.time).where(mine, ClarificationRow.time > since)).all()


def commentary(session: Session, contest_id: str) -> Sequence[CommentaryRow]:
    """All of a contest's, oldest first."""
    query = select(CommentaryRow).where(CommentaryRow.contest_id == contest_id)
    rows = session.scalars(query.order_by(CommentaryRow.time)).all()
    return sorted(rows, key=lambda row: (row.time, _order(row.id)))


def awards(session: Session, contest_id: str) -> dict[str, AwardRow]:
    """The awards made by hand, by id; also those that say that a computed one is not given."""
    query = select(AwardRow).where(AwardRow.contest_id == contest_id).order_by(AwardRow.id)
    return {row.id: row for row in session.scalars(query)}


def next_id(session: Session, table: type[ClarificationRow] | type[CommentaryRow], contest_id: str) -> str:
    """The number after the last one that was given; ids that are no numbers are other systems'."""
    taken = session.scalars(select(table.id).where(table.contest_id == contest_id))
    return str(max((_number(id_) for id_ in taken), default=0) + 1)


def _order(id_: str) -> tuple[int, str]:
    number = _number(id_)
    return number, "" if number else id_


def _number(id_: str) -> int:
    """What an id counts as; 0 where it is none of ours. Another system may have put zeros before its numbers."""
    return as_id(id_.lstrip("0")) or 0
