"""The tables. One class a table; the words are those of docs/glossary.md."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from secrets import token_hex
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, LargeBinary, MetaData, String, Text, UniqueConstraint, false, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from app.domain.documents import (
    LimitsDocument,
    MessageDocument,
    ProblemSettingsDocument,
    RuleDocument,
    SettingsDocument,
)
from app.storage.columns import BigId, Json, Moment
from app.storage.documents import (
    FileNoteDocument,
    JobResult,
    MetadataDocument,
    PauseDocument,
    ProblemChanges,
    ProvenanceDocument,
    RunParams,
    SelectionDocument,
    SourceDocument,
    StatementDocument,
)

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
DOCUMENTS: tuple[object, ...] = (
    dict[str, Any],
    dict[str, str],
    dict[str, list[str | int]],
    dict[str, StatementDocument],
    list[str],
    list[list[str]],
    list[FileNoteDocument],
    list[PauseDocument],
    list[SourceDocument],
    JobResult,
    LimitsDocument,
    MessageDocument,
    MetadataDocument,
    ProblemSettingsDocument,
    ProvenanceDocument,
    ProblemChanges,
    RuleDocument,
    RunParams,
    SelectionDocument,
    SettingsDocument,
)
"""The types of columns that hold JSON."""


class Base(DeclarativeBase):
    """What all tables share: names for constraints, and how Python types become columns."""

    metadata = MetaData(naming_convention=NAMES)
    type_annotation_map = {datetime: Moment} | dict.fromkeys(DOCUMENTS, Json)


class GroupRow(Base):
    """A group of teams, such as a site or a division. `contest_id`: the contest that brought it; others show it too
    where a team of theirs is in it. `details` are further CLICS properties, such as a location.
    """

    __tablename__ = "groups"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    contest_id: Mapped[str | None] = mapped_column(ForeignKey("contests.id", ondelete="SET NULL"), index=True)
    name: Mapped[str] = mapped_column(Text)
    type: Mapped[str | None] = mapped_column(Text)
    icpc_id: Mapped[str | None] = mapped_column(Text)
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)


class OrganizationRow(Base):
    """A university or another body teams belong to. `contest_id` and `details` as for groups."""

    __tablename__ = "organizations"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    contest_id: Mapped[str | None] = mapped_column(ForeignKey("contests.id", ondelete="SET NULL"), index=True)
    name: Mapped[str] = mapped_column(Text)
    formal_name: Mapped[str | None] = mapped_column(Text)
    icpc_id: Mapped[str | None] = mapped_column(Text)
    country: Mapped[str | None] = mapped_column(String(3))
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)


class PersonRow(Base):
    """Somebody a contest has to do with: contestant, coach, staff or other. `contest_id`, `details` as for groups."""

    __tablename__ = "persons"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    contest_id: Mapped[str | None] = mapped_column(ForeignKey("contests.id", ondelete="SET NULL"), index=True)
    name: Mapped[str] = mapped_column(Text)
    role: Mapped[str] = mapped_column(String(16))
    icpc_id: Mapped[str | None] = mapped_column(Text)
    team_ids: Mapped[list[str]] = mapped_column(default=list)
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)


class TeamRow(Base):
    """A team; hidden ones are not on boards and never BEST."""

    __tablename__ = "teams"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    label: Mapped[str] = mapped_column(Text)
    display_name: Mapped[str | None] = mapped_column(Text)
    hidden: Mapped[bool] = mapped_column(default=False)
    icpc_id: Mapped[str | None] = mapped_column(Text)
    organization_id: Mapped[str | None] = mapped_column(ForeignKey("organizations.id"), index=True)
    group_ids: Mapped[list[str]] = mapped_column(default=list, server_default="[]")
    details: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")


class AccountRow(Base):
    """Somebody who can log in: `type` is admin, judge, team or another CLICS account type."""

    __tablename__ = "accounts"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    username: Mapped[str] = mapped_column(Text, unique=True)
    password_hash: Mapped[str | None] = mapped_column(Text)
    name: Mapped[str | None] = mapped_column(Text)
    type: Mapped[str] = mapped_column(String(16))
    team_id: Mapped[str | None] = mapped_column(ForeignKey("teams.id"))
    person_id: Mapped[str | None] = mapped_column(ForeignKey("persons.id"))
    created: Mapped[datetime]


class TokenRow(Base):
    """A bearer token, kept as its sha256 only. `last_used` is right to a quarter of an hour."""

    __tablename__ = "tokens"

    digest: Mapped[str] = mapped_column(SHA256, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    label: Mapped[str] = mapped_column(Text, default="")
    created: Mapped[datetime]
    expires: Mapped[datetime | None]
    last_used: Mapped[datetime | None]


class ContestRow(Base):
    """A contest. `open_to_all`: every team takes part (practice). Durations are milliseconds.

    countdown_pause_ms  the countdown stands still at this many milliseconds before the start
    pauses              the intervals taken out of the contest's time: [{"start": TIME, "end": TIME or null}]
    revealed            what has been opened of a frozen board: [[team_id, problem_id]]
    secret              shown to nobody: it veils the ids of judgements and runs, and the places of the event feed
    """

    __tablename__ = "contests"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    formal_name: Mapped[str | None] = mapped_column(Text)
    start_time: Mapped[datetime | None]
    duration_ms: Mapped[int] = mapped_column(BigInteger)
    freeze_ms: Mapped[int | None] = mapped_column(BigInteger)
    thaw_time: Mapped[datetime | None]
    finalized: Mapped[datetime | None]
    countdown_pause_ms: Mapped[int | None] = mapped_column(BigInteger)
    pauses: Mapped[list[PauseDocument]] = mapped_column(default=list, server_default="[]")
    revealed: Mapped[list[list[str]]] = mapped_column(default=list, server_default="[]")
    main_scoreboard_group_id: Mapped[str | None] = mapped_column(ID)
    details: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    open_to_all: Mapped[bool] = mapped_column(default=False)
    settings: Mapped[SettingsDocument] = mapped_column(default=dict)
    secret: Mapped[str] = mapped_column(String(64), default=partial(token_hex, 16), server_default="")


class ContestTeamRow(Base):
    """A team takes part in a contest. A disqualified one is not on its board and never BEST; nor does a row alone
    let it into a contest open to all, where every team takes part; on its board once it is final are those with a row.
    """

    __tablename__ = "contest_teams"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True, index=True)
    disqualified: Mapped[bool] = mapped_column(default=False, server_default=false())


class ParticipationRow(Base):
    """A team's own clock in a contest: `virtual` after its end, `personal` where everybody starts when they like."""

    __tablename__ = "participations"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True, index=True)
    kind: Mapped[str] = mapped_column(String(8))
    start_time: Mapped[datetime]


class InputRequestRow(Base):
    """A team has asked for a problem's final inputs, and its timer runs from `time`."""

    __tablename__ = "input_requests"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True)
    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"), primary_key=True)
    time: Mapped[datetime]


class ChosenSubmissionRow(Base):
    """The submission a team wants to be judged by at a problem, in place of its last or best one."""

    __tablename__ = "chosen_submissions"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True)
    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))
    time: Mapped[datetime]


class ClarificationRow(Base):
    """A question, an answer or an announcement. Lists that are null: to everybody, or to the jury if a team asks."""

    __tablename__ = "clarifications"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    from_team_id: Mapped[str | None] = mapped_column(ForeignKey("teams.id"))
    to_team_ids: Mapped[list[str] | None]
    to_group_ids: Mapped[list[str] | None]
    reply_to_id: Mapped[str | None] = mapped_column(ID)
    problem_id: Mapped[str | None] = mapped_column(ForeignKey("problems.id"))
    text: Mapped[str] = mapped_column(Text)
    time: Mapped[datetime]
    contest_time_ms: Mapped[int] = mapped_column(BigInteger)


class AwardRow(Base):
    """An award made by hand, or one that takes the place of a computed one; `deleted`: that one is not given."""

    __tablename__ = "awards"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    id: Mapped[str] = mapped_column(ID, primary_key=True)
    citation: Mapped[str] = mapped_column(Text)
    team_ids: Mapped[list[str]] = mapped_column(default=list)
    deleted: Mapped[bool] = mapped_column(default=False)


class CommentaryRow(Base):
    """What a commentator says of the contest, and what it is about."""

    __tablename__ = "commentary"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    message: Mapped[str] = mapped_column(Text)
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)
    time: Mapped[datetime]
    contest_time_ms: Mapped[int] = mapped_column(BigInteger)


class RejudgingRow(Base):
    """Submissions judged again, and what changes with it: silent until applied, and undoable after.

    selection  which submissions: {"problem": id, "team": id, "submissions": [id]}, each optional
    changes    what becomes different when it is applied (see `app.storage.problem_diff`); empty: only new judgements
    undo       what the changes have replaced, once applied
    state      open, applied, undone or cancelled; whether an open one is ready is told by its judgements
    """

    __tablename__ = "rejudgings"

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=True)
    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), index=True)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    reason: Mapped[str] = mapped_column(Text)
    selection: Mapped[SelectionDocument] = mapped_column(default=dict)
    changes: Mapped[ProblemChanges] = mapped_column(default=dict)
    undo: Mapped[ProblemChanges] = mapped_column(default=dict)
    state: Mapped[str] = mapped_column(String(10), index=True)
    created: Mapped[datetime]
    applied: Mapped[datetime | None]
    ended: Mapped[datetime | None]


class EventRow(Base):
    """One event of a contest's feed, as it was sent; ids go up by one in each contest.

    audience   who gets it, a letter each: `p` everybody but the owner, `o` the owner, `j` judges, `a` one account,
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
    """Who is called back when a contest changes. `positions` are the last event taken, by contest.

    `token` is encrypted by the key of `key_id`; a row of a version without keys has the token itself and an empty id.
    """

    __tablename__ = "webhooks"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"))
    url: Mapped[str] = mapped_column(Text)
    token: Mapped[str] = mapped_column(Text)
    key_id: Mapped[str] = mapped_column(String(32), default="", server_default="")
    contest_ids: Mapped[list[str]] = mapped_column(default=list)
    endpoints: Mapped[list[str]] = mapped_column(default=list)
    active: Mapped[bool] = mapped_column(default=True)
    positions: Mapped[dict[str, list[str | int]]] = mapped_column(default=dict)
    failing_since: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(default=0)
    error: Mapped[str | None] = mapped_column(Text)
    created: Mapped[datetime]


class ProblemRow(Base):
    """A problem as imported: `settings` is jurado.yaml, `metadata_` problem.yaml, `statements` files by language."""

    __tablename__ = "problems"

    id: Mapped[str] = mapped_column(SLUG, primary_key=True)
    uuid: Mapped[str] = mapped_column(String(36))
    names: Mapped[dict[str, str]]
    metadata_: Mapped[MetadataDocument] = mapped_column("metadata")
    settings: Mapped[ProblemSettingsDocument]
    statements: Mapped[dict[str, StatementDocument]]
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
    require_pass: Mapped[list[str]] = mapped_column(default=list)


class TestCaseRow(Base):
    """A test case: input and expected answer by their sha256, and where the answer came from (`provenance`).

    The reference's raw score and multiplier are kept so that it can take part in BEST. `removed`: it is no case of the
    problem any more; its row stays because answers and raw scores refer to it, and because removing can be undone.
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
    checker_args: Mapped[list[str]] = mapped_column(default=list)
    provenance: Mapped[ProvenanceDocument] = mapped_column(default=dict)
    removed: Mapped[bool] = mapped_column(default=False, server_default=false())


class ContestProblemRow(Base):
    """A problem in a contest: its label, place, colour, scoring rule, and how often a team may submit (`limits`)."""

    __tablename__ = "contest_problems"
    __table_args__ = (UniqueConstraint("contest_id", "label"),)

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id"), primary_key=True, index=True)
    label: Mapped[str] = mapped_column(String(36))
    ordinal: Mapped[int]
    rgb: Mapped[str | None] = mapped_column(String(7))
    color: Mapped[str | None] = mapped_column(Text)
    rule: Mapped[RuleDocument] = mapped_column(default=dict)
    limits: Mapped[LimitsDocument] = mapped_column(default=dict, server_default="{}")


class SubmissionRow(Base):
    """A submission: who, when, what for. `files` is the report on each file sent: taken, ignored, why.

    `external_id` is the id another system gave it (PUT by an admin); it is shown in place of the row's own.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        Index("ix_submissions_contest_id_id", "contest_id", "id"),
        Index("uq_submissions_idempotency", "account_id", "contest_id", "idempotency_key", unique=True),
        Index("uq_submissions_external_id", "contest_id", "external_id", unique=True),
        Index("ix_submissions_contest_id_team_id_problem_id", "contest_id", "team_id", "problem_id"),
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
    files: Mapped[list[FileNoteDocument]] = mapped_column(default=list)
    sources: Mapped[list[SourceDocument]] = mapped_column(default=list)

    @property
    def shown_id(self) -> str:
        """The id that everybody knows it by."""
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
    the checker raised, ran too long or took the grader with it; a server killed meanwhile is no such failure. Those of
    a rejudging are not current, and nobody's business, until it is applied; `replaced_id` is the judgement that was
    current before.
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
    rejudging_id: Mapped[int | None] = mapped_column(ForeignKey("rejudgings.id"), index=True)
    replaced_id: Mapped[int | None] = mapped_column(ForeignKey("judgements.id"))
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
    message: Mapped[MessageDocument]
    run_time_ms: Mapped[int]
    time: Mapped[datetime]


class JobRow(Base):
    """Long work for an admin, such as a reference run: its state, progress 0..1, log tail and result."""

    __tablename__ = "jobs"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    state: Mapped[str] = mapped_column(String(10), index=True)
    params: Mapped[RunParams]
    progress: Mapped[float] = mapped_column(default=0.0)
    log: Mapped[str] = mapped_column(Text, default="")
    result: Mapped[JobResult | None]
    attempt: Mapped[int] = mapped_column(default=0)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    created: Mapped[datetime]
    started: Mapped[datetime | None]
    ended: Mapped[datetime | None]


class ClockRow(Base):
    """How far the time of the service had come, written every few seconds: the only row has the id 1."""

    __tablename__ = "clock"

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    time: Mapped[datetime]
