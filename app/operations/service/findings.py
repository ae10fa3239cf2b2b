"""The parts of an installation, each with its figure, and what to do where it is not well.

Declared once, for the health page, `GET /api/status` and `jurado status`.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer
from sqlalchemy.exc import SQLAlchemyError

from app.core import load
from app.core.db.locks import SILENT
from app.core.messages import N_, Message, as_message, joined
from app.core.service import Service
from app.operations.queries import Recent
from app.operations.service.readiness import Ready, StoredFiles, disk_of, readiness, stored_files
from app.operations.service.status import Status, status
from app.sandbox.sandbox import USER
from app.tables import LastBackupRow, ProcessRow

LONG_WAIT = 60.0
# Bytes of room below which a disk is nearly full.
LITTLE_ROOM = 2 * 10**9
# A backup each day may begin two hours later than the one before.
HOURS_OF_A_BACKUP = 26.0
MOST_NAMED = 5
SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"))
FREE = N_("%(free)s of %(whole)s free")
Mark = Literal["done", "look", "open"]


def _in_english(message: Message | None) -> str:
    return "" if message is None else str(message)


English = PlainSerializer(_in_english, return_type=str)


class Part(BaseModel):
    """A part of the installation."""

    # Of messages: JSON has them in English, pages in the reader's language.
    model_config = ConfigDict(arbitrary_types_allowed=True, frozen=True)

    mark: Mark = Field(description="done: it is well; look: look at it soon; open: something is wrong")
    name: Annotated[Message, English]
    figure: Annotated[Message, English]
    advice: Annotated[Message | None, English] = Field(description="what to do; empty where nothing is")


async def examine(service: Service, probing: load.SharedWork) -> tuple[Ready, StoredFiles, list[Part]]:
    """Look at everything: whether the service is ready, its damaged files, and every part with what to do."""
    ready = await readiness(service, probing)
    stored = await run_sync(stored_files, service)
    disk = await run_sync(disk_of, service)
    try:
        state = await run_sync(status, service)
    except SQLAlchemyError:  # the database says nothing
        state = None
    return ready, stored, findings(ready, stored, disk, state)


def findings(ready: Ready, stored: StoredFiles, disk: tuple[int, int], status: Status | None) -> list[Part]:
    """Return every part; without a `status`, while the database says nothing, those that this server knows itself.

    `disk` has the free bytes and all bytes where the data of this server lie.
    """
    parts = () if status is None else installation(status)
    return [*_judging(ready, status), *parts, *_machine(ready, disk), *_files(stored)]


def installation(status: Status) -> Iterator[Part]:
    """Every part of the whole installation."""
    yield from _processes(status)
    database = status.database
    yield _done(N_("Database in use"), f"{database.kind} {database.version}, {size(database.size)}")
    if status.queue is not None:
        yield _broker(status)
    yield _done(N_("Last 5 minutes"), _recent(status.recent))
    yield _done(N_("Pending judgements of rejudgings"), status.waiting_again)
    yield _judge_errors(status)
    yield _done(N_("Running contests"), ", ".join(status.running) or "0")
    if status.room is None:
        yield _done(N_("Storage location"), status.files_place)
    else:
        yield _room(N_("Storage location"), *status.room, status.files_place)
    yield _backup(status.backup, status.now)


def size(count: int) -> str:
    """Return a number of bytes, as 9.6 KB."""
    return next((f"{count / unit:.1f} {name}" for unit, name in SIZES if count >= unit), f"{count} B")


def _finding(mark: Mark, name: str | Message, figure: object, advice: str | Message = "", /, **values: object) -> Part:
    """A part; `advice` with its `values` is for a part that is not well."""
    if not isinstance(figure, Message):
        figure = joined([str(figure)])
    is_ill = advice and mark != "done"
    words = as_message(advice, values) if is_ill else None
    return Part(mark=mark, name=as_message(name, {}), figure=figure, advice=words)


def _done(name: str | Message, figure: object) -> Part:
    return _finding("done", name, figure)


def _alive(status: Status) -> list[ProcessRow]:
    """The processes that have given a sign of life lately."""
    return [each for each in status.processes if status.now - each.seen <= SILENT]


def _processes(status: Status) -> Iterator[Part]:
    """The processes of each kind, those that are silent, and versions; without any worker nothing is judged."""
    living = _alive(status)
    for kind, name in (("server", N_("Servers")), ("worker", N_("Workers")))[: 2 if status.distributed else 1]:
        alive = [each for each in living if each.kind == kind]
        graders = sum(each.graders for each in alive)
        figure = Message(N_("%(alive)s running, their graders: %(graders)s"), alive=len(alive), graders=graders)
        named = joined([figure, *(f"{_name(each)} ({each.version})" for each in alive[:MOST_NAMED])], "; ")
        if kind == "worker" and not alive:
            yield _finding("open", name, named, N_("none is running, so nothing is judged: start `jurado worker`"))
        else:
            silent = any(each.kind == kind and each not in alive for each in status.processes)
            yield _finding("look" if silent else "done", name, named)
    for each in status.processes:
        if each not in living:
            kind = N_("server %(name)s") if each.kind == "server" else N_("worker %(name)s")
            yield _finding(
                "look",
                Message(kind, name=_name(each)),
                f"{_minute(each.seen)} UTC",
                N_("no heartbeat since %(time)sZ: restart it and check its log. Other processes took over its jobs"),
                time=f"{each.seen:%Y-%m-%dT%H:%M:%S}",
            )
    versions = sorted({each.version for each in living})
    if len(versions) > 1:
        advice = N_("processes run different versions: continue the upgrade")
        yield _finding("look", N_("versions"), ", ".join(versions), advice)


def _name(process: ProcessRow) -> str:
    """A process, as host:pid."""
    return f"{process.host}:{process.pid}"


def _broker(status: Status) -> Part:
    queue = status.queue
    if queue is None or isinstance(queue, str):
        away = N_("%(error)s: start RabbitMQ. Submissions are accepted in the meantime, and judged when it is back")
        return _finding("open", N_("Broker"), Message(N_("does not answer")), Message(away, error=queue))
    waiting = f"{queue.name.removeprefix('jurado.')} {queue.ready}"
    at_hand = sum(each.at_hand for each in _alive(status))
    figure = Message(N_("queued messages: %(queues)s; at workers: %(count)s"), queues=waiting, count=at_hand)
    is_idle = queue.ready and not queue.consumers
    advice = N_("%(count)s messages and no worker: start `jurado worker`")
    return _finding("open" if is_idle else "done", N_("Broker"), figure, advice, count=queue.ready)


def _recent(recent: Recent) -> Message:
    rate = f"{recent.rate:.2f}"
    if recent.median is None:
        return Message(N_("%(rate)s submissions a second, no verdict"), rate=rate)
    return Message(
        N_("%(rate)s submissions a second; verdict after %(median)s s, 95 of 100 within %(most)s s"),
        rate=rate,
        median=f"{recent.median:.2f}",
        most=f"{recent.most:.2f}",
    )


def _judge_errors(status: Status) -> Part:
    count, newest = status.errors
    if newest is None:
        return _done(N_("Judge errors"), count)
    return _finding(
        "look",
        N_("Judge errors"),
        count,
        N_(
            "the newest is submission %(submission)s of %(contest)s (%(error)s):"
            " fix the checker or its limits, then run `jurado admin rejudge %(contest)s --reason TEXT`"
        ),
        submission=newest.submission_id,
        contest=newest.contest_id,
        error=newest.error.strip().partition("\n")[0][:100],
    )


def _room(name: str, free: int, whole: int, place: str = "") -> Part:
    """A disk; without any room submissions get 507."""
    share = free / whole if whole else 1.0
    mark: Mark = "open" if share < 0.02 or free < LITTLE_ROOM else "look" if share < 0.1 else "done"
    figure = joined([*([place] if place else []), Message(FREE, free=size(free), whole=size(whole))], "; ")
    advice = N_("%(size)s GB free: free up space. Without any, submissions get 507")
    return _finding(mark, name, figure, advice, size=f"{free / 1e9:.1f}")


def _backup(backup: LastBackupRow | None, now: datetime) -> Part:
    name = N_("Last backup")
    if backup is None:
        none = N_("none yet: run `jurado backup DIR` by a timer (deploy/systemd)")
        return _finding("look", name, Message(N_("none")), none)
    figure = Message(N_("%(time)s UTC, in %(place)s"), time=_minute(backup.made), place=backup.place)
    hours = (now - backup.made).total_seconds() / 3600
    if hours > HOURS_OF_A_BACKUP:
        old = N_("the last one is %(hours)s h old: check the timer and its log")
        return _finding("look", name, figure, old, hours=f"{hours:.0f}")
    faulty = N_("%(count)s files could not be copied: `jurado fsck --repair --from BACKUP`")
    return _finding("look" if backup.faulty else "done", name, figure, faulty, count=backup.faulty)


def _minute(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def _judging(ready: Ready, status: Status | None) -> Iterator[Part]:
    answers = N_("readable and writable") if ready.database else N_("says nothing")
    no_writes = N_("not writable: check that it runs, that its disk has space, and its log")
    yield _finding("done" if ready.database else "open", N_("Database"), Message(answers), no_writes)
    alive = Message(N_("%(alive)s running"), alive=ready.graders)
    no_grader = N_("no grader of this server works: restart it. Submissions are stored, and judged then")
    yield _finding("done" if ready.graders else "open", N_("Graders"), alive, no_grader)
    deaths = {} if status is None else {_name(each): each.deaths for each in _alive(status)}
    names = ", ".join([f"{name} {count}" for name, count in deaths.items() if count][:MOST_NAMED])
    count = max(ready.grader_deaths, sum(deaths.values()))
    died = N_("graders died (%(names)s): a checker crashes or uses too much memory; see the log")
    yield _finding("look" if count else "done", N_("Graders that died"), count, died, names=names)
    oldest = ready.oldest_seconds or 0.0
    waits = joined(["0"])
    if ready.waiting is None:
        waits = Message(N_("unknown"))
    elif ready.waiting:
        waits = Message(N_("%(count)s, the oldest for %(seconds)s s"), count=ready.waiting, seconds=f"{oldest:.0f}")
    slow = N_("the oldest has waited for %(seconds)s s: add graders (JURADO_GRADERS), or check its problem's checker")
    if status is not None and status.distributed:
        slow = N_("the oldest has waited for %(seconds)s s: add workers, or check its problem's checker")
    mark: Mark = "open" if oldest > LONG_WAIT else "done"
    yield _finding(mark, N_("Waiting to be judged"), waits, Message(slow, seconds=f"{oldest:.0f}"))


def _machine(ready: Ready, disk: tuple[int, int]) -> Iterator[Part]:
    yield _room(N_("Disk"), *disk)
    if ahead := ready.clock_ahead_seconds:
        figure = Message(N_("%(seconds)s s ahead of the system clock"), seconds=ahead)
        set_back = N_("the system clock was set back by %(seconds)s s: let NTP correct it")
        yield _finding("look", N_("Clock"), figure, Message(set_back, seconds=ahead))
    else:
        yield _done(N_("Clock"), Message(N_("same as the system clock")))
    for name, loop in ready.loops.items():
        if loop.error:
            yield _finding("open", Message(N_("Background work: %(name)s"), name=name), loop.error)
    missing = Message(N_("missing"))
    for name in ready.unprotected:
        yield _finding("look", Message(N_("Protection of graders: %(name)s"), name=name), missing)
    as_root = N_(
        "refused because the service runs as root: run it as another user, or set JURADO_PROGRAMS_AS_ROOT=allow"
    )
    for name, state in ready.sandbox.items():
        if state != "on":
            what = Message(N_("Sandbox for programs of packages: %(name)s"), name=name)
            yield _finding("look", what, joined([missing, state], "; "), as_root if name == USER else "")


def _files(stored: StoredFiles) -> Iterator[Part]:
    count = len(stored.faults)
    damaged = N_("%(count)s are missing or damaged: `jurado fsck --repair --from BACKUP`")
    yield _finding("open" if count else "done", N_("Damaged files"), count, damaged, count=count)
    last = Message(N_("no full check of the files yet"))
    if stored.ended is not None:
        last = Message(N_("all read at %(time)s UTC"), time=stored.ended[:16])
    read = Message(N_("files: %(count)s, %(size)s"), count=stored.read, size=size(stored.bytes_read))
    yield _done(N_("Stored files"), joined([read, last], "; "))
