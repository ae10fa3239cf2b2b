"""Replies with whole collections or parts of them: written once for all who see the same, with an ETag and gzip."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, TypeVar, cast

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import Depends, Request, Response
from sqlalchemy.orm import Session

from app.api.http.deps import TheService
from app.api.http.lists.sending import ListReply, Part, PassingReply
from app.api.scoreboard.scoreboard import WrittenReply
from app.domain.identity import Identical
from app.grading.contest_snapshot import ContestSnapshot
from app.service import Service
from app.services.collections import Collection
from app.services.errors import NotFound
from app.services.lists.list_renderer import Large, ListRenderer, TooLarge, all_ids, in_slices, own_rows, row_of
from app.services.lists.shelf import Shelf
from app.services.lists.slices import Derived, Slice, Wanted, Written
from app.services.scoreboard.scoreboard import CACHING
from app.services.viewer import PUBLIC, Viewer
from app.services.visibility import seen_by
from app.shared_work import SharedWork

T = TypeVar("T")
JUDGE = Viewer("judge")
THREADS = 2
"""Lists that are written at once: their threads are taken from nobody else."""
LARGEST_SHARE = 0.5
"""Of the memory for lists, that one list may take; a larger one is read anew for everybody who asks."""
PASSING = 16
"""Submissions of which the rows are made at once where a list is not kept."""


class KeptLists:
    """The lists of one service: those that are written, within so many bytes, and those being written."""

    def __init__(self, most: int) -> None:
        self.shelf = Shelf(most)
        self._work = SharedWork()
        self._limiter: CapacityLimiter | None = None

    @property
    def limiter(self) -> CapacityLimiter:
        """The few threads in which lists are written; for the event loop."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(THREADS)
        return self._limiter

    async def soon(self, key: Hashable, work: Callable[[], T], look: Callable[[], T | None]) -> T:
        """A list, written once for all who wait for it."""
        return await self._work.soon(key, work, look, self.limiter)


class Lists:
    """What a request for a collection needs: the service, its lists, and how the client wants its reply."""

    def __init__(self, request: Request, service: TheService) -> None:
        self._service: Service = service
        self._known = request.headers.get("if-none-match", "")
        self._zipped = "gzip" in request.headers.get("accept-encoding", "")
        self._kept = cast(KeptLists, request.app.state.lists)

    async def large(self, kind: Large, viewer: Viewer, snapshot: ContestSnapshot, **wanted: str | None) -> Response:
        """Submissions, judgements or runs: the shared rows, with a team's own ones in their places."""
        asked = _asked(wanted)
        shared = JUDGE if viewer.sees_all else PUBLIC
        key: tuple[Any, ...] = (snapshot.contest.id, kind.collection.name, shared.role, snapshot.closed)
        sheet: ListRenderer | None = self._kept.shelf.get(key)
        if sheet is None:
            sheet = ListRenderer(kind, shared, int(self._kept.shelf.most * LARGEST_SHARE))
            self._kept.shelf.put(key, sheet, 0)
        try:
            written = await self._brought(sheet, key, snapshot)
        except TooLarge:
            return self._passing(kind, viewer, snapshot, asked)
        if viewer.team_id is not None and not viewer.sees_all:
            key = (*key, "of", viewer.team_id)
            mix, look = partial(self._mixed, kind, viewer, sheet, key), partial(self._mixed_at_hand, sheet, key)
            written = await self._kept.soon(key, mix, look)
        return await self._reply(written, kind.collection.filters, key, asked)

    async def small(
        self, kind: Collection, viewer: Viewer, snapshot: ContestSnapshot, **wanted: str | None
    ) -> Response:
        """A collection as a viewer sees it; all who see the same share it."""
        special = viewer.logged_in and not viewer.sees_all and kind.sees_other(viewer, snapshot)
        shared = viewer if special else JUDGE if viewer.sees_all else PUBLIC
        key = (snapshot.contest.id, kind.name, shared, snapshot.closed)
        version = self._version(kind, snapshot)

        def look() -> Written | None:
            entry: tuple[Hashable, Written] | None = self._kept.shelf.get(key)
            return entry[1] if entry is not None and entry[0] == version else None

        write = partial(self._write_small, kind, shared, snapshot, key)
        written = await self._kept.soon((*key, version), write, look)
        return await self._reply(written, kind.filters, key, _asked(wanted))

    async def few(self, documents: Callable[[Session], T]) -> T:
        """A handful of objects, read for this request alone."""

        def read() -> T:
            with self._service.database.read(for_request=True) as session:
                return documents(session)

        return await run_sync(read)

    async def _brought(self, sheet: ListRenderer, key: tuple[Any, ...], snapshot: ContestSnapshot) -> Written:
        """The shared rows at this snapshot or a later one; raises TooLarge."""

        def look() -> Written | None:
            if sheet.is_too_large:
                raise TooLarge
            return sheet.written if sheet.snapshot is snapshot else None

        return await self._kept.soon(key, partial(self._bring, sheet, key), look)

    def _version(self, kind: Collection, snapshot: ContestSnapshot) -> Hashable:
        # New with each reading, of everything or of the contest.
        read: Identical[object] = Identical(snapshot.memo if kind.of_board else snapshot.contest.teams)
        return (self._service.database.generation, read, snapshot.state, snapshot.phase)

    def _write_small(self, kind: Collection, viewer: Viewer, snapshot: ContestSnapshot, key: object) -> Written:
        version = self._version(kind, snapshot)  # before reading: what is written meanwhile may be missing
        with self._service.database.read(for_request=True) as session:
            models = [kind.parsed(each) for each in kind.documents(viewer, snapshot, session)]
        rows = tuple(row_of(kind, [model]) for model in models)
        written = Written.of([Slice(tuple(range(len(rows))), rows)])
        self._kept.shelf.put(key, (version, written), written.size)
        return written

    def _bring(self, sheet: ListRenderer, key: tuple[Any, ...]) -> Written:
        contest_id, _, role, is_closed = key
        with sheet.lock:
            now = self._service.boards.snapshot(contest_id, public=role == PUBLIC.role)
            if now is None:
                self._kept.shelf.drop(key)
                raise NotFound(f"no contest {contest_id!r}")
            if is_closed:
                now = seen_by(PUBLIC, now)
            with self._service.database.read(for_request=True) as session:
                try:
                    return sheet.bring(now, session)
                finally:
                    self._kept.shelf.put(key, sheet, sheet.size)

    def _mixed_at_hand(self, sheet: ListRenderer, key: tuple[Any, ...]) -> Written | None:
        old: Derived | None = self._kept.shelf.get(key)
        return old.written if old is not None and old.source is sheet.snapshot else None

    def _mixed(self, kind: Large, viewer: Viewer, sheet: ListRenderer, key: tuple[Any, ...]) -> Written:
        """The shared rows with a team's own, made anew where the shared ones are of another snapshot."""
        with sheet.lock:
            snapshot, slices = sheet.snapshot, list(sheet.slices)
        if snapshot is None:
            self._bring(sheet, key[:4])
            snapshot, slices = sheet.snapshot, list(sheet.slices)
        assert snapshot is not None
        old: Derived | None = self._kept.shelf.get(key)
        if old is None or old.source is not snapshot:
            with self._service.database.read(for_request=True) as session:
                rows = own_rows(kind, viewer, snapshot, session)
            old = Derived.of(snapshot, slices, lambda each: each.with_rows(rows), old)
            self._kept.shelf.put(key, old, old.size)
        return old.written

    def _passing(self, kind: Large, viewer: Viewer, snapshot: ContestSnapshot, asked: Wanted) -> Response:
        def part_of(ids: Sequence[int]) -> Part:
            with self._service.database.read(for_request=True) as session:
                rows = kind.rows(viewer, snapshot, session, ids)
            some = Slice(tuple(ids), tuple(rows[id_] for id_ in ids))
            return Part.of((some.where(kind.collection.filters, asked) if asked else some).plain(), zipped=self._zipped)

        def make(ids: Sequence[int]) -> Callable[[], Awaitable[Part]]:
            return lambda: run_sync(part_of, ids, limiter=self._kept.limiter)

        parts = [make(ids) for ids in in_slices(all_ids(snapshot), PASSING)]
        return PassingReply(parts, zipped=self._zipped)

    async def _reply(self, written: Written, names: Sequence[str], key: tuple[Any, ...], asked: Wanted) -> Response:
        if asked:
            part = partial(self._part, written, names, (*key, asked), asked)
            written = await run_sync(part, limiter=self._kept.limiter)
        if written.tag in self._known:
            return WrittenReply([*CACHING, (b"etag", written.tag.encode())], status_code=304)
        if self._zipped and not written.is_zipped:
            await run_sync(written.zip, limiter=self._kept.limiter)
        return ListReply(written, zipped=self._zipped)

    def _part(self, written: Written, names: Sequence[str], key: object, asked: Wanted) -> Written:
        """What has the wanted values, kept with the version it is of."""
        old: Derived | None = self._kept.shelf.get(key)
        if old is None or old.source is not written:
            old = Derived.of(written, written.slices, lambda each: each.where(names, asked), old)
            self._kept.shelf.put(key, old, old.size)
        return old.written


def _asked(wanted: Mapping[str, str | None]) -> Wanted:
    return tuple((name, value) for name, value in wanted.items() if value is not None)


TheLists = Annotated[Lists, Depends(Lists)]
