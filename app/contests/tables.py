"""Contests, who takes part in them and how, and the messages, awards and rejudgings of each."""

from datetime import datetime
from functools import partial
from secrets import token_hex

from sqlalchemy import BigInteger, ForeignKey, String, Text, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from app.contests.schemas import ContestSettings, Limits, Rule
from app.core.db.tables import ID, Base, BigId, Details, Model
from app.core.json_documents import PauseDocument, ProblemChanges, SelectionDocument

OPEN, APPLIED, UNDONE, CANCELLED = "open", "applied", "undone", "cancelled"


class ContestRow(Base):
    """A contest. `open_to_all`: every team takes part (practice). Durations are milliseconds.

    countdown_pause_ms  the countdown stands still at this many milliseconds before the start
    pauses              the intervals taken out of the contest's time: [{"start": TIME, "end": TIME or null}]
    revealed            what has been opened of a frozen board: [[team_id, problem_id]]
    secret              shown to no one: `veil`, its part before a colon, veils the ids of judgements and runs; all of
                        it veils the places of the event feed, and a restore changes the part behind the colon
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
    details: Mapped[Details] = mapped_column(default=dict, server_default="{}")
    open_to_all: Mapped[bool] = mapped_column(default=False)
    settings: Mapped[ContestSettings] = mapped_column(Model(ContestSettings), default=ContestSettings)
    secret: Mapped[str] = mapped_column(String(64), default=partial(token_hex, 16), server_default="")

    @property
    def veil(self) -> str:
        """The secret that veils the ids of judgements and runs, which outlive a restore."""
        return self.secret.partition(":")[0]


class ContestTeamRow(Base):
    """A team takes part in a contest. A disqualified one is not on its board and never BEST; nor does a row alone
    let it into a contest open to all, where every team takes part; on its board once it is final are those with a row.

    extra_seconds  how much later than the contest the team's time ends
    """

    __tablename__ = "contest_teams"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True, index=True)
    disqualified: Mapped[bool] = mapped_column(default=False, server_default=false())
    extra_seconds: Mapped[int] = mapped_column(default=0, server_default="0")


class ParticipationRow(Base):
    """A team's own clock in a contest: `virtual` after its end, `personal` where everyone starts when they like."""

    __tablename__ = "participations"

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True, index=True)
    kind: Mapped[str] = mapped_column(String(8))
    start_time: Mapped[datetime]


class TeamProblem:
    """The key of what a team has asked or chosen at a problem, and the time."""

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    team_id: Mapped[str] = mapped_column(ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True)
    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id", ondelete="CASCADE"), primary_key=True)
    time: Mapped[datetime]


class InputRequestRow(TeamProblem, Base):
    """A team has asked for a problem's final inputs, and its timer runs from `time`."""

    __tablename__ = "input_requests"


class ChosenSubmissionRow(TeamProblem, Base):
    """The submission a team wants to be judged by at a problem, in place of its last or best one."""

    __tablename__ = "chosen_submissions"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id", ondelete="CASCADE"))


class ContestProblemRow(Base):
    """A problem in a contest: its label, place, colour, scoring rule, and how often a team may submit (`limits`).

    `version` is the one that the contest stays with; null: it follows the newest.
    """

    __tablename__ = "contest_problems"
    __table_args__ = (UniqueConstraint("contest_id", "label"),)

    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    problem_id: Mapped[str] = mapped_column(ForeignKey("problems.id"), primary_key=True, index=True)
    label: Mapped[str] = mapped_column(String(36))
    ordinal: Mapped[int]
    rgb: Mapped[str | None] = mapped_column(String(7))
    color: Mapped[str | None] = mapped_column(Text)
    rule: Mapped[Rule] = mapped_column(Model(Rule, exclude_unset=True), default=Rule)
    limits: Mapped[Limits] = mapped_column(Model(Limits, exclude_unset=True), default=Limits, server_default="{}")
    version: Mapped[int | None]


class ClarificationRow(Base):
    """A question, an answer or an announcement. Lists that are null: to everyone, or to the jury if a team asks."""

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
    """A commentator's message about the contest, and the objects it refers to."""

    __tablename__ = "commentary"

    id: Mapped[str] = mapped_column(ID, primary_key=True)
    contest_id: Mapped[str] = mapped_column(ForeignKey("contests.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[str | None] = mapped_column(ForeignKey("accounts.id"))
    message: Mapped[str] = mapped_column(Text)
    details: Mapped[Details] = mapped_column(default=dict)
    time: Mapped[datetime]
    contest_time_ms: Mapped[int] = mapped_column(BigInteger)


class RejudgingRow(Base):
    """Submissions judged again, and what changes with it: silent until applied, and undoable after.

    selection  which submissions: {"problem": id, "team": id, "submissions": [id]}, each optional
    changes    what changes when it is applied (see `app.problems.queries.problem_diff`); empty: new judgements
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
