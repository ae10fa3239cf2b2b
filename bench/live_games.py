"""Games over WebSockets: 2,000 open at once, the latency of a move, memory a game, and moves/s beside a bare route."""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
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


def play_live() -> int:
    """Measure; print the table; 1 if the 99th percentile of a move misses the goal."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        token = prepare(home, problems=("lasttreat",))[0]
        many = str(2 * GAMES)
        limits = {"most_games_of_one": many, "most_streams_of_one": many, "most_connections_of_one": many}
        with serving(home, **limits) as url:
            paced, closed, grown = asyncio.run(play_all(url, token))
        with serving_bare(Path(folder) / "bare.db") as url:
            answers = form_request("/answers", "127.0.0.1", token, {}, ("move", b"1 0"))
            bare = measure(url, answers).rate
    cuts = statistics.quantiles(paced, n=100)
    p50, p99 = cuts[49] * 1000, cuts[98] * 1000
    print(
        f"{GAMES} games at once, a move of each every {SECONDS_BETWEEN_MOVES:g} s: {len(paced) / SECONDS:.0f} moves/s"
    )
    print(f"move and reply, both durable: median {p50:.1f} ms, p99 {p99:.1f} ms (goal {GOAL_MS:g} ms)")
    print(f"memory of the server: {grown / GAMES / 1024:.1f} KiB a game with its connection")
    share = closed / bare
    print(f"{CLOSED} connections without a pause: {closed:.0f} moves/s, {share:.2f} of the bare route's {bare:.0f}")
    return 0 if p99 <= GOAL_MS else 1


async def play_all(url: str, token: str) -> tuple[list[float], float, float]:
    """Open all games, play them at their pace, then a few without any; latencies, moves/s, and memory in bytes."""
    headers = {"Authorization": f"Bearer {token}"}
    process = server_of(url)
    before = process.memory_info().rss
    tables = await open_tables(url, headers)
    grown = process.memory_info().rss - before
    until = time.perf_counter() + SECONDS
    await asyncio.gather(*(at_a_pace(each, at, until) for at, each in enumerate(tables)))
    latencies = [seconds for each in tables for seconds in each.seconds]
    began, before_moves = time.perf_counter(), len(latencies)
    await asyncio.gather(*(without_a_pause(each, began + CLOSED_SECONDS) for each in tables[:CLOSED]))
    moves = sum(len(each.seconds) for each in tables) - before_moves
    rate = moves / (time.perf_counter() - began)
    await asyncio.gather(*(each.socket.close() for each in tables))
    return latencies, rate, grown


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
