"""Jobs, and what is known of the service itself: its clock, its processes, its last backup."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db.base import ID, Base
from app.core.json_documents import JobParams, JobResult


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


class ProcessRow(Base):
    """A server or a worker, written again every few seconds while it runs, and gone when it ends in order.

    graders  grader processes that are able to work
    deaths   graders that died since the process started
    at_hand  judgements that its graders have claimed and not ended
    """

    __tablename__ = "processes"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    kind: Mapped[str] = mapped_column(String(10))
    host: Mapped[str] = mapped_column(Text)
    pid: Mapped[int]
    version: Mapped[str] = mapped_column(String(40))
    started: Mapped[datetime]
    seen: Mapped[datetime]
    graders: Mapped[int]
    deaths: Mapped[int]
    at_hand: Mapped[int]


class LastBackupRow(Base):
    """The last backup that `jurado backup` has finished, and where it lies: the only row has the id 1.

    `made` is when it began, `size` the bytes of its files, `faulty` how many files the store could not give.
    """

    __tablename__ = "last_backup"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    made: Mapped[datetime]
    place: Mapped[str] = mapped_column(Text)
    files: Mapped[int]
    size: Mapped[int] = mapped_column(BigInteger)
    faulty: Mapped[int]
