"""Submissions, their answers, judgements and raw scores."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.core.db.tables import ID, REPLACING, SHA256, WAITING, Base, BigId
from app.core.json_documents import FileNoteDocument, SourceDocument
from app.domain.documents import ImageDocument, MessageDocument

QUEUED, RUNNING, DONE = "queued", "running", "done"
# Lanes of the queue, the first one first: live submissions, judgements of rejudgings.
LIVE, REJUDGED = 1, 2


class SubmissionRow(Base):
    """A submission: who, when, what for. `files` is the report on each file sent: taken, ignored, why.

    `external_id` is the id another system gave it (PUT by an admin); it is shown in place of the row's own. `size` is
    the bytes of its answers and sources, without refused answers.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        Index("ix_submissions_contest_id_id", "contest_id", "id"),
        Index("uq_submissions_idempotency", "account_id", "contest_id", "idempotency_key", unique=True),
        Index("uq_submissions_external_id", "contest_id", "external_id", unique=True),
        # With the id: the latest of a team are found by it. With the size: its bytes are added up without its rows.
        Index("ix_submissions_of_teams", "contest_id", "team_id", "problem_id", "id", "size"),
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
    external_id: Mapped[str | None] = mapped_column(ID)
    comment: Mapped[str | None] = mapped_column(Text)
    size: Mapped[int] = mapped_column(BigInteger, default=0)
    files: Mapped[list[FileNoteDocument]] = mapped_column(default=list)
    sources: Mapped[list[SourceDocument]] = mapped_column(default=list)

    @property
    def shown_id(self) -> str:
        """The id that everyone knows it by."""
        return self.external_id or str(self.id)


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
    refused: Mapped[MessageDocument | None]


class JudgementRow(Base):
    """One judging of one submission.

    `attempt` fences late graders: only the attempt that is current may record. `failures` counts the attempts in which
    the checker raised, ran too long or took the grader with it; a server killed in the meantime is no such failure, but
    one of the `lost`: attempts of a process (`process_id`, as in `processes`) that was gone before they ended. Those of
    a rejudging are not current, and no one's business, until it is applied; `replaced_id` is the judgement that was
    current before. `team_id` is that of the submission, of those that someone waits for: they are counted by it.

    The rows are the queue: graders claim by `lane`, `turn` (in seconds of grading; null: new in its lane) and id, and
    not before `not_before`; `waits_for` is the stored file, or the sandbox, that was missing. `trace` is the context of
    the request that made it.
    """

    __tablename__ = "judgements"
    __table_args__ = (
        # By rejudging first: who counts what people or one team wait for walks past no judgement of a rejudging.
        Index("ix_judgements_waiting", "rejudging_id", "team_id", sqlite_where=WAITING, postgresql_where=WAITING),
        Index("ix_judgements_queue", "lane", "turn", "id", sqlite_where=WAITING, postgresql_where=WAITING),
        # Each deleted judgement is looked for in this column: without an index the table is read for each of them.
        Index("ix_judgements_replaced_id", "replaced_id", sqlite_where=REPLACING, postgresql_where=REPLACING),
        {"sqlite_autoincrement": True},
    )

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"), index=True)
    team_id: Mapped[str | None] = mapped_column(ID)
    state: Mapped[str] = mapped_column(String(8), default="queued")
    lane: Mapped[int] = mapped_column(default=LIVE, server_default=str(LIVE))
    turn: Mapped[float | None]
    not_before: Mapped[datetime | None]
    waits_for: Mapped[str | None] = mapped_column(SHA256)
    trace: Mapped[str | None] = mapped_column(Text)
    attempt: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)
    lost: Mapped[int] = mapped_column(default=0, server_default="0")
    process_id: Mapped[str | None] = mapped_column(ID)
    type: Mapped[str | None] = mapped_column(String(3))
    current: Mapped[bool] = mapped_column(default=True)
    rejudging_id: Mapped[int | None] = mapped_column(ForeignKey("rejudgings.id"), index=True)
    replaced_id: Mapped[int | None] = mapped_column(ForeignKey("judgements.id", ondelete="SET NULL"))
    start_time: Mapped[datetime]
    end_time: Mapped[datetime | None]
    error: Mapped[str | None] = mapped_column(Text)


class RawScoreRow(Base):
    """The checker's result for one answer: verdict, exact raw score, multiplier, message. A CLICS run.

    `judge_message` is what a package's own checker says to judges alone; `images` are those that it left, null: none.
    """

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
    message: Mapped[MessageDocument]
    judge_message: Mapped[str | None] = mapped_column(Text)
    images: Mapped[list[ImageDocument] | None]
    run_time_ms: Mapped[int]
    time: Mapped[datetime]
