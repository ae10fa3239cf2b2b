"""HTTP routes: webhooks: addresses that are called with every change, so that their owners need not ask."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.core.http.deps import CurrentViewer, Reading, TheService, Writing
from app.core.http.gated import GatedRoute
from app.core.http.middleware import API
from app.feed.routes.replies import TheHub
from app.feed.service import webhooks
from app.feed.service.webhooks import WebhookBody, WebhookChange, WebhookView

router = APIRouter(route_class=GatedRoute, tags=["webhooks"])


@router.get("/webhooks", summary="All webhooks")
def list_webhooks(_viewer: CurrentViewer, session: Reading) -> list[WebhookView]:
    """Also those that are not active any more."""
    return webhooks.listed(session)


@router.get("/webhooks/{webhook_id}", summary="One webhook")
def get_webhook(_viewer: CurrentViewer, session: Reading, webhook_id: str) -> WebhookView:
    """Where it goes, and whether it works."""
    return webhooks.one(session, webhook_id)


@router.post("/webhooks", summary="Be called back", status_code=201)
async def create_webhook(
    viewer: CurrentViewer, service: TheService, hub: TheHub, body: WebhookBody, response: Response
) -> WebhookView:
    """It is told what its account may see, from now on; what is there already is to be read from the endpoints."""
    made = await webhooks.create(service, hub, viewer, body)
    response.headers["Location"] = f"{API}/webhooks/{made.id}"
    return made


@router.patch("/webhooks/{webhook_id}", summary="Call a webhook again, or no more")
async def change_webhook(
    _viewer: CurrentViewer, service: TheService, hub: TheHub, webhook_id: str, body: WebhookChange
) -> WebhookView:
    """One that is active again is told everything it has missed."""
    return await webhooks.change(service, hub, webhook_id, body)


@router.delete("/webhooks/{webhook_id}", summary="Delete a webhook", status_code=204)
def delete_webhook(_viewer: CurrentViewer, session: Writing, webhook_id: str) -> None:
    """It is called no more."""
    webhooks.delete(session, webhook_id)
