"""Graders are killed with -9 while teams submit."""

from __future__ import annotations

import contextlib
import random
import time

import psutil

from bench.stage import CONTEST
from ops.chaos.audit import audit
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import scenario
from ops.chaos.stage import Server, Stage, wait_until

KILLS = 8
SECONDS_BETWEEN = 0.5


@scenario()
def killed_graders(setting: Stage) -> str:
    """kill -9 of graders, again and again under load; then of the only one, once"""
    server, load = setting.serve(), Load(setting.size.submissions)
    kills = KILLS * setting.size.kills

    def kill() -> None:
        wait_for(load, 1 / 4)
        for _ in range(kills):
            _kill(random.choice(server.graders() or [None]))
            time.sleep(SECONDS_BETWEEN)

    under_load(load, setting, server.url, kill)
    audit(setting, server, load)
    last = Load(1)
    _measure(setting, server, last)
    load.sent += last.sent
    audit(setting, server, load)
    return f"{kills} graders killed; the first verdict after that of the one at work is the recovery"


def _measure(setting: Stage, server: Server, load: Load) -> None:
    """Kill the grader that works and have the next verdict timed."""
    wait_until(lambda: bool(server.graders()), "there is no grader")
    before = _verdicts(setting, server)
    _kill(max(server.graders(), key=lambda each: sum(each.cpu_times()[:2])))
    began = time.monotonic()
    under_load(load, setting, server.url)
    wait_until(lambda: _verdicts(setting, server) > before, "no verdict after the death of a grader")
    setting.recoveries.append(time.monotonic() - began)


def _verdicts(setting: Stage, server: Server) -> int:
    with setting.client(server) as admin:
        judgements = admin.get(f"contests/{CONTEST}/judgements").raise_for_status().json()
        return sum(each["judgement_type_id"] is not None for each in judgements)


def _kill(victim: psutil.Process | None) -> None:
    with contextlib.suppress(psutil.NoSuchProcess):
        if victim is not None:
            victim.kill()
