"""Two servers want one home and one database: at their first start, and while teams submit."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import httpx

from bench.stage import wait_until_up
from ops.chaos.audit import audit
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import scenario
from ops.chaos.stage import POSTGRESQL, SQLITE, Server, Stage, drop, wait_until
from tests import postgres

FRESH = "chaos_fresh"
LONGEST_START = 5.0
FEW = {"graders": "1"}
"""A server of which only the start is of interest has one grader to warm up."""
PASSWORD = "a long enough pass phrase"


@scenario(in_suite=(POSTGRESQL,), in_long=(SQLITE,))
def two_servers(setting: Stage) -> str:
    """a second server is refused, a standby waits and takes over under load once the first is killed with -9"""
    first, load = setting.serve(**FEW), Load(setting.size.submissions)
    refusals: list[str] = []

    def hand_over() -> None:
        homes = [setting.home] if setting.cluster is None else [setting.home, setting.folder / "other"]
        others = [setting.server(home=home) for home in homes]
        for each in (standby, *others):  # all at once: most of their time is that of a start
            each.launch(*(["--standby"] if each is standby else []))
        refusals.extend(each.refusal() for each in others)
        standby.expect_in_log(f"waiting: .*process {first.process.pid}")
        wait_for(load, 1 / 2)
        first.kill()
        setting.recoveries.append(load.recovered())

    standby = setting.server(port=first.port, **FEW)
    under_load(load, setting, first.url, hand_over)
    assert all("in use by jurado serve on" in line for line in refusals), refusals
    audit(setting, standby, load)
    return f"{load.acknowledged} acknowledged, {len(refusals)} servers refused, a standby took over"


@scenario()
def first_starts(setting: Stage) -> str:
    """two first starts at once on an empty home and database, each killed with -9 again and again; then one serves"""
    home, url = setting.folder / "fresh", ""
    if setting.cluster is not None:
        drop(setting.cluster, FRESH)
        postgres.administer(setting.cluster, f"CREATE DATABASE {FRESH}")
        url = postgres.url(setting.cluster, FRESH)
    rng = random.Random(1)
    for _ in range(2 * setting.size.kills):
        both = [setting.server(home=home, database_url=url) for _ in range(2)]
        for each in both:
            each.launch()
        time.sleep(rng.uniform(0.5, LONGEST_START))
        for each in both:
            each.kill()
    began = time.monotonic()
    winner = one_of([setting.server(home=home, database_url=url, admin_password=PASSWORD) for _ in range(2)])
    winner.wait_until_ready()
    setting.recoveries.append(time.monotonic() - began)
    contests = [each["id"] for each in httpx.get(f"{winner.url}/api/contests", timeout=60).json()]
    assert sorted(contests) == ["demo", "practice"], contests
    return f"{4 * setting.size.kills} first starts killed; then of two one served, and the other said why not"


def one_of(both: Sequence[Server]) -> Server:
    """Start two servers at once on one home; returns the one that serves, once the other has been refused."""
    for each in both:
        each.launch()
    wait_until(lambda: any(each.process.poll() is not None for each in both), "both live")
    (loser,) = (each for each in both if each.process.poll() is not None)
    (winner,) = (each for each in both if each is not loser)
    assert (loser.process.returncode, "is in use by" in loser.log()) == (1, True), loser.log()
    wait_until_up(winner.url, winner.process)
    return winner
