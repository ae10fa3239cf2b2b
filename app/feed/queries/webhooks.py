"""Webhooks: who is called back, and how far each of them has got."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, inspect, select, update
from sqlalchemy.orm import Session

from app.core.db.database import Database
from app.core.db.migrate import Encrypted, SecretKeys
from app.tables import AccountRow, WebhookRow


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
    """The ids of the keys without which tokens cannot be read; none in an empty database."""
    if not inspect(connection).has_table(WebhookRow.__tablename__):
        return set()
    return set(connection.scalars(select(WebhookRow.key_id).distinct()))


def delete_unreadable(session: Session, keys: SecretKeys) -> Sequence[WebhookRow]:
    """Delete the webhooks whose key is lost; returns them."""
    rows = session.scalars(select(WebhookRow).where(WebhookRow.key_id.not_in(keys.ids))).all()
    for row in rows:
        session.delete(row)
    return rows


def encrypt_tokens(database: Database, keys: SecretKeys) -> None:
    """Encrypt by the first key what an older one has encrypted, in one transaction."""
    with database.write() as session:
        for row in session.scalars(select(WebhookRow).where(WebhookRow.key_id != keys.ids[0])):
            encrypted = keys.encrypt(keys.decrypt(encrypted_token(row)))
            row.token, row.key_id = encrypted.text, encrypted.key_id


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
