"""HTTP route: the state of the whole installation, for admins.

- HTTP routes: what is known of stored files that are damaged, and what waits for them: for admins.
- HTTP routes outside of /api, for load balancers and Prometheus: liveness, readiness, counters.
"""

from importlib.metadata import version
from secrets import compare_digest
from typing import cast

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel, Field

from app.accounts.service.tokens import Place, check, who_may
from app.core import clics
from app.core.clock import utc_now
from app.core.http import deps, downloads
from app.core.telemetry import Metrics
from app.operations.service.findings import Part, examine
from app.operations.service.readiness import Ready, StoredFiles, readiness, stored_files

router = APIRouter(route_class=deps.GatedRoute, tags=["health"])


class Installation(BaseModel):
    """The state of the installation, and whether it takes and judges submissions."""

    ready: bool
    time: str
    version: str
    parts: list[Part] = Field(description="each part with its figure and what to do, as the health page has it")


@router.get("/status", summary="The state of servers, workers, database, broker, judging, contests, files and backup")
async def get_status(_viewer: deps.CurrentViewer, request: Request, service: deps.TheService) -> Installation:
    """What `jurado status` shows, read in a few short queries; processes give a sign of life each 5 s."""
    ready, _stored, parts = await examine(service, request.app.state.probing)
    return Installation(ready=ready.ready, time=clics.format_time(utc_now()), version=version("jurado"), parts=parts)


@router.get("/stored-files", summary="Which stored files are damaged, and what waits for them")
def get_stored_files(_viewer: deps.CurrentViewer, service: deps.TheService) -> StoredFiles:
    """From memory: files that requests, graders or the last scan could not read and that were not written again."""
    return stored_files(service)


health_router = APIRouter(tags=["health"])


class Live(BaseModel):
    """The process answers."""

    status: str = "alive"


@health_router.get("/health/live", summary="The process answers")
async def get_liveness() -> Live:
    """Say so; touches nothing that could be slow."""
    return Live()


@health_router.get(
    "/health/ready",
    summary="Submissions are taken and judged",
    responses={200: {"model": Ready}, 503: {"model": Ready}},
)
async def get_readiness(request: Request, service: deps.TheService) -> JSONResponse:
    """200 or 503, with the same body, within seconds: also while the database says nothing."""
    state = await readiness(service, request.app.state.probing)
    if request.app.state.draining:
        state.ready = False
    return JSONResponse(state.model_dump(), 200 if state.ready else 503)


async def _may_count(request: Request, service: deps.TheService, authenticator: deps.TheAuthenticator) -> None:
    """Let those through who run the service: with the token of the setting, or an admin's login."""
    header, token = request.headers.get("authorization"), service.settings.metrics_token
    if token and header is not None and compare_digest(header.encode(), f"Bearer {token}".encode()):
        return
    check(who_may("get_metrics"), await deps.current_viewer(request, authenticator), Place())


@health_router.get(
    "/metrics",
    summary="Counters for Prometheus",
    response_class=Response,
    responses={200: {"content": {downloads.TEXT: downloads.WORDS}}},
    dependencies=[Depends(_may_count)],
)
def get_metrics(request: Request) -> Response:
    """The text format of Prometheus; for admins and holders of the token `JURADO_METRICS_TOKEN`."""
    counted = cast(Metrics, request.app.state.metrics)
    return Response(generate_latest(counted.registry), media_type=CONTENT_TYPE_LATEST)
