"""A large contest: from the restart to ready, to the first board, to the whole feed, and an export.

Sizes are flags: `python -m bench.growth --submissions 50000 --cases 2`, `python -m bench.growth --teams 5000
--submissions 5000 --cases 71`; `--home DIR` keeps the home for the next run, `--on postgresql` measures there, and
`--no-whole` leaves out the whole feed and the export. The server has started on the home before: what is measured is a
restart. Beside the seconds is the processor time of the server, which other work on the machine changes little.
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
from sqlalchemy import delete, insert, select, text
from sqlalchemy.orm import Session

from app.contests.schemas import Rule
from app.core.db.database import Database
from app.core.settings import Settings
from app.tables import AnswerRow, ContestProblemRow, EventRow, JudgementRow, RawScoreRow, SubmissionRow, TestCaseRow
from bench._figures import report
from bench._postgres import durable_postgres
from bench.stage import CONTEST, add_admin, prepare, serving, wait_until_scored

PROBLEMS = ("comesolo", "rollingballs")
ROWS_AT_ONCE = 2000
MESSAGE = {"key": "score", "text": "12 pegs are left of 40", "args": {"left": 12, "of": 40}}
READY_SECONDS, BOARD_SECONDS, FEED_SECONDS, MEMORY_MIB = 5.0, 2.0, 5.0, 500
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


def measure(home: Path, size: Size, database_url: str = "", *, whole: bool = True) -> int:
    """Print one line a figure."""
    token = stage(home, size, database_url)
    print(f"{size.submissions} submissions of {size.teams} teams, {size.cases} cases each")
    missed = False
    for title in ("restart, feed never read", "restart, feed told before"):
        began = time.perf_counter()
        with serving(home, database_url=database_url) as url, watched(url) as server:
            wait_until_ready(url)
            missed |= line(f"{title}: ready", time.perf_counter() - began, server.processor(), READY_SECONDS)
            missed |= reads(title, url, token, server)
            first = feed_begins(url, token)
            missed |= line(f"{title}: first event of the feed", first, server.processor(), FEED_SECONDS)
            if whole:
                seconds = timed(lambda: get(f"{url}{CONTEST_PATH}/event-feed?stream=false", token))
                line(f"{title}: whole feed", seconds, server.processor())
            missed |= report(f"{title}: largest memory of the server", max(server.memory), "MiB", most=MEMORY_MIB)
    if whole:
        export(home, database_url, token)
    return int(missed)


def reads(title: str, url: str, token: str, server: Watched) -> bool:
    """Read the first board and whole lists; returns whether a goal is missed."""
    contest = f"{url}{CONTEST_PATH}"
    missed = line(
        f"{title}: first board", timed(lambda: get(f"{contest}/scoreboard", token)), server.processor(), BOARD_SECONDS
    )
    for name in ("submissions", "judgements", "runs"):
        server.processor()
        line(f"{title}: all {name}", timed(lambda name=name: get(f"{contest}/{name}", token)), server.processor())  # type: ignore[misc]
    return missed


def export(home: Path, database_url: str, token: str) -> None:
    """Print what an export of the contest takes."""
    with serving(home, database_url=database_url) as url, watched(url) as server:
        wait_until_ready(url)
        before = server.memory[-1]
        server.processor()
        first, whole, count = read_all(f"{url}{CONTEST_PATH}/package.zip", token)
        report("export: first byte", first, "s")
        line(f"export: all {count / 2**20:.1f} MiB", whole, server.processor())
        report("export: memory for it", max(server.memory) - before, "MiB")


def line(name: str, seconds: float, processor: float, goal: float | None = None) -> bool:
    """Print the seconds of something, and of the processor for it; tells whether they miss the goal."""
    report(f"{name}, processor", processor, "s")
    return report(name, seconds, "s", most=goal)


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


def feed_begins(url: str, token: str) -> float:
    """Measure the seconds to the first event of a stream."""
    address = url.removeprefix("http://").split(":")
    began = time.perf_counter()
    with closing(socket.create_connection((address[0], int(address[1])), timeout=1800)) as stream:
        lines = [f"GET {CONTEST_PATH}/event-feed HTTP/1.1", "Host: bench", f"Authorization: Bearer {token}"]
        stream.sendall("\r\n".join([*lines, "", ""]).encode())
        while b'"type"' not in stream.recv(2**16):
            pass
        return time.perf_counter() - began


def wait_until_ready(url: str) -> None:
    """Wait for /health/ready."""
    while True:
        try:
            with urllib.request.urlopen(f"{url}/health/ready", timeout=60):
                return
        except OSError:
            time.sleep(0.02)


class Watched:
    """A server process: its memory in samples of MiB, and its processor time since it was asked for last."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._spent = 0.0
        self.memory = [self.sample()]

    def sample(self) -> float:
        """Look at the resident memory, in MiB."""
        return float(self._process.memory_info().rss / 2**20)

    def processor(self) -> float:
        """Give the processor seconds of all its threads since the last call."""
        before, self._spent = self._spent, float(sum(self._process.cpu_times()[:2]))
        return self._spent - before


@contextmanager
def watched(url: str) -> Iterator[Watched]:
    """Sample the memory of the server at `url` on this machine ten times a second."""
    port = int(url.rsplit(":", 1)[1])
    server = Watched(next(p for p in psutil.Process().children() if str(port) in p.cmdline()))
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(0.1):
            server.memory.append(server.sample())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield server
    finally:
        ended.set()
        thread.join()


def stage(home: Path, size: Size, database_url: str = "") -> str:
    """Make the contest in a fresh home, or take it from an earlier one; returns the token of an admin."""
    token_file = home / TOKEN_FILE
    if token_file.exists():
        forget_feed(home, database_url)
        return token_file.read_text()
    prepare(home, teams=size.teams, problems=PROBLEMS, database_url=database_url)
    token = add_admin(home, database_url)
    database = opened(home, database_url)
    with database.write() as session:
        session.get_one(ContestProblemRow, (CONTEST, "comesolo")).rule = Rule(kind="relative")
        fill(session, size, {problem: cases_of(session, problem, size.cases) for problem in PROBLEMS})
        if database_url:  # the rows have brought their ids along
            for table in ("submissions", "judgements"):
                session.execute(text(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {size.submissions})"))
    database.close()
    with serving(home, database_url=database_url) as url:  # brings in what is bundled, and scores expected answers
        wait_until_ready(url)
        wait_until_scored(home, database_url)
    token_file.write_text(token)
    return token


def opened(home: Path, database_url: str) -> Database:
    """Open the database of a home."""
    return Database(Settings(home=home, database_url=database_url, files_url="").database)


def forget_feed(home: Path, database_url: str) -> None:
    """Delete the stored events of a home, as if no one had ever read its feed."""
    database = opened(home, database_url)
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
    parser.add_argument("--home", type=Path, help="made if it is not there, and kept; not with --on postgresql")
    parser.add_argument("--whole", action=argparse.BooleanOptionalAction, default=True, help="whole feed and export")
    parser.add_argument("--on", choices=("sqlite", "postgresql"), default="sqlite")
    flags = parser.parse_args()
    wanted = Size(flags.submissions, flags.teams, flags.cases, flags.answer)
    with tempfile.TemporaryDirectory() as folder_name:
        if flags.on == "postgresql":
            with durable_postgres() as address:
                sys.exit(measure(Path(folder_name), wanted, address, whole=flags.whole))
        sys.exit(measure(flags.home or Path(folder_name), wanted, whole=flags.whole))
