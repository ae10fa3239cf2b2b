"""Webhooks: who is called back, and how far each of them has got."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import structlog
from sqlalchemy import Connection, inspect, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.core.db.database import Database
from app.core.db.secret_keys import Encrypted, SecretKeys
from app.tables import AccountRow, WebhookRow

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.webhooks")

REWRITING = f"ALTER TABLE {WebhookRow.__tablename__} ALTER COLUMN token TYPE text USING token || ''"
"""Writes today's rows to a new file. VACUUM FULL writes old ones, too, that an open transaction might still see."""


def webhooks(session: Session) -> Sequence[WebhookRow]:
    """All webhooks, oldest first."""
    return session.scalars(select(WebhookRow).order_by(WebhookRow.created, WebhookRow.id)).all()


def get(session: Session, webhook_id: str) -> WebhookRow | None:
    """One webhook, or None."""
    return session.get(WebhookRow, webhook_id)


def with_account(session: Session, webhook_id: str) -> tuple[WebhookRow, AccountRow] | None:
    """A webhook and the account whose eyes it sees with."""
    row = session.get(WebhookRow, webhook_id)
    return None if row is None else (row, session.get_one(AccountRow, row.account_id))


def encrypted_token(row: WebhookRow) -> Encrypted:
    """The token of a webhook, as `SecretKeys.decrypt` takes it."""
    return Encrypted(row.token, row.key_id)


def keys_needed(connection: Connection) -> set[str]:
    """The ids of the keys without which tokens cannot be read; none in a database of a version without keys."""
    schema = inspect(connection)
    table = WebhookRow.__tablename__
    if not schema.has_table(table) or "key_id" not in {column["name"] for column in schema.get_columns(table)}:
        return set()
    return set(connection.scalars(select(WebhookRow.key_id).distinct())) - {""}


def delete_unreadable(session: Session, keys: SecretKeys) -> Sequence[WebhookRow]:
    """Delete the webhooks whose key is lost; returns them."""
    rows = session.scalars(select(WebhookRow).where(WebhookRow.key_id.not_in(["", *keys.ids]))).all()
    for row in rows:
        session.delete(row)
    return rows


def encrypt_tokens(database: Database, keys: SecretKeys, mark: Path) -> int:
    """Encrypt by the first key what no key or an older one has encrypted; returns the number of webhooks changed.

    One transaction changes all or none. Then the old tokens leave the pages of the database as well: deleted rows would
    keep them readable in its file. The file `mark` is there until that is done, also across kills and full disks.
    """
    with database.write() as session:
        rows = session.scalars(select(WebhookRow).where(WebhookRow.key_id != keys.ids[0])).all()
        for row in rows:
            token = keys.decrypt(encrypted_token(row)) if row.key_id else row.token
            encrypted = keys.encrypt(token)
            row.token, row.key_id = encrypted.text, encrypted.key_id
        if rows:
            mark.touch()
    if mark.exists():
        try:
            _rewrite(database)
        except (SQLAlchemyError, sqlite3.Error) as error:
            log.warning("old tokens of webhooks stay in the database's pages until the next start", error=str(error))
        else:
            mark.unlink()
    return len(rows)


def _rewrite(database: Database) -> None:
    with database.engine.connect() as connection:
        if not database.is_sqlite:
            outside = connection.execution_options(isolation_level="AUTOCOMMIT")
            outside.exec_driver_sql(REWRITING)
            return
        driver = connection.connection.driver_connection  # past SQLAlchemy, which would begin a transaction
        assert driver is not None, "the connection is open"
        driver.execute("VACUUM")
        if driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            raise sqlite3.OperationalError("somebody reads the database, and needs its old pages")


def active(session: Session) -> set[str]:
    """The webhooks that are called."""
    return set(session.scalars(select(WebhookRow.id).where(WebhookRow.active.is_(True))))


@dataclass(frozen=True, slots=True)
class Delivered:
    """A webhook has taken the events of a contest up to `event` of the log of that epoch."""

    webhook_id: str
    contest_id: str
    epoch: str
    event: int


def deliver(connection: Connection, deliveries: Sequence[Delivered]) -> list[None]:
    """Keep how far webhooks have got, a handler of the writer; a webhook that takes something fails no more."""
    for each in deliveries:
        query = select(WebhookRow.positions).where(WebhookRow.id == each.webhook_id)
        positions = connection.execute(query).scalar()
        if positions is None:  # it was deleted meanwhile
            continue
        change = update(WebhookRow).where(WebhookRow.id == each.webhook_id)
        connection.execute(
            change.values(
                positions={**positions, each.contest_id: [each.epoch, each.event]},
                failing_since=None,
                failures=0,
                error=None,
            )
        )
    return [None] * len(deliveries)


@dataclass(frozen=True, slots=True)
class Failed:
    """A webhook did not take what it was sent at this moment; `given_up` ends the trying."""

    webhook_id: str
    time: datetime
    error: str
    given_up: bool


def fail(connection: Connection, failures: Sequence[Failed]) -> list[None]:
    """Count failed calls, a handler of the writer."""
    for each in failures:
        query = select(WebhookRow.failing_since, WebhookRow.failures).where(WebhookRow.id == each.webhook_id)
        row = connection.execute(query).one_or_none()
        if row is None:
            continue
        since, count = row
        values: dict[str, object] = {"failing_since": since or each.time, "failures": count + 1, "error": each.error}
        if each.given_up:
            values["active"] = False
        connection.execute(update(WebhookRow).where(WebhookRow.id == each.webhook_id).values(values))
    return [None] * len(failures)
