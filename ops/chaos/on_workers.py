"""Workers and their broker: killed, frozen, restarted, robbed of all that they had, while teams submit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ops.chaos.audit import audit
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import scenario
from ops.chaos.rows import Rows, rows_of
from ops.chaos.stage import PATIENCE, POSTGRESQL, Server, Stage, Worker, wait_until
from tests.rabbitmq import RabbitMQ

FEW = {"graders": "1"}
PATIENT = "600"
"""Seconds for a checker, so that what it says after a minute is its result, and not a failure."""
LOOK = 0.005
SECONDS_OF_A_JUDGEMENT = 2.0
"""What is begun for so long is judged by a grader that is stopped, also on a busy machine."""


def distributed(setting: Stage, broker: str, **of_workers: str) -> tuple[Server, list[Worker]]:
    """Start a server and two workers that a broker feeds."""
    server = setting.serve(broker_url=broker, **FEW)
    started = [setting.worker(broker_url=broker, **of_workers) for _ in range(2)]
    start(*started)
    return server, started


def start(*workers: Worker) -> None:
    """Start workers at once."""
    for each in workers:
        each.launch()
    for each in workers:
        each.expect_in_log("Jurado judges")


@scenario(POSTGRESQL, in_long=(POSTGRESQL,))
def kills_of_workers(setting: Stage) -> str:
    """kill -9 of one of two workers in the middle of judging, under load: the other one takes over what it had"""
    server, workers = distributed(setting, setting.broker())
    load, takeovers = Load(setting.size.submissions), list[Takeover]()

    def kill() -> None:
        for at in range(1, setting.size.kills + 1):
            wait_for(load, at / (setting.size.kills + 1))
            with rows_of(setting) as rows:
                takeovers.append(_kill(workers[at % 2], rows))
            if at < setting.size.kills:
                workers[at % 2].start()

    under_load(load, setting, server.url, kill)
    audit(setting, server, load)
    setting.recoveries += [each.judged for each in takeovers]
    slowest = Takeover(*map(max, zip(*takeovers, strict=True)))
    return (
        f"{setting.size.kills} workers killed: the next verdict {slowest.next:.2f} s after it at most, what the dead "
        f"one had begun was begun again after {slowest.begun:.2f} s and judged after {slowest.judged:.2f} s"
    )


class Takeover(NamedTuple):
    """Seconds from the death of a worker to the next verdict, and until what it had begun is begun anew, and judged."""

    next: float
    begun: float
    judged: float


def _kill(victim: Worker, rows: Rows) -> Takeover:
    """Kill a worker that has begun judgements, and wait for others to take over."""
    held, done = held_by(victim, rows), rows.done()
    began, takeover = time.monotonic(), dict[str, float]()
    victim.kill()
    until = began + PATIENCE
    while set(takeover) != set(Takeover._fields):
        assert time.monotonic() < until, f"no other worker has taken over what was begun: {takeover} of {held}"
        begun, now = rows.begun(), time.monotonic() - began
        if rows.done() > done:
            takeover.setdefault("next", now)
        if all(begun.get(id_) != attempt for id_, attempt in held.items()):
            takeover.setdefault("begun", now)
        if not begun.keys() & held.keys():
            takeover.setdefault("judged", now)
        time.sleep(LOOK)
    return Takeover(**takeover)


def held_by(victim: Worker, rows: Rows) -> dict[int, int]:
    """Stop the graders of a worker in the middle of judging; returns what it has begun, with its attempts."""
    for each in victim.graders():
        each.suspend()
    until = time.monotonic() + PATIENCE
    while True:
        before = rows.begun()
        time.sleep(SECONDS_OF_A_JUDGEMENT)
        held = dict(rows.begun().items() & before.items())
        if held:
            return held
        assert time.monotonic() < until, "the worker begins nothing"


def until_judged(held: Iterable[int], rows: Rows) -> float:
    """Wait until all these judgements are done; returns the seconds that it took."""
    ids, began = set(held), time.monotonic()
    wait_until(lambda: not rows.begun().keys() & ids, "no other worker has judged what was begun")
    return time.monotonic() - began


def until_it_judges(other: Worker, rows: Rows, mend: Callable[[], None]) -> float:
    """Kill the other worker and mend what keeps one from judging; returns the seconds to its next verdict."""
    other.kill()
    done, began = rows.done(), time.monotonic()
    mend()
    wait_until(lambda: rows.done() > done, "the worker does not judge again")
    return time.monotonic() - began


@scenario(POSTGRESQL)
def frozen_worker(setting: Stage) -> str:
    """a worker is stopped (SIGSTOP) while it judges and woken a minute later: others judge what it had, once"""
    server, workers = distributed(setting, setting.broker(), check_seconds=PATIENT)
    load, frozen, other = Load(setting.size.submissions), *workers
    seconds = 3 * setting.size.seconds

    def freeze() -> None:
        wait_for(load, 1 / 3)
        with rows_of(setting) as rows:
            held = held_by(frozen, rows)
            frozen.freeze()
            setting.recoveries.append(until_judged(held, rows))
            time.sleep(max(0.0, seconds - setting.recoveries[-1]))
            verdicts = rows.verdicts(held)
            setting.recoveries.append(until_it_judges(other, rows, frozen.wake))
            assert rows.verdicts(held) == verdicts, "a late result was written"

    under_load(load, setting, server.url, freeze)
    audit(setting, server, load)
    given_up, woken = setting.recoveries
    return (
        f"a worker stopped for {seconds:g} s: what it had begun was judged by the other one after {given_up:.1f} s; "
        f"woken, it judged {woken:.1f} s later, and changed nothing of that"
    )


@scenario(POSTGRESQL)
def broker_crashes(setting: Stage) -> str:
    """kill -9 of RabbitMQ under load, and its start again; then again, with all its queues and messages lost"""
    broker = RabbitMQ(setting.folder / "rabbitmq")
    broker.start()
    try:
        server, _workers = distributed(setting, broker.url())
        load = Load(setting.size.submissions)

        def crash() -> None:
            for at, is_lost in enumerate((False, True), start=1):
                wait_for(load, at / 3)
                assert broker.status is None, f"RabbitMQ ended by itself, with status {broker.status}"
                broker.kill()
                if is_lost:
                    broker.lose()
                load.recovered()  # submissions are taken all the same
                broker.start()
                with rows_of(setting) as rows:
                    done, began = rows.done(), time.monotonic()
                    wait_until(lambda done=done, rows=rows: rows.done() > done, "nothing is judged any more")  # type: ignore[misc]
                setting.recoveries.append(time.monotonic() - began)

        under_load(load, setting, server.url, crash)
        audit(setting, server, load)
    finally:
        for each in setting.servers:
            each.stop()
        broker.kill()
    return "RabbitMQ killed twice, once with all it had"


@scenario(POSTGRESQL)
def rolling_workers(setting: Stage) -> str:
    """workers are stopped and started in turn under load: what they had is judged by the others at once"""
    server, workers = distributed(setting, setting.broker())
    load = Load(setting.size.submissions)

    def roll() -> None:
        for at in range(1, setting.size.kills + 1):
            wait_for(load, at / (setting.size.kills + 1))
            worker = workers[at % 2]
            began = time.monotonic()
            worker.stop()
            setting.recoveries.append(time.monotonic() - began)
            worker.start()

    under_load(load, setting, server.url, roll)
    audit(setting, server, load)
    return f"{setting.size.kills} workers restarted"
