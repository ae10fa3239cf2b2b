"""The parts of an installation as the health page shows them: the facts of `jurado status`, in the reader's words.

- The health of the service: what `jurado status` tells, and what to do about each part that is not well.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from anyio.to_thread import run_sync
from fastapi import Request
from fastapi.responses import HTMLResponse
from sqlalchemy.exc import SQLAlchemyError

from app.accounts.service.viewer import Viewer
from app.authoring.service import jobs
from app.authoring.service.jobs import Job
from app.core.db.clock import ReplicaState
from app.core.messages import N_
from app.core.pages.languages import _, decimal, ngettext, translate
from app.core.pages.pages import page
from app.core.pages.visitor import TheService, Visitor
from app.core.pages.wording import size
from app.core.service import Service
from app.operations.service.advice import LONG_WAIT, SECONDS_BEHIND, advice, name_of
from app.operations.service.readiness import Ready, StoredFiles, readiness, stored_files
from app.operations.service.status import BrokerFacts, FilesFacts, JudgingFacts, Status, status

MOST_NAMED = 5
EVENTS = {
    "starts": N_("%(contest)s starts at %(time)s UTC"),
    "freezes": N_("%(contest)s freezes at %(time)s UTC"),
    "ends": N_("%(contest)s ends at %(time)s UTC"),
    "thaws": N_("%(contest)s thaws at %(time)s UTC"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A part of the service: `done`, `look` or `open`, and its figure."""

    mark: str
    name: str
    figure: str


def parts(status: Status) -> Iterator[Finding]:
    """Every part that `jurado status` has beside whether the server is ready."""
    yield _processes(status, "server", _("Servers"))
    if status.distributed:
        yield _processes(status, "worker", _("Workers"))
    database = status.database
    yield Finding("done", _("Database in use"), f"{database.kind} {database.version}, {size(database.size)}")
    yield from map(_replica, database.replicas)
    if status.broker is not None:
        yield _broker(status.broker)
    yield Finding("done", _("Last 5 minutes"), _recent(status.judging))
    yield Finding("done", _("Judgements of rejudgings that wait"), str(status.judging.waiting_again))
    yield Finding("look" if status.judge_errors else "done", _("Judge errors"), str(status.judge_errors))
    yield Finding("done", _("Contests that run"), ", ".join(each.id for each in status.contests) or "0")
    yield Finding("done", _("Next change by the clock"), _next(status))
    yield Finding("done", _("Place of stored files"), _place(status.files))
    yield Finding("done" if status.backup else "look", _("Last backup"), _backup(status))


def _processes(status: Status, kind: str, name: str) -> Finding:
    """The processes of a kind; without any worker nothing is judged."""
    rows = [each for each in status.processes if each.kind == kind]
    alive = [each for each in rows if each.alive]
    graders = sum(each.graders for each in alive)
    named = [f"{name_of(each)} ({each.version})" for each in alive[:MOST_NAMED]]
    figure = _("%(alive)s alive, their graders: %(graders)s", alive=len(alive), graders=graders)
    mark = "done" if len(alive) == len(rows) else "look"
    return Finding("open" if kind == "worker" and not alive else mark, name, "; ".join([figure, *named]))


def _replica(replica: ReplicaState) -> Finding:
    name = _("Replica %(name)s", name=replica.name)
    if replica.state is None:
        return Finding("look", name, _("its state is hidden"))
    seconds = replica.seconds_behind or 0.0
    figure = _(
        "%(state)s, behind by %(seconds)s s and %(size)s",
        state=replica.state,
        seconds=decimal(f"{seconds:.1f}"),
        size=size(replica.bytes_behind or 0),
    )
    is_well = replica.state == "streaming" and seconds <= SECONDS_BEHIND
    return Finding("done" if is_well else "look", name, figure)


def _broker(broker: BrokerFacts) -> Finding:
    if broker.error:
        return Finding("open", _("Broker"), _("does not answer"))
    queues = ", ".join(f"{each.name.removeprefix('jurado.')} {each.ready + each.delayed}" for each in broker.queues)
    figure = _("messages that wait: %(queues)s; at workers: %(count)s", queues=queues, count=broker.unacknowledged)
    is_idle = any(each.ready and not each.consumers for each in broker.queues)
    return Finding("open" if is_idle else "done", _("Broker"), figure)


def _recent(judging: JudgingFacts) -> str:
    rate = decimal(f"{judging.submissions_per_second:.2f}")
    if judging.verdict_seconds_median is None or judging.verdict_seconds_95 is None:
        return _("%(rate)s submissions a second, no verdict", rate=rate)
    return _(
        "%(rate)s submissions a second; verdict after %(median)s s, 95 of 100 within %(most)s s",
        rate=rate,
        median=decimal(f"{judging.verdict_seconds_median:.2f}"),
        most=decimal(f"{judging.verdict_seconds_95:.2f}"),
    )


def _next(status: Status) -> str:
    event = status.next_event
    if event is None:
        return _("no contest changes by the clock")
    return _(EVENTS[event.event], contest=event.contest_id, time=_minute(event.time))


def _place(files: FilesFacts) -> str:
    facts = [files.place]
    if files.free_bytes is not None and files.all_bytes is not None:
        facts.append(_("%(free)s of %(whole)s free", free=size(files.free_bytes), whole=size(files.all_bytes)))
    return "; ".join(facts)


def _backup(status: Status) -> str:
    backup = status.backup
    if backup is None:
        return _("none")
    return _("%(time)s UTC, in %(place)s", time=_minute(backup.made), place=backup.place)


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


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
