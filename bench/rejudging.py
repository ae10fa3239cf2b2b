"""Time to a verdict while 20,000 submissions are judged again, against the same on an idle service.

Verdicts of single submissions, one after the other with a pause between, from the upload's first byte until GET shows
the verdict: first with the rejudging's submissions lying there judged, then while all of them are judged again. On
SQLite, and with a worker; `python -m bench.rejudging --on distributed --submissions 1000` chooses.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import httpx
from sqlalchemy import func, select

from app.core.db.database import Database
from app.core.db.writer import Writer
from app.core.settings import Settings
from app.submissions.queries import submissions
from app.submissions.queries.submissions import NewAnswer, NewSubmission
from app.submissions.tables import DONE
from app.tables import JudgementRow
from bench._figures import report
from bench._installations import DISTRIBUTED, KINDS, SQLITE, Installation, installation
from bench.grading import reference_answers
from bench.load import upload_and_wait
from bench.stage import CONTEST, add_admin, prepare
from bench.verdicts import all_answers

SUBMISSIONS = 20_000
ANSWERS_EACH = 3
TEAMS = 20
ALONE = 60
LEAST = 30
PAUSE = 0.1
GOAL = 2.0


def main(kinds: Sequence[str] = (SQLITE, DISTRIBUTED), count: int = SUBMISSIONS) -> int:
    """Print both latencies, their ratios and the rate of the rejudging; 1 if a ratio misses its goal."""
    missed = False
    for kind in kinds:
        with installation(kind) as installed:
            missed |= measure_on(installed, count)
    return int(missed)


def measure_on(installed: Installation, count: int) -> bool:
    """Print the figures of one installation; returns whether a goal is missed."""
    home = installed.home
    tokens = prepare(home, teams=TEAMS, database_url=installed.database_url)
    token = add_admin(home, installed.database_url)
    fill(installed, count)
    with installed.running() as urls:
        url = urls[0]
        wait_until_judged(installed)
        alone = asyncio.run(measure(url, tokens, lambda seen: seen >= ALONE))
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60) as admin:
            made = admin.post(f"/api/contests/{CONTEST}/rejudgings", json={"reason": "bench", "problem": "comesolo"})
            path, began = f"/api/{made.raise_for_status().json()['href']}", time.perf_counter()
            beside = asyncio.run(measure(url, tokens, lambda seen: ended(admin, path, seen)))
            judged = wait_for(admin, path)
            seconds = time.perf_counter() - began
    place = f"verdict on {installed.kind}"
    medians = [statistics.median(times) for times in (alone, beside)]
    p95s = [statistics.quantiles(times, n=20)[-1] for times in (alone, beside)]
    for name, value in (("median", medians[0]), ("p95", p95s[0])):
        report(f"{place}, idle, {len(alone)}: {name}", value * 1000, "ms")
    for name, value in (("median", medians[1]), ("p95", p95s[1])):
        report(f"{place}, beside {judged} judged again, {len(beside)}: {name}", value * 1000, "ms")
    report(f"{place}: judged again", judged / seconds, "/s")
    missed = report(f"{place}: ratio of the medians", medians[1] / medians[0], most=GOAL)
    return report(f"{place}: ratio of the p95", p95s[1] / p95s[0], most=GOAL) or missed


def fill(installed: Installation, count: int, answers_each: int = ANSWERS_EACH) -> None:
    """Queue submissions straight into the tables: small ones, of all teams in turn."""
    database = opened(installed)
    writer = Writer(database)
    chosen = reference_answers(database, "comesolo")[:answers_each]
    answers = [NewAnswer(a.test_case_id, "x.out", len(a.data or b""), None, a.data) for a in chosen]
    now = datetime.now(UTC)
    waiting = [
        writer.submit(
            submissions.accept,
            NewSubmission(CONTEST, "comesolo", f"team{at % TEAMS + 1}", f"team{at % TEAMS + 1}", now, at, answers),
        )
        for at in range(count)
    ]
    for each in waiting:
        each.result()
    writer.close()
    database.close()


def opened(installed: Installation) -> Database:
    """Open the database of an installation."""
    return Database(Settings(home=installed.home, database_url=installed.database_url, files_url="").database)


def wait_until_judged(installed: Installation) -> None:
    """Wait until no judgement is open."""
    database = opened(installed)
    while unjudged(database):
        time.sleep(0.2)
    database.close()


def unjudged(database: Database) -> int:
    """Count the open judgements."""
    query = select(func.count()).select_from(JudgementRow).where(JudgementRow.state != DONE)
    with database.read() as session:
        return session.scalar(query) or 0


def ended(admin: httpx.Client, path: str, seen: int) -> bool:
    """Tell whether the rejudging is judged; asks the server now and then, as people do."""
    return seen >= LEAST and seen % 10 == 0 and bool(admin.get(path).json()["state"] != "judging")


def wait_for(admin: httpx.Client, path: str) -> int:
    """Wait until the rejudging is ready; returns how many submissions it has."""
    while True:
        rejudging: dict[str, Any] = admin.get(path).json()
        if rejudging["state"] != "judging":
            return int(rejudging["total"])
        time.sleep(0.1)


async def measure(url: str, tokens: list[str], enough: Callable[[int], bool]) -> list[float]:
    """Submit for one team after the other until `enough`; returns the seconds until each verdict."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    path, data, times = f"/api/contests/{CONTEST}", all_answers(), list[float]()
    while not enough(len(times)):
        token = tokens[len(times) % len(tokens)]
        _, seconds = await upload_and_wait(reader, writer, path, token, data)
        times.append(seconds)
        await asyncio.sleep(PAUSE)
    writer.close()
    return times


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.rejudging")
    parser.add_argument("--on", choices=KINDS, action="append", help=f"default: {SQLITE} and {DISTRIBUTED}")
    parser.add_argument("--submissions", type=int, default=SUBMISSIONS)
    flags = parser.parse_args()
    sys.exit(main(flags.on or (SQLITE, DISTRIBUTED), flags.submissions))
