"""Processor time of a submission from its arrival to its verdict, by process, and times to verdicts.

Submissions of 2 KB are sent over 32 connections, and the processor time is counted until the last of them is judged:
of the server, the worker, its graders, the broker, and of PostgreSQL by whom its processes work for. Then as many
seconds at `--rate` submissions a second: the time from each until its verdict is durable, and the processor time again.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import psycopg

from bench._figures import report
from bench._installations import DISTRIBUTED, POSTGRESQL, Installation, installation
from bench._processes import report_spent, spending
from bench.acceptance import CONNECTIONS
from bench.load import read_reply, run_load
from bench.postgresql import accepted_by_bare, connect, libpq, submissions
from bench.rush import wait_until_judged
from bench.stage import CONTEST, prepare, wait_until_scored

SECONDS = 6.0
WARM_UP = 2.0
RATE = 50.0
DONE_SINCE = "SELECT submission_id FROM judgements WHERE state = 'done' AND submission_id > %s"


def main(kinds: Sequence[str], seconds: float = SECONDS, rate: float = RATE) -> int:
    """Print the figures of each installation."""
    for kind in kinds:
        with installation(kind) as installed:
            measure_on(installed, seconds, rate)
    return 0


def measure_on(installed: Installation, seconds: float, rate: float) -> None:
    """Print what the bare route takes, then what a submission takes in a rush and at a steady rate."""
    tokens = prepare(installed.home, teams=CONNECTIONS, database_url=installed.database_url)
    requests = submissions(f"/api/contests/{CONTEST}/submissions", tokens)
    place = f"judged on {installed.kind}"
    bare = accepted_by_bare(installed, tokens)
    report(f"bare route with a commit a request, {CONNECTIONS} connections", bare, "/s")
    with installed.running() as urls:
        wait_until_scored(installed.home, installed.database_url)
        asyncio.run(run_load(urls[0], requests, connections=CONNECTIONS, seconds=WARM_UP))
        wait_until_judged(installed.home, installed.database_url)
        with spending(libpq(installed.database_url)) as spent:
            outcome = asyncio.run(run_load(urls[0], requests, connections=CONNECTIONS, seconds=seconds))
            after = wait_until_judged(installed.home, installed.database_url)
        report_spent(place, spent, len(outcome.latencies))
        report(f"{place}: accepted, {CONNECTIONS} connections", outcome.rate, "/s")
        report(f"{place}: share of the bare route", outcome.rate / bare)
        report(f"{place}: last verdict after the end", after, "s")
        with spending(libpq(installed.database_url)) as spent, verdicts(installed.database_url) as ends:
            sent = asyncio.run(send_steadily(urls[0], requests, rate, seconds))
            wait_until_judged(installed.home, installed.database_url)
            time.sleep(0.5)
        steady = f"{place}, {rate:g}/s"
        report_spent(steady, spent, len(sent))
        report_times(f"{steady}: accepted", [replied - due for _, due, replied in sent])
        report_times(f"{steady}: verdict", [ends[id_] - due for id_, due, _ in sent])


def report_times(name: str, seconds: Sequence[float]) -> None:
    """Print the median and the 95th percentile."""
    report(f"{name}, median", statistics.median(seconds) * 1000, "ms")
    report(f"{name}, p95", statistics.quantiles(seconds, n=20)[-1] * 1000, "ms")


async def send_steadily(
    url: str, requests: Sequence[bytes], rate: float, seconds: float
) -> list[tuple[int, float, float]]:
    """Send what is due over kept connections; returns each submission's id, and when it was due and acknowledged."""
    address, sent = urlsplit(url), list[tuple[int, float, float]]()
    began, count = time.perf_counter(), round(rate * seconds)

    async def client(at: int) -> None:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        for number in range(at, count, len(requests)):
            due = began + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            writer.write(requests[at])
            status, body = await read_reply(reader)
            if status != 201:
                raise RuntimeError(f"expected 201, found {status}: {body[:200]!r}")
            sent.append((int(body.partition(b'"id":"')[2].partition(b'"')[0]), due, time.perf_counter()))
        writer.close()

    await asyncio.gather(*(client(at) for at in range(len(requests))))
    return sent


@contextmanager
def verdicts(url: str) -> Iterator[dict[int, float]]:
    """Note by submission when its verdict was first seen: each notice of a commit has the rows looked at."""
    ends: dict[int, float] = {}
    closing = threading.Event()

    def look(listener: psycopg.Connection[tuple[int]], first: int) -> None:
        while not closing.is_set():
            listener.execute("SELECT 1")
            for _ in listener.notifies(timeout=0.01, stop_after=1):
                pass
            done = [id_ for (id_,) in listener.execute(DONE_SINCE, [first]) if id_ not in ends]
            ends.update(dict.fromkeys(done, time.perf_counter()))

    with connect(url) as listener:
        (first,) = listener.execute("SELECT COALESCE(max(id), 0) FROM submissions").fetchone() or (0,)
        listener.execute("LISTEN jurado")
        thread = threading.Thread(target=look, args=(listener, first))
        thread.start()
        try:
            yield ends
        finally:
            closing.set()
            thread.join()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.judged")
    parser.add_argument("--on", choices=(POSTGRESQL, DISTRIBUTED), action="append", help="default: with a broker")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each load")
    parser.add_argument("--rate", type=float, default=RATE, help="submissions a second of the steady load")
    flags = parser.parse_args()
    sys.exit(main(flags.on or (DISTRIBUTED,), flags.seconds, flags.rate))
