"""Open scoreboards beside a burst of submissions: what readers ask for, how late they see a verdict, what it costs.

Readers do as the page's script does: they ask for the part that all readers share every two to three seconds, and for
the page itself where their own row has changed, or after half a minute. Each of the submissions is of another team and
gains points, so that it changes one row.
"""

from __future__ import annotations

import asyncio
import gzip
import random
import re
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx
from sqlalchemy import func, select

from app.core.db.database import Database
from app.core.settings import Settings
from app.tables import JudgementRow, SubmissionRow
from bench._budgets import Budgets
from bench._server import processor_seconds, server_process
from bench.load import form_request, get_request
from bench.scoreboard import HOST, Pool
from bench.stage import CONTEST

ROOT = Path(__file__).parents[1]
PAGE = f"/c/{CONTEST}/scoreboard"
PER_PAGE = 100
PAUSE = (2.0, 3.0)
"""Seconds between two looks of the page's script."""
OWN_EVERY = 30.0
"""Seconds after which a team's page is fetched again where the board has changed."""
CASE = "109-n08-onehole"
"""A case that no team has an answer for when the readers come."""
JUDGED_SECONDS = 120.0
SEEN_SECONDS = PAUSE[1] + 1.0
"""A verdict is seen so long after it at the latest, where the server answers at once."""
ROW = re.compile(rb'<tr data-team="([^"]+)".*?<td class="tot">([^<]*)<', re.DOTALL)


class Signals(NamedTuple):
    """Events between the processes: all boards are open; nothing more is to be seen."""

    opened: Event
    over: Event


class Readings(NamedTuple):
    """What the readers measured, in seconds; `seen` has the moments at which each first saw a team's new total.

    refusals  the first one, in words
    """

    looks: list[float]
    pages: list[float]
    statuses: Counter[int]
    seen: list[tuple[str, float]]
    refusals: list[str]


_signals: list[Signals] = []


def share_signals(signals: Signals) -> None:
    """Let what this process runs find the signals: the first call of each process of the bench."""
    _signals.append(signals)


def open_boards(
    url: str, home: Path, tokens: list[str], readers: int, rate: int, seconds: float, budgets: Budgets
) -> None:
    """Print how open boards and a burst of submissions get on together, from when the last board is open."""
    server, context = server_process(), get_context("spawn")
    signals = Signals(context.Event(), context.Event())
    totals, first = totals_of_all(url, len(tokens)), newest(home) + 1
    with ProcessPoolExecutor(2, context, share_signals, (signals,)) as processes:
        reading = processes.submit(watch_boards, url, tokens, readers, totals)
        while not signals.opened.wait(1.0) and not reading.done():
            pass
        before = processor_seconds(server)
        try:
            accepted, refused = processes.submit(burst, url, tokens, rate, seconds).result()
            verdicts = wait_for_verdicts(home, first)
            time.sleep(SEEN_SECONDS)
        finally:
            signals.over.set()
        spent = processor_seconds(server) - before
        readings = reading.result()
    print(f"{readers} open boards beside {rate} submissions/s for {seconds:g} s, the readers on the same cores:")
    for name, times in (
        ("looks at the board", readings.looks),
        ("pages fetched", readings.pages),
        ("submissions accepted", accepted),
        (
            "from the verdict to the changed row",
            [at - verdicts[team] for team, at in readings.seen if team in verdicts],
        ),
    ):
        times.sort()
        p50, p99 = (times[int(len(times) * share)] * 1000 for share in (0.5, 0.99))
        print(f"  {name:42}{len(times):10}, p50 {p50:.0f} ms, p99 {p99:.0f} ms")
    answers = sum(readings.statuses.values())
    shares = ", ".join(f"{status} {count / answers:.2f}" for status, count in sorted(readings.statuses.items()))
    asked = answers + len(accepted)
    print(f"  shares of the replies to readers: {shares}")
    print(f"  processor time of the server: {spent:.1f} s, {1000 * spent / asked:.2f} ms a request")
    failed = sum(count for status, count in readings.statuses.items() if status not in {200, 304}) + refused
    budgets.within("  refused", failed, 0, "requests")
    for refusal in readings.refusals:
        print(f"  the first refusal: {refusal}")
    budgets.within("  submissions without a verdict", len(accepted) - len(verdicts), 0, "")


def totals_of_all(url: str, teams: int) -> dict[bytes, bytes]:
    """The totals of all teams, as pages show them."""
    with httpx.Client(base_url=url, timeout=60) as client:
        pages = [client.get(f"{PAGE}?start={start}").raise_for_status() for start in range(1, teams + 1, PER_PAGE)]
    return dict(row for page in pages for row in ROW.findall(page.content))


def newest(home: Path) -> int:
    """The number of the newest submission."""
    database = Database(Settings(home=home, database_url="", files_url="").database)
    with database.read() as session:
        number = session.scalar(select(func.max(SubmissionRow.id)))
    database.close()
    return int(number or 0)


def wait_for_verdicts(home: Path, first: int) -> dict[str, float]:
    """Wait until all submissions from a number on are judged; gives the moments of the verdicts, by team."""
    database = Database(Settings(home=home, database_url="", files_url="").database)
    until = time.monotonic() + JUDGED_SECONDS
    query = (
        select(SubmissionRow.team_id, JudgementRow.end_time)
        .join(JudgementRow, JudgementRow.submission_id == SubmissionRow.id)
        .where(SubmissionRow.id >= first, JudgementRow.current)
    )
    while True:
        with database.read() as session:
            ends = {team: end for team, end in session.execute(query).tuples() if end is not None}
            sent = session.scalar(select(func.count()).where(SubmissionRow.id >= first))
        if len(ends) == sent or time.monotonic() > until:
            database.close()
            return {str(team): end.replace(tzinfo=UTC).timestamp() for team, end in ends.items()}
        time.sleep(0.2)


class Reader:
    """A reader's connection, opened again where the server has closed it."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> tuple[bytes, bytes]:
        """Make a request; gives the head of the reply and its body, which HEAD has none of.

        It is made again on a new connection, as browsers do, where the server closes an idle one at that moment.
        """
        if self._streams is not None and not self._streams[0].at_eof():
            try:
                return await self._ask(*self._streams, request)
            except (ConnectionError, asyncio.IncompleteReadError):
                self._streams[1].close()
        self._streams = await asyncio.open_connection(self._address.hostname, self._address.port, limit=2**20)
        return await self._ask(*self._streams, request)

    @staticmethod
    async def _ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> tuple[bytes, bytes]:
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = re.search(rb"content-length: (\d+)", head)
        has_body = length is not None and not request.startswith(b"HEAD")
        return head, await reader.readexactly(int(length[1])) if length is not None and has_body else b""


def watch_boards(url: str, tokens: list[str], readers: int, totals: dict[bytes, bytes]) -> Readings:
    """Do as the script of the page does, for so many readers, half of them teams, until the end is signalled.

    The readers are spread over the pages of the board. Gives what they measured from when all boards are open.
    """
    readings = Readings([], [], Counter(), [], [])
    signals, opened = _signals[-1], 0
    # The page on which each team's new row was seen first: a later one on another page has only moved there.
    places: dict[bytes, int] = {}

    async def timed(reader: Reader, request: bytes, times: list[float]) -> tuple[bytes, bytes]:
        counts, began = opened == readers, time.perf_counter()
        head, body = await reader.ask(request)
        if counts:
            times.append(time.perf_counter() - began)
            status = int(head[9:12])
            readings.statuses[status] += 1
            if status not in {200, 304} and not readings.refusals:
                readings.refusals.append(f"{head.splitlines()[0]!r} {body[:200]!r}")
        return head, body

    async def one(at: int) -> None:
        nonlocal opened
        draw, reader, tag, known = random.Random(at), Reader(url), b"", set[bytes]()
        team = at % len(tokens) if at % 2 else None
        token, start = None if team is None else tokens[team], 1 + at % 10 * PER_PAGE
        own = b"" if team is None else b"team%d" % (team + 1)
        page = get_request(f"{PAGE}?start={start}", HOST, token, "gzip")
        look = get_request(f"{PAGE}/live?start={start}&lang=en", HOST, token, "gzip")[:-2]
        await asyncio.sleep(draw.uniform(0, OWN_EVERY))
        await reader.ask(page)
        own_at, opened = time.monotonic(), opened + 1
        if opened == readers:
            signals.opened.set()
        while not signals.over.is_set():
            await asyncio.sleep(draw.uniform(*PAUSE))
            condition = b"If-None-Match: " + tag + b"\r\n" if tag else b""
            head, body = await timed(reader, look + condition + b"\r\n", readings.looks)
            if not head.startswith(b"http/1.1 200"):
                continue
            tag, now = head.partition(b"etag: ")[2].partition(b"\r\n")[0], time.time()
            changed = [
                each
                for each, total in ROW.findall(gzip.decompress(body))
                if each not in known and totals.get(each) != total
            ]
            readings.seen.extend((each.decode(), now) for each in changed if places.setdefault(each, start) == start)
            known.update(changed)
            if own and (own in changed or time.monotonic() > own_at + OWN_EVERY):
                await timed(reader, page, readings.pages)
                own_at = time.monotonic()

    async def all_of_them() -> None:
        await asyncio.gather(*(one(at) for at in range(readers)))

    asyncio.run(all_of_them())
    return readings


def burst(url: str, tokens: Sequence[str], rate: int, seconds: float) -> tuple[list[float], int]:
    """Send submissions by the clock; gives the seconds until each was accepted, and the number of those refused."""
    path = f"/api/contests/{CONTEST}/submissions"
    (answer,) = (ROOT / "problems/comesolo/submissions/accepted").rglob(f"{CASE}.out")
    fields, file = {"problem_id": "comesolo"}, (f"{CASE}.out", answer.read_bytes())
    times: list[float] = []

    async def submit(due: float, at: int, pool: Pool) -> None:
        await pool.ask(form_request(path, HOST, tokens[1 + at % (len(tokens) - 1)], fields, file))
        times.append(time.perf_counter() - due)

    async def all_of_them() -> int:
        pool, began, tasks = Pool(url), time.perf_counter(), []
        while (due := began + len(tasks) / rate) < began + seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(submit(due, len(tasks), pool)))
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        return sum(isinstance(each, RuntimeError) for each in outcomes)

    refused = asyncio.run(all_of_them())
    return times, refused
