"""A worker is cut off from the database or the broker, has another time, or checkers that fail, while teams submit."""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from ops.chaos.audit import audit
from ops.chaos.clocked import set_clock
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import scenario
from ops.chaos.on_workers import FEW, distributed, held_by, start, until_it_judges, until_judged
from ops.chaos.rows import rows_of
from ops.chaos.stage import DATABASE, POSTGRESQL, Server, Stage, wait_until
from tests import postgres
from tests.builders.balancer import Forwarder, cuttable, cuttable_port
from tests.builders.packages import zip_package
from tests.builders.programs import ABSOLUTE, VALIDATOR, own_checker

HOUR = 3600.0
SECONDS_CUT = 1.5
"""So many times the seconds of a stall is the network cut: 30 s."""
POISON = VALIDATOR.replace(
    "if len(words)",
    """\
if words == ["crash"]:
    import os
    os.kill(os.getpid(), 11)
while words == ["hang"]:
    pass
while words == ["eat"]:
    given += given
if len(words)""",
)
"""Judges honestly but for three answers."""
DEEDS = ("crash", "hang", "eat")


@scenario(POSTGRESQL)
def cut_of_a_worker_from_the_database(setting: Stage) -> str:
    """the network between a worker and the database is cut for 30 s: the other judges what it had, then both do"""
    assert setting.cluster is not None
    with cuttable(setting.cluster) as network:
        url = f"postgresql+psycopg://{postgres.USER}@127.0.0.1:{network.port}/{DATABASE}"
        return _cut(setting, network, setting.broker(), database_url=url, database_silent_seconds="6")


@scenario(POSTGRESQL)
def cut_of_a_worker_from_the_broker(setting: Stage) -> str:
    """the network between a worker and the broker is cut for 30 s: all is judged once, then by both"""
    broker = urlsplit(setting.broker())
    assert broker.port is not None
    with cuttable_port(broker.port) as network:
        through = broker._replace(netloc=broker.netloc.replace(str(broker.port), str(network.port)))
        return _cut(setting, network, broker.geturl(), broker_url=through.geturl())


def _cut(setting: Stage, network: Forwarder, broker: str, **cut_off: str) -> str:
    """Cut the network of a worker with these settings for a while, and kill the other when it is whole again."""
    server = setting.serve(broker_url=broker, **FEW)
    cut, other = (setting.worker(**{"broker_url": broker, **each}) for each in (cut_off, {}))
    start(cut, other)
    load, seconds = Load(setting.size.submissions), SECONDS_CUT * setting.size.seconds

    def cut_it() -> None:
        wait_for(load, 1 / 3)
        with rows_of(setting) as rows:
            held = held_by(cut, rows)
            network.cut()
            began = time.monotonic()
            cut.wake()
            setting.recoveries.append(until_judged(held, rows))
            time.sleep(max(0.0, seconds - (time.monotonic() - began)))
            setting.recoveries.append(until_it_judges(other, rows, network.mend))

    under_load(load, setting, server.url, cut_it)
    audit(setting, server, load)
    with rows_of(setting) as rows:
        _, slowest = rows.seconds()
    judged, mended = setting.recoveries
    return (
        f"cut for {seconds:g} s: what it had begun was judged after {judged:.1f} s, the slowest of all verdicts came "
        f"after {slowest:.1f} s; mended, it judged {mended:.1f} s later"
    )


@scenario(POSTGRESQL)
def clock_jump_of_a_worker(setting: Stage) -> str:
    """the clock of the only worker jumps by an hour, back and forth: verdicts have the time of the database"""
    offset, broker = setting.folder / "clock", setting.broker()
    set_clock(offset, 0)
    server = setting.serve(broker_url=broker, **FEW)
    start(setting.worker(module=("ops.chaos.clocked", str(offset)), broker_url=broker))
    load = Load(setting.size.submissions)

    def jump() -> None:
        with rows_of(setting) as rows:
            for at, seconds in enumerate((HOUR, -HOUR, 0.0), start=1):
                wait_for(load, at / 4)
                set_clock(offset, seconds)
                done, began = rows.done(), time.monotonic()
                wait_until(lambda done=done: rows.done() > done, "nothing is judged any more")  # type: ignore[misc]
                setting.recoveries.append(time.monotonic() - began)

    under_load(load, setting, server.url, jump)
    audit(setting, server, load)
    with rows_of(setting) as rows:
        least, most = rows.seconds()
    assert 0 <= least <= most < HOUR / 2, f"verdicts came {least:.1f} s to {most:.1f} s after their submissions"
    return f"three jumps of an hour; verdicts came {least:.2f} s to {most:.1f} s after their submissions"


@scenario(POSTGRESQL)
def poison_at_workers(setting: Stage) -> str:
    """a package's checker crashes, hangs and eats memory at two workers: judge errors, and all else is judged"""
    server, _ = distributed(setting, setting.broker(), check_seconds="2")
    load = Load(setting.size.submissions)

    def poison() -> None:
        _bring_poison(setting, server)
        wait_for(load, 1 / 3)
        began = time.monotonic()
        poisoned = [_submit(setting, server, deed) for deed in DEEDS for _ in range(setting.size.kills)]
        wait_until(lambda: len(_verdicts(setting, server)) == len(poisoned), "poison is never judged")
        setting.recoveries.append(time.monotonic() - began)
        assert _verdicts(setting, server) == ["JE"] * len(poisoned), _verdicts(setting, server)

    under_load(load, setting, server.url, poison)
    audit(setting, server, load)
    return f"{len(DEEDS) * setting.size.kills} judge errors, all of them after {max(setting.recoveries):.1f} s"


def _bring_poison(setting: Stage, server: Server) -> None:
    """Bring a problem with that checker, and a contest that has it alone."""
    package = zip_package(own_checker({"output_validator/validate.py": POISON}, ABSOLUTE), "poison/")
    start_time = {"start_time": "2026-01-01T00:00:00Z", "duration": "99999:00:00"}
    open_ = {"open_to_all": True}
    with setting.client(server) as admin:
        headers = {"Content-Type": "application/zip"}
        admin.post("problems", content=package, headers=headers).raise_for_status()
        admin.post("contests", json={"id": "poison", "name": "Poison", **start_time, **open_}).raise_for_status()
        admin.post("contests/poison/problems", json={"id": "poison", "label": "A"}).raise_for_status()


def _submit(setting: Stage, server: Server, deed: str) -> str:
    """Send an answer that does this to its checker, as a team; returns the submission's id."""
    with setting.client(server) as team:
        team.headers["Authorization"] = f"Bearer {setting.tokens[0]}"
        files = {"files": ("02.out", deed)}
        reply = team.post("contests/poison/submissions", data={"problem_id": "poison"}, files=files)
    return str(reply.raise_for_status().json()["id"])


def _verdicts(setting: Stage, server: Server) -> list[str]:
    """The verdicts of that contest."""
    with setting.client(server) as admin:
        judgements = admin.get("contests/poison/judgements").raise_for_status().json()
    return [each["judgement_type_id"] for each in judgements if each["judgement_type_id"] is not None]
