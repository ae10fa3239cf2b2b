"""One connection of a client, as uvicorn has it but bounded: a head of any length is not kept, nor waited for.

Bodies are bounded where they are read (`app.api.middleware`); what comes around them ends up in memory before any of
our code runs, and a client that says nothing for long would hold its place for ever.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_AROUND = 256 * 1024
"""Bytes of the request line, headers, chunk sizes and trailers that are not outweighed by a body."""
WEIGHT = 8  # a body sent in chunks of one byte each has five bytes around each of them
SECONDS_OF_SILENCE = 30.0
SECONDS_FOR_A_HEAD = 30.0
SECONDS_BETWEEN_LOOKS = 5.0


class BoundedConnection(HttpToolsProtocol):
    """Closes itself where a client sends too much around its bodies, or leaves a request unfinished for too long."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin: a request is expected from now on."""
        super().connection_made(transport)
        self._around = 0
        self._unfinished = self._in_head = True
        self._began = self._heard = self.loop.time()
        self._look_again()

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
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A piece of its body."""
        self._around = max(0, self._around - WEIGHT * len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of it is there."""
        self._around = 0
        self._unfinished = False
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._next_look.cancel()
        super().connection_lost(exc)

    def _look_again(self) -> None:
        self._next_look = self.loop.call_later(SECONDS_BETWEEN_LOOKS, self._look)

    def _look(self) -> None:
        now = self.loop.time()
        if self.flow.read_paused:  # it is we who do not listen
            self._heard = now
        silent = now - self._heard > SECONDS_OF_SILENCE
        slow = self._in_head and now - self._began > SECONDS_FOR_A_HEAD
        if self._unfinished and (silent or slow):
            self.transport.close()
        else:
            self._look_again()
