"""HTTP routes: the audit log, for admins whole, and for owners that of their contest."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import AwareDatetime

from app.accounts.service import audit
from app.accounts.service.audit import MOST_AT_ONCE, AuditEntry, AuditQuery
from app.core.http.deps import Reading
from app.core.http.gated import GatedRoute

router = APIRouter(route_class=GatedRoute, tags=["audit"])
LARGEST_ID = 2**63 - 1


Actor = Annotated[str | None, Query(max_length=255, description="only of this account, by id or username")]
Operation = Annotated[str | None, Query(max_length=64, description="only this operation, by its operationId")]
Since = Annotated[AwareDatetime | None, Query(description="only from this time on, such as 2026-11-22T09:00:00Z")]
Before = Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="only entries older than that of this id")]
Limit = Annotated[int, Query(ge=1, le=MOST_AT_ONCE, description="at most so many")]


def _query(
    actor: Actor = None, operation: Operation = None, since: Since = None, before: Before = None, limit: Limit = 100
) -> AuditQuery:
    return AuditQuery(actor, operation, since, before, limit)


TheQuery = Annotated[AuditQuery, Depends(_query)]


@router.get("/audit", summary="Who changed what, when, from where")
def list_audit(
    session: Reading,
    query: TheQuery,
    contest_id: Annotated[str | None, Query(max_length=255, description="only of this contest")] = None,
) -> list[AuditEntry]:
    """Newest first; the last entry's id as `before` gives the next page."""
    return audit.listed(session, query, contest_id)


@router.get("/contests/{contest_id}/audit", summary="Who changed what in a contest")
def list_contest_audit(session: Reading, query: TheQuery, contest_id: str) -> list[AuditEntry]:
    """Newest first; the last entry's id as `before` gives the next page."""
    return audit.of_contest(session, query, contest_id)
