"""Durable acceptance of 2 KB answers through the real route, against a bare route with one commit a request.

Many teams send: what a team has sent and what of it is not judged yet are counted in rows, and no team may have
thousands of submissions that wait. The warm-up is long enough for all of them to be logged in.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench._figures import report
from bench._server import process_at, processor_seconds
from bench.load import Outcome, form_request, run_load
from bench.stage import CONTEST, prepare, serving, serving_bare

CONNECTIONS = 32
WARM_UP = 6.0
SECONDS = 4.0
ROUNDS = 3
SIZE = 2048
TEAMS = 500
GOAL = 0.8


def main() -> int:
    """Measure both in turn, three times; print the table; 1 if the median share is below the goal."""
    answer = padded_answer()
    shares = []
    print(f"{'':10}{'bare/s':>10}{'us each':>9}{'jurado/s':>10}{'us each':>9}{'share':>8}{'p50 ms':>8}{'p99 ms':>8}")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        tokens = prepare(home, teams=TEAMS)
        path = f"/api/contests/{CONTEST}/submissions"
        fields = {"problem_id": "comesolo"}
        real = [form_request(path, "127.0.0.1", each, fields, ("101-n05-p70.out", answer)) for each in tokens]
        bare = form_request("/answers", "127.0.0.1", tokens[0], fields, ("101-n05-p70.out", answer))
        for at in range(1, ROUNDS + 1):
            with serving_bare(Path(folder) / "bare.db") as url:
                yardstick, bare_us = measure_with_processor(url, bare)
            with serving(home) as url:
                measured, real_us = measure_with_processor(url, real)
            shares.append(measured.rate / yardstick.rate)
            p50, p99 = (percentile(measured, share) * 1000 for share in (50, 99))
            rates = f"{yardstick.rate:10.0f}{bare_us:9.0f}{measured.rate:10.0f}{real_us:9.0f}"
            print(f"round {at:<4}{rates}{shares[-1]:8.2f}{p50:8.1f}{p99:8.1f}")
    print(f"{TEAMS} teams, {CONNECTIONS} connections, answers of {SIZE} bytes")
    print("processor time: the server's, its graders' among it")
    return int(report("accepted: median share of the bare route", statistics.median(shares), least=GOAL))


def measure_with_processor(url: str, request: bytes | Sequence[bytes]) -> tuple[Outcome, float]:
    """Measure as `measure` does; gives the server's processor time of each request as well, in microseconds.

    The warm-up is in that time, and in the count by its share of the seconds.
    """
    server = process_at(url)
    before = processor_seconds(server)
    outcome = measure(url, request)
    count = len(outcome.latencies) * (outcome.seconds + WARM_UP) / outcome.seconds
    return outcome, (processor_seconds(server) - before) / count * 1e6


def measure(url: str, request: bytes | Sequence[bytes]) -> Outcome:
    """Load the route for one warm-up second, then for the measured ones."""
    asyncio.run(run_load(url, request, connections=CONNECTIONS, seconds=WARM_UP))
    outcome = asyncio.run(run_load(url, request, connections=CONNECTIONS, seconds=SECONDS))
    if set(outcome.statuses) != {201}:
        raise RuntimeError(f"expected only 201, found {outcome.statuses}: {outcome.bodies[-1][:200]!r}")
    return outcome


def percentile(outcome: Outcome, share: int) -> float:
    """Give the latency in seconds within which `share` % of the replies came."""
    return statistics.quantiles(outcome.latencies, n=100)[share - 1]


def padded_answer() -> bytes:
    """Make a valid answer of exactly 2 KB: no jumps, and white space."""
    return b"0\n" + b" " * (SIZE - 3) + b"\n"


if __name__ == "__main__":
    sys.exit(main())
