"""Time to a verdict while 5,000 submissions are judged again, against the same on an idle service.

Verdicts of single submissions, one after the other with a pause between, from the upload's first byte until GET shows
the verdict: first with the rejudging's submissions lying there judged, then while all of them are judged again.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from sqlalchemy import func, select

from app.storage import submissions
from app.storage.database import Database
from app.storage.judgements import DONE
from app.storage.submissions import NewAnswer, NewSubmission
from app.storage.tables import JudgementRow
from app.storage.writer import Writer
from bench.grading import reference_answers
from bench.load import upload_and_wait
from bench.stage import CONTEST, add_admin, prepare, serving
from bench.verdicts import all_answers

SUBMISSIONS = 5000
ANSWERS_EACH = 3
TEAMS = 20
ALONE = 60
LEAST = 30
PAUSE = 0.1
GOAL = 2.0


def main() -> int:
    """Print both latencies, their ratio and the rate of the rejudging; 1 if a verdict takes twice as long or more."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        tokens = prepare(home, teams=TEAMS)
        token = add_admin(home)
        fill(home, SUBMISSIONS)
        with serving(home) as url:
            wait_until_judged(home)
            alone = asyncio.run(measure(url, tokens, lambda seen: seen >= ALONE))
            with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60) as admin:
                made = admin.post(
                    f"/api/contests/{CONTEST}/rejudgings", json={"reason": "bench", "problem": "comesolo"}
                )
                path, began = f"/api/{made.raise_for_status().json()['href']}", time.perf_counter()
                beside = asyncio.run(measure(url, tokens, lambda seen: ended(admin, path, seen)))
                judged = wait_for(admin, path)
                seconds = time.perf_counter() - began
    print(f"{'verdict seen by GET':34}{'median ms':>10}{'p95 ms':>8}{'number':>8}")
    for name, times in (("nothing else is done", alone), (f"while {judged} are judged again", beside)):
        milliseconds = [each * 1000 for each in times]
        p95 = statistics.quantiles(milliseconds, n=20)[-1]
        print(f"{name:34}{statistics.median(milliseconds):10.1f}{p95:8.1f}{len(times):8}")
    ratio = statistics.median(beside) / statistics.median(alone)
    print(f"ratio of the medians {ratio:.2f} (goal: below {GOAL:g})")
    rate = judged / seconds
    print(f"{judged} submissions judged again in {seconds:.1f} s beside {len(beside)} live ones: {rate:.0f} a second")
    return 0 if ratio < GOAL else 1


def fill(home: Path, count: int) -> None:
    """Queue submissions straight into the tables: small ones, of all teams in turn."""
    database = Database(f"sqlite:///{home / 'jurado.db'}")
    writer = Writer(database)
    chosen = reference_answers(database, "comesolo")[:ANSWERS_EACH]
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


def wait_until_judged(home: Path) -> None:
    """Wait until no judgement is open."""
    database = Database(f"sqlite:///{home / 'jurado.db'}")
    while True:
        with database.read() as session:
            if not session.scalar(select(func.count()).select_from(JudgementRow).where(JudgementRow.state != DONE)):
                break
        time.sleep(0.2)
    database.close()


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
