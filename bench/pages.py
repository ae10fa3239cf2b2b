"""The pages: bytes against budgets, pages a second beside the API, first paint, patches, 1,000 open scoreboards.

Parts and sizes are flags: `python -m bench.pages --part paint --part patch`, `--mock FOLDER` with the plain pages
`scoreboard.html`, `problem.html` and `submission.html` to compare first paints with, `--open-boards 100`.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from app.core.db.database import Database
from app.core.pages.pages import PATHS
from app.core.settings import Settings
from app.tables import ContestRow, GroupRow, TeamRow
from bench._budgets import Budgets
from bench._chromium import in_browser
from bench._open_boards import open_boards
from bench._server import processor_seconds, server_process
from bench.load import Outcome, get_request, read_reply
from bench.scoreboard import HOST, stage
from bench.stage import CONTEST, serving, wait_until_scored
from tests.builders.browsers import chromium

ROOT = Path(__file__).parents[1]
API = f"/api/contests/{CONTEST}/scoreboard"
PARTS = ("sizes", "rates", "paint", "patch", "boards", "open")
FEW = "few"
"""The group of the first 30 teams, whose board is the one that the budget of bytes is for."""
KB = 1000
MOST_CSS, MOST_HTML, MOST_SCRIPT, MOST_BOARD, MOST_SHARED, MOST_FONTS = 10, 12, 25, 10, 8, 60
NEAR_ONE = 0.5
"""The least share of the API's replies a second that a page of the board comes to."""
CONNECTIONS, SECONDS = 16, 2.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is measured: the parts, the boards that are open, submissions a second beside them, seconds of these."""

    parts: Sequence[str] = PARTS
    open_boards: int = 1000
    submissions: int = 50
    seconds: float = 15.0
    mock: Path | None = None


def main() -> int:
    """Print all figures; 1 if a budget is missed."""
    return measure(Wanted())


def measure(wanted: Wanted) -> int:
    """Print the figures of some parts; 1 if a budget is missed."""
    print(f"load average before: {os.getloadavg()[0]:.1f}; {os.cpu_count()} cores, readers and browser on them too")
    budgets = Budgets()
    if "sizes" in wanted.parts:
        sizes_of_files(budgets)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        tokens = stage(home)
        add_group_of_few(home)
        with serving(home) as url:
            wait_until_scored(home)
            addresses = addresses_of(send(url, tokens[0]))
            if "sizes" in wanted.parts:
                sizes_of_pages(url, tokens[0], addresses, budgets)
            if "rates" in wanted.parts:
                rates(url, tokens, addresses, budgets)
            if chromium() is None:
                print("no Chromium here: nothing is measured in a browser")
            else:
                in_browser(url, tokens[0], addresses, wanted.parts, wanted.mock, budgets)
        if "open" in wanted.parts:
            with serving(home) as url:
                open_boards(url, home, tokens, wanted.open_boards, wanted.submissions, wanted.seconds, budgets)
    return budgets.result()


def addresses_of(submission: str) -> dict[str, str]:
    """The pages that are measured, by their names."""
    board = f"/c/{CONTEST}/scoreboard"
    return {
        "board of 30 teams": f"{board}?group={FEW}",
        "board of 1,000 teams": board,
        "problem": f"/c/{CONTEST}/problems/comesolo",
        "report": f"/c/{CONTEST}/submissions/{submission}",
    }


def add_group_of_few(home: Path) -> None:
    """Put the first 30 teams into a group."""
    database = Database(Settings(home=home, database_url="", files_url="").database)
    with database.write() as session:
        session.add(GroupRow(id=FEW, name="Few"))
        session.flush()
        for at in range(1, 31):
            session.get_one(TeamRow, f"team{at}").group_ids = [FEW]
        assert session.get(ContestRow, CONTEST) is not None
    database.close()


def send(url: str, token: str) -> str:
    """Send the reference's answers to all cases and wait for the verdict; gives the submission's id."""
    folder = ROOT / "problems/comesolo/submissions/accepted"
    files = [("files", (path.name, path.read_bytes())) for path in sorted(folder.rglob("*.out"))]
    with httpx.Client(base_url=f"{url}/api/contests/{CONTEST}", headers={"Authorization": f"Bearer {token}"}) as client:
        reply = client.post("/submissions", data={"problem_id": "comesolo"}, files=files, timeout=60)
        submission = str(reply.raise_for_status().json()["id"])
        while client.get(f"/submissions/{submission}/report", timeout=60).raise_for_status().json()["state"] != "done":
            time.sleep(0.2)
    return submission


def zipped(data: bytes) -> float:
    """Give the kilobytes of data, zipped."""
    return len(gzip.compress(data, 6)) / KB


def sizes_of_files(budgets: Budgets) -> None:
    """Print the bytes of style sheet, scripts and fonts."""
    files = PATHS
    budgets.within("style sheet, zipped", zipped(files["jurado.css"].read_bytes()), MOST_CSS, "KB")
    scripts = [path for name, path in files.items() if "/" not in name and name.endswith(".js") and name != "docs.js"]
    total = sum(zipped(each.read_bytes()) for each in scripts)
    budgets.within("all scripts of pages, zipped", total, MOST_SCRIPT, "KB")
    for board in sorted(path for name, path in files.items() if name.startswith("boards/")):
        most = MOST_SHARED if board.stem == "board" else MOST_BOARD
        budgets.within(f"boards/{board.name}, zipped", zipped(board.read_bytes()), most, "KB")
    element = zipped(files["board/element.js"].read_bytes())
    budgets.within("board/element.js, which boards share, zipped", element, MOST_SHARED, "KB")
    fonts = sum(each.stat().st_size for each in files.values() if each.suffix == ".woff2") / KB
    budgets.within("fonts (0, with formulas 60)", fonts, MOST_FONTS, "KB")


def sizes_of_pages(url: str, token: str, addresses: dict[str, str], budgets: Budgets) -> None:
    """Print the bytes of pages as they are sent, and of the forms of the board's JSON."""
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60) as client:
        for name, address in addresses.items():
            client.get(address).raise_for_status()
            budgets.within(f"{name}, zipped", _bytes_sent(client, address) / KB, MOST_HTML, "KB")
        sent = _bytes_sent(client, API) / KB
        plain = len(client.get(API, headers={"Accept-Encoding": "identity"}).content) / KB
        print(f"JSON of the board{plain:45.1f} KB, zipped {sent:.1f} KB")


def _bytes_sent(client: httpx.Client, address: str) -> int:
    with client.stream("GET", address) as reply:
        return sum(map(len, reply.iter_raw()))


def rates(url: str, tokens: list[str], addresses: dict[str, str], budgets: Budgets) -> None:
    """Print the replies a second of pages beside those of the API's documents, all of them zipped, and their share.

    The processor time is that of the server and of its children for a reply.
    """
    report = f"/api/contests{addresses['report'].removeprefix('/c')}/report"
    board = addresses["board of 1,000 teams"]
    routes: list[tuple[str, str, Sequence[str | None], float]] = [
        ("API: board, nobody", API, [None], 0),
        ("page: board, nobody", board, [None], NEAR_ONE),
        ("API: board, 200 teams in turn", API, tokens[:200], 0),
        ("page: board, 200 teams in turn", board, tokens[:200], NEAR_ONE),
        ("API: report, a team", report, tokens[:1], 0),
        ("page: report, a team", addresses["report"], tokens[:1], NEAR_ONE),
        ("page: problem, a team", addresses["problem"], tokens[:1], 0),
        ("page: puzzles of the day, nobody", "/daily", [None], 0),
        ("style sheet", "/static/jurado.css", [None], 0),
    ]
    api, server = 0.0, server_process()
    for name, address, readers, least in routes:
        requests = [get_request(address, HOST, who, "gzip") for who in readers]
        asyncio.run(in_turn(url, requests, 0.0))
        before = processor_seconds(server)
        outcome = asyncio.run(in_turn(url, requests, SECONDS))
        spent = (processor_seconds(server) - before) / len(outcome.latencies)
        assert set(outcome.statuses) == {200}, (name, outcome.statuses)
        median = statistics.median(outcome.latencies) * 1000
        line = f"{outcome.rate:10.0f} /s, median {median:.1f} ms of {CONNECTIONS}, processor {1000 * spent:.2f} ms"
        if name.startswith("API"):
            api = outcome.rate
        if not least:
            print(f"{name:44}{line}")
        else:
            print(f"{name:44}{line}, {outcome.rate / api:.2f} of the API's (goal near 1)")
            budgets.at_least(f"{name}, share of the API's", outcome.rate / api, least)


async def in_turn(url: str, requests: Sequence[bytes], seconds: float) -> Outcome:
    """Send requests in turn over several connections, each at least once."""
    address, outcome, began, sent = httpx.URL(url), Outcome(), time.perf_counter(), 0
    until = began + seconds

    async def client() -> None:
        nonlocal sent
        reader, writer = await asyncio.open_connection(address.host, address.port, limit=2**22)
        while time.perf_counter() < until or sent < len(requests):
            at, sent = sent, sent + 1
            asked = time.perf_counter()
            writer.write(requests[at % len(requests)])
            status, _ = await read_reply(reader)
            outcome.latencies.append(time.perf_counter() - asked)
            outcome.statuses[status] = outcome.statuses.get(status, 0) + 1
        writer.close()

    await asyncio.gather(*(client() for _ in range(CONNECTIONS)))
    outcome.seconds = time.perf_counter() - began
    return outcome


if __name__ == "__main__":
    usual = Wanted()
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.pages")
    parser.add_argument("--part", action="append", choices=PARTS, help="one of the parts; may be given again")
    parser.add_argument("--open-boards", type=int, default=usual.open_boards)
    parser.add_argument("--submissions", type=int, default=usual.submissions, help="a second")
    parser.add_argument("--seconds", type=float, default=usual.seconds, help="of submissions")
    parser.add_argument("--mock", type=Path, help="a folder of plain pages to compare with")
    flags = parser.parse_args()
    sys.exit(measure(Wanted(flags.part or PARTS, flags.open_boards, flags.submissions, flags.seconds, flags.mock)))
