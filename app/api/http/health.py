"""Is it alive, is it ready, and how much has it done: for load balancers and Prometheus, outside of /api."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from secrets import compare_digest
from typing import cast

import structlog
from anyio import CapacityLimiter
from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from pydantic import BaseModel, Field
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from app.api.http.deps import TheAuthenticator, TheService, admin_only, current_viewer, logged_in
from app.api.http.downloads import TEXT, WORDS
from app.api.http.openapi import SECURED
from app.domain.clock import the_clock, utc_now
from app.metrics import Metrics
from app.service import Service
from app.shared_work import SharedWork
from app.storage import health as stored
from app.storage.commits import CommitInDoubt
from app.storage.database import Database

SECONDS_PROVEN = 1.0
SECONDS_TO_READ = 2.0
SECONDS_TO_WRITE = 5.0
log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.health")
router = APIRouter(tags=["health"])


class Live(BaseModel):
    """The process answers."""

    status: str = "alive"


class Ready(BaseModel):
    """Whether submissions are taken and judged, and what is missing if not."""

    ready: bool
    database: bool = Field(description="the database answers, and takes what is written")
    graders: int = Field(description="graders that are able to work")
    spare_graders: int = Field(description="warm graders in reserve")
    grader_deaths: int = Field(description="graders that died since the server started")
    unprotected: list[str] = Field(description="protections that graders lack, as this system does not give them")
    waiting: int | None = Field(description="judgements that are not done")
    oldest_seconds: float | None = Field(description="how long the oldest of them has been waiting")
    damaged_files: int = Field(description="stored files known to be missing or damaged; admins see which")
    clock_ahead_seconds: float = Field(
        description="how far the time of contests is ahead of the system's clock, which was set back; else 0"
    )


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
    found = await readiness(service, request.app.state.probing)
    return JSONResponse(found.model_dump(), 200 if found.ready else 503)


async def _may_count(request: Request, service: TheService, authenticator: TheAuthenticator) -> None:
    """Let those through who run the service: with the token of the setting, or an admin's login."""
    header, token = request.headers.get("authorization"), service.settings.metrics_token
    if token and header is not None and compare_digest(header.encode(), f"Bearer {token}".encode()):
        return
    await admin_only(await logged_in(await current_viewer(request, authenticator)))


@router.get(
    "/metrics",
    summary="Counters for Prometheus",
    response_class=Response,
    responses={200: {"content": {TEXT: WORDS}}},
    dependencies=[Depends(_may_count)],
    openapi_extra=SECURED,
)
def get_metrics(request: Request) -> Response:
    """The text format of Prometheus; for admins, and for whoever has the token of `JURADO_METRICS_TOKEN`."""
    counted = cast(Metrics, request.app.state.metrics)
    return Response(generate_latest(counted.registry), media_type=CONTENT_TYPE_LATEST)


async def readiness(service: Service, probing: SharedWork) -> Ready:
    """Ask the database and the engine; `probing` holds the question that the database has not answered yet."""
    state = service.engine.graders()
    found = Ready(
        ready=False,
        database=False,
        graders=state.alive,
        spare_graders=state.spare,
        grader_deaths=state.deaths,
        unprotected=sorted(name for name, lack in state.protections.items() if lack),
        waiting=None,
        oldest_seconds=None,
        damaged_files=len(damaged_files(service)),
        clock_ahead_seconds=round(the_clock().ahead().total_seconds(), 1),
    )
    try:
        _, queue = await asyncio.gather(_try_to_write(service), _try_to_read(service, probing))
    except (SQLAlchemyError, CommitInDoubt, TimeoutError) as error:
        log.warning("not ready", error=str(error) or type(error).__name__)
        return found
    oldest = None if queue.oldest is None else (utc_now() - queue.oldest).total_seconds()
    return found.model_copy(
        update={"ready": state.alive > 0, "database": True, "waiting": queue.length, "oldest_seconds": oldest}
    )


def damaged_files(service: Service) -> set[str]:
    """Which stored files are known to be missing or damaged."""
    return {*service.scrub.faults(), *(fault.sha256 for fault in service.engine.parked.faults())}


async def _try_to_write(service: Service) -> None:
    """Have the writer commit something, unless it did a moment ago; raises what it raises, or TimeoutError."""
    if time.monotonic() - service.writer.committed > SECONDS_PROVEN:
        async with asyncio.timeout(SECONDS_TO_WRITE):
            await service.writer.call(stored.probe, None)


async def _try_to_read(service: Service, probing: SharedWork) -> stored.Queue:
    """Read as requests do, in a thread that no request needs; one at a time, so that one that hangs costs only one."""

    def read() -> stored.Queue:
        with service.database.read(for_request=True) as session:
            return stored.queue(session)

    async with asyncio.timeout(SECONDS_TO_READ):
        return await probing.soon("queue", read, limiter=CapacityLimiter(1))


class StoredCounts(Collector):
    """What the database knows, read at each scrape: right across restarts and several servers."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def collect(self) -> Iterator[Metric]:
        """Read the counts."""
        with self._database.read() as session:
            queue = stored.queue(session)
            submissions = stored.submission_count(session)
        yield CounterMetricFamily("jurado_submissions", "submissions accepted", value=submissions)
        yield GaugeMetricFamily("jurado_waiting", "judgements not done", value=queue.length)
        oldest = 0.0 if queue.oldest is None else (utc_now() - queue.oldest).total_seconds()
        yield GaugeMetricFamily("jurado_oldest_waiting_seconds", "age of the oldest of them", value=oldest)

    def describe(self) -> Iterator[Metric]:
        """Nothing is read before somebody scrapes."""
        return iter(())


class GraderCounts(Collector):
    """How the graders, the clock and the stored files are, asked at each scrape."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """Ask the engine."""
        state = self._service.engine.graders()
        yield GaugeMetricFamily("jurado_graders", "graders able to work", value=state.alive)
        yield GaugeMetricFamily("jurado_spare_graders", "warm graders in reserve", value=state.spare)
        yield CounterMetricFamily("jurado_grader_deaths", "graders that died", value=state.deaths)
        lacks = sum(map(bool, state.protections.values()))
        last, damaged = self._service.scrub.last, len(damaged_files(self._service))
        yield GaugeMetricFamily("jurado_damaged_files", "stored files known to be missing or damaged", value=damaged)
        yield GaugeMetricFamily("jurado_scrubbed_files", "files that the last pass over all has read", value=last.files)
        ended = 0.0 if last.ended is None else last.ended.timestamp()
        yield GaugeMetricFamily("jurado_scrub_ended_seconds", "when that pass ended, Unix time; 0: none", value=ended)
        ahead = the_clock().ahead().total_seconds()
        yield GaugeMetricFamily("jurado_clock_ahead_seconds", "time ahead of the system's clock", value=ahead)
        yield GaugeMetricFamily("jurado_grader_protections_missing", "protections the system lacks", value=lacks)

    def describe(self) -> Iterator[Metric]:
        """Nothing is read before somebody scrapes."""
        return iter(())


class JudgedCounts(Collector):
    """What the database knows of verdicts, read at each scrape."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._settled = 0
        self._settled_ms = 0

    def collect(self) -> Iterator[Metric]:
        """Read the counts."""
        with self._database.read() as session:
            verdicts = stored.verdict_counts(session)
            checking = self._checking_ms(session)
        family = CounterMetricFamily("jurado_verdicts", "judgements done, by their type", labels=["type"])
        for type_, count in sorted(verdicts.items()):
            family.add_metric([type_], count)
        yield family
        yield CounterMetricFamily("jurado_checking_seconds", "time checkers took", value=checking / 1000)

    def _checking_ms(self, session: Session) -> int:
        # Only what came since the last scrape is added up: in a long contest there are millions of rows.
        with self._lock:
            settled = stored.settled(session)
            if settled > self._settled:
                self._settled_ms += stored.checking_ms(session, self._settled, settled)
                self._settled = settled
            return self._settled_ms + stored.checking_ms(session, self._settled)

    def describe(self) -> Iterator[Metric]:
        """Nothing is read before somebody scrapes."""
        return iter(())
