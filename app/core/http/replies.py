"""Replies with whole collections or parts of them: written once for all who see the same, with an ETag and gzip.

A large list is sent in pieces; each waits until the client has taken the ones before, or has gone.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, TypeVar, cast

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from cachetools import LRUCache
from fastapi import Depends, Query, Request, Response
from sqlalchemy.orm import Session
from starlette.types import Receive, Scope, Send

from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests.service.visibility import seen_by
from app.core.errors import NotFound
from app.core.http.lists import (
    JUDGE,
    LEVEL,
    MOST_ON_A_PAGE,
    PASSING,
    Large,
    ListKey,
    PageWanted,
    TooLarge,
    Version,
    Wanted,
    Written,
    all_ids,
    in_slices,
    listed,
    only,
    own_rows,
    page_of,
    render,
)
from app.core.load import SharedWork
from app.core.messages import N_
from app.core.service import Service
from app.feed.service.collections import Collection
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service.scoreboard import AS_JSON, CACHING

T = TypeVar("T")
ZIPPED = (b"content-encoding", b"gzip")
# Lists that are rendered at once: their threads are taken from no one else.
THREADS = 2
# The share of the memory for lists that one list may take; a larger one is read again for each request.
LARGEST_SHARE = 0.5
# Bytes of a reply that are handed over at once: about what the kernel copies in the time of a small request.
PIECE = 64 * 1024


class WrittenReply(Response):
    """A reply whose bytes and headers exist already: nothing is encoded or looked up for it. May be sent often."""

    def __init__(self, headers: Sequence[tuple[bytes, bytes]], body: bytes = b"", status_code: int = 200) -> None:
        self.status_code = status_code
        self.body = body
        self.raw_headers = [*headers, (b"content-length", b"%d" % len(body))] if status_code == 200 else list(headers)
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; with a copy of the headers, to which the layers around add theirs."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": [*self.raw_headers]})
        await send({"type": "http.response.body", "body": self.body})


class PiecesReply(Response):
    """A list in pieces, which are made and sent one by one until the client has gone."""

    def __init__(self, headers: Iterable[tuple[bytes, bytes]], pieces: AsyncIterator[bytes], *, zipped: bool) -> None:
        self.status_code = 200
        self.background = None
        self.raw_headers = [*CACHING, AS_JSON, *headers, *([ZIPPED] if zipped else [])]
        self.body = b""
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": [*self.raw_headers]})
        listening = asyncio.create_task(_until_gone(receive))
        try:
            async for piece in self._pieces:
                if listening.done():
                    return
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            listening.cancel()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class Lists:
    """The lists of one service; for one event loop."""

    def __init__(self, service: Service) -> None:
        self.versions: LRUCache[ListKey, Version] = LRUCache(service.settings.list_memory, lambda version: version.size)
        self._too_large: set[ListKey] = set()
        self._service = service
        self._work = SharedWork()
        self._limiter: CapacityLimiter | None = None

    async def large(self, kind: Large, viewer: Viewer, snapshot: ContestSnapshot, asked: Wanted) -> Written:
        """Submissions, judgements or runs: the kept rows, with a team's own ones in their places; raises TooLarge."""
        role = (JUDGE if viewer.sees_all else PUBLIC).role
        key = ListKey(snapshot.contest.id, kind.collection.name, role, snapshot.closed)
        version = await self._work.joined(key, partial(self._update, kind, key), partial(self._current, key, snapshot))
        is_team = viewer.team_id is not None and not viewer.sees_all
        if not is_team and not asked:
            return version.written
        return await self.in_thread(partial(self._derived, kind, viewer if is_team else None, version, asked))

    async def small(self, collection: Collection, viewer: Viewer, snapshot: ContestSnapshot, asked: Wanted) -> Written:
        """A collection as a viewer sees it."""

        def read(session: Session) -> Written:
            documents = collection.documents(viewer, snapshot, session)
            objects = [listed(collection, collection.parsed(each)) for each in documents]
            return Written.of(only(collection, objects, asked))

        return await self.in_thread(partial(self._read, read))

    async def page(
        self, kind: Large, viewer: Viewer, snapshot: ContestSnapshot, asked: Wanted, wanted: PageWanted
    ) -> tuple[Written, str | None]:
        """Some objects of a large collection, and the last one's id where more follow; raises BadRequest."""
        return await self.few(lambda session: page_of(kind, viewer, snapshot, session, asked, wanted))

    async def few(self, documents: Callable[[Session], T]) -> T:
        """Read a handful of objects."""
        return await run_sync(self._read, documents)

    def parts(
        self, kind: Large, viewer: Viewer, snapshot: ContestSnapshot, asked: Wanted
    ) -> Iterator[Callable[[Session], bytes]]:
        """The parts of a list that is too large to be kept, each rendered when its turn comes."""

        def part_of(ids: Sequence[int], session: Session) -> bytes:
            rows = kind.rows(viewer, snapshot, session, ids)
            return b",".join([each.text for row in rows.values() for each in only(kind.collection, row, asked)])

        return (partial(part_of, ids) for ids in in_slices(all_ids(snapshot), PASSING))

    async def in_thread(self, work: Callable[[], T]) -> T:
        """Do some work in one of the few threads in which lists are rendered."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(THREADS)
        return await run_sync(work, limiter=self._limiter)

    async def part(self, read: Callable[[Session], bytes]) -> bytes:
        """Render one of the `parts`."""
        return await self.in_thread(partial(self._read, read))

    def _current(self, key: ListKey, snapshot: ContestSnapshot) -> Version | None:
        if key in self._too_large:
            raise TooLarge
        version = self.versions.get(key)
        return version if version is not None and version.snapshot is snapshot else None

    async def _update(self, kind: Large, key: ListKey) -> Version:
        """Render the rows of the present snapshot and keep them; raises TooLarge or NotFound."""
        old = self.versions.get(key)
        try:
            version = await self.in_thread(partial(self._render, kind, key, old))
        except (TooLarge, NotFound) as error:
            self.versions.pop(key, None)
            if isinstance(error, TooLarge):
                self._too_large.add(key)
            raise
        self.versions[key] = version
        return version

    def _render(self, kind: Large, key: ListKey, old: Version | None) -> Version:
        snapshot = self._service.boards.snapshot(key.contest_id, public=key.role == PUBLIC.role)
        if snapshot is None:
            raise NotFound(N_("no contest %(contest)r"), contest=key.contest_id)
        if key.is_closed:
            snapshot = seen_by(PUBLIC, snapshot)
        if old is not None and old.snapshot is snapshot:
            return old
        most = int(self.versions.maxsize * LARGEST_SHARE)
        viewer = PUBLIC if key.role == PUBLIC.role else JUDGE
        return self._read(lambda session: render(kind, viewer, snapshot, session, old, most))

    def _derived(self, kind: Large, team: Viewer | None, version: Version, asked: Wanted) -> Written:
        """The kept rows, those of a team as it sees them, and of these the wanted ones."""
        rows = version.rows
        if team is not None:
            rows = {**rows, **self._read(lambda session: own_rows(kind, team, version.snapshot, session))}
        return Written.of(only(kind.collection, (each for row in rows.values() for each in row), asked))

    def _read(self, read: Callable[[Session], T]) -> T:
        with self._service.database.read(for_request=True) as session:
            return read(session)


def list_reply(written: Written, *, zipped: bool) -> Response:
    """The reply with a written list, whose zipped text has been made if it is to be `zipped`."""
    body = written.zip() if zipped else written.text
    headers = [(b"etag", written.tag.encode())]
    if len(body) <= PIECE:
        return WrittenReply([*CACHING, AS_JSON, *headers, *([ZIPPED] if zipped else [])], body)
    return PiecesReply([*headers, (b"content-length", b"%d" % len(body))], _cut(body), zipped=zipped)


async def _cut(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), PIECE):
        yield body[start : start + PIECE]


async def _joined(lists: Lists, parts: Iterable[Callable[[Session], bytes]]) -> AsyncIterator[bytes]:
    """A list of parts that are rendered one by one."""
    separator = b"["
    for part in parts:
        if text := await lists.part(part):
            yield separator + text
            separator = b","
    yield b"[]" if separator == b"[" else b"]"


async def _zipped(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces as one gzip member."""
    gzip = zlib.compressobj(LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    async for piece in pieces:
        if zipped := gzip.compress(piece):
            yield zipped
    yield gzip.flush()


class ListRequest:
    """What a request for a collection needs: the service's lists, and how the client wants its reply."""

    def __init__(self, request: Request) -> None:
        self._known = request.headers.get("if-none-match", "")
        self._zipped = "gzip" in request.headers.get("accept-encoding", "")
        self._lists = cast(Lists, request.app.state.lists)
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
            page, last = await self._lists.page(kind, viewer, snapshot, asked, wanted_page)
            reply = await self._reply(page)
            if last is not None:
                reply.headers["Link"] = f'<{self._after(last)}>; rel="next"'
            return reply
        try:
            written = await self._lists.large(kind, viewer, snapshot, asked)
        except TooLarge:
            pieces = _joined(self._lists, self._lists.parts(kind, viewer, snapshot, asked))
            return PiecesReply([], _zipped(pieces) if self._zipped else pieces, zipped=self._zipped)
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
        if self._zipped and written.zipped is None:
            await self._lists.in_thread(written.zip)
        return list_reply(written, zipped=self._zipped)


def _asked(wanted: Mapping[str, str | None]) -> Wanted:
    return tuple((name, value) for name, value in wanted.items() if value is not None)


TheLists = Annotated[ListRequest, Depends(ListRequest)]


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
