"""Readiness: whether submissions are taken and judged, asked of the database and the engine within seconds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from shutil import disk_usage

import structlog
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from pydantic import BaseModel, Field
from sqlalchemy.exc import SQLAlchemyError

from app.core.clics import format_time_or_none
from app.core.clock import the_clock, utc_now
from app.core.db.commits import CommitInDoubt
from app.core.loops import states
from app.core.service import Service
from app.core.shared_work import SharedWork
from app.operations.queries import health as stored
from app.operations.service.stored_files import damaged_files

SECONDS_PROVEN = 1.0
SECONDS_TO_READ = 2.0
SECONDS_TO_WRITE = 5.0
LEAST_ROOM = 16 * 2**20
"""Bytes that must be free: with fewer, submissions are about to get 507."""
SECONDS_BEHIND = 10.0
"""A server that has not heard for so long what others have written may show what is old."""
log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.health")


class LoopReport(BaseModel):
    """The steps of background work; a failed step is tried again."""

    last_success: str | None = Field(description="null until a step succeeds")
    failures: int = Field(description="failed steps since the server started")
    error: str = Field(description="of the last step; empty where it succeeded")


class Ready(BaseModel):
    """The readiness of the service to take and judge submissions, and its faults."""

    ready: bool
    database: bool = Field(description="the database answers, and takes what is written")
    graders: int = Field(description="graders that are able to work")
    spare_graders: int = Field(description="warm graders in reserve")
    grader_deaths: int = Field(description="graders that died since the server started")
    unprotected: list[str] = Field(description="protections that graders lack, as this system does not give them")
    sandbox: dict[str, str] = Field(
        description="protections of the sandbox for programs of packages: `on`, or what is missing and how to get it"
    )
    waiting: int | None = Field(description="judgements that are not done")
    oldest_seconds: float | None = Field(description="how long the oldest of them has been waiting")
    damaged_files: int = Field(description="stored files known to be missing or damaged; admins see which")
    room: bool = Field(description="the disks of the home and of the files have room for submissions")
    loops: dict[str, LoopReport] = Field(description="background work of this server by name")
    clock_ahead_seconds: float = Field(
        description="how far the time of contests is ahead of the system's clock, which was set back; else 0"
    )


async def readiness(service: Service, probing: SharedWork) -> Ready:
    """Ask the database and the engine; `probing` holds the question that the database has not answered yet."""
    state = service.engine.graders()
    answer = Ready(
        ready=False,
        database=False,
        graders=state.alive,
        spare_graders=state.spare,
        grader_deaths=state.deaths,
        unprotected=sorted(name for name, lack in state.protections.items() if lack),
        sandbox={name: lack or "on" for name, lack in (await _protections(service)).items()},
        waiting=None,
        oldest_seconds=None,
        damaged_files=len(damaged_files(service)),
        room=all(map(has_room, (service.settings.home, Path(service.files.place)))),
        loops={
            loop.name: LoopReport(
                last_success=format_time_or_none(loop.succeeded), failures=loop.failures, error=loop.error
            )
            for loop in states()
        },
        clock_ahead_seconds=round(the_clock().ahead().total_seconds(), 1),
    )
    try:
        _, queue = await asyncio.gather(_try_to_write(service), _try_to_read(service, probing))
        if (listener := service.listener) is not None and listener.behind > SECONDS_BEHIND:
            raise TimeoutError(f"notices of other servers were heard {listener.behind:.0f} s ago")
    except (SQLAlchemyError, CommitInDoubt, TimeoutError) as error:
        log.warning("not ready", error=str(error) or type(error).__name__)
        return answer
    oldest = None if queue.oldest is None else (utc_now() - queue.oldest).total_seconds()
    return answer.model_copy(
        update={
            "ready": state.alive > 0 and answer.room,
            "database": True,
            "waiting": queue.length,
            "oldest_seconds": oldest,
        }
    )


def has_room(folder: Path, least: int = LEAST_ROOM) -> bool:
    """Whether a disk has room for some submissions; files that are not on a disk of this machine count as having it."""
    return not folder.exists() or disk_usage(folder).free >= least


async def _protections(service: Service) -> Mapping[str, str]:
    """Try what the sandbox needs, in a thread that no request needs."""
    return await run_sync(service.sandbox.lacks, limiter=CapacityLimiter(1))


async def _try_to_write(service: Service) -> None:
    """Have the writer commit something if its last commit is old; raises the writer's errors, or TimeoutError."""
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
