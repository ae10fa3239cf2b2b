"""Readiness: whether submissions are taken and judged, asked of the database and the engine within seconds.

It answers also while all threads of requests wait, so that a load balancer turns to another server (guarantee 7).

- Damaged stored files and the work that waits for them, for admins.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from shutil import disk_usage
from typing import TypeVar

import structlog
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from pydantic import BaseModel, Field
from sqlalchemy.exc import SQLAlchemyError

from app.core import clics, clock, load, loops
from app.core.db.commits import CommitInDoubt
from app.core.service import Service
from app.judging.queries.judging_tasks import waiting_for_file
from app.operations import queries as operations_queries


class FileAtFault(BaseModel):
    """A stored file that cannot be read, why, and how many judgements wait for it."""

    sha256: str
    error: str
    waiting: int


class StoredFiles(BaseModel):
    """Files that are missing or damaged, and what the last pass over all files has read."""

    faults: list[FileAtFault]
    read: int = Field(description="files the last pass has read")
    bytes_read: int
    orphans_removed: int
    ended: str | None = Field(description="when the last pass ended; null before the first")


def stored_files(service: Service) -> StoredFiles:
    """Files that requests, graders or the last pass could not read, unless they were written again; from memory.

    Where workers judge, these tell of the files that they wait for.
    """
    last, faults = service.scrub.last, []
    if damaged := service.scrub.faults():
        with service.database.read() as session:
            faults = [
                FileAtFault(sha256=sha256, error=error, waiting=waiting_for_file(session, sha256))
                for sha256, error in damaged.items()
            ]
    return StoredFiles(
        faults=faults,
        read=last.files,
        bytes_read=last.size,
        orphans_removed=last.removed,
        ended=clics.format_time_or_none(last.ended),
    )


T = TypeVar("T")
SECONDS_PROVEN = 1.0
SECONDS_TO_WRITE = 5.0
# Bytes that must be free: with fewer, submissions are about to get 507.
LEAST_ROOM = 16 * 2**20
# A server that has not heard for so long what others have written may show what is old.
SECONDS_BEHIND = 10.0
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
        description="how far the time of contests is ahead of the system's clock, which was set back; usually 0"
    )


async def readiness(service: Service, probing: load.SharedWork) -> Ready:
    """Ask the database and the engine; `probing` holds the question that the database has not answered yet."""
    state, queue = service.engine.graders(), None
    try:
        _, queue = await asyncio.gather(_try_to_write(service), _try_to_read(service, probing))
        if (listener := service.listener) is not None and listener.behind > SECONDS_BEHIND:
            queue = None
            log.warning("not ready", error=f"notices of other servers were heard {listener.behind:.0f} s ago")
    except (SQLAlchemyError, CommitInDoubt, TimeoutError) as error:
        log.warning("not ready", error=str(error) or type(error).__name__)
    room = all(map(has_room, (service.settings.home, Path(service.files.place))))
    oldest = None if queue is None or queue.oldest is None else (clock.utc_now() - queue.oldest).total_seconds()
    return Ready(
        ready=queue is not None and state.alive > 0 and room,
        database=queue is not None,
        graders=state.alive,
        grader_deaths=state.deaths,
        unprotected=sorted(name for name, lack in state.protections.items() if lack),
        sandbox={name: lack or "on" for name, lack in (await _apart(service.sandbox.lacks)).items()},
        waiting=None if queue is None else queue.length,
        oldest_seconds=oldest,
        damaged_files=len(service.scrub.faults()),
        room=room,
        loops={
            loop.name: LoopReport(
                last_success=clics.format_time_or_none(loop.succeeded), failures=loop.failures, error=loop.error
            )
            for loop in loops.states()
        },
        clock_ahead_seconds=round(clock.the_clock().ahead().total_seconds(), 1),
    )


def disk_of(service: Service) -> tuple[int, int]:
    """The free bytes and all bytes of the disk that the data of this server lie on."""
    usage = disk_usage(service.settings.home)
    return usage.free, usage.total


def has_room(folder: Path, least: int = LEAST_ROOM) -> bool:
    """Whether a disk has room for some submissions; files that are not on a disk of this machine count as having it."""
    return not folder.exists() or disk_usage(folder).free >= least


async def _apart(call: Callable[[], T]) -> T:
    """The result of a call, in a thread that no request needs."""
    return await run_sync(call, limiter=CapacityLimiter(1))


async def _try_to_write(service: Service) -> None:
    """Have the writer commit something if its last commit is old; raises the writer's errors, or TimeoutError."""
    if time.monotonic() - service.writer.committed > SECONDS_PROVEN:
        async with asyncio.timeout(SECONDS_TO_WRITE):
            await service.writer.call(operations_queries.probe, None)


async def _try_to_read(service: Service, probing: load.SharedWork) -> operations_queries.Queue:
    """Read as requests do; one at a time, so that a read that hangs takes one thread."""

    def read() -> operations_queries.Queue:
        with service.database.read(for_request=True) as session:
            return operations_queries.queue(session)

    async with asyncio.timeout(service.settings.health_seconds):
        return await probing.joined("queue", partial(_apart, read))
