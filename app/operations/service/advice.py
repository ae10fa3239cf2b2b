"""What to do about each part of an installation that is not well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from app.core.messages import N_, Message, as_message
from app.operations.service.readiness import Ready
from app.operations.service.status import BackupFacts, FilesFacts, ProcessState, Status
from app.sandbox.sandbox import USER

LONG_WAIT = 60.0
SECONDS_BEHIND = 30.0
# Bytes of room below which a disk is nearly full.
LITTLE_ROOM = 2 * 10**9
LEAST_SHARE = 0.02
# A backup each day may begin two hours later than the one before.
HOURS_OF_A_BACKUP = 26.0


class Advice(BaseModel):
    """A part that is not well, whether submissions are in danger (`urgent`), and what to do."""

    what: str
    urgent: bool
    advice: str


@dataclass(frozen=True, slots=True)
class Remedy:
    """Advice with the messages of which it is made."""

    what: Message
    urgent: bool
    advice: Message

    def shown(self, words: Callable[[Message], str] = str) -> Advice:
        """Return it in words, English ones by default."""
        return Advice(what=words(self.what), urgent=self.urgent, advice=words(self.advice))


def advice(ready: Ready, status: Status | None) -> list[Remedy]:
    """What to do, the urgent first; empty where all is well. Without a `status` only what the readiness says."""
    checks = () if status is None else (_processes, _database, _broker, _judging, _store)
    parts = [_readiness(ready), *(check(status) for check in checks if status is not None)]
    return sorted((each for part in parts for each in part), key=lambda each: not each.urgent)


def _soon(what: str | Message, advice: str, **values: object) -> Remedy:
    return Remedy(as_message(what, {}), urgent=False, advice=Message(advice, **values))


def _now(what: str | Message, advice: str, **values: object) -> Remedy:
    return Remedy(as_message(what, {}), urgent=True, advice=Message(advice, **values))


def _readiness(ready: Ready) -> Iterator[Remedy]:
    if not ready.database:
        yield _now(N_("database"), N_("it takes no writes: look whether it runs and its disk has room, and at the log"))
    if not ready.graders:
        yield _now(
            N_("graders"), N_("this server has none that works: restart it; submissions are kept and judged then")
        )
    if ready.clock_ahead_seconds:
        seconds = ready.clock_ahead_seconds
        yield _soon(
            N_("clock"), N_("the system's clock was set back by %(seconds)s s: let NTP set it right"), seconds=seconds
        )
    if ready.unprotected:
        yield _soon(
            N_("graders"), N_("this system does not protect them by %(names)s"), names=", ".join(ready.unprotected)
        )
    if ready.sandbox.get(USER, "on") != "on":
        yield _soon(
            N_("programs of packages"),
            N_(
                "refused because the service runs as root: run it as another user, or set JURADO_PROGRAMS_AS_ROOT=allow"
            ),
        )


def _processes(status: Status) -> Iterator[Remedy]:
    for each in status.processes:
        if not each.alive:
            kind = N_("server %(name)s") if each.kind == "server" else N_("worker %(name)s")
            yield _soon(
                Message(kind, name=name_of(each)),
                N_("no sign of life since %(time)sZ: start it again; its log says why it ended. Its work went on"),
                time=each.seen[:19],
            )
    alive = [each for each in status.processes if each.alive]
    if len({each.version for each in alive}) > 1:
        yield _soon(N_("versions"), N_("processes are of several versions: go on with the upgrade"))
    if status.distributed and not any(each.kind == "worker" for each in alive):
        yield _now(N_("workers"), N_("none is alive, so nothing is judged: start `jurado worker`"))
    dead = [each for each in alive if each.grader_deaths]
    if dead:
        names = ", ".join(f"{name_of(each)} {each.grader_deaths}" for each in dead[:3])
        yield _soon(
            N_("graders"),
            N_("graders died (%(names)s): a checker that crashes or takes too much memory; see the log"),
            names=names,
        )


def name_of(process: ProcessState) -> str:
    """A process, as host:pid."""
    return f"{process.host}:{process.pid}"


def _database(status: Status) -> Iterator[Remedy]:
    for each in status.database.replicas:
        what = Message(N_("replica %(name)s"), name=each.name)
        if each.state is None:
            yield _soon(what, N_("its state is hidden from the service's role: GRANT pg_monitor TO that role"))
        elif each.state != "streaming":
            yield _soon(what, N_("its state is %(state)s: look at its log"), state=each.state)
        elif (each.seconds_behind or 0.0) > SECONDS_BEHIND:
            yield _soon(
                what,
                N_("%(seconds)s s behind: look at its disk and network before you rely on it"),
                seconds=f"{each.seconds_behind:.0f}",
            )


def _broker(status: Status) -> Iterator[Remedy]:
    if status.broker is None:
        return
    if status.broker.error:
        yield _now(
            N_("broker"),
            N_("%(error)s: start RabbitMQ; submissions are taken meanwhile, and judged when it is back"),
            error=status.broker.error,
        )
    for queue in status.broker.queues:
        if queue.ready and not queue.consumers:
            yield _now(
                queue.name,
                N_("%(count)s messages, and no worker that takes them: start `jurado worker`"),
                count=queue.ready,
            )


def _judging(status: Status) -> Iterator[Remedy]:
    oldest = status.judging.oldest_seconds or 0.0
    if oldest > LONG_WAIT:
        workers = N_("the oldest has waited for %(seconds)s s: more workers, or look at its problem's checker")
        graders = N_(
            "the oldest has waited for %(seconds)s s: more graders (JURADO_GRADERS), or look at its problem's checker"
        )
        yield _now(N_("judging"), workers if status.distributed else graders, seconds=f"{oldest:.0f}")
    if status.judge_errors:
        newest = status.newest_judge_errors[0]
        first_line = newest.error.strip().partition("\n")[0][:100]
        yield _soon(
            N_("judge errors"),
            N_(
                "the newest is submission %(submission)s of %(contest)s (%(error)s):"
                " mend the checker or its limits, then `jurado admin rejudge %(contest)s --reason TEXT`"
            ),
            submission=newest.submission_id,
            contest=newest.contest_id,
            error=first_line,
        )


def _store(status: Status) -> Iterator[Remedy]:
    yield from _room(N_("disk"), status.home_free_bytes, None)
    yield from _files(status.files)
    yield from _backup(status.backup)


def _room(what: str, free: int, whole: int | None) -> Iterator[Remedy]:
    if free < LITTLE_ROOM or (whole is not None and free < LEAST_SHARE * whole):
        yield _now(
            what, N_("%(size)s GB are free: make room; without any, submissions get 507"), size=f"{free / 1e9:.1f}"
        )


def _files(files: FilesFacts) -> Iterator[Remedy]:
    if files.free_bytes is not None:
        yield from _room(N_("files"), files.free_bytes, files.all_bytes)
    if files.damaged:
        yield _now(
            N_("files"),
            N_("%(count)s are missing or damaged: `jurado fsck --mend --from BACKUP`"),
            count=files.damaged,
        )


def _backup(backup: BackupFacts | None) -> Iterator[Remedy]:
    if backup is None:
        yield _soon(N_("backup"), N_("none was ever made: `jurado backup DIR`, by a timer (deploy/systemd)"))
    elif backup.age_seconds > HOURS_OF_A_BACKUP * 3600:
        yield _soon(
            N_("backup"),
            N_("the last one is %(hours)s h old: look at the timer and its log"),
            hours=f"{backup.age_seconds / 3600:.0f}",
        )
    elif backup.faulty:
        yield _soon(
            N_("backup"),
            N_("%(count)s files could not be copied: `jurado fsck --mend --from BACKUP`"),
            count=backup.faulty,
        )
