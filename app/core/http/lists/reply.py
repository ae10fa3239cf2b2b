"""Replies with whole collections or parts of them: written once for all who see the same, with an ETag and gzip.

- Collections on their way: each piece waits until the client has taken the ones before, or has gone.
"""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Annotated, TypeVar, cast

from fastapi import Depends, Query, Request, Response
from sqlalchemy.orm import Session
from starlette.types import Receive, Scope, Send

from app.accounts.service.viewer import Viewer
from app.feed.service.collections import Collection
from app.feed.service.list_renderer import MOST_ON_A_PAGE, Large, PageWanted, TooLarge
from app.feed.service.lists import WrittenLists
from app.feed.service.slices import CLOSING, COMMA, GZIP_HEAD, LAST_BLOCK, OPENING, PIECE, Part, Wanted, Written
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service.scoreboard import AS_JSON, CACHING


class WrittenReply(Response):
    """A reply whose bytes and headers are there already: nothing is encoded or looked up for it. May be sent often."""

    def __init__(self, headers: Sequence[tuple[bytes, bytes]], body: bytes = b"", status_code: int = 200) -> None:
        self.status_code = status_code
        self.body = body
        self.raw_headers = [*headers, (b"content-length", b"%d" % len(body))] if status_code == 200 else list(headers)
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; with a copy of the headers, to which the layers around add theirs."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": [*self.raw_headers]})
        await send({"type": "http.response.body", "body": self.body})


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


T = TypeVar("T")


class Lists:
    """What a request for a collection needs: the service's lists, and how the client wants its reply."""

    def __init__(self, request: Request) -> None:
        self._known = request.headers.get("if-none-match", "")
        self._zipped = "gzip" in request.headers.get("accept-encoding", "")
        self._lists = cast(WrittenLists, request.app.state.lists)
        self._url = request.url

    async def large(
        self,
        kind: Large,
        viewer: Viewer,
        snapshot: ContestSnapshot,
        wanted_page: PageWanted | None,
        **wanted: str | None,
    ) -> Response:
        """Submissions, judgements or runs, all or a page; what is too large to be kept is sent as it is read."""
        asked = _asked(wanted)
        if wanted_page is not None:
            page = await self._lists.page(kind, viewer, snapshot, asked, wanted_page)
            reply = await self._reply(page.written)
            if page.more_after is not None:
                reply.headers["Link"] = f'<{self._after(page.more_after)}>; rel="next"'
            return reply
        try:
            written = await self._lists.large(kind, viewer, snapshot, asked)
        except TooLarge:
            parts = self._lists.parts(kind, viewer, snapshot, asked, zipped=self._zipped)
            return PassingReply(parts, zipped=self._zipped)
        return await self._reply(written)

    async def small(
        self, collection: Collection, viewer: Viewer, snapshot: ContestSnapshot, **wanted: str | None
    ) -> Response:
        """A collection as a viewer sees it."""
        return await self._reply(await self._lists.small(collection, viewer, snapshot, _asked(wanted)))

    async def few(self, documents: Callable[[Session], T]) -> T:
        """A handful of objects, read for this request alone."""
        return await self._lists.few(documents)

    def _after(self, id_: str) -> str:
        """The address of the page after an object, without the server's name, which a proxy may have otherwise."""
        following = self._url.include_query_params(after=id_)
        return f"{following.path}?{following.query}"

    async def _reply(self, written: Written) -> Response:
        if written.tag in self._known:
            return WrittenReply([*CACHING, (b"etag", written.tag.encode())], status_code=304)
        if self._zipped:
            await self._lists.zip(written)
        return ListReply(written, zipped=self._zipped)


def _asked(wanted: Mapping[str, str | None]) -> Wanted:
    return tuple((name, value) for name, value in wanted.items() if value is not None)


TheLists = Annotated[Lists, Depends(Lists)]


def wanted_page(
    limit: Annotated[
        int | None, Query(ge=1, le=MOST_ON_A_PAGE, description="at most so many; the header Link names the next page")
    ] = None,
    after: Annotated[str | None, Query(max_length=255, description="only those after the object of this id")] = None,
) -> PageWanted | None:
    """The page that a request asks for; None: the whole list."""
    if limit is None and after is None:
        return None
    return PageWanted(MOST_ON_A_PAGE if limit is None else limit, after)


ThePage = Annotated[PageWanted | None, Depends(wanted_page)]
