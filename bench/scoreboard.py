"""The scoreboard of 1,000 teams and 10 problems: against a bare ASGI route with the same bytes, and under load."""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from app.packages.catalog import bundled
from app.packages.read import read_package
from app.settings import Settings
from app.storage.database import Database
from app.storage.files import LocalFiles
from app.storage.problems import import_package
from app.storage.tables import ContestProblemRow, JudgementRow, RawScoreRow, SubmissionRow, TestCaseRow
from bench.load import Outcome, form_request, get_request, read_reply, run_load
from bench.stage import CONTEST, prepare, serving, serving_page

TEAMS = 1000
PROBLEMS = 10
CASES = 5
CONNECTIONS = 16
ROUNDS = 3
SECONDS = 4.0
GOAL = 0.6
REQUESTS_A_SECOND = 500
SUBMISSIONS_A_SECOND = 5
LOADED_SECONDS = 15.0
P99_MS = 50.0
SEEN_MS = 200.0
PATH = f"/api/contests/{CONTEST}/scoreboard"
HOST = "127.0.0.1"


def main() -> int:
    """Print both tables; 1 if a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        tokens = stage(home)
        with serving(home) as url:
            shares = [throughput(url, Path(folder), encoding) for encoding in (None, "gzip")]
        with serving(home) as url:
            loaded = asyncio.run(under_load(url, tokens))
    latencies = sorted(loaded.latencies)
    p50, p99 = (latencies[int(len(latencies) * share)] * 1000 for share in (0.5, 0.99))
    seen = sorted(each * 1000 for each in loaded.seen)
    print(
        f"{REQUESTS_A_SECOND} requests/s (gzip) and {SUBMISSIONS_A_SECOND} submissions/s for {LOADED_SECONDS:g} s: "
        f"{len(latencies)} replies, p50 {p50:.1f} ms, p99 {p99:.1f} ms (goal {P99_MS:g})"
    )
    print(
        f"from the acknowledged submission to its verdict on the board: {len(seen)} seen, "
        f"median {statistics.median(seen):.0f} ms, slowest {seen[-1]:.0f} ms (goal {SEEN_MS:g})"
    )
    return 0 if min(shares) >= GOAL and p99 < P99_MS and seen[-1] < SEEN_MS else 1


def stage(home: Path) -> list[str]:
    """A contest in which each team has sent one submission to each problem."""
    tokens = prepare(home, teams=TEAMS)
    settings = Settings(home=home, database_url="", files_url="")
    database, files = Database(settings.database), LocalFiles(settings.files_folder)
    package = read_package(bundled()["comesolo"])
    with database.write() as session:
        session.get_one(ContestProblemRow, (CONTEST, "comesolo")).rule = {"kind": "relative"}
        for at in range(2, PROBLEMS + 1):
            slug = f"comesolo{at}"
            import_package(session, files, replace(package, slug=slug))
            session.add(
                ContestProblemRow(
                    contest_id=CONTEST, problem_id=slug, label=str(at), ordinal=at, rule={"kind": "relative"}
                )
            )
    with database.write() as session:
        fill(session)
    database.close()
    return tokens


def fill(session: Session) -> None:
    """Write the submissions with their judgements and raw scores straight into the rows."""
    draw = random.Random(1)
    start = datetime.now(UTC) - timedelta(hours=1)
    cases: dict[str, list[int]] = {}
    for id_, problem in session.execute(select(TestCaseRow.id, TestCaseRow.problem_id)):
        cases.setdefault(problem, []).append(id_)
    places = [(f"team{team}", problem) for team in range(1, TEAMS + 1) for problem in sorted(cases)]
    rows, judgements, scores = [], [], []
    for at, (team, problem) in enumerate(places, start=1):
        after = timedelta(milliseconds=draw.randrange(3_000_000))
        rows.append(
            {
                "id": at,
                "contest_id": CONTEST,
                "problem_id": problem,
                "team_id": team,
                "account_id": team,
                "time": start + after,
                "contest_time_ms": after // timedelta(milliseconds=1),
                "files": [],
                "sources": [],
            }
        )
        judgements.append(
            {"id": at, "submission_id": at, "state": "done", "type": "PC", "current": True}
            | {"start_time": start + after, "end_time": start + after}
        )
        for case in cases[problem][:CASES]:
            scores.append(
                {"judgement_id": at, "test_case_id": case, "verdict": "accepted", "raw_num": draw.randrange(1, 30)}
                | {"raw_den": 1, "multiplier_num": 1, "multiplier_den": 2, "message": {}, "run_time_ms": 1}
                | {"time": start + after}
            )
    for table, found in ((SubmissionRow, rows), (JudgementRow, judgements), (RawScoreRow, scores)):
        session.execute(insert(table), found)


def throughput(url: str, folder: Path, encoding: str | None) -> float:
    """Ours and the yardstick in turn; returns the median share."""
    request = get_request(PATH, HOST, None, encoding)
    body = asyncio.run(run_load(url, request, connections=1, seconds=0.5)).bodies[-1]
    page = folder / "page"
    page.write_bytes(body)
    shares = []
    print(f"{encoding or 'plain'}, {len(body)} bytes{'':8}{'bare/s':>10}{'jurado/s':>10}{'share':>8}")
    with serving_page(page) as bare_url:
        for at in range(1, ROUNDS + 1):
            bare = measure(bare_url, get_request("/", HOST, None, encoding), body)
            ours = measure(url, request, body)
            shares.append(ours.rate / bare.rate)
            print(f"round {at:<22}{bare.rate:10.0f}{ours.rate:10.0f}{shares[-1]:8.2f}")
    print(f"median share {statistics.median(shares):.2f} (goal {GOAL})")
    return statistics.median(shares)


def measure(url: str, request: bytes, body: bytes) -> Outcome:
    """Some seconds of it, the first not counted; every reply must be the same bytes."""
    asyncio.run(run_load(url, request, connections=CONNECTIONS, seconds=0.5))
    outcome = asyncio.run(run_load(url, request, connections=CONNECTIONS, seconds=SECONDS, keep=1))
    if set(outcome.statuses) != {200} or outcome.bodies[-1] != body:
        raise RuntimeError(f"expected the same page again and again, found {outcome.statuses}")
    return outcome


@dataclass
class Loaded:
    """Latencies of the board, and how long verdicts took to be on it, in seconds."""

    latencies: list[float] = field(default_factory=list)
    seen: list[float] = field(default_factory=list)


async def under_load(url: str, tokens: list[str]) -> Loaded:
    """Requests and submissions by the clock, whether or not those before them have been answered."""
    found, connections = Loaded(), Pool(url)
    request = get_request(PATH, HOST, None, "gzip")
    await connections.ask(request)
    await submit_and_watch(connections, tokens[0], "1", None)  # the graders have loaded what they need
    until = time.perf_counter() + LOADED_SECONDS
    await asyncio.gather(
        paced(REQUESTS_A_SECOND, until, lambda due, _: timed(connections, request, due, found)),
        paced(
            SUBMISSIONS_A_SECOND,
            until,
            lambda _, at: submit_and_watch(connections, tokens[1 + at % (TEAMS - 1)], str(2 + at % TEAMS), found),
        ),
    )
    return found


async def paced(rate: int, until: float, start: Callable[[float, int], Coroutine[None, None, None]]) -> None:
    """Start one after the other at this rate, and wait for them all."""
    began, tasks = time.perf_counter(), []
    while (due := began + len(tasks) / rate) < until:
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(start(due, len(tasks))))
    await asyncio.gather(*tasks)


async def timed(connections: Pool, request: bytes, due: float, found: Loaded) -> None:
    """One request; its time counts from when it was due."""
    await connections.ask(request)
    found.latencies.append(time.perf_counter() - due)


async def submit_and_watch(connections: Pool, token: str, team: str, found: Loaded | None) -> None:
    """Send an answer, then ask for what changed on the board until the team has nothing pending and more judged."""
    version = json.loads(await connections.ask(get_request(PATH, HOST, None)))["version"]
    fields = {"problem_id": "comesolo"}
    path = f"/api/contests/{CONTEST}/submissions"
    await connections.ask(form_request(path, HOST, token, fields, ("101-n05-p70.out", b"0\n")))
    began = time.perf_counter()
    while time.perf_counter() < began + 20:
        changes = json.loads(await connections.ask(get_request(f"{PATH}?since={version}", HOST, None)))
        cells = [row["problems"][0] for row in changes["rows"] if row["team_id"] == f"team{team}"]
        if any(cell["num_judged"] > 1 and not cell["num_pending"] for cell in cells):
            if found is not None:
                found.seen.append(time.perf_counter() - began)
            return
        await asyncio.sleep(0.01)
    raise RuntimeError("a verdict was not on the board after 20 s")


class Pool:
    """Connections that are kept and used again."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url)
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self, request: bytes) -> bytes:
        """One request; returns the body of its reply."""
        while self._idle and self._idle[-1][0].at_eof():  # the server closes what nobody has used for some seconds
            self._idle.pop()[1].close()
        if self._idle:
            reader, writer = self._idle.pop()
        else:
            reader, writer = await asyncio.open_connection(self._address.hostname, self._address.port, limit=2**22)
        writer.write(request)
        status, body = await read_reply(reader)
        self._idle.append((reader, writer))
        if not 200 <= status < 300:
            raise RuntimeError(f"expected a good reply, found {status}: {body[:200]!r}")
        return body
