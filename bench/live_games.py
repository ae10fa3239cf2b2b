"""Games over WebSockets: 2,000 open at once, the latency of a move, memory a game, and moves/s beside a bare route.

The clients are this process, the server is another one; both are told with the processor time that they take.
"""

from __future__ import annotations

import asyncio
import gc
import json
import statistics
import tempfile
import time
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
from websockets.asyncio.client import ClientConnection, connect

from bench.acceptance import measure
from bench.load import form_request
from bench.stage import CONTEST, prepare, serving, serving_bare

GAMES = 2000
AT_ONCE = 50
SECONDS_BETWEEN_MOVES = 10.0
SECONDS = 20.0
CLOSED = 32
CLOSED_SECONDS = 5.0
PARAMETERS = {"a": 10**9, "b": 0, "k": 2}
GOAL_MS = 50.0


@dataclass
class Table:
    """One connection's game, and the latencies of its moves in seconds."""

    socket: ClientConnection
    number: int = 1
    seconds: list[float] = field(default_factory=list)

    async def move(self) -> None:
        """Make a move that is legal in any position, and wait for the reply to it."""
        began = time.perf_counter()
        await self.socket.send(json.dumps({"number": self.number, "move": "1 0"}))
        reply = json.loads(await self.socket.recv())
        if reply["type"] != "game":
            raise RuntimeError(f"expected a game, found {reply}")
        self.seconds.append(time.perf_counter() - began)
        self.number = reply["next_move"]


@dataclass(frozen=True)
class Phase:
    """What a phase took: the latencies of its moves and its length in seconds, and seconds of processor time."""

    moves: list[float]
    seconds: float
    of_server: float
    of_clients: float

    @property
    def rate(self) -> float:
        """Give the moves a second."""
        return len(self.moves) / self.seconds

    @property
    def shares(self) -> str:
        """Say what was taken of one core, and for a move."""
        server, clients = (100 * each / self.seconds for each in (self.of_server, self.of_clients))
        each = 1000 * self.of_server / len(self.moves)
        return f"server {server:.0f} % of a core ({each:.2f} ms a move), clients {clients:.0f} %"


def play_live() -> int:
    """Measure; print the table; 1 if the 99th percentile of a move misses the goal."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        token = prepare(home, problems=("lasttreat",))[0]
        many = str(2 * GAMES)
        limits = {"most_games_of_one": many, "most_streams_of_one": many, "most_connections_of_one": many}
        with serving(home, **limits) as url:
            paced, closed, grown = asyncio.run(play_all(url, token))
            gc.unfreeze()
        with serving_bare(Path(folder) / "bare.db") as url:
            answers = form_request("/answers", "127.0.0.1", token, {}, ("move", b"1 0"))
            bare = measure(url, answers).rate
    cuts = statistics.quantiles(paced.moves, n=100)
    p50, p99 = cuts[49] * 1000, cuts[98] * 1000
    pace = f"a move of each every {SECONDS_BETWEEN_MOVES:g} s"
    print(f"{GAMES} games at once, {pace}: {len(paced.moves) / SECONDS:.0f} moves/s; {paced.shares}")
    percentiles = f"median {p50:.1f} ms, p99 {p99:.1f} ms (goal {GOAL_MS:g} ms)"
    print(f"move and reply, both durable: {percentiles}, worst {1000 * max(paced.moves):.0f} ms")
    print(f"memory of the server: {grown / GAMES / 1024:.1f} KiB a game with its connection")
    share = closed.rate / bare
    print(
        f"{CLOSED} connections without a pause: {closed.rate:.0f} moves/s, {share:.2f} of the bare route's {bare:.0f}"
    )
    print(f"meanwhile: {closed.shares}")
    return 0 if p99 <= GOAL_MS else 1


async def play_all(url: str, token: str) -> tuple[Phase, Phase, float]:
    """Open all games, play them at their pace, then a few without any; both phases, and memory in bytes.

    Clients do not look for garbage in their connections: that would be a pause of theirs, not of the server.
    """
    headers = {"Authorization": f"Bearer {token}"}
    process = server_of(url)
    before = process.memory_info().rss
    tables = await open_tables(url, headers)
    grown = process.memory_info().rss - before
    gc.collect()
    gc.freeze()
    until = time.perf_counter() + SECONDS
    paced = await phase(process, tables, [at_a_pace(each, at, until) for at, each in enumerate(tables)])
    until = time.perf_counter() + CLOSED_SECONDS
    closed = await phase(process, tables, [without_a_pause(each, until) for each in tables[:CLOSED]])
    await asyncio.gather(*(each.socket.close() for each in tables))
    return paced, closed, grown


async def phase(server: psutil.Process, tables: list[Table], plays: Sequence[Coroutine[Any, Any, None]]) -> Phase:
    """Let clients play to the end of a phase, and measure it."""
    for table in tables:
        table.seconds.clear()
    own = psutil.Process()
    began, before = time.perf_counter(), [processor_seconds(each) for each in (server, own)]
    await asyncio.gather(*plays)
    seconds = time.perf_counter() - began
    taken = [processor_seconds(each) - at_first for each, at_first in zip((server, own), before, strict=True)]
    return Phase([each for table in tables for each in table.seconds], seconds, *taken)


def processor_seconds(process: psutil.Process) -> float:
    """Give the processor time that a process has taken."""
    times = process.cpu_times()
    return float(times.user + times.system)


async def open_tables(url: str, headers: dict[str, str]) -> list[Table]:
    """Start the games and connect to each, so many at once."""
    turns = asyncio.Semaphore(AT_ONCE)
    path = f"{url}/api/contests/{CONTEST}/problems/lasttreat/games"
    body: dict[str, Any] = {"parameters": PARAMETERS, "opponent": "optimal", "seed": 1}

    async def open_one(client: httpx.AsyncClient) -> Table:
        async with turns:
            reply = await client.post(path, json=body, headers=headers)
            game = reply.raise_for_status().json()["id"]
            address = f"ws{url.removeprefix('http')}/api/games/{game}/live"
            socket = await connect(address, additional_headers=headers, compression=None, ping_interval=None)
            await socket.recv()
            return Table(socket)

    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=AT_ONCE)) as client:
        return await asyncio.gather(*(open_one(client) for _ in range(GAMES)))


async def at_a_pace(table: Table, at: int, until: float) -> None:
    """Move once in a while; games begin one after the other, so that their moves are spread evenly."""
    await asyncio.sleep(SECONDS_BETWEEN_MOVES * at / GAMES)
    while time.perf_counter() < until:
        began = time.perf_counter()
        await table.move()
        await asyncio.sleep(max(0.0, SECONDS_BETWEEN_MOVES - (time.perf_counter() - began)))


async def without_a_pause(table: Table, until: float) -> None:
    """Move again as soon as the reply is there."""
    while time.perf_counter() < until:
        await table.move()


def server_of(url: str) -> psutil.Process:
    """Find the server's process: the child that listens on the port of an address."""
    port = int(url.rpartition(":")[2])
    for child in psutil.Process().children(recursive=True):
        if any(each.laddr.port == port for each in child.net_connections() if each.status == psutil.CONN_LISTEN):
            return child
    raise RuntimeError(f"no process listens on port {port}")
