"""The parts of an installation with their figures and states, for the health page and `jurado status`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from app.core.db.clock import ReplicaState
from app.core.messages import N_, Message, as_message, joined
from app.operations.service.advice import LONG_WAIT, SECONDS_BEHIND, name_of
from app.operations.service.readiness import Ready, StoredFiles
from app.operations.service.status import BrokerFacts, FilesFacts, JudgingFacts, Status

MOST_NAMED = 5
EVENTS = {
    "starts": N_("%(contest)s starts at %(time)s UTC"),
    "freezes": N_("%(contest)s freezes at %(time)s UTC"),
    "ends": N_("%(contest)s ends at %(time)s UTC"),
    "thaws": N_("%(contest)s thaws at %(time)s UTC"),
}
SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"))
FREE = N_("%(free)s of %(whole)s free")
Mark = Literal["done", "look", "open"]


class Part(BaseModel):
    """A part of the installation."""

    mark: Mark = Field(description="done: it is well; look: look at it soon; open: something is wrong")
    name: str
    figure: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A part of the installation in messages."""

    mark: Mark
    name: Message
    figure: Message

    def shown(self, words: Callable[[Message], str] = str) -> Part:
        """Return it in words, English ones by default."""
        return Part(mark=self.mark, name=words(self.name), figure=words(self.figure))


def findings(ready: Ready, stored: StoredFiles, disk: tuple[int, int], status: Status | None) -> list[Finding]:
    """Return every part; without a `status`, while the database says nothing, those that this server knows itself.

    `disk` has the free bytes and all bytes where the data of this server lie.
    """
    parts = () if status is None else installation(status)
    return [*_judging(ready), *parts, *_machine(ready, disk), *_files(stored)]


def installation(status: Status) -> Iterator[Finding]:
    """Every part of the whole installation."""
    yield _processes(status, "server", N_("Servers"))
    if status.distributed:
        yield _processes(status, "worker", N_("Workers"))
    database = status.database
    yield _done(N_("Database in use"), f"{database.kind} {database.version}, {size(database.size)}")
    yield from map(_replica, database.replicas)
    if status.broker is not None:
        yield _broker(status.broker)
    yield _done(N_("Last 5 minutes"), _recent(status.judging))
    yield _done(N_("Judgements of rejudgings that wait"), status.judging.waiting_again)
    yield _finding("look" if status.judge_errors else "done", N_("Judge errors"), status.judge_errors)
    yield _done(N_("Contests that run"), ", ".join(each.id for each in status.contests) or "0")
    yield _done(N_("Next change by the clock"), _next(status))
    yield _done(N_("Place of stored files"), _place(status.files))
    yield _finding("done" if status.backup else "look", N_("Last backup"), _backup(status))


def size(count: int) -> str:
    """Return a number of bytes, as 9.6 KB."""
    return next((f"{count / unit:.1f} {name}" for unit, name in SIZES if count >= unit), f"{count} B")


def _finding(mark: Mark, name: str | Message, figure: object, /) -> Finding:
    if not isinstance(figure, Message):
        figure = joined([str(figure)])
    return Finding(mark, as_message(name, {}), figure)


def _done(name: str | Message, figure: object) -> Finding:
    return _finding("done", name, figure)


def _processes(status: Status, kind: str, name: str) -> Finding:
    """The processes of a kind; without any worker nothing is judged."""
    rows = [each for each in status.processes if each.kind == kind]
    alive = [each for each in rows if each.alive]
    figure = Message(
        N_("%(alive)s alive, their graders: %(graders)s"),
        alive=len(alive),
        graders=sum(each.graders for each in alive),
    )
    named = [f"{name_of(each)} ({each.version})" for each in alive[:MOST_NAMED]]
    mark: Mark = "done" if len(alive) == len(rows) else "look"
    return _finding("open" if kind == "worker" and not alive else mark, name, joined([figure, *named], "; "))


def _replica(replica: ReplicaState) -> Finding:
    name = Message(N_("Replica %(name)s"), name=replica.name)
    if replica.state is None:
        return _finding("look", name, Message(N_("its state is hidden")))
    seconds = replica.seconds_behind or 0.0
    figure = Message(
        N_("%(state)s, behind by %(seconds)s s and %(size)s"),
        state=replica.state,
        seconds=f"{seconds:.1f}",
        size=size(replica.bytes_behind or 0),
    )
    is_well = replica.state == "streaming" and seconds <= SECONDS_BEHIND
    return _finding("done" if is_well else "look", name, figure)


def _broker(broker: BrokerFacts) -> Finding:
    if broker.error:
        return _finding("open", N_("Broker"), Message(N_("does not answer")))
    queues = ", ".join(f"{each.name.removeprefix('jurado.')} {each.ready}" for each in broker.queues)
    figure = Message(
        N_("messages that wait: %(queues)s; at workers: %(count)s"), queues=queues, count=broker.unacknowledged
    )
    is_idle = any(each.ready and not each.consumers for each in broker.queues)
    return _finding("open" if is_idle else "done", N_("Broker"), figure)


def _recent(judging: JudgingFacts) -> Message:
    rate = f"{judging.submissions_per_second:.2f}"
    if judging.verdict_seconds_median is None or judging.verdict_seconds_95 is None:
        return Message(N_("%(rate)s submissions a second, no verdict"), rate=rate)
    return Message(
        N_("%(rate)s submissions a second; verdict after %(median)s s, 95 of 100 within %(most)s s"),
        rate=rate,
        median=f"{judging.verdict_seconds_median:.2f}",
        most=f"{judging.verdict_seconds_95:.2f}",
    )


def _next(status: Status) -> Message:
    event = status.next_event
    if event is None:
        return Message(N_("no contest changes by the clock"))
    return Message(EVENTS[event.event], contest=event.contest_id, time=_minute(event.time))


def _place(files: FilesFacts) -> Message:
    if files.free_bytes is None or files.all_bytes is None:
        return joined([files.place])
    return joined([files.place, Message(FREE, free=size(files.free_bytes), whole=size(files.all_bytes))], "; ")


def _backup(status: Status) -> Message:
    if status.backup is None:
        return Message(N_("none"))
    return Message(N_("%(time)s UTC, in %(place)s"), time=_minute(status.backup.made), place=status.backup.place)


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _judging(ready: Ready) -> Iterator[Finding]:
    answers = N_("answers, and takes what is written") if ready.database else N_("says nothing")
    yield _finding("done" if ready.database else "open", N_("Database"), Message(answers))
    alive = Message(N_("%(alive)s alive"), alive=ready.graders)
    yield _finding("done" if ready.graders else "open", N_("Graders"), alive)
    yield _finding("look" if ready.grader_deaths else "done", N_("Graders that died"), ready.grader_deaths)
    oldest = ready.oldest_seconds or 0.0
    waits = joined(["0"])
    if ready.waiting is None:
        waits = Message(N_("unknown"))
    elif ready.waiting:
        waits = Message(N_("%(count)s, the oldest for %(seconds)s s"), count=ready.waiting, seconds=f"{oldest:.0f}")
    yield _finding("look" if oldest > LONG_WAIT else "done", N_("Waiting to be judged"), waits)


def _machine(ready: Ready, disk: tuple[int, int]) -> Iterator[Finding]:
    free, whole = disk
    share = free / whole if whole else 1.0
    mark: Mark = "open" if share < 0.02 else "look" if share < 0.1 else "done"
    yield _finding(mark, N_("Disk"), Message(FREE, free=size(free), whole=size(whole)))
    if ahead := ready.clock_ahead_seconds:
        yield _finding("look", N_("Clock"), Message(N_("%(seconds)s s ahead of the system's"), seconds=ahead))
    else:
        yield _done(N_("Clock"), Message(N_("as the system's")))
    for name, loop in ready.loops.items():
        if loop.error:
            yield _finding("open", Message(N_("Background work: %(name)s"), name=name), loop.error)
    missing = Message(N_("missing"))
    for name in ready.unprotected:
        yield _finding("look", Message(N_("Protection of graders: %(name)s"), name=name), missing)
    for name, state in ready.sandbox.items():
        if state != "on":
            what = Message(N_("Sandbox for programs of packages: %(name)s"), name=name)
            yield _finding("look", what, joined([missing, state], "; "))


def _files(stored: StoredFiles) -> Iterator[Finding]:
    damaged = len(stored.faults)
    yield _finding("open" if damaged else "done", N_("Damaged files"), damaged)
    last = Message(N_("no pass over all files has ended yet"))
    if stored.ended is not None:
        last = Message(N_("read whole at %(time)s UTC"), time=stored.ended[:16])
    read = Message(N_("files: %(count)s, %(size)s"), count=stored.read, size=size(stored.bytes_read))
    yield _done(N_("Stored files"), joined([read, last], "; "))
