"""The health of the service: what `jurado status` tells, each figure with what to do about it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from anyio.to_thread import run_sync
from fastapi import Request
from fastapi.responses import HTMLResponse
from sqlalchemy.exc import SQLAlchemyError

from app.service import Service
from app.services.health.readiness import Ready, readiness
from app.services.health.stored_files import StoredFiles, stored_files
from app.services.problems import jobs
from app.services.problems.jobs import Job
from app.services.viewer import Viewer
from app.web.pages import page
from app.web.visitor import TheService, Visitor
from app.web.wording import size

LONG_WAIT = 60.0
"""Seconds after which a waiting judgement is worth a look."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A part of the service: `done`, `look` or `open`, its figure, and what to do about it."""

    mark: str
    name: str
    figure: str
    advice: str = ""


async def health_page(request: Request, service: TheService, viewer: Visitor) -> HTMLResponse:
    """Whether everything is all right, first in one line, then part by part."""
    ready = await readiness(service, request.app.state.probing)
    stored = await run_sync(stored_files, service)
    disk = await run_sync(_disk, service)
    going = await run_sync(_going, service, viewer)
    findings = [*_judging(ready), *_machine(ready, disk), *_files(stored)]
    return page(
        "organiser/health.html",
        request,
        viewer=viewer,
        is_ready=ready.ready,
        findings=findings,
        worst=[each for each in findings if each.mark == "open"],
        faults=stored.faults,
        jobs=going,
    )


def _going(service: Service, viewer: Viewer) -> list[Job]:
    """The jobs that wait or run; none while the database says nothing."""
    try:
        with service.database.read(for_request=True) as session:
            return [job for job in jobs.newest(session, viewer) if job.ended is None]
    except SQLAlchemyError:
        return []


def _disk(service: Service) -> tuple[int, int]:
    """The free bytes and all bytes of the disk that the data lie on."""
    usage = shutil.disk_usage(service.settings.home)
    return usage.free, usage.total


def _judging(ready: Ready) -> Iterator[Finding]:
    yield Finding(
        "done" if ready.database else "open",
        "Database",
        "answers, and takes what is written" if ready.database else "says nothing",
        "" if ready.database else "Look whether the database runs and its disk has room; the server's log says more.",
    )
    yield Finding(
        "done" if ready.graders else "open",
        "Graders",
        f"{ready.graders} alive, {ready.spare_graders} in reserve",
        "" if ready.graders else "Restart the server; submissions are kept and judged then.",
    )
    yield Finding(
        "look" if ready.grader_deaths else "done",
        "Graders that died",
        str(ready.grader_deaths),
        "A checker ran out of memory or time: look for judge errors among the submissions."
        if ready.grader_deaths
        else "",
    )
    oldest = ready.oldest_seconds or 0.0
    waits = "" if not ready.waiting else f", the oldest for {oldest:.0f} s"
    yield Finding(
        "look" if oldest > LONG_WAIT else "done",
        "Waiting to be judged",
        "unknown" if ready.waiting is None else f"{ready.waiting}{waits}",
        "More graders (JURADO_GRADERS) on a machine with free processors judge faster." if oldest > LONG_WAIT else "",
    )


def _machine(ready: Ready, disk: tuple[int, int]) -> Iterator[Finding]:
    free, whole = disk
    share = free / whole if whole else 1.0
    mark = "open" if share < 0.02 else "look" if share < 0.1 else "done"
    advice = "" if mark == "done" else "Make room on the disk of JURADO_HOME; without room nothing is taken any more."
    yield Finding(mark, "Disk", f"{size(free)} of {size(whole)} free", advice)
    ahead = ready.clock_ahead_seconds
    yield Finding(
        "look" if ahead else "done",
        "Clock",
        f"{ahead} s ahead of the system's" if ahead else "as the system's",
        "The system's clock was set back; contests go on by the time before. Set it right by NTP." if ahead else "",
    )
    for name in ready.unprotected:
        yield Finding("look", f"Protection of graders: {name}", "missing", "This system does not give it.")
    for name, state in _lacking(ready.sandbox):
        yield Finding("look", f"Sandbox for programs of packages: {name}", "missing", state)


def _lacking(sandbox: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, state) for name, state in sandbox.items() if state != "on")


def _files(stored: StoredFiles) -> Iterator[Finding]:
    damaged = len(stored.faults)
    yield Finding(
        "open" if damaged else "done",
        "Damaged files",
        str(damaged),
        "Bring them back from a backup (jurado fsck lists them); judgements that wait for them go on by themselves."
        if damaged
        else "",
    )
    last = "no pass over all files has ended yet" if stored.ended is None else f"read whole at {stored.ended[:16]} UTC"
    yield Finding("done", "Stored files", f"{stored.read} files, {size(stored.bytes_read)}; {last}")
