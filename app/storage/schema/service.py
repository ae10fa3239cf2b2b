"""Jobs, and the clock of the service."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.storage.documents import (
    JobParams,
    JobResult,
)
from app.storage.schema.base import ID, Base


class JobRow(Base):
    """Long work for an admin, such as a reference run: its state, progress 0..1, log tail and result."""

    __tablename__ = "jobs"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    state: Mapped[str] = mapped_column(String(10), index=True)
    params: Mapped[JobParams]
    progress: Mapped[float] = mapped_column(default=0.0)
    log: Mapped[str] = mapped_column(Text, default="")
    result: Mapped[JobResult | None]
    attempt: Mapped[int] = mapped_column(default=0)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    created: Mapped[datetime]
    started: Mapped[datetime | None]
    ended: Mapped[datetime | None]


class ClockRow(Base):
    """The mark of the service's time, written every few seconds: the only row has the id 1."""

    __tablename__ = "clock"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    time: Mapped[datetime]
