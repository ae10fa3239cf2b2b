"""Clarifications and commentary: the messages of a contest."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.core.db.by_id import as_id
from app.tables import ClarificationRow, CommentaryRow


def clarifications(session: Session, contest_id: str) -> Sequence[ClarificationRow]:
    """The clarifications of a contest, oldest first."""
    query = select(ClarificationRow).where(ClarificationRow.contest_id == contest_id)
    rows = session.scalars(query.order_by(ClarificationRow.time)).all()
    return sorted(rows, key=lambda row: (row.time, _order(row.id)))  # as text, 10 would come before 9


def clarification(session: Session, contest_id: str, id_: str) -> ClarificationRow | None:
    """One clarification, or None."""
    return session.get(ClarificationRow, (id_, contest_id))


def times_since(session: Session, contest_id: str, account_id: str, since: datetime) -> Sequence[datetime]:
    """The times at which an account has sent clarifications to a contest since a moment."""
    mine = (ClarificationRow.contest_id == contest_id) & (ClarificationRow.account_id == account_id)
    return session.scalars(select(ClarificationRow.time).where(mine, ClarificationRow.time > since)).all()


def commentary(session: Session, contest_id: str) -> Sequence[CommentaryRow]:
    """The commentary of a contest, oldest first."""
    query = select(CommentaryRow).where(CommentaryRow.contest_id == contest_id)
    rows = session.scalars(query.order_by(CommentaryRow.time)).all()
    return sorted(rows, key=lambda row: (row.time, _order(row.id)))


def next_id(session: Session, table: type[ClarificationRow] | type[CommentaryRow], contest_id: str) -> str:
    """The number after the last one given; ids that are no numbers are other systems'."""
    taken = session.scalars(select(table.id).where(table.contest_id == contest_id))
    return str(max((_number(id_) for id_ in taken), default=0) + 1)


def _order(id_: str) -> tuple[int, str]:
    number = _number(id_)
    return number, "" if number else id_


def _number(id_: str) -> int:
    """The number of an id; 0 where it is none of ours. Another system may have put zeros before its numbers."""
    return as_id(id_.lstrip("0")) or 0
