"""The health of the service: what `jurado status` tells, and what to do about each part that is not well."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

from anyio.to_thread import run_sync
from fastapi import Request
from fastapi.responses import HTMLResponse
from sqlalchemy.exc import SQLAlchemyError

from app.accounts.service.viewer import Viewer
from app.authoring.service import jobs
from app.authoring.service.jobs import Job
from app.core.pages.languages import _, decimal, ngettext, translate
from app.core.pages.pages import page
from app.core.pages.visitor import TheService, Visitor
from app.core.pages.wording import size
from app.core.service import Service
from app.operations.pages.installation import Finding, parts
from app.operations.service.advice import LONG_WAIT, advice
from app.operations.service.readiness import Ready, readiness
from app.operations.service.status import Status, status
from app.operations.service.stored_files import StoredFiles, stored_files


async def health_page(request: Request, service: TheService, viewer: Visitor) -> HTMLResponse:
    """Whether everything is all right, first in one line, then part by part."""
    ready = await readiness(service, request.app.state.probing)
    stored = await run_sync(stored_files, service)
    disk = await run_sync(_disk, service)
    going = await run_sync(_going, service, viewer)
    state = await run_sync(_status, service)
    facts = [] if state is None else list(parts(state))
    findings = [*_judging(ready), *facts, *_machine(ready, disk), *_files(stored)]
    return page(
        "organiser/health.html",
        request,
        viewer=viewer,
        is_ready=ready.ready,
        findings=findings,
        advice=[(each.urgent, translate(each.what), translate(each.advice)) for each in advice(ready, state)],
        worst=[each for each in findings if each.mark == "open"],
        faults=stored.faults,
        jobs=going,
    )


def _status(service: Service) -> Status | None:
    """The facts of the installation; None while the database says nothing."""
    try:
        return status(service)
    except SQLAlchemyError:
        return None


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
        _("Database"),
        _("answers, and takes what is written") if ready.database else _("says nothing"),
    )
    yield Finding(
        "done" if ready.graders else "open",
        _("Graders"),
        _("%(alive)s alive, %(spare)s in reserve", alive=ready.graders, spare=ready.spare_graders),
    )
    yield Finding("look" if ready.grader_deaths else "done", _("Graders that died"), str(ready.grader_deaths))
    oldest = ready.oldest_seconds or 0.0
    if ready.waiting is None:
        waits = _("unknown")
    elif ready.waiting:
        waits = _("%(count)s, the oldest for %(seconds)s s", count=ready.waiting, seconds=f"{oldest:.0f}")
    else:
        waits = "0"
    yield Finding("look" if oldest > LONG_WAIT else "done", _("Waiting to be judged"), waits)


def _machine(ready: Ready, disk: tuple[int, int]) -> Iterator[Finding]:
    free, whole = disk
    share = free / whole if whole else 1.0
    mark = "open" if share < 0.02 else "look" if share < 0.1 else "done"
    yield Finding(mark, _("Disk"), _("%(free)s of %(whole)s free", free=size(free), whole=size(whole)))
    ahead = ready.clock_ahead_seconds
    yield Finding(
        "look" if ahead else "done",
        _("Clock"),
        _("%(seconds)s s ahead of the system's", seconds=decimal(str(ahead))) if ahead else _("as the system's"),
    )
    for name, loop in ready.loops.items():
        if loop.error:
            yield Finding("open", _("Background work: %(name)s", name=name), loop.error)
    for name in ready.unprotected:
        yield Finding("look", _("Protection of graders: %(name)s", name=name), _("missing"))
    for name, why in _lacking(ready.sandbox):
        yield Finding("look", _("Sandbox for programs of packages: %(name)s", name=name), f"{_('missing')}; {why}")


def _lacking(sandbox: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    return ((name, state) for name, state in sandbox.items() if state != "on")


def _files(stored: StoredFiles) -> Iterator[Finding]:
    damaged = len(stored.faults)
    yield Finding("open" if damaged else "done", _("Damaged files"), str(damaged))
    read = ngettext("%(num)s file, %(size)s", "%(num)s files, %(size)s", stored.read, size=size(stored.bytes_read))
    if stored.ended is None:
        last = _("no pass over all files has ended yet")
    else:
        last = _("read whole at %(time)s UTC", time=stored.ended[:16])
    yield Finding("done", _("Stored files"), f"{read}; {last}")
