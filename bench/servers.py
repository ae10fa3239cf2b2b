"""Submissions of 2 KB accepted by one server, two and three on a PostgreSQL of their own, the cores shared with all.

Rates of one run, in turn, each beside what a bare route commits that takes the same requests over the same connections.
What a server cannot use is with others: the processor time of each kind of process for a submission is printed, and the
sum of them bounds what so many cores can take.
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
from bench._processes import report_spent, spending
from bench.acceptance import CONNECTIONS
from bench.load import Outcome, run_load
from bench.postgresql import accepted_by_bare, submissions
from bench.stage import CONTEST, prepare

SECONDS = 6.0
RATIO = 1.5
COUNTS = (1, 2, 3)


def main(seconds: float = SECONDS) -> int:
    """Print the rates and the ratio of two servers to one; 1 if it misses its goal."""
    rates = [measure(count, seconds) for count in COUNTS]
    return int(report("accepted by two servers, in those of one", rates[1] / rates[0], least=RATIO))


def measure(count: int, seconds: float) -> float:
    """Print what so many servers accept a second on a fresh database, where nothing waits yet; returns it."""
    name = f"accepted by {count} server{'s' if count > 1 else ''}"
    with installation(DISTRIBUTED) as installed:
        tokens = prepare(installed.home, teams=CONNECTIONS, database_url=installed.database_url)
        bare = accepted_by_bare(installed, tokens)
        requests = submissions(f"/api/contests/{CONTEST}/submissions", tokens)
        with installed.running(servers=count, workers=0, most_unjudged="10000000") as urls:
            asyncio.run(load(urls, requests, 1.0))
            before, began = busy_seconds(), time.perf_counter()
            with spending() as spent:
                rate = asyncio.run(load(urls, requests, seconds))
            elapsed = time.perf_counter() - began
            busy = (busy_seconds() - before) / elapsed
    report(name, rate, "/s")
    report(f"{name}: share of a bare route over as many connections", rate / bare)
    report(f"{name}: cores at work of {os.cpu_count()}", busy)
    report_spent(name, spent, round(rate * elapsed))
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
