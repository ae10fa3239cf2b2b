"""The last minute: 1,000 contestants send 50 submissions a second for 60 s, on SQLite, PostgreSQL, and with a worker.

Submissions are sent when they are due, whether earlier ones were answered or not, and their times count from then: what
waits for a connection has waited too. Each is a zip with answers for all 20 cases of comesolo. `python -m bench.rush
--rate 100 --seconds 20 --on sqlite` changes the load.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import func, select

from app.core.db.database import Database
from app.core.settings import Settings
from app.submissions.tables import DONE
from app.tables import JudgementRow
from bench._figures import report
from bench._installations import KINDS, Installation, installation
from bench.load import form_request, read_reply
from bench.stage import CONTEST, prepare, wait_until_scored
from bench.verdicts import all_answers

CONTESTANTS = 1000
RATE = 50.0
SECONDS = 60.0
P99_MS = 300.0
SECONDS_TO_JUDGE = 30.0
GIVEN_UP_SECONDS = 600.0
IDLE_SECONDS = 2.0
"""The server closes a connection that no one uses for five."""


@dataclass
class Rush:
    """What came of a rush: seconds of each acceptance, statuses, seconds from its end to the last verdict."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    judged_after: float = 0.0

    @property
    def p99_ms(self) -> float:
        """The milliseconds within which 99 of 100 were acknowledged."""
        return statistics.quantiles(self.seconds, n=100)[-1] * 1000


def main(kinds: Sequence[str] = KINDS, rate: float = RATE, seconds: float = SECONDS) -> int:
    """Print what came of it on each installation; 1 if a goal is missed on one."""
    print(f"load average before: {os.getloadavg()[0]:.1f}; {os.cpu_count()} cores, the contestants on them too")
    missed = 0
    for kind in kinds:
        with installation(kind) as installed:
            rush = measure(installed, rate, seconds)
        accepted = rush.statuses[201]
        load = f"rush of {rate:g}/s on {kind}"
        report(f"{load}: accepted, median", statistics.median(rush.seconds) * 1000, "ms")
        missed += report(f"{load}: accepted, p99", rush.p99_ms, "ms", most=P99_MS)
        missed += report(f"{load}: refused of {rush.statuses.total()}", rush.statuses.total() - accepted, most=0)
        missed += report(f"{load}: all judged after", rush.judged_after, "s", most=SECONDS_TO_JUDGE)
    return int(missed > 0)


def measure(installed: Installation, rate: float, seconds: float) -> Rush:
    """Serve a fresh contest and send it the rush; wait for the last verdict."""
    tokens = prepare(installed.home, teams=CONTESTANTS, database_url=installed.database_url)
    with installed.running() as urls:
        wait_until_scored(installed.home, installed.database_url)
        rush = asyncio.run(send_all(urls[0], tokens, rate, seconds))
        rush.judged_after = wait_until_judged(installed.home, installed.database_url)
    return rush


async def send_all(url: str, tokens: Sequence[str], rate: float, seconds: float) -> Rush:
    """Send what is due, each contestant in turn, over connections that are kept."""
    address, data, rush = urlsplit(url), all_answers(), Rush()
    free: list[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]] = []
    began = time.perf_counter()

    async def one(at: int) -> None:
        due = began + at / rate
        used, reader, writer = free.pop() if free else (0.0, None, None)
        if writer is None or reader is None or time.perf_counter() - used > IDLE_SECONDS:
            reader, writer = await asyncio.open_connection(address.hostname, address.port)
        token = tokens[at % len(tokens)]
        path = f"/api/contests/{CONTEST}/submissions"
        writer.write(form_request(path, "127.0.0.1", token, {"problem_id": "comesolo"}, ("answers.zip", data)))
        status, _ = await read_reply(reader)
        rush.seconds.append(time.perf_counter() - due)
        rush.statuses[status] += 1
        free.append((time.perf_counter(), reader, writer))

    async with asyncio.TaskGroup() as group:
        for at in range(round(rate * seconds)):
            await asyncio.sleep(max(0.0, began + at / rate - time.perf_counter()))
            group.create_task(one(at))
    for *_, writer in free:
        writer.close()
    return rush


def wait_until_judged(home: Path, database_url: str) -> float:
    """Wait until no judgement is open; returns the seconds."""
    began = time.perf_counter()
    database = Database(Settings(home=home, database_url=database_url, files_url="").database)
    try:
        while time.perf_counter() - began < GIVEN_UP_SECONDS:
            with database.read() as session:
                if not session.scalar(select(func.count()).select_from(JudgementRow).where(JudgementRow.state != DONE)):
                    break
            time.sleep(0.1)
    finally:
        database.close()
    return time.perf_counter() - began


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.rush")
    parser.add_argument("--on", choices=KINDS, action="append", help="default: each of them")
    parser.add_argument("--rate", type=float, default=RATE, help="submissions a second")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    flags = parser.parse_args()
    sys.exit(main(flags.on or KINDS, flags.rate, flags.seconds))
