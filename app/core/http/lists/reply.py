"""Replies with whole collections or parts of them: written once for all who see the same, with an ETag and gzip."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, TypeVar, cast

from fastapi import Depends, Query, Request, Response
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.core.http.lists.sending import ListReply, PassingReply
from app.feed.service.collections import Collection
from app.feed.service.lists.list_page import MOST_ON_A_PAGE, PageWanted
from app.feed.service.lists.list_renderer import Large, TooLarge
from app.feed.service.lists.lists import WrittenLists
from app.feed.service.lists.slices import Wanted, Written
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.routes.scoreboard import WrittenReply
from app.scoreboard.service.scoreboard import CACHING

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
