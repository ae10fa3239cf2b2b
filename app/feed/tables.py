"""Event feeds and webhooks."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db.tables import ID, Base


class EventRow(Base):
    """One event of a contest's feed, as it was sent; ids go up by one in each contest.

    audience   who gets it, a letter each: `p` everyone but the owner, `o` the owner, `j` judges, `a` one account,
               which then does not get what is the owner's
    owner      a team (of `p` and `o`) or the account (of `a`)
    object_id  null: the contest or its state; of runs: the judgement they are of
    data       the object as JSON text, of runs which there are; null: it is gone
    """

    __tablename__ = "events"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    audience: Mapped[str] = mapped_column(String(8))
    owner: Mapped[str | None] = mapped_column(ID)
    type: Mapped[str] = mapped_column(String(20))
    object_id: Mapped[str | None] = mapped_column(String(80))
    data: Mapped[str | None] = mapped_column(Text)
    time: Mapped[datetime]


class WebhookRow(Base):
    """An address that is called when a contest changes. `positions` are the last event taken, by contest.

    `token` is encrypted by the secret key.
    """

    __tablename__ = "webhooks"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    url: Mapped[str] = mapped_column(Text)
    token: Mapped[str] = mapped_column(Text)
    contest_ids: Mapped[list[str]] = mapped_column(default=list)
    endpoints: Mapped[list[str]] = mapped_column(default=list)
    active: Mapped[bool] = mapped_column(default=True)
    positions: Mapped[dict[str, list[str | int]]] = mapped_column(default=dict)
    failing_since: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(default=0)
    error: Mapped[str | None] = mapped_column(Text)
    created: Mapped[datetime]
