"""Submissions of 2 KB accepted by one server and by two on the same database, the cores shared with those who send.

Rates of one run: one server, two servers, in turn. What a server cannot use is with others: the processor time of all
that works for a submission is printed beside them, and bounds what so many cores can take.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Sequence

import psutil

from bench._figures import report
from bench._installations import DISTRIBUTED, installation
from bench.acceptance import CONNECTIONS, padded_answer
from bench.load import Outcome, form_request, run_load
from bench.stage import CONTEST, prepare

SECONDS = 6.0
RATIO = 1.5


def main(seconds: float = SECONDS) -> int:
    """Print both rates and their ratio; 1 if it misses its goal."""
    rates = [measure(count, seconds) for count in (1, 2)]
    return int(report("accepted by two servers, in those of one", rates[1] / rates[0], least=RATIO))


def measure(count: int, seconds: float) -> float:
    """Print what so many servers accept a second on a fresh database, where nothing waits yet; returns it."""
    with installation(DISTRIBUTED) as installed:
        tokens = prepare(installed.home, teams=CONNECTIONS, database_url=installed.database_url)
        path, file = f"/api/contests/{CONTEST}/submissions", ("101-n05-p70.out", padded_answer())
        requests = [form_request(path, "127.0.0.1", token, {"problem_id": "comesolo"}, file) for token in tokens]
        with installed.running(servers=count, workers=0, most_unjudged="10000000") as urls:
            asyncio.run(load(urls, requests, 1.0))
            before, began = busy_seconds(), time.perf_counter()
            rate = asyncio.run(load(urls, requests, seconds))
            busy = (busy_seconds() - before) / (time.perf_counter() - began)
    name = f"accepted by {count} server{'s' if count > 1 else ''}"
    report(name, rate, "/s")
    report(f"{name}: cores at work of {os.cpu_count()}", busy)
    return rate


async def load(urls: Sequence[str], requests: Sequence[bytes], seconds: float) -> float:
    """Load all servers at once, each connection a team; returns the submissions accepted a second."""
    share = CONNECTIONS // len(urls)
    loads = [
        run_load(url, requests[at * share : (at + 1) * share], connections=share, seconds=seconds, keep=1)
        for at, url in enumerate(urls)
    ]
    outcomes: list[Outcome] = await asyncio.gather(*loads)
    for outcome in outcomes:
        if set(outcome.statuses) != {201}:
            raise RuntimeError(f"expected only 201, found {outcome.statuses}: {outcome.bodies[-1][:200]!r}")
    return sum(outcome.rate for outcome in outcomes)


def busy_seconds() -> float:
    """Sum the seconds that all cores of this machine have worked, for whomever."""
    times = psutil.cpu_times()
    return float(times.user + times.system + times.nice + times.softirq)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.servers")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    sys.exit(main(parser.parse_args().seconds))
