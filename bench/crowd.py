"""Hostile connections of each kind beside five honest submissions a second: acceptance, verdict, memory."""

from __future__ import annotations

import asyncio
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path

from ops.attacks.honest import honest_people
from ops.attacks.raw import ask_again_and_again, basic, connect, head
from ops.attacks.stage import ANSWER, CONTEST, Home, Stage

SIZES = (40, 400)
SECONDS = 10.0
BASE = f"/api/contests/{CONTEST}"
FORM = "Content-Type: multipart/form-data; boundary=x"


def main() -> int:
    """Print a line without a crowd, then one for each kind and size; figures only, no goal."""
    with tempfile.TemporaryDirectory(prefix="jurado-crowd-") as folder:
        home = Home(Path(folder) / "home")
        print(f"{'':28}{'accepted p99':>14}{'verdict p99':>14}{'memory':>12}{'refused':>9}")
        line(home, "nobody", 0, lambda _: b"")
        for name, request in ASKED.items():
            for connections in SIZES:
                line(home, name, connections, request)
        for name, opened in HELD.items():
            for connections in SIZES:
                line(home, name, connections, opened, held=True)
    return 0


def line(home: Home, name: str, connections: int, request: Callable[[Stage], bytes], *, held: bool = False) -> None:
    """Measure one crowd on a server of its own."""
    with home.attacked("crowd", {}) as stage:
        before = highest = stage.memory()
        crowd = holding if held else asking
        with crowd(stage, request(stage), connections) as done, honest_people(stage) as felt:
            until = time.monotonic() + SECONDS
            while time.monotonic() < until or not done():
                highest = max(highest, stage.memory())
                time.sleep(0.2)
    accepted, verdicts = felt.p99(felt.accepted) * 1000, felt.p99(felt.verdicts) * 1000
    title = f"{name}, {connections}" if connections else name
    print(
        f"{title:28}{accepted:11.0f} ms{verdicts:11.0f} ms{highest - before:8.0f} MiB{len(felt.faults):9}", flush=True
    )


@contextmanager
def asking(stage: Stage, request: bytes, connections: int) -> Iterator[Callable[[], bool]]:
    """Open connections that send a request again and again; yields a check of whether they have ended.

    They live in a process of their own: reading their replies must not hold up the honest clients, who are timed.
    """
    if not connections:
        yield lambda: True
        return
    spawn = multiprocessing.get_context("spawn")
    started = spawn.Event()
    process = spawn.Process(target=_ask, args=(started, stage.port, request, connections), daemon=True)
    process.start()
    try:
        started.wait(60)
        yield lambda: not process.is_alive()
    finally:
        process.kill()
        process.join()


def _ask(started: Event, port: int, request: bytes, connections: int) -> None:
    started.set()
    asyncio.run(ask_again_and_again(port, request, connections, SECONDS))


@contextmanager
def holding(stage: Stage, request: bytes, connections: int) -> Iterator[Callable[[], bool]]:
    """Open connections that send the beginning of a request, then nothing, and read nothing."""
    opened = []
    try:
        for _ in range(connections):
            opened.append(connect(stage, receive_buffer=4096))
            opened[-1].sendall(request)
        yield lambda: True
    finally:
        for each in opened:
            each.close()


def _upload(stage: Stage) -> bytes:
    part = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
    body = part % (b"problem_id", b"", b"comesolo") + part % (b"files", b'; filename="107-n30-p50.out"', ANSWER)
    body += b"--x--\r\n"
    lines = [FORM, basic(stage.teams[0]), f"Content-Length: {len(body)}"]
    return head("POST", f"{BASE}/submissions", stage, *lines) + body


def _nested(stage: Stage) -> bytes:
    body = b"[" + b"[]," * 300_000 + b"[]]"
    lines = ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return head("PUT", "/api/teams/x", stage, *lines) + body


ASKED: dict[str, Callable[[Stage], bytes]] = {
    "readers of judgements": lambda stage: head("GET", f"{BASE}/judgements", stage),
    "readers of the board": lambda stage: head("GET", f"{BASE}/scoreboard", stage),
    "readers of the whole feed": lambda stage: head("GET", f"{BASE}/event-feed?stream=false", stage),
    "wrong passwords": lambda stage: head("GET", "/api/account", stage, basic(("team0", "a wrong guess of it"))),
    "nested JSON": _nested,
    "one team's submissions": _upload,
}
HELD: dict[str, Callable[[Stage], bytes]] = {
    "silent connections": lambda _: b"",
    "half-open uploads": lambda stage: head(
        "POST", f"{BASE}/submissions", stage, FORM, basic(stage.teams[0]), "Content-Length: 1000000"
    ),
    "streams that are not read": lambda stage: head("GET", f"{BASE}/event-feed", stage),
}
