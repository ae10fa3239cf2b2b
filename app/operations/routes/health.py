"""HTTP routes outside of /api, for load balancers and Prometheus: liveness, readiness, counters."""

from __future__ import annotations

from secrets import compare_digest
from typing import cast

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel

from app.accounts.service.rights import Place, check, who_may
from app.core.http.deps import TheAuthenticator, TheService, current_viewer
from app.core.http.downloads import TEXT, WORDS
from app.core.metrics import Metrics
from app.operations.service.readiness import Ready, readiness

router = APIRouter(tags=["health"])


class Live(BaseModel):
    """The process answers."""

    status: str = "alive"


@router.get("/health/live", summary="The process answers")
async def get_liveness() -> Live:
    """Say so; touches nothing that could be slow."""
    return Live()


@router.get(
    "/health/ready",
    summary="Submissions are taken and judged",
    responses={200: {"model": Ready}, 503: {"model": Ready}},
)
async def get_readiness(request: Request, service: TheService) -> JSONResponse:
    """200 or 503, with the same body, within seconds: also while the database says nothing."""
    state = await readiness(service, request.app.state.probing)
    if request.app.state.draining:
        state.ready = False
    return JSONResponse(state.model_dump(), 200 if state.ready else 503)


async def _may_count(request: Request, service: TheService, authenticator: TheAuthenticator) -> None:
    """Let those through who run the service: with the token of the setting, or an admin's login."""
    header, token = request.headers.get("authorization"), service.settings.metrics_token
    if token and header is not None and compare_digest(header.encode(), f"Bearer {token}".encode()):
        return
    check(who_may("get_metrics"), await current_viewer(request, authenticator), Place())


@router.get(
    "/metrics",
    summary="Counters for Prometheus",
    response_class=Response,
    responses={200: {"content": {TEXT: WORDS}}},
    dependencies=[Depends(_may_count)],
)
def get_metrics(request: Request) -> Response:
    """The text format of Prometheus; for admins, and for whoever has the token of `JURADO_METRICS_TOKEN`."""
    counted = cast(Metrics, request.app.state.metrics)
    return Response(generate_latest(counted.registry), media_type=CONTENT_TYPE_LATEST)
