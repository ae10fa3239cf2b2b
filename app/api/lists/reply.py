"""Replies with whole collections: an ETag, gzip made once, and pieces that wait for a client that reads slowly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Depends, Request, Response
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.types import Receive, Scope, Send

from app.api.auth import PUBLIC, Viewer
from app.api.deps import TheService
from app.api.errors import NotFound
from app.api.filters import matching
from app.api.lists.sheet import Large, Sheet, own_texts
from app.api.lists.slices import PIECE, Slice, Written
from app.api.scoreboard import AS_JSON, CACHING, WrittenReply
from app.api.standings import seen_by
from app.api.together import together
from app.grading.boards import Standing
from app.service import Service

T = TypeVar("T")
JUDGE = Viewer("judge")
THREADS = 2
"""Lists that are written at once: their threads are taken from nobody else."""
MOST_BYTES = 256 * 2**20
"""Memory that lists take together; those not asked for longest are forgotten."""
SHEETS, WRITERS = "lists", "list writers"


@dataclass(frozen=True, slots=True)
class Small:
    """A collection that is looked at as a whole, such as teams.

    documents  what a viewer sees
    model      the route's model; `sparse`: without what is not set
    special    may this team see more than everybody, or other things?
    of_board   does it follow the board? Else it stays as it is until an admin writes or the clock changes the state
    """

    name: str
    model: type[BaseModel]
    documents: Callable[[Viewer, Standing, Session], Any]
    sparse: bool = False
    special: Callable[[Viewer, Standing], bool] = lambda _viewer, _standing: True
    of_board: bool = False

    def written(self, viewer: Viewer, standing: Standing, session: Session) -> Written:
        """The whole collection."""
        texts = []
        for each in self.documents(viewer, standing, session):
            document = each if isinstance(each, BaseModel) else self.model.model_validate(each)
            texts.append(document.model_dump_json(exclude_unset=self.sparse).encode())
        return Written.of([Slice(tuple(range(len(texts))), tuple(texts))])


class Same:
    """Equal to what is of the very same object."""

    def __init__(self, of: object) -> None:
        self._of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self._of is other._of

    def __hash__(self) -> int:
        return id(self._of)


def hidden(viewer: Viewer, standing: Standing) -> bool:
    """Teams that are not shown to everybody see themselves."""
    return any(team.hidden for team in standing.contest.teams if team.id == viewer.team_id)


class ListReply(Response):
    """A written collection on its way: each piece waits until the client has taken the ones before, or has gone."""

    def __init__(self, written: Written, *, zipped: bool) -> None:
        self.status_code = 200
        self.background = None
        length = written.zipped_length if zipped else written.length
        self.raw_headers = [
            *CACHING,
            AS_JSON,
            (b"etag", written.tag.encode()),
            (b"content-length", b"%d" % length),
            *([(b"content-encoding", b"gzip")] if zipped else []),
        ]
        self.body = b""
        self._length = length
        self._pieces = written.pieces(zipped=zipped)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": [*self.raw_headers]})
        if self._length <= PIECE:
            await send({"type": "http.response.body", "body": b"".join(self._pieces), "more_body": False})
            return
        listening = asyncio.create_task(_until_gone(receive))
        try:
            for piece in self._pieces:
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
    """What a request for a collection needs: the service, its caches, and how the client wants its reply."""

    def __init__(self, request: Request, service: TheService) -> None:
        self._service: Service = service
        self._known = request.headers.get("if-none-match", "")
        self._zipped = "gzip" in request.headers.get("accept-encoding", "")
        kept = service.boards.sheets
        self._caches: dict[Any, Any] = kept.setdefault((None, SHEETS), {})
        self._limiter: CapacityLimiter = kept.setdefault((None, WRITERS), CapacityLimiter(THREADS))

    async def large(self, kind: Large, viewer: Viewer, standing: Standing, **wanted: str | None) -> Response:
        """Submissions, judgements or runs: the shared rows, with a team's own ones in their places."""
        shared = JUDGE if viewer.sees_all else PUBLIC
        key = (standing.contest.id, kind.name, shared.role, standing.closed)
        sheet: Sheet = self._caches.setdefault(key, Sheet(kind, shared))
        self._caches[key] = self._caches.pop(key, sheet)  # the last to be forgotten
        written = sheet.written
        for _ in range(2):  # the first may join a reading that began before the request came in
            if sheet.standing is standing:
                break
            joins = (*key, "writing") in self._caches
            written = await together(self._caches, (*key, "writing"), partial(self._bring, sheet, key), self._limiter)
            if not joins:
                break
        if viewer.team_id is not None and not viewer.sees_all:
            mix = partial(self._mixed, kind, viewer, sheet, key)
            whose = ("mixed", viewer.team_id)
            written = await together(self._caches, (*key, *whose), mix, self._limiter)
        return await self._reply(written, wanted)

    async def small(self, kind: Small, viewer: Viewer, standing: Standing, **wanted: str | None) -> Response:
        """A collection as a viewer sees it; all who see the same share it."""
        special = viewer.logged_in and not viewer.sees_all and kind.special(viewer, standing)
        shared = viewer if special else JUDGE if viewer.sees_all else PUBLIC
        key = (standing.contest.id, kind.name, shared, standing.closed)
        version = self._version(kind, standing)
        old, written = self._caches.get(key, (None, None))
        if written is None or old != version:
            write = partial(self._write_small, kind, shared, standing)
            version, written = await together(self._caches, (*key, version, "writing"), write, self._limiter)
            self._caches[key] = (version, written)
            self._forget_oldest(key)
        return await self._reply(written, wanted)

    async def few(self, documents: Callable[[Session], T]) -> T:
        """A handful of objects, read for this request alone."""

        def read() -> T:
            with self._service.database.read(for_request=True) as session:
                return documents(session)

        return await run_sync(read)

    def _version(self, kind: Small, standing: Standing) -> Hashable:
        read = Same(standing.pages if kind.of_board else standing.contest.teams)  # which are new with each reading
        return (self._service.database.generation, read, standing.state, standing.phase)

    def _write_small(self, kind: Small, viewer: Viewer, standing: Standing) -> tuple[Hashable, Written]:
        version = self._version(kind, standing)  # before reading: what is written meanwhile may be missing
        with self._service.database.read(for_request=True) as session:
            return version, kind.written(viewer, standing, session)

    def _bring(self, sheet: Sheet, key: tuple[Any, ...]) -> Written:
        contest_id, _, role, is_closed = key
        with sheet.lock:
            now = self._service.boards.standing(contest_id, public=role == PUBLIC.role)
            if now is None:
                self._caches.pop(key, None)
                raise NotFound(f"no contest {contest_id!r}")
            if is_closed:
                now = seen_by(PUBLIC, now)
            with self._service.database.read(for_request=True) as session:
                written = sheet.bring(now, session)
        self._forget_oldest(key)
        return written

    def _mixed(self, kind: Large, viewer: Viewer, sheet: Sheet, key: tuple[Any, ...]) -> Written:
        with sheet.lock:
            standing, written, slices = sheet.standing, sheet.written, list(sheet.slices)
        if standing is None:
            written, slices = self._bring(sheet, key), list(sheet.slices)
            standing = sheet.standing
        assert standing is not None
        with self._service.database.read(for_request=True) as session:
            return written.with_texts(own_texts(kind, viewer, standing, session), slices)

    def _forget_oldest(self, mine: object) -> None:
        """Keep within the memory; what is asked for now stays, however large it is."""
        sizes = {key: _size(each) for key, each in list(self._caches.items())}
        total = sum(sizes.values())
        for key, size in sizes.items():
            if total <= MOST_BYTES:
                return
            if size and key != mine:
                self._caches.pop(key, None)
                total -= size

    async def _reply(self, written: Written, wanted: Mapping[str, str | None]) -> Response:
        if any(value is not None for value in wanted.values()):
            return Response(
                await run_sync(_filtered, written, wanted, limiter=self._limiter), media_type="application/json"
            )
        if written.tag in self._known:
            return WrittenReply([*CACHING, (b"etag", written.tag.encode())], status_code=304)
        if self._zipped and not written.is_zipped:
            await run_sync(written.zip, limiter=self._limiter)
        return ListReply(written, zipped=self._zipped)


def _size(cached: object) -> int:
    if isinstance(cached, Sheet):
        return sum(each.size for each in cached.slices)
    if isinstance(cached, tuple) and isinstance(cached[1], Written):
        return cached[1].size
    return 0


def _filtered(written: Written, wanted: Mapping[str, str | None]) -> bytes:
    """The rows whose properties have the wanted values, as they are written."""
    rows = json.loads(b"".join(written.plain()))
    return json.dumps(matching(rows, **wanted), ensure_ascii=False, separators=(",", ":")).encode()


TheLists = Annotated[Lists, Depends(Lists)]
