"""Several servers on one PostgreSQL: one is killed, restarted, cut off or misled by its clock while teams submit."""

from __future__ import annotations

import time
from collections.abc import Sequence

import httpx
import psutil
import psycopg

from bench.stage import CONTEST
from ops.chaos.audit import audit
from ops.chaos.clocked import set_clock
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import scenario
from ops.chaos.on_workers import FEW
from ops.chaos.stage import DATABASE, POSTGRESQL, Server, Stage, wait_until
from tests import postgres
from tests.builders.balancer import balanced, cuttable
from tests.builders.two import SECRET_KEY

HOUR = 3600.0
SECONDS_CUT = 1.5
"""So many times the seconds of a stall is the network cut: 30 s."""
LONGEST_TAKEOVER = 30.0


def servers_of(setting: Stage, **settings: str) -> tuple[str, Server, Server]:
    """Start a worker and two servers; returns the address of the broker, and the servers."""
    broker, first = one_of(setting, **settings)
    return broker, first, another(setting, broker, **settings)


def one_of(setting: Stage, **settings: str) -> tuple[str, Server]:
    """Start a worker and the first server; returns the address of the broker, and the server."""
    broker = setting.broker()
    first = setting.serve(broker_url=broker, secret_key=SECRET_KEY, **FEW, **settings)
    setting.worker(broker_url=broker, secret_key=SECRET_KEY, **settings).start()
    return broker, first


def another(setting: Stage, broker: str, *, module: Sequence[str] = ("app.commands",), **settings: str) -> Server:
    """Start one more server, with a home of its own and the files of all."""
    files = f"file://{(setting.home / 'files').resolve()}"
    shared = {"broker_url": broker, "files_url": files, "secret_key": SECRET_KEY, **FEW}
    server = setting.server(home=setting.folder / "other", module=module, **{**shared, **settings})
    server.start()
    return server


def audit_all(setting: Stage, load: Load, *servers: Server) -> None:
    """Hold what each server shows against what was acknowledged, and the feeds that they send against each other."""
    for server in servers:
        audit(setting, server, load)
    feeds = {server.port: _feed(setting, server) for server in servers}
    assert len(set(feeds.values())) == 1, {port: len(feed) for port, feed in feeds.items()}


def _feed(setting: Stage, server: Server) -> bytes:
    with setting.client(server) as admin:
        return admin.get(f"contests/{CONTEST}/event-feed?stream=false").raise_for_status().content


@scenario(POSTGRESQL)
def kill_of_a_server(setting: Stage) -> str:
    """kill -9 of one of two servers under load, the one that publishes the feed: the other one takes over"""
    _, *servers = servers_of(setting)
    load = Load(setting.size.submissions)

    def kill() -> None:
        for at in range(1, setting.size.kills + 1):
            wait_for(load, at / (setting.size.kills + 1))
            victim = servers[(at - 1) % 2]
            victim.kill()
            setting.recoveries.append(load.recovered())
            victim.start()
            victim.wait_until_ready()

    with balanced(*(each.url for each in servers)) as balancer:
        under_load(load, setting, balancer.url, kill)
        audit_all(setting, load, *servers)
    return f"{setting.size.kills} servers killed, {load.broken} connections broken, {load.acknowledged} acknowledged"


@scenario(POSTGRESQL, in_suite=(POSTGRESQL,))
def rolling_restart(setting: Stage) -> str:
    """both servers are restarted in turn behind a proxy, under load without keys: no request is dropped or refused"""
    _, *servers = servers_of(setting, drain_seconds="1")
    load = Load(setting.size.submissions, keyed=False)

    def roll() -> None:
        for at in range(1, setting.size.kills + 2):
            wait_for(load, at / (setting.size.kills + 2))
            server = servers[at % 2]
            server.stop()
            server.start()
            server.wait_until_ready()

    with balanced(*(each.url for each in servers)) as balancer:
        under_load(load, setting, balancer.url, roll)
        audit_all(setting, load, *servers)
    assert (load.broken, load.refused, load.unsure) == (0, 0, 0)
    return f"{setting.size.kills + 1} servers restarted, {load.acknowledged} acknowledged, none refused or dropped"


@scenario(POSTGRESQL)
def database_crashes_under_two_servers(setting: Stage) -> str:
    """kill -9 of a process of PostgreSQL under two servers, so that all their connections end and it recovers"""
    _, *servers = servers_of(setting)
    load, cluster = Load(setting.size.submissions), setting.cluster

    def crash() -> None:
        for at in range(1, setting.size.kills + 1):
            wait_for(load, at / (setting.size.kills + 1))
            with psycopg.connect(host=str(cluster), user=postgres.USER, dbname=DATABASE) as connection:
                psutil.Process(connection.info.backend_pid).kill()
            setting.recoveries.append(load.recovered())

    with balanced(*(each.url for each in servers)) as balancer:
        under_load(load, setting, balancer.url, crash)
        audit_all(setting, load, *servers)
    return f"{setting.size.kills} crashes, {load.refused} refused, {load.unsure} in doubt"


@scenario(POSTGRESQL)
def network_cut_to_a_server(setting: Stage) -> str:
    """the network between one of two servers and the database is cut for 30 s: it says so, and continues after it"""
    assert setting.cluster is not None
    broker, first = one_of(setting)
    load = Load(setting.size.submissions)
    with cuttable(setting.cluster) as network:
        url = f"postgresql+psycopg://{postgres.USER}@127.0.0.1:{network.port}/{DATABASE}"
        second = another(setting, broker, database_url=url, database_silent_seconds="6")

        def cut() -> None:
            wait_for(load, 1 / 3)
            network.cut()
            began = time.monotonic()
            wait_until(lambda: not _is_ready(second), "a server that is cut off says that it is ready")
            time.sleep(max(0.0, SECONDS_CUT * setting.size.seconds - (time.monotonic() - began)))
            network.mend()
            began = time.monotonic()
            second.wait_until_ready()
            setting.recoveries.append(time.monotonic() - began)

        with balanced(first.url, second.url) as balancer:
            under_load(load, setting, balancer.url, cut)
            audit_all(setting, load, first, second)
    return f"cut for {SECONDS_CUT * setting.size.seconds:.0f} s, ready {max(setting.recoveries):.1f} s after it"


@scenario(POSTGRESQL)
def clock_jump_of_a_server(setting: Stage) -> str:
    """the clock of one of two servers jumps by an hour, back and forth: the time of the contest is the database's"""
    offset = setting.folder / "clock"
    set_clock(offset, 0)
    broker, first = one_of(setting)
    second = another(setting, broker, module=("ops.chaos.clocked", str(offset)))
    load = Load(setting.size.submissions)

    def jump() -> None:
        for at, seconds in enumerate((HOUR, -HOUR, 0.0), start=1):
            wait_for(load, at / 4)
            set_clock(offset, seconds)
            setting.recoveries.append(load.recovered())
            times = [_time(each) for each in (first, second)]
            assert abs(times[0] - times[1]) < HOUR / 2, f"the servers' times are {abs(times[0] - times[1]):.0f} s apart"

    with balanced(first.url, second.url) as balancer:
        under_load(load, setting, balancer.url, jump)
        audit_all(setting, load, first, second)
    return "three jumps of an hour, times as before"


def _is_ready(server: Server) -> bool:
    try:
        return httpx.get(f"{server.url}/health/ready", timeout=30).status_code == 200
    except httpx.TransportError:
        return False


def _time(server: Server) -> float:
    """The time that a server tells, in seconds since 1970."""
    return int(httpx.get(f"{server.url}/api/contests", timeout=60).headers["Jurado-Time"]) / 1000
