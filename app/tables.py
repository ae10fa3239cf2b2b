"""The tables, one class each; the words are those of docs/glossary.md.

This is the list that migrations, backups and moves go by: a table that is not imported here is none.
"""

from __future__ import annotations

from app.accounts.tables.people import AccountRow, GroupRow, OrganizationRow, PersonRow, TeamRow, TokenRow
from app.accounts.tables.registration import PasswordResetRow, RegisteredRow, RegistrationRow
from app.accounts.tables.roles import AuditRow, ContestRoleRow, KeptTeamRow, OrganiserRow, ProblemRoleRow
from app.contests.tables.contests import (
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
from app.core.db.base import Base
from app.core.db.tables.service import ClockRow, CommitMarkRow, JobRow, LastBackupRow, ProcessRow
from app.feed.tables.feed import EventRow, WebhookRow
from app.games.tables.games import GameMoveRow, GameRow
from app.problems.tables.problems import ProblemRow, ProblemVersionRow, TestCaseRow, TestGroupRow
from app.submissions.tables.submissions import AnswerRow, JudgementRow, RawScoreRow, SubmissionRow

__all__ = [
    "AccountRow",
    "AnswerRow",
    "AuditRow",
    "AwardRow",
    "Base",
    "ChosenSubmissionRow",
    "ClarificationRow",
    "ClockRow",
    "CommentaryRow",
    "CommitMarkRow",
    "ContestProblemRow",
    "ContestRoleRow",
    "ContestRow",
    "ContestTeamRow",
    "EventRow",
    "GameMoveRow",
    "GameRow",
    "GroupRow",
    "InputRequestRow",
    "JobRow",
    "JudgementRow",
    "KeptTeamRow",
    "LastBackupRow",
    "OrganiserRow",
    "OrganizationRow",
    "ParticipationRow",
    "PasswordResetRow",
    "PersonRow",
    "ProblemRoleRow",
    "ProblemRow",
    "ProblemVersionRow",
    "ProcessRow",
    "RawScoreRow",
    "RegisteredRow",
    "RegistrationRow",
    "RejudgingRow",
    "SubmissionRow",
    "TeamRow",
    "TestCaseRow",
    "TestGroupRow",
    "TokenRow",
    "WebhookRow",
]
