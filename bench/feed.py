"""2,000 clients follow a contest while 5 submissions a second are judged: each gets every event, once and in order."""

from __future__ import annotations

import asyncio
import hashlib
import json
import multiprocessing
import re
import resource
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from app.packages.catalog import bundled
from bench._server import server_process
from bench.load import form_request, read_reply
from bench.stage import CONTEST, prepare, serving

FEEDS, BOARDS, TEAMS = 1500, 500, 100
"""Teams read a third of the feeds; the other feeds and all boards are read without an account."""
SUBMISSIONS, SECONDS = 100, 20.0
QUIET_SECONDS = 3.0
MOST_SECONDS = 120.0
CONNECTING_AT_ONCE = 50
FILES = 20_000
CHUNK = re.compile(rb"([0-9a-f]+)\r\n")


def main() -> int:
    """Print the events received, their delay and their cost; 1 if any was lost, doubled or out of order."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        tokens = prepare(home, teams=TEAMS)
        with serving(home, most_streams_of_one=str(FEEDS + BOARDS)) as url:  # all from one address
            return measure(url, tokens, server_process())


def measure(url: str, tokens: list[str], server: psutil.Process) -> int:
    """Let the clients connect from another process, submit, and compare what they received."""
    alone = server.memory_info().rss
    ours, theirs = multiprocessing.Pipe()
    clients = multiprocessing.get_context("spawn").Process(target=follow, args=(url, tokens, theirs))
    clients.start()
    connecting = ours.recv()
    waiting = server.memory_info().rss
    cpu = sum(server.cpu_times()[:2])
    acknowledged = asyncio.run(submit(url, tokens))
    ours.send(acknowledged)
    tally = ours.recv()
    clients.join()
    cpu = sum(server.cpu_times()[:2]) - cpu
    after = server.memory_info().rss
    mib = 2**20
    print(f"{FEEDS} event feeds and {BOARDS} board streams connected in {connecting:.1f} s")
    print(f"server memory: alone {alone / mib:.0f} MiB, with clients {waiting / mib:.0f}, at the end {after / mib:.0f}")
    print(f"  a client costs {(waiting - alone) / (FEEDS + BOARDS) / 1024:.1f} KiB")
    print(f"{SUBMISSIONS} submissions in {SECONDS:.0f} s; events delivered {tally.delivered} ({tally.rate:.0f}/s)")
    print(f"board messages delivered {tally.boards}; server processor time {cpu:.1f} s")
    print(f"{'':32}{'p50 ms':>8}{'p99 ms':>8}{'most':>8}")
    for name, values in (("acknowledged to received", tally.accepted), ("judged to received", tally.judged)):
        cuts = statistics.quantiles(values, n=100)
        print(f"{name:32}{cuts[49] * 1000:8.0f}{cuts[98] * 1000:8.0f}{max(values) * 1000:8.0f}")
    for fault in tally.faults:
        print(f"FAULT {fault}")
    print("every client received every event once and in order" if not tally.faults else "some did not")
    return 1 if tally.faults else 0


async def submit(url: str, tokens: list[str]) -> dict[str, float]:
    """Submit at a steady pace; returns the moment of each acknowledgement by the submission's id."""
    address = urlsplit(url)
    data = next(iter(sorted((bundled()["comesolo"] / "submissions/accepted/reference").rglob("*.out"))))
    path = f"/api/contests/{CONTEST}/submissions"
    began = time.time()
    moments = {}
    for at in range(SUBMISSIONS):
        await asyncio.sleep(max(0.0, began + at * SECONDS / SUBMISSIONS - time.time()))
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        token = tokens[at % len(tokens)]
        writer.write(form_request(path, "127.0.0.1", token, {"problem_id": "comesolo"}, (data.name, data.read_bytes())))
        status, body = await read_reply(reader)
        if status != 201:
            raise RuntimeError(f"expected 201, found {status}: {body[:200]!r}")
        moments[json.loads(body)["id"]] = time.time()
        writer.close()
    return moments


@dataclass
class Tally:
    """The events that all clients together have received."""

    delivered: int = 0
    boards: int = 0
    rate: float = 0.0
    accepted: list[float] = field(default_factory=list)
    judged: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Follower(asyncio.Protocol):
    """One client: notes each line with its moment, and hashes the bytes it received."""

    def __init__(self, request: bytes, mark: bytes) -> None:
        self.request = request
        self.mark = mark
        self.rest = b""
        self.text = b""
        self.live = False
        self.lines: list[tuple[float, bytes]] = []
        self.ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(self.request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        now = time.time()
        self.rest += data
        if not self.text and b"\r\n\r\n" in self.rest and self.rest.startswith(b"HTTP/1.1 "):
            head, _, self.rest = self.rest.partition(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(head.decode())
        while (chunk := CHUNK.match(self.rest)) is not None:
            size = int(chunk[1], 16)
            if len(self.rest) < chunk.end() + size + 2:
                break
            self.text += self.rest[chunk.end() : chunk.end() + size]
            self.rest = self.rest[chunk.end() + size + 2 :]
        *lines, self.text = self.text.split(b"\n")
        self.lines += [(now, line) for line in lines if line.startswith(self.mark)]

    def connection_lost(self, _error: Exception | None) -> None:
        self.ended = True


def follow(url: str, tokens: list[str], pipe: Connection) -> None:
    """Run all clients, in a process of their own."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    asyncio.run(follow_all(url, tokens, pipe))


async def follow_all(url: str, tokens: list[str], pipe: Connection) -> None:
    """Connect, report that all are connected, wait until nothing more comes, and compare."""
    began = time.time()
    feeds = await connect(
        url, FEEDS, "event-feed", b"{", lambda at: None if (team := viewer_of(at)) is None else tokens[team]
    )
    boards = await connect(url, BOARDS, "scoreboard/stream", b"data: ", lambda _at: None)
    await until(lambda: all(each.lines for each in [*feeds, *boards]))
    await until_quiet([*feeds, *boards])
    for each in feeds:
        each.lines.clear()
    known_boards = [len(each.lines) for each in boards]
    pipe.send(time.time() - began)
    acknowledged = await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
    started = min(acknowledged.values())
    await until_quiet([*feeds, *boards])
    tally = compare(feeds, acknowledged)
    tally.boards = sum(len(each.lines) for each in boards) - sum(known_boards)
    tally.faults += board_faults(boards)
    last = max(each.lines[-1][0] for each in feeds if each.lines)
    tally.rate = tally.delivered / (last - started)
    tally.faults += [f"{sum(each.ended for each in [*feeds, *boards])} streams ended"] * any(
        each.ended for each in [*feeds, *boards]
    )
    pipe.send(tally)


async def connect(url: str, count: int, what: str, mark: bytes, token: Callable[[int], str | None]) -> list[Follower]:
    """Open the streams, some at a time."""
    address = urlsplit(url)
    loop = asyncio.get_running_loop()
    followers: list[Follower] = []
    for at in range(count):
        bearer = token(at)
        proof = f"Authorization: Bearer {bearer}\r\n" if bearer is not None else ""
        request = f"GET /api/contests/{CONTEST}/{what} HTTP/1.1\r\nHost: 127.0.0.1\r\n{proof}\r\n".encode()
        _, follower = await loop.create_connection(
            lambda request=request: Follower(request, mark),  # type: ignore[misc]  # bound at once
            address.hostname,
            address.port,
        )
        followers.append(follower)
        if at % CONNECTING_AT_ONCE == 0:
            await until(lambda: all(each.lines for each in followers))
    return followers


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, at most for some time."""
    for _ in range(int(MOST_SECONDS / 0.05)):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise RuntimeError("the clients did not get what they waited for")


async def until_quiet(followers: list[Follower]) -> None:
    """Wait until nothing has come for a while."""
    before = -1
    while (count := sum(len(each.lines) for each in followers)) != before:
        before = count
        await asyncio.sleep(QUIET_SECONDS)


def compare(feeds: list[Follower], acknowledged: dict[str, float]) -> Tally:
    """Count the delivered events, and list those lost, doubled or out of order."""
    tally = Tally()
    texts: defaultdict[int | None, set[str]] = defaultdict(set)
    orders: set[tuple[str, ...]] = set()
    for at, follower in enumerate(feeds):
        tally.delivered += len(follower.lines)
        text = hashlib.sha256(b"\n".join(line for _, line in follower.lines)).hexdigest()
        texts[viewer_of(at)].add(text)
        orders.add(tuple(object_of(line)[1] for _, line in follower.lines if object_of(line)[0] == "submissions"))
        tally.faults += faults_of(follower, acknowledged, f"client {at}", tally, look=at < 60)
    differ = sum(len(streams) > 1 for streams in texts.values())
    tally.faults += [f"{differ} of {len(texts)} viewers received different streams in their clients"] * (differ > 0)
    tally.faults += [f"submissions came in {len(orders)} different orders"] * (len(orders) > 1)
    return tally


def viewer_of(at: int) -> int | None:
    """Give the team as which a client reads the feed; None: without an account."""
    return at % TEAMS if at % 3 == 0 else None


def object_of(line: bytes) -> tuple[str, str]:
    """Give type and id of an event's object."""
    words = line.split(b'"', 8)
    return words[3].decode(), words[7].decode()


def faults_of(follower: Follower, acknowledged: dict[str, float], who: str, tally: Tally, *, look: bool) -> list[str]:
    """List the faults in one client's events; notes the latencies of some clients too."""
    places: set[bytes] = set()
    submission_ids: set[str] = set()
    submissions: Counter[str] = Counter()
    done: dict[str, bool] = {}
    for moment, line in follower.lines:
        event = json.loads(line) if look else None
        token = re.search(rb'"token":"(\w+)', line[-80:])
        if token is not None:
            if token[1] in places:
                return [f"{who}: event {token[1].decode()} twice"]
            places.add(token[1])
        kind, id_ = object_of(line)
        if kind == "submissions":
            submissions[id_] += 1
            submission_ids.add(id_)
            if look and id_ in acknowledged:
                tally.accepted.append(max(0.0, moment - acknowledged[id_]))
        if event is not None and event["type"] == "judgements" and event["data"]["end_time"] is not None:
            if event["data"]["submission_id"] not in submission_ids:
                return [f"{who}: judgement {id_} before its submission"]
            done[event["data"]["submission_id"]] = True
            tally.judged.append(moment - at_second(event["data"]["end_time"]))
    wrong = [id_ for id_ in acknowledged if submissions[id_] != 1]
    lost = [id_ for id_ in acknowledged if look and not done.get(id_)]
    return [f"{who}: {len(wrong)} submissions not told once, {len(lost)} verdicts not told"] * bool(wrong or lost)


def at_second(text: str) -> float:
    """Read a moment of the API as seconds since 1970."""
    from app.core.clics import parse_time

    return parse_time(text).timestamp()


def board_faults(boards: list[Follower]) -> list[str]:
    """Check that all who watch the board end with the same one, made of the changes each was sent."""
    ends = set()
    for follower in boards:
        rows: dict[str, object] = {}
        for _, line in follower.lines:
            page = json.loads(line[6:])
            rows.update({row["team_id"]: row for row in page["rows"]})
        ends.add(json.dumps(rows, sort_keys=True))
    return [f"those who watch the board ended with {len(ends)} different ones"] if len(ends) > 1 else []
