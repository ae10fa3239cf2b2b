"""A connection is bounded: no head of any length is kept, and no one is waited for unlimited."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
import uvicorn

from app.operations.commands.crowd import BEYOND, BoundedConnection, Crowd, connections_within

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
    with serving(BoundedConnection, echo_size) as address:
        yield address


@contextmanager
def serving(connections: type[BoundedConnection], app: Any) -> Iterator[tuple[str, int]]:
    """A server of an app in a thread."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=connections, ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])))
    thread.start()
    try:
        yield listening.getsockname()[:2]
    finally:
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


def test_a_request_that_came_while_the_server_was_held_up_is_answered() -> None:
    """A process that was stopped learns that a connection was idle for too long before it reads from it."""
    made: list[BoundedConnection] = []
    go_on = threading.Event()

    class Known(BoundedConnection):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            made.append(self)

    def hold_up() -> None:
        go_on.wait()
        made[0].timeout_keep_alive_handler()

    with serving(Known, echo_size) as address, socket.create_connection(address, timeout=20) as client:
        request = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"
        client.sendall(request)
        read_reply(client)
        made[0].loop.call_soon_threadsafe(hold_up)
        client.sendall(request)
        go_on.set()
        read_reply(client)


def read_reply(client: socket.socket) -> None:
    """Read a reply of `echo_size` to the end."""
    reply = b""
    while not reply.endswith(b"\r\n\r\n0"):
        received = client.recv(4096)
        assert received, "the connection was closed"
        reply += received


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
def test_a_request_that_is_not_finished_is_not_waited_for(part: bytes) -> None:
    """The server closes the connection by itself."""
    impatient = with_bounds(seconds_between_looks=0.05, seconds_of_silence=0.05, seconds_for_a_head=0.05)
    with serving(impatient, echo_size) as address:
        assert talk(address, part) == b""


def test_a_body_that_comes_a_byte_at_a_time_is_not_waited_for() -> None:
    """Whoever always sends something is never silent, and still has to keep a pace."""
    impatient = with_bounds(seconds_between_looks=0.05, seconds_before_pace=0.05)
    with serving(impatient, echo_size) as address, socket.create_connection(address, timeout=20) as client:
        client.settimeout(0.02)
        client.sendall(BEGINNING + b"Content-Length: 1000000\r\n\r\n")
        assert dripped(client) < 1_000_000


def dripped(client: socket.socket) -> int:
    """Send single bytes until the server ends the connection; returns how many."""
    count = 0
    try:
        while True:
            client.sendall(b"-")
            count += 1
            with suppress(TimeoutError):
                if client.recv(1) == b"":
                    return count
    except ConnectionError:
        return count


def test_whoever_does_not_read_a_reply_is_cut() -> None:
    """What waits to be sent is thrown away, also at the end of a reply."""
    gone = threading.Event()

    class Watched(BoundedConnection):
        seconds_between_looks = 0.05
        seconds_unread = 0.05

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            gone.set()

    async def large(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"30000000")]})
        await send({"type": "http.response.body", "body": bytes(30_000_000)})

    with serving(Watched, large) as address, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(address)
        client.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert gone.wait(60)


def with_bounds(**bounds: Any) -> type[BoundedConnection]:
    """Connections with these class variables."""
    return type("Bounded", (BoundedConnection,), bounds)


def crowded(**bounds: Any) -> type[BoundedConnection]:
    """Connections with a crowd of their own."""
    return with_bounds(crowd=Crowd(**bounds))


GET = b"GET %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"


def test_connections_that_say_nothing_make_room_for_those_that_do() -> None:
    """Whoever has been idle longest goes first."""
    with serving(crowded(most=40), echo_size) as address, ExitStack() as silent:
        crowd = [silent.enter_context(socket.create_connection(address, timeout=20)) for _ in range(200)]
        assert b"200 OK" in talk(address, GET % b"/health/live")
        assert crowd[0].recv(1) == b""


@pytest.mark.parametrize("bounds", [{"most": 20}, {"most": 100, "most_of_one": 20}])
def test_busy_connections_stay_and_others_are_told_to_come_later(bounds: dict[str, int]) -> None:
    """Beyond the limit only the question whether the server is alive is answered."""
    with serving(crowded(**bounds), echo_size) as address, ExitStack() as stack:
        for _ in range(20):
            busy = stack.enter_context(socket.create_connection(address, timeout=20))
            busy.sendall(BEGINNING + b"Authorization: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            assert b"100 Continue" in busy.recv(100)
        refused = talk(address, GET % b"/api")
        assert b"503 " in refused
        assert b"retry-after" in refused.lower()
        assert b"200 OK" in talk(address, GET % b"/health/live")
        busy.sendall(b"abc")
        assert b"200 OK" in busy.recv(1000)


def test_a_share_of_the_connections_is_for_those_who_say_who_they_are() -> None:
    """No one in particular gets four of five."""
    with serving(crowded(most=20), echo_size) as address, ExitStack() as stack:
        for _ in range(16):
            busy = stack.enter_context(socket.create_connection(address, timeout=20))
            busy.sendall(BEGINNING + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            assert b"100 Continue" in busy.recv(100)
        assert b"503 " in talk(address, GET % b"/api")
        known = b"GET /api HTTP/1.1\r\nHost: h\r\n%s\r\nConnection: close\r\n\r\n"
        for credential in (b"Authorization: Bearer x", b"Cookie: zone=UTC; jurado_session=x"):
            assert b"200 OK" in talk(address, known % credential)
        assert b"503 " in talk(address, known % b"Cookie: zone=UTC")


def test_addresses_that_stand_for_many_have_no_limit_of_their_own() -> None:
    class Open:
        address = "proxy"

        def cut(self) -> None:
            raise AssertionError("cut")

    crowd = Crowd(100, 2, lambda address: address == "proxy")
    assert all(crowd.enter(Open()) for _ in range(50))


def test_the_crowd_never_grows_beyond_what_files_may_be_open() -> None:
    """Of 256 descriptors most are the server's own."""
    assert connections_within(10_000, 256) + BEYOND + 160 <= 256
    assert connections_within(10_000, 2**20) == 10_000
