"""What a contest of 1,000 to 1,000,000 contestants needs: servers, graders, database, simulated from measured times.

Measured on this machine, as processor time of each submission (a zip with answers for all 20 cases of comesolo): in the
server, in its graders, in PostgreSQL. Then the last minute is simulated, in which each thousand contestants send 50
submissions a second: a submission waits for a server, is taken, waits for a grader, is judged. For each size the fewest
servers and graders are printed that keep the goals; a server and a grader take a core each.

`python -m bench.sizing --checking 0.2` counts a checker of 0.2 s beside it, `--contestants 2500` another size,
`--times 0.004,0.02,0.003` times that were measured elsewhere (server, grader, database).
"""

from __future__ import annotations

import argparse
import asyncio
import heapq
import json
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from bench._postgres import durable_postgres
from bench.growth import wait_until_ready
from bench.load import form_request, get_request, read_reply
from bench.stage import CONTEST, prepare, serving, wait_until_scored
from bench.verdicts import all_answers

SIZES = (1_000, 10_000, 100_000, 1_000_000)
RATE_OF_A_THOUSAND = 50.0
RUSH_SECONDS = 60.0
P99_SECONDS = 0.3
SECONDS_TO_JUDGE = 30.0
BUSY = 0.8
"""The share of a core that is planned for: the rest is for boards, streams and pages."""
SUBMISSIONS, AT_ONCE, WARM_UP = 640, 8, 64
SAMPLES = 10
SECONDS_BETWEEN_LOOKS = 0.25
MOST_SIMULATED = 200_000
"""Submissions of one simulation; larger contests are simulated as so many alike parts."""


@dataclass(frozen=True, slots=True)
class Times:
    """Processor seconds of a submission, in samples: in the server, in graders; and in the database."""

    server: Sequence[float]
    grader: Sequence[float]
    database: float


@dataclass(frozen=True, slots=True)
class Minute:
    """What a simulated last minute gives: 99th percentile of acceptance, and seconds after it to the last verdict."""

    p99: float
    judged_after: float

    @property
    def is_good(self) -> bool:
        """Whether it keeps the goals."""
        return self.p99 < P99_SECONDS and self.judged_after < SECONDS_TO_JUDGE


def main(sizes: Sequence[int] = SIZES, checking: float = 0.0, times: Times | None = None) -> int:
    """Print what was measured, and what each size needs."""
    known = times or measured()
    server, grader = statistics.mean(known.server), statistics.mean(known.grader) + checking
    print("processor time of a submission, mean of all on this machine:")
    print(f"  server {server * 1000:.1f} ms, grader {grader * 1000:.1f} ms, database {known.database * 1000:.1f} ms")
    heads = ("contestants", 12), ("rush/s", 9), ("servers", 9), ("graders", 9), ("database", 10), ("p99 ms", 8)
    print("".join(f"{head:>{width}}" for head, width in heads) + f"{'judged after s':>16}")
    for contestants in sizes:
        servers, graders, minute = fewest(known, contestants, checking)
        rate = contestants / 1000 * RATE_OF_A_THOUSAND
        cores = ceil(rate * known.database / BUSY)
        print(
            f"{contestants:12,}{rate:9,.0f}{servers:9,}{graders:9,}{cores:10,}"
            f"{minute.p99 * 1000:8.0f}{minute.judged_after:16.1f}",
            flush=True,
        )
    print(f"servers, graders, database: cores, each planned to be busy for {BUSY:.0%} of the last minute")
    return 0


def fewest(
    times: Times, contestants: int, checking: float = 0.0, most_simulated: int = MOST_SIMULATED
) -> tuple[int, int, Minute]:
    """The fewest servers and graders that keep the goals of a contest's last minute, and what they give."""
    if max(times.server) >= P99_SECONDS:
        raise RuntimeError(f"taking one submission takes {max(times.server):.2f} s: no number of servers is enough")
    rate = contestants / 1000 * RATE_OF_A_THOUSAND
    parts = max(1, ceil(rate * RUSH_SECONDS / most_simulated))
    servers = max(1, ceil(rate / parts * statistics.mean(times.server) / BUSY))
    work = rate / parts * RUSH_SECONDS * (statistics.mean(times.grader) + checking)
    graders = max(1, ceil(work / (RUSH_SECONDS + SECONDS_TO_JUDGE) / BUSY))
    while not (minute := last_minute(times, rate / parts, servers, graders, checking)).is_good:
        servers, graders = _one_more(minute, servers, graders)
    return servers * parts, graders * parts, minute


def _one_more(minute: Minute, servers: int, graders: int) -> tuple[int, int]:
    more_servers = minute.p99 >= P99_SECONDS
    step = 1 + (servers if more_servers else graders) // 20
    return (servers + step, graders) if more_servers else (servers, graders + step)


def last_minute(times: Times, rate: float, servers: int, graders: int, checking: float = 0.0, seed: int = 1) -> Minute:
    """Simulate one: arrivals at random, first come first served at the servers, and then at the graders."""
    draw = random.Random(seed)
    taken: list[float] = []
    waits: list[float] = []
    free = [0.0] * servers
    for arrival in arrivals(draw, rate):
        end = max(arrival, heapq.heappop(free)) + draw.choice(times.server)
        heapq.heappush(free, end)
        taken.append(end)
        waits.append(end - arrival)
    free, last = [0.0] * graders, 0.0
    for arrival in sorted(taken):
        end = max(arrival, heapq.heappop(free)) + draw.choice(times.grader) + checking
        heapq.heappush(free, end)
        last = max(last, end)
    return Minute(statistics.quantiles(waits, n=100)[-1], max(0.0, last - RUSH_SECONDS))


def arrivals(draw: random.Random, rate: float) -> Iterator[float]:
    """The moments of a rush, in seconds: as many on average in each second, independent of each other."""
    at = draw.expovariate(rate)
    while at < RUSH_SECONDS:
        yield at
        at += draw.expovariate(rate)


def measured() -> Times:
    """Measure the processor time of a submission in each process, on a PostgreSQL that waits for its disk."""
    with durable_postgres() as database_url, tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        tokens = prepare(home, teams=AT_ONCE, database_url=database_url)
        with serving(home, database_url=database_url, graders="1") as url:
            wait_until_ready(url)
            wait_until_scored(home, database_url)
            return asyncio.run(sampled(url, tokens, Processes(url, database_url)))


async def sampled(url: str, tokens: Sequence[str], processes: Processes) -> Times:
    """Send submissions in groups, and read the processor time of each process after each group."""
    server, grader, database = [], [], []
    await send(url, tokens, WARM_UP)
    before = processes.seconds()
    for _ in range(SAMPLES):
        await send(url, tokens, SUBMISSIONS // SAMPLES)
        after = processes.seconds()
        spent = [(now - then) / (SUBMISSIONS // SAMPLES) for now, then in zip(after, before, strict=True)]
        server.append(spent[0])
        grader.append(spent[1])
        database.append(spent[2])
        before = after
    return Times(server, grader, statistics.mean(database))


async def send(url: str, tokens: Sequence[str], count: int) -> None:
    """Send so many submissions over some connections, and wait until all are judged, asking seldom."""
    address, data = urlsplit(url), all_answers()
    path = f"/api/contests/{CONTEST}/submissions"

    async def contestant(token: str) -> None:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        for _ in range(count // len(tokens)):
            writer.write(form_request(path, "127.0.0.1", token, {"problem_id": "comesolo"}, ("answers.zip", data)))
            status, body = await read_reply(reader)
            if status != 201:
                raise RuntimeError(f"expected 201, found {status}: {body[:200]!r}")
        writer.close()

    await asyncio.gather(*map(contestant, tokens))
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    while True:
        writer.write(get_request("/health/ready", "127.0.0.1", None))
        if not json.loads((await read_reply(reader))[1])["waiting"]:
            break
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
    writer.close()


class Processes:
    """The processes whose time counts: the server, its graders, and those of the database."""

    def __init__(self, url: str, database_url: str) -> None:
        port = url.rsplit(":", 1)[1]
        self._server = next(each for each in psutil.Process().children() if port in each.cmdline())
        folder = database_url.partition("host=")[2]
        self._database = [
            each for each in psutil.process_iter(["cmdline"]) if f"{folder}/data" in (each.info["cmdline"] or ())
        ]

    def seconds(self) -> tuple[float, float, float]:
        """Processor seconds so far of the server, of its graders, of the database with all its connections."""
        graders = sum(map(_seconds, self._server.children()))
        database = [process for top in self._database for process in (top, *top.children())]
        return _seconds(self._server), graders, sum(map(_seconds, database))


def _seconds(process: psutil.Process) -> float:
    """Processor seconds of all threads of a process, from the scheduler: psutil's are hundredths."""
    tasks = Path(f"/proc/{process.pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


def _times_of(text: str) -> Times:
    server, grader, database = map(float, text.split(","))
    return Times([server], [grader], database)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.sizing")
    parser.add_argument("--contestants", type=int, action="append")
    parser.add_argument("--checking", type=float, default=0.0, help="seconds of a checker beside comesolo's")
    parser.add_argument("--times", type=_times_of, help="server,grader,database in seconds, in place of measuring")
    flags = parser.parse_args()
    sys.exit(main(flags.contestants or SIZES, flags.checking, flags.times))
