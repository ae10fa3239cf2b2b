"""The tables, one class each; the words are those of docs/glossary.md.

This is the list that migrations, backups and moves go by: a table that is not imported here is none.
"""

from app.accounts.tables import (
    AccountRow,
    AuditRow,
    ContestRoleRow,
    GroupRow,
    KeptTeamRow,
    OrganiserRow,
    OrganizationRow,
    PersonRow,
    ProblemRoleRow,
    RegisteredRow,
    RegistrationRow,
    TeamRow,
    TokenRow,
)
from app.contests.tables import (
    AwardRow,
    ChosenSubmissionRow,
    ClarificationRow,
    CommentaryRow,
    ContestProblemRow,
    ContestRow,
    ContestTeamRow,
    InputRequestRow,
    ParticipationRow,
    RejudgingRow,
)
from app.core.db.tables import Base, ClockRow, JobRow, LastBackupRow, ProcessRow
from app.feed.tables import EventRow, WebhookRow
from app.games.tables import GameMoveRow, GameRow
from app.problems.tables import ProblemRow, ProblemVersionRow, TestCaseRow, TestGroupRow
from app.submissions.tables import AnswerRow, JudgementRow, RawScoreRow, SubmissionRow
