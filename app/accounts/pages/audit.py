"""The audit log as a page: of a contest for its owners, of the whole server for admins."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Query, Request
from fastapi.responses import HTMLResponse

from app.accounts.service import audit
from app.accounts.service.audit import AuditEntry, AuditQuery
from app.core.errors import BadRequest
from app.core.messages import N_
from app.core.pages.frames import frame
from app.core.pages.pages import page
from app.core.pages.visitor import Reading, TheSnapshot, Visitor

PER_PAGE = 50
MOST_OBJECTS = 20
Text = Annotated[str, Query(max_length=255)]
Before = Annotated[int | None, Query(ge=1, lt=2**63)]


def contest_audit(
    request: Request,
    viewer: Visitor,
    snapshot: TheSnapshot,
    session: Reading,
    actor: Text = "",
    operation: Text = "",
    since: Text = "",
    before: Before = None,
) -> HTMLResponse:
    """Who changed what of the contest, newest first."""
    query = _query(actor, operation, since, before)
    return page(
        "organiser/audit.html",
        request,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, "audit"),
        **_shown(audit.of_contest(session, query, snapshot.contest.id), actor, operation, since),
    )


def server_audit(
    request: Request,
    viewer: Visitor,
    session: Reading,
    actor: Text = "",
    operation: Text = "",
    since: Text = "",
    before: Before = None,
) -> HTMLResponse:
    """Who changed what on the server, newest first."""
    entries = audit.listed(session, _query(actor, operation, since, before), None)
    return page("organiser/server_audit.html", request, viewer=viewer, **_shown(entries, actor, operation, since))


def _query(actor: str, operation: str, since: str, before: int | None) -> AuditQuery:
    moment = None
    if since:
        try:
            moment = datetime.fromisoformat(since).replace(tzinfo=UTC)
        except ValueError:
            raise BadRequest(
                N_("expected a time such as 2026-11-22T09:00, found %(found)r"), where="since", found=since[:40]
            ) from None
    return AuditQuery(actor.strip() or None, operation.strip() or None, moment, before, PER_PAGE + 1)


def _shown(entries: list[AuditEntry], actor: str, operation: str, since: str) -> dict[str, Any]:
    asked = {"actor": actor, "operation": operation, "since": since}
    known = {name: value for name, value in asked.items() if value}
    more = len(entries) > PER_PAGE
    return {
        "entries": [(entry, _counts(entry), _values(entry)) for entry in entries[:PER_PAGE]],
        "asked": asked,
        "later": urlencode({**known, "before": entries[PER_PAGE - 1].id}) if more else None,
    }


def _counts(entry: AuditEntry) -> str:
    """The rows that changed, by table, in words."""
    counts = entry.changes.get("counts")
    if not isinstance(counts, dict):
        return ""
    return ", ".join(f"{name}: {_count(count)}" for name, count in counts.items())


def _count(count: object) -> str:
    if not isinstance(count, dict):
        return str(count)
    return ", ".join(f"{number} {what}" for what, number in count.items())


def _values(entry: AuditEntry) -> str:
    """The first rows that changed with their values before and after, as JSON; empty without any."""
    objects = entry.changes.get("objects")
    return (
        json.dumps(objects[:MOST_OBJECTS], ensure_ascii=False, indent=1)
        if isinstance(objects, list) and objects
        else ""
    )
