"""Accounts and their tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection, CursorResult, delete, func, or_, select, update
from sqlalchemy.orm import Session

from app.core.db.notices import tell_account
from app.tables import AccountRow, ClarificationRow, CommentaryRow, GameRow, JobRow, SubmissionRow, TokenRow

AT_ONCE = 500


def by_username(session: Session, username: str) -> AccountRow | None:
    """The account that logs in with this name."""
    return session.scalars(select(AccountRow).where(AccountRow.username == username)).one_or_none()


def by_token(session: Session, digest: str, now: datetime) -> tuple[AccountRow, TokenRow] | None:
    """The account whose token has this sha256 and has not expired, and the token."""
    row = session.execute(
        select(AccountRow, TokenRow)
        .join(TokenRow, TokenRow.account_id == AccountRow.id)
        .where(TokenRow.digest == digest, or_(TokenRow.expires.is_(None), TokenRow.expires > now))
    ).one_or_none()
    return None if row is None else (row[0], row[1])


def live_tokens(session: Session, digests: Iterable[str | None], now: datetime) -> set[str]:
    """The digests among these that belong to tokens which have not expired."""
    wanted = sorted({each for each in digests if each is not None})
    live: set[str] = set()
    for at in range(0, len(wanted), AT_ONCE):
        query = select(TokenRow.digest).where(TokenRow.digest.in_(wanted[at : at + AT_ONCE]))
        live |= set(session.scalars(query.where(or_(TokenRow.expires.is_(None), TokenRow.expires > now))))
    return live


@dataclass(frozen=True, slots=True)
class TokenUsed:
    """A token was used at this moment."""

    digest: str
    time: datetime


def note_use(connection: Connection, uses_: Sequence[TokenUsed]) -> list[None]:
    """Keep when tokens were used last, a handler of the writer."""
    for each in uses_:
        connection.execute(update(TokenRow).where(TokenRow.digest == each.digest).values(last_used=each.time))
    return [None] * len(uses_)


def accounts(session: Session) -> Sequence[AccountRow]:
    """All accounts, by id."""
    return session.scalars(select(AccountRow).order_by(AccountRow.id)).all()


def get(session: Session, account_id: str) -> AccountRow | None:
    """One account, or None."""
    return session.get(AccountRow, account_id)


def usernames(session: Session) -> dict[str, str]:
    """Every username and whose it is, by the account's id."""
    return {row[0]: row[1] for row in session.execute(select(AccountRow.username, AccountRow.id))}


def with_passwords(session: Session) -> set[str]:
    """The ids of the accounts that have a password."""
    return set(session.scalars(select(AccountRow.id).where(AccountRow.password_hash.is_not(None))))


def only_one(session: Session) -> bool:
    """Whether there is a single account: the admin's, that a new server makes."""
    return len(session.scalars(select(AccountRow.id).limit(2)).all()) == 1


def admin_count(session: Session) -> int:
    """The number of admins that can log in."""
    return (
        session.scalar(
            select(func.count())
            .select_from(AccountRow)
            .where(AccountRow.type == "admin", AccountRow.password_hash.is_not(None))
        )
        or 0
    )


def uses(session: Session, account_id: str) -> dict[str, int]:
    """The numbers of rows that refer to an account and would be lost without it, by kind."""
    counted = {}
    tables = (
        ("submissions", SubmissionRow),
        ("jobs", JobRow),
        ("clarifications", ClarificationRow),
        ("commentary", CommentaryRow),
    )
    for name, table in tables:
        query = select(func.count()).select_from(table).where(table.account_id == account_id)
        counted[name] = session.scalar(query) or 0
    games = select(func.count()).select_from(GameRow).where(GameRow.account_id == account_id)
    counted["games"] = session.scalar(games.where(GameRow.counted.is_(True))) or 0  # those for practice go with it
    return {name: count for name, count in counted.items() if count}


def tokens(session: Session, account_id: str) -> Sequence[TokenRow]:
    """An account's tokens, oldest first."""
    query = select(TokenRow).where(TokenRow.account_id == account_id).order_by(TokenRow.created, TokenRow.digest)
    return session.scalars(query).all()


def remove_tokens(session: Session, account_id: str, beginning: str = "", *, but: str | None = None) -> int:
    """Delete an account's tokens whose digest begins so, all by default, `but` one; returns how many there were."""
    query = delete(TokenRow).where(TokenRow.account_id == account_id)
    if but is not None:
        query = query.where(TokenRow.digest != but)
    if beginning:
        query = query.where(TokenRow.digest.startswith(beginning, autoescape=True))
    result = cast("CursorResult[Any]", session.execute(query))
    tell_account(session, account_id)
    return result.rowcount
