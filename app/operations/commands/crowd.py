"""The open connections of a server: their limit, and which of them is cut first beyond it.

- A connection of uvicorn with bounds on the size of heads and on the time a client may take.
"""

import asyncio
import resource
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.accounts.service.tokens import SESSION_COOKIE

# Descriptors for the server itself: files, database connections and pipes.
OWN_DESCRIPTORS = 160
FEWEST = 32
# Connections accepted beyond the limit: only to answer /health, and to refuse the others.
BEYOND = 32
# Share of the connections open to requests without credentials.
SHARE_OF_ALL = 0.8


class Connection(Protocol):
    """A connection as the crowd sees it."""

    address: str

    def cut(self) -> None:
        """Close it at once, and drop the bytes that wait to be sent."""


@dataclass
class Crowd:
    """Counts connections, in all and by address. Addresses that `stand_for_many`, such as proxies, have no limit."""

    most: int = 10_000
    most_of_one: int = 2_000
    stands_for_many: Callable[[str], bool] = lambda _address: False
    _open: set[Connection] = field(default_factory=set)
    _open_of: Counter[str] = field(default_factory=Counter)
    _idle: dict[Connection, None] = field(default_factory=dict)

    def enter(self, connection: Connection) -> bool:
        """Count a connection, cutting the one idle longest where there are too many; tells whether there is room."""
        room = self._make_room(connection.address)
        if len(self._open) >= self.most + BEYOND:
            connection.cut()
            return False
        self._open.add(connection)
        self._open_of[connection.address] += 1
        self._idle[connection] = None
        return room

    def leave(self, connection: Connection) -> None:
        """Stop counting a connection, if it was counted."""
        self._idle.pop(connection, None)
        if connection in self._open:
            self._open.discard(connection)
            self._open_of[connection.address] -= 1
            if not self._open_of[connection.address]:
                del self._open_of[connection.address]

    def work(self, connection: Connection) -> None:
        """Mark a connection as busy: it has sent the head of a request."""
        self._idle.pop(connection, None)

    def rest(self, connection: Connection) -> None:
        """Mark a connection as idle: its request is answered."""
        if connection in self._open:
            self._idle[connection] = None

    @property
    def is_dense(self) -> bool:
        """Tell whether the connections left are for requests with credentials."""
        return len(self._open) > self.most * SHARE_OF_ALL

    def _make_room(self, address: str) -> bool:
        if self._open_of[address] >= self.most_of_one and not self.stands_for_many(address):
            return self._cut_idle(lambda each: each.address == address)
        return len(self._open) < self.most or self._cut_idle(lambda _each: True)

    def _cut_idle(self, fits: Callable[[Connection], bool]) -> bool:
        longest_idle = next((each for each in self._idle if fits(each)), None)
        if longest_idle is None:
            return False
        self.leave(longest_idle)
        longest_idle.cut()
        return True


def all_descriptors() -> int:
    """Raise the limit of open files to the hard limit, and return it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def connections_within(most: int, descriptors: int) -> int:
    """Give the limit of connections: `most`, or fewer, as each may have a file open and the server has its own."""
    if descriptors == resource.RLIM_INFINITY:
        return most
    return min(most, max(FEWEST, (descriptors - OWN_DESCRIPTORS) * 2 // 3))


# Bytes of the request line, headers, chunk sizes and trailers, beyond those that a body outweighs.
MOST_AROUND = 64 * 1024
WEIGHT = 8  # a body sent in chunks of one byte each has five bytes around each of them
# Bytes a second that a body has to arrive at, from `seconds_before_pace` on.
LEAST_PACE = 500
SECONDS_TO_READ = 0.1
SECONDS_TO_RETRY = 5
SESSION = f"{SESSION_COOKIE}=".encode()


def _says_who(name: bytes, value: bytes) -> bool:
    """Whether a header is of someone in particular: credentials, or the session of a browser."""
    return name == b"authorization" or (name == b"cookie" and SESSION in value)


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for which there is no room."""
    headers = {"Retry-After": str(SECONDS_TO_RETRY), "Connection": "close"}
    body = {"code": 503, "message": "the server has as many connections as it may: try again later"}
    response = JSONResponse(body, 503, headers)
    await response(scope, receive, send)


class BoundedConnection(HttpToolsProtocol):
    """Closes itself where a client sends too much around its bodies, or is too slow with a request or a reply."""

    crowd: ClassVar[Crowd] = Crowd()
    seconds_of_silence: ClassVar[float] = 30.0
    seconds_for_a_head: ClassVar[float] = 30.0
    seconds_before_pace: ClassVar[float] = 20.0
    seconds_unread: ClassVar[float] = 60.0  # in which a client has to read some of the bytes that wait for it
    seconds_between_looks: ClassVar[float] = 5.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to expect a request."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._around = self._body = 0
        self._unfinished = self._in_head = True
        self._began = self._heard = self._read = self.loop.time()
        self._look_again()
        self._has_room = self.crowd.enter(self)

    def cut(self) -> None:
        """Close at once, and drop the bytes that wait to be sent."""
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Count the bytes; `on_body` takes those of a body off again."""
        self._around += len(data)
        self._heard = self.loop.time()
        super().data_received(data)
        if self._around > MOST_AROUND and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        """Note that a request begins."""
        self._unfinished = self._in_head = True
        self._began = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Note that the head is complete, and choose who answers."""
        self._in_head = False
        self._body = 0
        self._began = self.loop.time()
        self.crowd.work(self)
        self.app = self.config.loaded_app if self._is_welcome() else refuse
        super().on_headers_complete()

    def _is_welcome(self) -> bool:
        """Tell whether there is room for the request; /health may always be asked."""
        if self._has_room and not self.crowd.is_dense:
            return True
        if b"/health/" in self.url.partition(b"?")[0]:
            return True
        return self._has_room and any(_says_who(name, value) for name, value in self.headers)

    def on_body(self, body: bytes) -> None:
        """Count a piece of the body."""
        self._around = max(0, self._around - WEIGHT * len(body))
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that the request is complete."""
        self._around = 0
        self._unfinished = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Note that the request is answered."""
        if not self.pipeline:
            self.crowd.rest(self)
        super().on_response_complete()

    def resume_writing(self) -> None:
        """Note that the client has read most of the bytes that waited."""
        self._read = self.loop.time()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, unless a request comes out of the network first.

        A process that was held up for seconds learns that the time is over before it reads what has come in the
        meantime.
        """
        self.timeout_keep_alive_task = self.loop.call_later(SECONDS_TO_READ, super().timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note the end of the connection."""
        self._next_look.cancel()
        self.crowd.leave(self)
        super().connection_lost(exc)

    def _look_again(self) -> None:
        self._next_look = self.loop.call_later(self.seconds_between_looks, self._look)

    def _look(self) -> None:
        now = self.loop.time()
        if self.transport.get_write_buffer_size() == 0:
            self._read = now
        if now - self._read > self.seconds_unread:
            self.cut()  # `close` would wait until the client has read all
            return
        if self.flow.read_paused:  # we do not read: the client is not slow
            self._began += now - self._heard
            self._heard = now
        if self._unfinished and self._is_slow(now):
            self.transport.close()
        self._look_again()

    def _is_slow(self, now: float) -> bool:
        taken = now - self._began
        if now - self._heard > self.seconds_of_silence or (self._in_head and taken > self.seconds_for_a_head):
            return True
        return not self._in_head and taken > self.seconds_before_pace and self._body < LEAST_PACE * taken
