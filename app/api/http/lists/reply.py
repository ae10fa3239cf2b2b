"""Replies with whole collections or parts of them: written once for all who see the same, with an ETag and gzip."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, TypeVar, cast

from fastapi import Depends, Request, Response
from sqlalchemy.orm import Session

from app.api.http.lists.sending import ListReply, PassingReply
from app.api.scoreboard.scoreboard import WrittenReply
from app.grading.contest_snapshot import ContestSnapshot
from app.services.collections import Collection
from app.services.lists.list_renderer import Large, TooLarge
from app.services.lists.lists import WrittenLists
from app.services.lists.slices import Wanted, Written
from app.services.scoreboard.scoreboard import CACHING
from app.services.viewer import Viewer

T = TypeVar("T")


class Lists:
    """What a request for a collection needs: the service's lists, and how the client wants its reply."""

    def __init__(self, request: Request) -> None:
        self._known = request.headers.get("if-none-match", "")
        self._zipped = "gzip" in request.headers.get("accept-encoding", "")
        self._lists = cast(WrittenLists, request.app.state.lists)

    async def large(self, kind: Large, viewer: Viewer, snapshot: ContestSnapshot, **wanted: str | None) -> Response:
        """Submissions, judgements or runs; what is too large to be kept is sent as it is read."""
        asked = _asked(wanted)
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

    async def _reply(self, written: Written) -> Response:
        if written.tag in self._known:
            return WrittenReply([*CACHING, (b"etag", written.tag.encode())], status_code=304)
        if self._zipped:
            await self._lists.zip(written)
        return ListReply(written, zipped=self._zipped)


def _asked(wanted: Mapping[str, str | None]) -> Wanted:
    return tuple((name, value) for name, value in wanted.items() if value is not None)


TheLists = Annotated[Lists, Depends(Lists)]
