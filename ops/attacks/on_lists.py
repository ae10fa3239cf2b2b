"""Crowds that read what is large: every list of a contest, its feed, its history, exports, reports and test cases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ops.attacks.honest import honest_people
from ops.attacks.model import Cost, attack
from ops.attacks.on_crowds import READERS, SECONDS, server_faults
from ops.attacks.raw import ask_again_and_again, basic, head
from ops.attacks.stage import CONTEST, Stage

WHAT = "p99 of a submission beside 40 readers"
BASE = f"/api/contests/{CONTEST}"
ANYBODY = {
    "submissions": "submissions",
    "teams": "teams",
    "persons": "persons",
    "organizations": "organizations",
    "groups": "groups",
    "problems": "problems",
    "awards": "awards",
    "commentary": "commentary",
    "clarifications": "clarifications",
    "judgements-filtered": "judgements?judgement_type_id=AC",
    "the-feed": "event-feed?stream=false",
    "the-history": "scores/history?steps=1000",
    "statements": "problems/comesolo/statement",
}
A_TEAM = {
    "own-submissions": "submissions",
    "own-judgements": "judgements",
    "own-runs": "runs",
    "reports": "submissions/1/report",
    "testcases": "problems/comesolo/testcases",
    "the-account": "accounts",
    "exports": "package.zip",
}


def readers(name: str, path: str, *, logged_in: bool) -> Callable[[Stage], Cost]:
    """40 connections that ask for a path again and again, of no one or of one team; 503 is an answer, 500 is none."""

    def run(stage: Stage) -> Cost:
        lines = [basic(stage.teams[0])] if logged_in else []
        request = head("GET", f"{BASE}/{path}", stage, *lines)
        with honest_people(stage) as felt:
            asked = asyncio.run(ask_again_and_again(stage.port, request, READERS, SECONDS))
        faults = [f"status {status}" for status in asked.statuses if status >= 500 and status != 503]
        return Cost(felt.p99(felt.accepted), faults + server_faults(felt))

    run.__name__ = f"readers_of_{name.replace('-', '_')}"
    run.__doc__ = f"40 connections of {'one team' if logged_in else 'nobody'} read {path} again and again."
    return run


for each, where in ANYBODY.items():
    attack(WHAT)(readers(each, where, logged_in=False))
for each, where in A_TEAM.items():
    attack(WHAT)(readers(each, where, logged_in=True))
