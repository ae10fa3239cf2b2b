"""HTTP route: the state of the whole installation, for admins."""

from __future__ import annotations

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from pydantic import BaseModel

from app.core.http.deps import CurrentViewer, TheService
from app.core.http.gated import GatedRoute
from app.operations.service.advice import Advice, advice
from app.operations.service.readiness import readiness
from app.operations.service.status import Status, status

router = APIRouter(route_class=GatedRoute, tags=["health"])


class StatusWithAdvice(BaseModel):
    """The state of the installation, whether it takes and judges submissions, and what to do where it is not well."""

    ready: bool
    status: Status
    advice: list[Advice]


@router.get("/status", summary="The state of servers, workers, database, broker, judging, contests, files and backup")
async def get_status(_viewer: CurrentViewer, request: Request, service: TheService) -> StatusWithAdvice:
    """What `jurado status` shows, read in a few short queries; processes give a sign of life each 5 s."""
    ready = await readiness(service, request.app.state.probing)
    state = await run_sync(status, service)
    return StatusWithAdvice(ready=ready.ready, status=state, advice=[each.shown() for each in advice(ready, state)])
