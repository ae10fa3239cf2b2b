"""What to do about each part of an installation that is not well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from app.operations.service.readiness import Ready
from app.operations.service.status import BackupFacts, FilesFacts, ProcessState, Status
from app.sandbox.sandbox import USER

LONG_WAIT = 60.0
SECONDS_BEHIND = 30.0
LITTLE_ROOM = 2 * 10**9
"""Bytes of room below which a disk is nearly full."""
LEAST_SHARE = 0.02
HOURS_OF_A_BACKUP = 26.0
"""A backup each day may begin two hours later than the one before."""


class Advice(BaseModel):
    """A part that is not well, whether submissions are in danger (`urgent`), and what to do."""

    what: str
    urgent: bool
    advice: str


def advice(ready: Ready, status: Status | None) -> list[Advice]:
    """What to do, the urgent first; empty where all is well. Without a `status` only what the readiness says."""
    checks = () if status is None else (_processes, _database, _broker, _judging, _store)
    parts = [_readiness(ready), *(check(status) for check in checks if status is not None)]
    return sorted((each for part in parts for each in part), key=lambda each: not each.urgent)


@dataclass(frozen=True, slots=True)
class _Say:
    """Makes advice about one part."""

    what: str

    def soon(self, text: str) -> Advice:
        return Advice(what=self.what, urgent=False, advice=text)

    def now(self, text: str) -> Advice:
        return Advice(what=self.what, urgent=True, advice=text)


def _readiness(ready: Ready) -> Iterator[Advice]:
    if not ready.database:
        yield _Say("database").now("it takes no writes: look whether it runs and its disk has room, and at the log")
    if not ready.graders:
        yield _Say("graders").now("this server has none that works: restart it; submissions are kept and judged then")
    if ready.clock_ahead_seconds:
        seconds = ready.clock_ahead_seconds
        yield _Say("clock").soon(f"the system's clock was set back by {seconds} s: let NTP set it right")
    if ready.unprotected:
        yield _Say("graders").soon(f"this system does not protect them by {', '.join(ready.unprotected)}")
    if ready.sandbox.get(USER, "on") != "on":
        yield _Say("programs of packages").soon(
            "refused because the service runs as root: run it as another user, or set JURADO_PROGRAMS_AS_ROOT=allow"
        )


def _processes(status: Status) -> Iterator[Advice]:
    for each in status.processes:
        if not each.alive:
            yield _Say(f"{each.kind} {name_of(each)}").soon(
                f"no sign of life since {each.seen[:19]}Z: start it again; its log says why it ended. Its work went on"
            )
    alive = [each for each in status.processes if each.alive]
    if len({each.version for each in alive}) > 1:
        yield _Say("versions").soon("processes are of several versions: go on with the upgrade")
    if status.distributed and not any(each.kind == "worker" for each in alive):
        yield _Say("workers").now("none is alive, so nothing is judged: start `jurado worker`")
    dead = [each for each in alive if each.grader_deaths]
    if dead:
        names = ", ".join(f"{name_of(each)} {each.grader_deaths}" for each in dead[:3])
        yield _Say("graders").soon(
            f"graders died ({names}): a checker that crashes or takes too much memory; see the log"
        )


def name_of(process: ProcessState) -> str:
    """A process, as host:pid."""
    return f"{process.host}:{process.pid}"


def _database(status: Status) -> Iterator[Advice]:
    for each in status.database.replicas:
        say = _Say(f"replica {each.name}")
        if each.state is None:
            yield say.soon("its state is hidden from the service's role: GRANT pg_monitor TO that role")
        elif each.state != "streaming":
            yield say.soon(f"its state is {each.state}: look at its log")
        elif (each.seconds_behind or 0.0) > SECONDS_BEHIND:
            yield say.soon(f"{each.seconds_behind:.0f} s behind: look at its disk and network before you rely on it")


def _broker(status: Status) -> Iterator[Advice]:
    if status.broker is None:
        return
    if status.broker.error:
        yield _Say("broker").now(
            f"{status.broker.error}: start RabbitMQ; submissions are taken meanwhile, and judged when it is back"
        )
    for queue in status.broker.queues:
        if queue.ready and not queue.consumers:
            yield _Say(queue.name).now(f"{queue.ready} messages, and no worker that takes them: start `jurado worker`")


def _judging(status: Status) -> Iterator[Advice]:
    oldest = status.judging.oldest_seconds or 0.0
    if oldest > LONG_WAIT:
        more = "more workers" if status.distributed else "more graders (JURADO_GRADERS)"
        yield _Say("judging").now(f"the oldest has waited for {oldest:.0f} s: {more}, or look at its problem's checker")
    if status.judge_errors:
        newest = status.newest_judge_errors[0]
        first_line = newest.error.strip().partition("\n")[0][:100]
        yield _Say("judge errors").soon(
            f"the newest is submission {newest.submission_id} of {newest.contest_id} ({first_line}):"
            f" mend the checker or its limits, then `jurado admin rejudge {newest.contest_id} --reason TEXT`"
        )


def _store(status: Status) -> Iterator[Advice]:
    yield from _room("disk", status.home_free_bytes, None)
    yield from _files(status.files)
    yield from _backup(status.backup)


def _room(what: str, free: int, whole: int | None) -> Iterator[Advice]:
    if free < LITTLE_ROOM or (whole is not None and free < LEAST_SHARE * whole):
        yield _Say(what).now(f"{free / 1e9:.1f} GB are free: make room; without any, submissions get 507")


def _files(files: FilesFacts) -> Iterator[Advice]:
    if files.free_bytes is not None:
        yield from _room("files", files.free_bytes, files.all_bytes)
    if files.damaged:
        yield _Say("files").now(f"{files.damaged} are missing or damaged: `jurado status --fsck --from BACKUP`")


def _backup(backup: BackupFacts | None) -> Iterator[Advice]:
    if backup is None:
        yield _Say("backup").soon("none was ever made: `jurado backup DIR`, by a timer (deploy/systemd)")
    elif backup.age_seconds > HOURS_OF_A_BACKUP * 3600:
        yield _Say("backup").soon(
            f"the last one is {backup.age_seconds / 3600:.0f} h old: look at the timer and its log"
        )
    elif backup.faulty:
        yield _Say("backup").soon(f"{backup.faulty} files could not be copied: `jurado status --fsck --from BACKUP`")
