"""A connection is bounded: no head of any length is kept, and nobody is waited for without end."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from app.cli import connection
from app.cli.connection import BoundedConnection

BEGINNING = b"POST / HTTP/1.1\r\nHost: h\r\n"
Receive = Any


async def echo_size(scope: dict[str, Any], receive: Receive, send: Any) -> None:
    """Answer with the number of bytes that came."""
    assert scope["type"] == "http"
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    body = str(size).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    """A server of `echo_size` whose connections are bounded."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(echo_size, http=BoundedConnection, ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
    thread.start()
    yield listening.getsockname()[:2]
    server.should_exit = True
    thread.join()
    listening.close()


def talk(address: tuple[str, int], *pieces: bytes) -> bytes:
    """Send the pieces, and read until the server closes or has answered."""
    answer = b""
    with socket.create_connection(address, timeout=20) as client:
        try:
            for piece in pieces:
                client.sendall(piece)
            while b"\r\n\r\n" not in answer and (received := client.recv(4096)):
                answer += received
        except ConnectionError:
            pass  # it was cut while we were still sending
    return answer


@pytest.mark.parametrize(
    "endless",
    [
        [BEGINNING + b"X: ", *[b"a" * 100_000] * 1000],
        [BEGINNING, *[b"A: b\r\n" * 10_000] * 1000],
        [b"GET /", *[b"a" * 100_000] * 1000],
        [BEGINNING + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", *[b"A: b\r\n" * 10_000] * 1000],
        [BEGINNING + b"Transfer-Encoding: chunked\r\n\r\n1;", *[b"a" * 100_000] * 1000],
    ],
    ids=["one header", "many headers", "the address", "trailers", "a chunk's extension"],
)
def test_a_head_without_end_is_cut(address: tuple[str, int], endless: list[bytes]) -> None:
    """A hundred megabytes are offered, and not taken."""
    assert b"200 OK" not in talk(address, *endless)


def test_bodies_may_be_as_large_as_they_are(address: tuple[str, int]) -> None:
    """In one piece, and in the smallest chunks there are."""
    size = 3_000_000
    assert b"200 OK" in talk(address, BEGINNING + b"Content-Length: %d\r\n\r\n" % size, bytes(size))
    chunks = b"1\r\nx\r\n" * 200_000 + b"0\r\n\r\n"
    assert b"200 OK" in talk(address, BEGINNING + b"Transfer-Encoding: chunked\r\n\r\n", chunks)


@pytest.mark.parametrize(
    "part",
    [b"", b"GET / HT", BEGINNING, BEGINNING + b"Content-Length: 10\r\n\r\nabc"],
    ids=["nothing", "half a line", "half a head", "half a body"],
)
def test_a_request_that_is_not_finished_is_not_waited_for(
    address: tuple[str, int], part: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server closes the connection by itself."""
    for name in ("SECONDS_BETWEEN_LOOKS", "SECONDS_OF_SILENCE", "SECONDS_FOR_A_HEAD"):
        monkeypatch.setattr(connection, name, 0.05)
    assert talk(address, part) == b""
