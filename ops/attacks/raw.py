"""Connections that do what no good client does: stay half open, do not read, ask again and again."""

from __future__ import annotations

import asyncio
import base64
import socket
import time
from dataclasses import dataclass, field

from bench.load import read_reply
from ops.attacks.stage import Stage


def basic(user: tuple[str, str]) -> str:
    """The Authorization line of a name and a password."""
    return "Authorization: Basic " + base64.b64encode(":".join(user).encode()).decode()


def head(method: str, path: str, stage: Stage, *lines: str) -> bytes:
    """The head of a request."""
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"Host: {stage.host}", *lines]).encode() + b"\r\n\r\n"


def connect(stage: Stage, *, receive_buffer: int | None = None) -> socket.socket:
    """Open a connection; a small receive buffer makes the server feel sooner that no one reads."""
    connection = socket.socket()
    if receive_buffer is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(10)
    connection.connect(("127.0.0.1", stage.port))
    return connection


def is_open(connection: socket.socket) -> bool:
    """Has the server neither answered nor closed it?"""
    connection.setblocking(False)
    try:
        return bool(connection.recv(65536)) and False
    except BlockingIOError:
        return True
    except OSError:
        return False


@dataclass
class Asked:
    """Replies by status of those who asked again and again, and how many connections broke."""

    statuses: dict[int, int] = field(default_factory=dict)
    broken: int = 0


async def ask_again_and_again(port: int, request: bytes, connections: int, seconds: float) -> Asked:
    """Send a request over many connections for some seconds; no reply is waited for longer than that."""
    asked, until = Asked(), time.monotonic() + seconds

    async def one() -> None:
        while time.monotonic() < until:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**26)
                try:
                    while (left := until - time.monotonic()) > 0:
                        writer.write(request)
                        status, _ = await asyncio.wait_for(read_reply(reader), left)
                        asked.statuses[status] = asked.statuses.get(status, 0) + 1
                        if status >= 400:
                            await asyncio.sleep(0.01)
                finally:
                    writer.close()
            except TimeoutError:
                return
            except (OSError, asyncio.IncompleteReadError):
                asked.broken += 1
                await asyncio.sleep(0.01)

    await asyncio.gather(*(one() for _ in range(connections)))
    return asked
