"""Streams as replies, and the hub as a dependency."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractContextManager
from typing import Annotated, TypeVar, cast

from fastapi import Depends, Request, Response
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from app.feed.service.hub import Hub
from app.feed.service.streams import Client

T = TypeVar("T")


async def get_hub(request: Request) -> Hub:
    """The hub of the running service."""
    return cast(Hub, request.app.state.hub)


TheHub = Annotated[Hub, Depends(get_hub)]


async def unless_gone(request: Request, waiting: Awaitable[T]) -> T:
    """Return what is awaited; cancels it and raises ClientDisconnect when the client disconnects first."""
    answer = asyncio.ensure_future(waiting)
    leaving = asyncio.create_task(_disconnected(request.receive))
    try:
        await asyncio.wait((answer, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ClientDisconnect
        return answer.result()
    finally:
        answer.cancel()
        leaving.cancel()


class StreamResponse(Response):
    """A reply that goes on until its source ends or its client has gone; never buffered, never zipped.

    It stands in its `place` meanwhile; where entering that raises, nothing of it is sent.
    """

    def __init__(
        self, client: Client, chunks: AsyncIterator[bytes], media_type: str, place: AbstractContextManager[None]
    ) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        self.status_code = 200
        self.background = None
        self.media_type = media_type
        self.body = b""
        self.init_headers(headers)
        del self.headers["content-length"]
        self._client = client
        self._chunks = chunks
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: D102 - ASGI
        with self._place:
            seconds = self._client.seconds_left()
            if seconds is None:
                await self._send_all(receive, send)
                return
            expiry = asyncio.get_running_loop().call_later(seconds, self._client.leave)
            try:
                await self._send_all(receive, send)
            finally:
                expiry.cancel()

    async def _send_all(self, receive: Receive, send: Send) -> None:
        listening = asyncio.create_task(_until_gone(receive, self._client))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            async for chunk in self._chunks:
                if self._client.gone:
                    break
                await send(_piece(chunk, more=True))
            await send(_piece(b"", more=False))
        finally:
            listening.cancel()
            await self._chunks.aclose()  # type: ignore[attr-defined]  # all of ours are generators


def _piece(body: bytes, *, more: bool) -> Message:
    return {"type": "http.response.body", "body": body, "more_body": more}


async def _until_gone(receive: Receive, client: Client) -> None:
    await _disconnected(receive)
    client.leave()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
