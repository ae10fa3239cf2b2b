"""A large contest: from the restart to ready, to the first board, to the whole feed, and an export.

Sizes are flags: `python -m bench.growth --submissions 50000 --cases 2`, `python -m bench.growth --teams 5000
--submissions 5000 --cases 71`; `--home DIR` keeps the home for the next run.
"""

from __future__ import annotations

import argparse
import random
import socket
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from app.settings import Settings
from app.storage.database import Database
from app.storage.tables import (
    AnswerRow,
    ContestProblemRow,
    EventRow,
    JudgementRow,
    RawScoreRow,
    SubmissionRow,
    TestCaseRow,
)
from bench.stage import CONTEST, add_admin, prepare, serving

PROBLEMS = ("comesolo", "rollingballs")
ROWS_AT_ONCE = 2000
MESSAGE = {"key": "score", "text": "12 pegs are left of 40", "args": {"left": 12, "of": 40}}
READY_SECONDS, BOARD_SECONDS, FEED_SECONDS, FEED_MIB = 5.0, 2.0, 5.0, 500
TOKEN_FILE = "admin.token"
CONTEST_PATH = f"/api/contests/{CONTEST}"


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a contest: submissions, teams, cases of a submission, bytes of an answer."""

    submissions: int = 10_000
    teams: int = 500
    cases: int = 2
    answer: int = 200


def main() -> int:
    """Measure a contest of 10,000 submissions; 1 if a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        return measure(Path(folder), Size())


def measure(home: Path, size: Size) -> int:
    """Print one line a figure."""
    token = stage(home, size)
    print(f"{size.submissions} submissions of {size.teams} teams, {size.cases} cases each")
    missed = 0
    for title in ("restart, a contest whose feed nobody has read yet", "restart, its feed as told before"):
        print(title)
        began = time.perf_counter()
        with serving(home) as url, watched_memory(url) as memory:
            wait_until_ready(url)
            missed += line("ready", time.perf_counter() - began, READY_SECONDS)
            missed += line("first board", timed(lambda: get(f"{url}{CONTEST_PATH}/scoreboard", token)), BOARD_SECONDS)
            first, whole, count = feed(url, token)
            missed += line("feed: first event", first, FEED_SECONDS)
            line(f"feed: all {count} events", whole)
            print(f"  {'largest memory of the server':<34}{max(memory):8.0f} MiB (goal {FEED_MIB})")
            missed += max(memory) > FEED_MIB
    with serving(home) as url, watched_memory(url) as memory:
        wait_until_ready(url)
        before = memory[-1]
        first, whole, count = read_all(f"{url}{CONTEST_PATH}/package.zip", token)
        line("export: first byte", first)
        line(f"export: all {count / 2**20:.1f} MiB", whole)
        print(f"  {'memory for it':<34}{max(memory) - before:8.0f} MiB")
    return int(missed > 0)


def line(name: str, seconds: float, goal: float | None = None) -> bool:
    """Print one figure; tells whether it misses its goal."""
    wanted = "" if goal is None else f" (goal {goal:g})"
    print(f"  {name:<34}{seconds:8.2f} s{wanted}", flush=True)
    return goal is not None and seconds > goal


def timed(call: Any) -> float:
    """Time a call, in seconds."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def get(url: str, token: str) -> bytes:
    """Make one request of an admin."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=1800) as reply:
        body: bytes = reply.read()
        return body


def read_all(url: str, token: str) -> tuple[float, float, int]:
    """Measure the seconds to the first byte and to the last, and the number of bytes."""
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    began = time.perf_counter()
    with urllib.request.urlopen(request, timeout=1800) as reply:
        count = len(reply.read(1))
        first = time.perf_counter() - began
        while data := reply.read(2**16):
            count += len(data)
    return first, time.perf_counter() - began, count


def feed(url: str, token: str) -> tuple[float, float, int]:
    """Measure the seconds to the first event of a stream, and to the last that is stored now."""
    address = url.removeprefix("http://").split(":")
    began = time.perf_counter()
    with closing(socket.create_connection((address[0], int(address[1])), timeout=1800)) as stream:
        lines = [f"GET {CONTEST_PATH}/event-feed HTTP/1.1", "Host: bench", f"Authorization: Bearer {token}"]
        stream.sendall("\r\n".join([*lines, "", ""]).encode())
        while b'"type"' not in stream.recv(2**16):
            pass
        first = time.perf_counter() - began
    body = get(f"{url}{CONTEST_PATH}/event-feed?stream=false", token)
    return first, time.perf_counter() - began, body.count(b"\n")


def wait_until_ready(url: str) -> None:
    """Wait for /health/ready."""
    while True:
        try:
            with urllib.request.urlopen(f"{url}/health/ready", timeout=60):
                return
        except OSError:
            time.sleep(0.02)


@contextmanager
def watched_memory(url: str) -> Iterator[list[float]]:
    """Sample the resident memory of the server at `url` on this machine ten times a second, in MiB."""
    port = int(url.rsplit(":", 1)[1])
    server = next(p for p in psutil.Process().children() if str(port) in p.cmdline())
    samples, ended = [server.memory_info().rss / 2**20], threading.Event()

    def look() -> None:
        while not ended.wait(0.1):
            samples.append(server.memory_info().rss / 2**20)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield samples
    finally:
        ended.set()
        thread.join()


def stage(home: Path, size: Size) -> str:
    """Make the contest in a fresh home, or take it from an earlier one; returns the token of an admin."""
    token_file = home / TOKEN_FILE
    if token_file.exists():
        forget_feed(home)
        return token_file.read_text()
    prepare(home, teams=size.teams, problems=PROBLEMS)
    token = add_admin(home)
    database = Database(Settings(home=home, database_url="", files_url="").database)
    with database.write() as session:
        session.get_one(ContestProblemRow, (CONTEST, "comesolo")).rule = {"kind": "relative"}
        fill(session, size, {problem: cases_of(session, problem, size.cases) for problem in PROBLEMS})
    database.close()
    token_file.write_text(token)
    return token


def forget_feed(home: Path) -> None:
    """Delete the stored events of a home, as if nobody had ever read its feed."""
    database = Database(Settings(home=home, database_url="", files_url="").database)
    with database.write() as session:
        session.execute(delete(EventRow))
    database.close()


def cases_of(session: Session, problem: str, count: int) -> list[int]:
    """List the ids of so many cases of a problem; missing ones are copied from its last case."""
    rows = list(
        session.scalars(select(TestCaseRow).where(TestCaseRow.problem_id == problem).order_by(TestCaseRow.ordinal))
    )
    last = {column.name: getattr(rows[-1], column.name) for column in TestCaseRow.__table__.columns}
    for at in range(len(rows), count):
        row = TestCaseRow(**{**last, "id": None, "name": f"more{at}", "ordinal": last["ordinal"] + at})
        session.add(row)
        rows.append(row)
    session.flush()
    return [row.id for row in rows[-count:]]


def fill(session: Session, size: Size, cases: dict[str, list[int]]) -> None:
    """Write the submissions with their answers, judgements and raw scores straight into the rows."""
    draw = random.Random(1)
    start = datetime.now(UTC) - timedelta(hours=1)
    for first in range(1, size.submissions + 1, ROWS_AT_ONCE):
        rows: dict[Any, list[dict[str, Any]]] = {
            each: [] for each in (SubmissionRow, AnswerRow, JudgementRow, RawScoreRow)
        }
        for at in range(first, min(first + ROWS_AT_ONCE, size.submissions + 1)):
            after = timedelta(milliseconds=3_500_000 * at // size.submissions)
            problem = PROBLEMS[at % len(PROBLEMS)]
            add_rows(rows, at, f"team{1 + at % size.teams}", problem, cases[problem], start, after, draw, size.answer)
        for table, records in rows.items():
            session.execute(insert(table), records)


def add_rows(
    rows: dict[Any, list[dict[str, Any]]],
    at: int,
    team: str,
    problem: str,
    cases: Sequence[int],
    start: datetime,
    after: timedelta,
    draw: random.Random,
    answer: int,
) -> None:
    """Make one judged submission."""
    time_ = start + after
    sent = [{"name": f"{case}.out", "case": str(case), "ignored": None} for case in cases]
    rows[SubmissionRow].append(
        {"id": at, "contest_id": CONTEST, "problem_id": problem, "team_id": team, "account_id": team, "time": time_}
        | {"contest_time_ms": after // timedelta(milliseconds=1), "files": sent, "sources": []}
    )
    rows[JudgementRow].append(
        {"id": at, "submission_id": at, "state": "done", "type": "PC", "current": True}
        | {"start_time": time_, "end_time": time_ + timedelta(seconds=1)}
    )
    for case in cases:
        data = draw.randbytes(answer // 2).hex().encode()
        rows[AnswerRow].append(
            {"submission_id": at, "test_case_id": case, "file_name": f"{case}.out", "size": len(data), "data": data}
            | {"sha256": None, "refused": None}
        )
        rows[RawScoreRow].append(
            {"judgement_id": at, "test_case_id": case, "verdict": "accepted", "raw_num": draw.randrange(1, 5000)}
            | {"raw_den": 1, "multiplier_num": draw.randrange(0, 100), "multiplier_den": 100, "message": MESSAGE}
            | {"run_time_ms": 1, "time": time_ + timedelta(seconds=1)}
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.growth")
    for name, value in (("submissions", 10_000), ("teams", 500), ("cases", 2), ("answer", 200)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--home", type=Path, help="made if it is not there, and kept")
    flags = parser.parse_args()
    wanted = Size(flags.submissions, flags.teams, flags.cases, flags.answer)
    if flags.home is not None:
        sys.exit(measure(flags.home, wanted))
    with tempfile.TemporaryDirectory() as folder_name:
        sys.exit(measure(Path(folder_name), wanted))
