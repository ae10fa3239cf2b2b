"""The tables. One class a table; the words are those of docs/glossary.md."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, MetaData, String, Text, UniqueConstraint, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from app.storage.columns import BigId, Json, Moment

NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}
ID = String(36)
SLUG = String(255)
SHA256 = String(64)
WAITING = text("state != 'done'")


class Base(DeclarativeBase):
    """What all tables share: names for constraints, and how Python types become columns."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {datetime: Moment, dict[str, Any]: Json, list[Any]: Json}  # noqa: RUF012 - read by SQLAlchemy


class TeamRow(Base):
    """A team; hidden ones are not on boards and never BEST."""

    __tablename__ = "teams"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    label: Mapped[str] = mapped_column(Text)
    display_name: Mapped[str | None] = mapped_column(Text)
    hidden: Mapped[bool] = mapped_column(default=False)


class AccountRow(Base):
    """Somebody who can log in: `type` is admin, judge, team or another CLICS account type."""

    __tablename__ = "accounts"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    username: Mapped[str] = mapped_column(Text, unique=True)
    password_hash: Mapped[str | None] = mapped_column(Text)
    name: Mapped[str | None] = mapped_column(Text)
    type: Mapped[str] = mapped_column(String(16))
    team_id: Mapped[str | None] = mapped_column(ForeignKey("teams.id"))
    created: Mapped[datetime]


class TokenRow(Base):
    """A bearer token, kept as its sha256 only."""

    __tablename__ = "tokens"

    digest: Mapped[str] = mapped_column(SHA256, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    label: Mapped[str] = mapped_column(Text, default="")
    created: Mapped[datetime]
    expires: Mapped[datetime | None]


class ContestRow(Base):
    """A contest. `open_to_all`: every team takes part (practice). Durations are milliseconds."""

    __tablename__ = "contests"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    formal_name: Mapped[str | None] = mapped_column(Text)
    start_time: Mapped[datetime | None]
    duration_ms: Mapped[int] = mapped_column(BigInteger)
    freeze_ms: Mapped[int | None] = mapped_column(BigInteger)
    thaw_time: Mapped[datetime | None]
    finalized: Mapped[datetime | None]
    open_to_all: Mapped[bool] = mapped_column(default=False)
    settings: Mapped[dict[str, Any]] = mapped_column(default=dict)


class ContestTeamRow(Base):
    """A team takes part in a contest."""

    __tablename__ = "contest_teams"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True, index=True)


class ProblemRow(Base):
    """A problem as imported: `settings` is jurado.yaml, `metadata_` problem.yaml, `statements` files by language."""

    __tablename__ = "problems"

    id: Mapped[str] = mapped_column(SLUG, primary_key=True)
    uuid: Mapped[str] = mapped_column(String(36))
    names: Mapped[dict[str, Any]]
    metadata_: Mapped[dict[str, Any]] = mapped_column("metadata")
    settings: Mapped[dict[str, Any]]
    statements: Mapped[dict[str, Any]]
    package_sha256: Mapped[str] = mapped_column(SHA256)
    created: Mapped[datetime]
    updated: Mapped[datetime]


class TestGroupRow(Base):
    """A test data group of a problem; `max_points` as an exact ratio."""

    __tablename__ = "test_groups"
    __test__ = False  # not a test, whatever pytest thinks of its name

    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(SLUG, primary_key=True)
    ordinal: Mapped[int]
    kind: Mapped[str] = mapped_column(String(16))
    max_points_num: Mapped[int] = mapped_column(BigInteger)
    max_points_den: Mapped[int] = mapped_column(BigInteger, default=1)
    aggregation: Mapped[str] = mapped_column(String(16))
    require_pass: Mapped[list[Any]] = mapped_column(default=list)


class TestCaseRow(Base):
    """A test case: input and expected answer by their sha256, and where the answer came from (`provenance`).

    The reference's raw score and multiplier are kept so that it can take part in BEST.
    """

    __tablename__ = "test_cases"
    __table_args__ = (UniqueConstraint("problem_id", "name"),)
    __test__ = False

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"))
    group_name: Mapped[str] = mapped_column(SLUG)
    name: Mapped[str] = mapped_column(SLUG)
    ordinal: Mapped[int]
    points_num: Mapped[int] = mapped_column(BigInteger)
    points_den: Mapped[int] = mapped_column(BigInteger, default=1)
    input_sha256: Mapped[str] = mapped_column(SHA256)
    input_size: Mapped[int] = mapped_column(BigInteger)
    answer_sha256: Mapped[str | None] = mapped_column(SHA256)
    answer_size: Mapped[int | None] = mapped_column(BigInteger)
    reference_raw_num: Mapped[int | None] = mapped_column(BigInteger)
    reference_raw_den: Mapped[int | None] = mapped_column(BigInteger)
    reference_multiplier_num: Mapped[int | None] = mapped_column(BigInteger)
    reference_multiplier_den: Mapped[int | None] = mapped_column(BigInteger)
    checker_args: Mapped[list[Any]] = mapped_column(default=list)
    provenance: Mapped[dict[str, Any]] = mapped_column(default=dict)


class ContestProblemRow(Base):
    """A problem in a contest: its label, place, colour and scoring rule."""

    __tablename__ = "contest_problems"
    __table_args__ = (UniqueConstraint("contest_id", "label"),)

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id"), primary_key=True, index=True)
    label: Mapped[str] = mapped_column(String(36))
    ordinal: Mapped[int]
    rgb: Mapped[str | None] = mapped_column(String(7))
    color: Mapped[str | None] = mapped_column(Text)
    rule: Mapped[dict[str, Any]] = mapped_column(default=dict)


class SubmissionRow(Base):
    """A submission: who, when, what for. `files` is the report on each file sent: taken, ignored, why."""

    __tablename__ = "submissions"
    __table_args__ = (
        Index("ix_submissions_contest_id_id", "contest_id", "id"),
        Index("uq_submissions_idempotency", "account_id", "contest_id", "idempotency_key", unique=True),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id"))
    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id"))
    team_id: Mapped[str | None] = mapped_column(ForeignKey("teams.id"))
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"))
    time: Mapped[datetime]
    contest_time_ms: Mapped[int] = mapped_column(BigInteger)
    idempotency_key: Mapped[str | None] = mapped_column(String(255))
    comment: Mapped[str | None] = mapped_column(Text)
    files: Mapped[list[Any]] = mapped_column(default=list)
    sources: Mapped[list[Any]] = mapped_column(default=list)


class AnswerRow(Base):
    """One case's answer file of one submission: small ones lie in `data`, large ones in the file store.

    `refused` is a message where the file was not kept (too large): the case is rejected with it.
    """

    __tablename__ = "answers"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True)
    test_case_id: Mapped[int] = mapped_column(ForeignKey("test_cases.id"), primary_key=True, index=True)
    file_name: Mapped[str] = mapped_column(Text)
    size: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str | None] = mapped_column(SHA256)
    data: Mapped[bytes | None] = mapped_column(LargeBinary)
    refused: Mapped[dict[str, Any] | None]


class JudgementRow(Base):
    """One judging of one submission.

    `attempt` fences late graders: only the attempt that is current may record. `failures` counts the attempts in which
    the checker raised, ran too long or took the grader with it; a server killed meanwhile is no such failure.
    """

    __tablename__ = "judgements"
    __table_args__ = (
        Index("ix_judgements_waiting", "id", sqlite_where=WAITING, postgresql_where=WAITING),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), index=True)
    state: Mapped[str] = mapped_column(String(8), default="queued")
    attempt: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)
    type: Mapped[str | None] = mapped_column(String(3))
    current: Mapped[bool] = mapped_column(default=True)
    start_time: Mapped[datetime]
    end_time: Mapped[datetime | None]
    error: Mapped[str | None] = mapped_column(Text)


class RawScoreRow(Base):
    """What the checker found for one answer: verdict, exact raw score, multiplier, message. A CLICS run."""

    __tablename__ = "raw_scores"

    judgement_id: Mapped[int] = mapped_column(ForeignKey("judgements.id", ondelete="CASCADE"), primary_key=True)
    test_case_id: Mapped[int] = mapped_column(ForeignKey("test_cases.id"), primary_key=True, index=True)
    verdict: Mapped[str] = mapped_column(String(16))
    raw_num: Mapped[int | None] = mapped_column(BigInteger)
    raw_den: Mapped[int | None] = mapped_column(BigInteger)
    max_raw_num: Mapped[int | None] = mapped_column(BigInteger)
    max_raw_den: Mapped[int | None] = mapped_column(BigInteger)
    multiplier_num: Mapped[int | None] = mapped_column(BigInteger)
    multiplier_den: Mapped[int | None] = mapped_column(BigInteger)
    message: Mapped[dict[str, Any]]
    run_time_ms: Mapped[int]
    time: Mapped[datetime]


class JobRow(Base):
    """Long work for an admin, such as a reference run: its state, progress 0..1, log tail and result."""

    __tablename__ = "jobs"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    state: Mapped[str] = mapped_column(String(10), index=True)
    params: Mapped[dict[str, Any]]
    progress: Mapped[float] = mapped_column(default=0.0)
    log: Mapped[str] = mapped_column(Text, default="")
    result: Mapped[dict[str, Any] | None]
    attempt: Mapped[int] = mapped_column(default=0)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    created: Mapped[datetime]
    started: Mapped[datetime | None]
    ended: Mapped[datetime | None]
