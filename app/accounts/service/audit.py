"""The audit log as admins read it, and owners for their contest: filtered, newest first, page by page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts.queries import audit_queries as stored
from app.accounts.queries.audit_queries import AuditFilter
from app.contests.service.contests import contest_of
from app.core.clics import Time
from app.tables import AuditRow

MOST_AT_ONCE = 1000


class AuditEntry(BaseModel):
    """A change: when, by whom, from where, what was asked for, and what became different.

    `changes.objects` are the first rows that changed, each with its values before and after; `changes.counts` counts
    all by table. Secrets are `(hidden)`.
    """

    id: str
    time: Time
    account_id: str | None
    username: str
    role: str = Field(description="as which it acted: admin, owner, judge, or the account's type")
    address: str
    credential: str = Field(description="`password`, `token` with the token's id, or `job` with the job's id")
    operation: str
    method: str
    path: str
    contest_id: str | None
    problem_id: str | None
    changes: dict[str, object]


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """What of the log is asked for; `before` is the id of an entry: only older ones."""

    actor: str | None = None
    operation: str | None = None
    since: datetime | None = None
    before: int | None = None
    limit: int = 100


def listed(session: Session, query: AuditQuery, contest_id: str | None) -> list[AuditEntry]:
    """The entries, newest first."""
    wanted = AuditFilter(query.actor, contest_id, query.operation, query.since, query.before)
    return [_view(row) for row in stored.entries(session, wanted, min(query.limit, MOST_AT_ONCE))]


def of_contest(session: Session, query: AuditQuery, contest_id: str) -> list[AuditEntry]:
    """The entries of a contest, newest first; raises NotFound."""
    contest_of(session, contest_id)
    return listed(session, query, contest_id)


def _view(row: AuditRow) -> AuditEntry:
    columns = {name: getattr(row, name) for name in AuditEntry.model_fields}
    return AuditEntry.model_construct(**{**columns, "id": str(row.id)})
