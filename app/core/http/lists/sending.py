"""Collections on their way: each piece waits until the client has taken the ones before, or has gone."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence

from fastapi import Response
from starlette.types import Receive, Scope, Send

from app.feed.service.lists.slices import CLOSING, COMMA, GZIP_HEAD, LAST_BLOCK, OPENING, PIECE, Part, Written
from app.scoreboard.service.scoreboard import AS_JSON, CACHING

ZIPPED = (b"content-encoding", b"gzip")


class ListReply(Response):
    """A written collection."""

    def __init__(self, written: Written, *, zipped: bool) -> None:
        self.status_code = 200
        self.background = None
        length = written.zipped_length if zipped else written.length
        own = [(b"etag", written.tag.encode()), (b"content-length", b"%d" % length)]
        self.raw_headers = [*CACHING, AS_JSON, *own, *([ZIPPED] if zipped else [])]
        self.body = b""
        self._length = length
        self._pieces = written.pieces(zipped=zipped)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": [*self.raw_headers]})
        if self._length <= PIECE:
            await send({"type": "http.response.body", "body": b"".join(self._pieces), "more_body": False})
        else:
            await _send_pieces(_each(self._pieces), receive, send)


class PassingReply(Response):
    """A collection that nobody keeps: `parts` are made one by one, in threads, once the ones before are sent."""

    def __init__(self, parts: Sequence[Callable[[], Awaitable[Part]]], *, zipped: bool) -> None:
        self.status_code = 200
        self.background = None
        self.raw_headers = [*CACHING, AS_JSON, *([ZIPPED] if zipped else [])]
        self.body = b""
        self._parts, self._zipped = parts, zipped

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": [*self.raw_headers]})
        await _send_pieces(self._zips() if self._zipped else self._texts(), receive, send)

    async def _all(self) -> AsyncIterator[Part]:
        yield Part(b"[", GZIP_HEAD + OPENING)
        is_first = True
        for make in self._parts:
            part = await make()
            if part.text:
                yield part if is_first else Part(b"," + part.text, COMMA + part.zipped)
                is_first = False
        yield Part(b"]", CLOSING)

    async def _texts(self) -> AsyncIterator[bytes]:
        async for part in self._all():
            yield part.text

    async def _zips(self) -> AsyncIterator[bytes]:
        check = total = 0
        async for part in self._all():
            check, total = zlib.crc32(part.text, check), total + len(part.text)
            yield part.zipped
        yield LAST_BLOCK + struct.pack("<LL", check, total & 0xFFFFFFFF)


async def _each(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece


async def _send_pieces(pieces: AsyncIterator[bytes], receive: Receive, send: Send) -> None:
    listening = asyncio.create_task(_until_gone(receive))
    try:
        async for piece in pieces:
            if listening.done():
                return
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        listening.cancel()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
