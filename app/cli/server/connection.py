"""One connection of a client, as uvicorn has it but bounded: a head of any length is not kept, nor waited for.

Bodies are bounded where they are read (`app.api.http.middleware`); what comes around them ends up in memory before any
of our code runs, and a client that says nothing for long, hardly anything, or does not read its replies would hold its
place for ever.
"""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from starlette.responses import JSONResponse
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app.cli.server.crowd import Crowd

MOST_AROUND = 64 * 1024
"""Bytes of the request line, headers, chunk sizes and trailers that are not outweighed by a body."""
WEIGHT = 8  # a body sent in chunks of one byte each has five bytes around each of them
SECONDS_OF_SILENCE = 30.0
SECONDS_FOR_A_HEAD = 30.0
SECONDS_BEFORE_PACE = 20.0
LEAST_PACE = 500
"""Bytes a second that a body has to arrive at, from `SECONDS_BEFORE_PACE` on."""
SECONDS_UNREAD = 60.0
"""Time in which a client has to read some of what waits to be sent to it."""
SECONDS_BETWEEN_LOOKS = 5.0
SECONDS_TO_RETRY = 5


async def refuse(scope: Any, receive: Any, send: Any) -> None:
    """The app of whoever comes when there is no room."""
    headers = {"Retry-After": str(SECONDS_TO_RETRY), "Connection": "close"}
    body = {"code": 503, "message": "the server has as many connections as it may: try again later"}
    response = JSONResponse(body, 503, headers)
    await response(scope, receive, send)


class BoundedConnection(HttpToolsProtocol):
    """Closes itself where a client sends too much around its bodies, or leaves a request or a reply for too long."""

    crowd: ClassVar[Crowd] = Crowd()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin: a request is expected from now on."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._around = self._body = 0
        self._unfinished = self._in_head = True
        self._began = self._heard = self._read = self.loop.time()
        self._look_again()
        self._has_room = self.crowd.enter(self)

    def cut(self) -> None:
        """End at once, whatever waits to be sent."""
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Count what comes; the parser tells below what of it was a body."""
        self._around += len(data)
        self._heard = self.loop.time()
        super().data_received(data)
        if self._around > MOST_AROUND and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_message_begin(self) -> None:
        """A request begins."""
        self._unfinished = self._in_head = True
        self._began = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Its head is there."""
        self._in_head = False
        self._body = 0
        self._began = self.loop.time()
        self.crowd.work(self)
        self.app = self.config.loaded_app if self._is_welcome() else refuse
        super().on_headers_complete()

    def _is_welcome(self) -> bool:
        """Is there room for it? Whether the server is alive may always be asked."""
        if self._has_room and not self.crowd.is_dense:
            return True
        if b"/health/" in self.url.partition(b"?")[0]:
            return True
        return self._has_room and any(name == b"authorization" for name, _ in self.headers)

    def on_body(self, body: bytes) -> None:
        """A piece of its body."""
        self._around = max(0, self._around - WEIGHT * len(body))
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of it is there."""
        self._around = 0
        self._unfinished = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """It is answered."""
        if not self.pipeline:
            self.crowd.rest(self)
        super().on_response_complete()

    def resume_writing(self) -> None:
        """The client has read most of what waited for it."""
        self._read = self.loop.time()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._next_look.cancel()
        self.crowd.leave(self)
        super().connection_lost(exc)

    def _look_again(self) -> None:
        self._next_look = self.loop.call_later(SECONDS_BETWEEN_LOOKS, self._look)

    def _look(self) -> None:
        now = self.loop.time()
        if self.transport.get_write_buffer_size() == 0:
            self._read = now
        if now - self._read > SECONDS_UNREAD:
            self.cut()  # closing would wait until it has read all
            return
        if self.flow.read_paused:  # it is we who do not listen
            self._began += now - self._heard
            self._heard = now
        if self._unfinished and self._is_slow(now):
            self.transport.close()
        self._look_again()

    def _is_slow(self, now: float) -> bool:
        taken = now - self._began
        if now - self._heard > SECONDS_OF_SILENCE or (self._in_head and taken > SECONDS_FOR_A_HEAD):
            return True
        return not self._in_head and taken > SECONDS_BEFORE_PACE and self._body < LEAST_PACE * taken
