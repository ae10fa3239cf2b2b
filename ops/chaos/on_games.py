"""The server is killed with -9 in the middle of many games: every acknowledged move is there, and none twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import httpx

from app.core.db.database import Database
from app.packages.catalog import bundled
from app.packages.read import read_package
from app.problems.queries.problems import import_package
from app.tables import ContestProblemRow
from bench.stage import CONTEST
from games.transcript import read, replay
from ops.chaos.model import scenario
from ops.chaos.stage import PATIENCE, Server, Stage

GAMES = 2000
AT_ONCE = 64
BEFORE_A_KILL = 2500
"""Moves that are acknowledged before each kill; those who play continue until the server is gone."""
READ_AS_TRANSCRIPTS = 50
SECONDS_IDLE = 2.0
"""A client that uses no connection again that was idle for longer meets none that the server closes after its 5 s."""
PROBLEM = "lasttreat"
START = {"parameters": {"a": 10**9, "b": 0, "k": 2}, "opponent": "random"}
STEP = "1 0"
Moves = list[tuple[int, str]]


@dataclass
class Player:
    """The player of one game: its id, the moves that it was told of, both players', and how many own ones they are."""

    game: str
    moves: Moves = field(default_factory=list)
    acknowledged: int = 0

    async def move(self, client: httpx.AsyncClient) -> None:
        """Make the next move; one that was not answered before a kill is so made again."""
        body = {"number": len(self.moves) + 1, "move": STEP}
        reply = await client.post(f"games/{self.game}/moves", json=body)
        answered = made(reply.raise_for_status().json())
        assert answered[:-2] == self.moves, f"game {self.game}: expected {self.moves} and a turn, found {answered}"
        self.moves = answered
        self.acknowledged += 1

    async def check(self, client: httpx.AsyncClient) -> None:
        """Hold the stored moves against the acknowledged ones: at most one turn more was on its way."""
        stored = made((await client.get(f"games/{self.game}")).raise_for_status().json())
        assert [number for number, _ in stored] == list(range(1, len(stored) + 1)), f"game {self.game}: {stored}"
        assert stored[: len(self.moves)] == self.moves, f"game {self.game}: lost of {self.moves}, found {stored}"
        assert len(stored) - len(self.moves) in {0, 2}, (
            f"game {self.game}: expected a turn more at most, found {stored}"
        )

    async def check_transcript(self, client: httpx.AsyncClient) -> None:
        """Give the game up, and replay its transcript."""
        (await client.post(f"games/{self.game}/resign")).raise_for_status()
        text = (await client.get(f"games/{self.game}/transcript")).raise_for_status().text
        transcript = read(text)
        assert replay(transcript).fault is None, text
        assert [each.text for each in transcript.moves][: len(self.moves)] == [text for _, text in self.moves]


@scenario()
def games(setting: Stage) -> str:
    """kill -9 in the middle of 2,000 games: each acknowledged move is in its transcript, and none twice"""
    add_problem(setting)
    server = setting.serve(most_games_of_one=str(2 * GAMES), graders="1")
    players = asyncio.run(open_all(setting, server))
    for at in range(1, setting.size.kills + 1):
        asyncio.run(play_until_killed(setting, server, players, at * BEFORE_A_KILL))
        began = time.monotonic()
        server.start()
        setting.recoveries.append(time.monotonic() - began)
        asyncio.run(for_all(setting, server, players, Player.check))
    asyncio.run(for_all(setting, server, players, Player.move))
    asyncio.run(for_all(setting, server, players, Player.check))
    asyncio.run(for_all(setting, server, players[:READ_AS_TRANSCRIPTS], Player.check_transcript))
    acknowledged = sum(each.acknowledged for each in players)
    return (
        f"{setting.size.kills} kills in the middle of {GAMES} games: {acknowledged} moves acknowledged, 0 lost, 0 twice"
    )


def add_problem(setting: Stage) -> None:
    """Put a problem that has a game into the contest, before a server runs."""
    database = Database(setting.database)
    with database.write() as session:
        import_package(session, setting.files, read_package(bundled()[PROBLEM]))
        session.flush()
        session.add(ContestProblemRow(contest_id=CONTEST, problem_id=PROBLEM, label="G", ordinal=9, rule={}))
    database.close()


@asynccontextmanager
async def client_of(setting: Stage, server: Server) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the first team, of so many connections."""
    headers = {"Authorization": f"Bearer {setting.tokens[0]}"}
    base, transport = f"{server.url}/api/", Insisting(server)
    async with httpx.AsyncClient(base_url=base, headers=headers, transport=transport, timeout=PATIENCE) as client:
        yield client


class Insisting(httpx.AsyncHTTPTransport):
    """Sends a request again where its connection is closed while the server runs, and says how long that took.

    A server may close a connection that has been idle just when a client uses it again.
    """

    def __init__(self, server: Server) -> None:
        super().__init__(limits=httpx.Limits(max_connections=AT_ONCE, keepalive_expiry=SECONDS_IDLE))
        self._server = server

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and again on another connection."""
        began = time.monotonic()
        try:
            return await super().handle_async_request(request)
        except (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError) as error:
            if self._server.process.poll() is not None:
                raise
            took = time.monotonic() - began
            print(f"{request.method} {request.url.path}: closed {took:.3f} s after it began: {error!r}", flush=True)
            return await super().handle_async_request(request)


async def open_all(setting: Stage, server: Server) -> list[Player]:
    """Start the games."""
    async with client_of(setting, server) as client:

        async def open_one(seed: int) -> Player:
            path = f"contests/{CONTEST}/problems/{PROBLEM}/games"
            reply = await client.post(path, json={**START, "seed": seed})
            return Player(reply.raise_for_status().json()["id"])

        return await in_turns([lambda seed=seed: open_one(seed) for seed in range(GAMES)])


async def for_all(
    setting: Stage,
    server: Server,
    players: Sequence[Player],
    act: Callable[[Player, httpx.AsyncClient], Awaitable[None]],
) -> None:
    """Let each player do the same."""
    async with client_of(setting, server) as client:
        await in_turns([lambda each=each: act(each, client) for each in players])


async def in_turns(acts: Sequence[Callable[[], Awaitable[Any]]]) -> list[Any]:
    """Do all, so many at once; their results in order."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(act: Callable[[], Awaitable[Any]]) -> Any:
        async with turns:
            return await act()

    return await asyncio.gather(*(one(act) for act in acts))


async def play_until_killed(setting: Stage, server: Server, players: Sequence[Player], enough: int) -> None:
    """Play all games, so many at once, and kill the server once so many moves are acknowledged."""
    killing: list[asyncio.Task[None]] = []
    async with client_of(setting, server) as client:

        async def play(mine: Sequence[Player]) -> None:
            try:
                for each in cycle(mine):
                    await each.move(client)
                    if not killing and sum(player.acknowledged for player in players) >= enough:
                        killing.append(asyncio.create_task(asyncio.to_thread(server.kill)))
            except httpx.TransportError:
                status = server.process.poll()
                assert killing, f"the server went by itself, with status {status}: {server.log()[-1000:]}"

        await asyncio.gather(*(play(players[at::AT_ONCE]) for at in range(AT_ONCE)))
        await killing[0]


def made(game: dict[str, Any]) -> Moves:
    """The moves of a game as it is shown."""
    return [(each["number"], each["move"]) for each in game["moves"]]
