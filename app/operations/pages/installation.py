"""The parts of an installation as the health page shows them: the facts of `jurado status`, in the reader's words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from app.core.db.database_state import ReplicaState
from app.core.messages import N_
from app.core.pages.languages import _, decimal
from app.core.pages.wording import size
from app.operations.service.advice import SECONDS_BEHIND, name_of
from app.operations.service.status import BrokerFacts, FilesFacts, JudgingFacts, Status

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
    if files.replica is not None:
        facts.append(_("replica in %(place)s", place=files.replica))
    return "; ".join(facts)


def _backup(status: Status) -> str:
    backup = status.backup
    if backup is None:
        return _("none")
    return _("%(time)s UTC, in %(place)s", time=_minute(backup.made), place=backup.place)


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")
