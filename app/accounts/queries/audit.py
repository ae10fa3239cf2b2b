"""Queries of the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from app.tables import AuditRow


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Conditions on entries, None for any: an account by id or username, a contest, an operation, and when."""

    actor: str | None = None
    contest_id: str | None = None
    operation: str | None = None
    since: datetime | None = None
    before: int | None = None


def entries(session: Session, wanted: AuditFilter, most: int) -> Sequence[AuditRow]:
    """The newest entries that meet all conditions, newest first."""
    query = select(AuditRow).order_by(AuditRow.id.desc()).limit(most)
    if wanted.actor is not None:
        query = query.where(or_(AuditRow.account_id == wanted.actor, AuditRow.username == wanted.actor))
    if wanted.contest_id is not None:
        query = query.where(AuditRow.contest_id == wanted.contest_id)
    if wanted.operation is not None:
        query = query.where(AuditRow.operation == wanted.operation)
    if wanted.since is not None:
        query = query.where(AuditRow.time >= wanted.since)
    if wanted.before is not None:
        query = query.where(AuditRow.id < wanted.before)
    return session.scalars(query).all()
