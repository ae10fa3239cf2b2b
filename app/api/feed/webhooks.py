"""HTTP routes: webhooks: addresses that are called with every change, so that their owners need not ask."""

from __future__ import annotations

from typing import Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Response

from app.api.feed.hub import TheHub
from app.api.http.deps import AdminOnly, Reading, TheService, Writing
from app.api.http.gated import GatedRoute
from app.api.http.middleware import API
from app.services.errors import BadRequest
from app.services.feed.webhooks import (
    WebhookBody,
    WebhookChange,
    WebhookView,
    change,
    check_target,
    contests_of,
    make,
    view,
    webhook_of,
)
from app.storage import webhooks as stored

router = APIRouter(route_class=GatedRoute, tags=["webhooks"])


@router.get("/webhooks", summary="All webhooks")
def list_webhooks(_viewer: AdminOnly, session: Reading) -> list[WebhookView]:
    """Also those that are not active any more."""
    return [view(row) for row in stored.webhooks(session)]


@router.get("/webhooks/{webhook_id}", summary="One webhook")
def get_webhook(_viewer: AdminOnly, session: Reading, webhook_id: str) -> WebhookView:
    """Where it goes, and whether it works."""
    return view(webhook_of(session, webhook_id))


@router.post("/webhooks", summary="Be called back", status_code=201)
async def create_webhook(
    viewer: AdminOnly, service: TheService, hub: TheHub, body: WebhookBody, response: Response
) -> WebhookView:
    """It is told what its account may see, from now on; what is there already is to be read from the endpoints."""
    await check_target(service.settings, body.url)
    there = await run_sync(contests_of, service)
    if unknown := sorted(set(body.contest_ids) - set(there)):
        raise BadRequest(f"contest_ids: expected contests that exist, found {unknown[0]!r}")
    positions: dict[str, Any] = {}
    for contest_id in body.contest_ids or there:
        known = await hub.open_log(contest_id)
        positions[contest_id] = [known.epoch, known.head]
    made = await run_sync(make, service, str(viewer.account_id), body, positions)
    await run_sync(hub.sender.start)
    response.headers["Location"] = f"{API}/webhooks/{made.id}"
    return made


@router.patch("/webhooks/{webhook_id}", summary="Call a webhook again, or no more")
async def change_webhook(
    _viewer: AdminOnly, service: TheService, hub: TheHub, webhook_id: str, body: WebhookChange
) -> WebhookView:
    """One that is active again is told everything it has missed."""
    changed = await run_sync(change, service, webhook_id, body)
    await run_sync(hub.sender.start)
    return changed


@router.delete("/webhooks/{webhook_id}", summary="Delete a webhook", status_code=204)
def delete_webhook(_viewer: AdminOnly, session: Writing, webhook_id: str) -> None:
    """It is called no more."""
    session.delete(webhook_of(session, webhook_id))
