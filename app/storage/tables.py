"""The tables, one class each; the words are those of docs/glossary.md.

This is the list that migrations, backups and moves go by: a table that is not imported here is none.
"""

from __future__ import annotations

from app.storage.schema.base import Base
from app.storage.schema.contests import (
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
from app.storage.schema.feed import EventRow, WebhookRow
from app.storage.schema.games import GameMoveRow, GameRow
from app.storage.schema.people import AccountRow, GroupRow, OrganizationRow, PersonRow, TeamRow, TokenRow
from app.storage.schema.problems import ProblemRow, ProblemVersionRow, TestCaseRow, TestGroupRow
from app.storage.schema.registration import PasswordResetRow, RegisteredRow, RegistrationRow
from app.storage.schema.roles import AuditRow, ContestRoleRow, KeptTeamRow, OrganiserRow, ProblemRoleRow
from app.storage.schema.service import ClockRow, CommitMarkRow, JobRow, LastBackupRow, ProcessRow
from app.storage.schema.submissions import AnswerRow, JudgementRow, RawScoreRow, SubmissionRow

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
