"""The lists of one service: each is written once for all who see the same, and kept within so many bytes.

- The cache of written lists, within a number of bytes: the list not asked for longest is forgotten first.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from cachetools import LRUCache
from sqlalchemy.orm import Session

from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests.service.visibility import seen_by
from app.core.errors import NotFound
from app.core.messages import N_
from app.core.service import Service
from app.core.shared_work import SharedWork
from app.domain.verdicts import Identical
from app.feed.service.collections import Collection
from app.feed.service.list_renderer import (
    Large,
    ListRenderer,
    Page,
    PageWanted,
    TooLarge,
    all_ids,
    in_slices,
    own_rows,
    page_of,
    row_of,
)
from app.feed.service.slices import Derived, Part, Slice, Wanted, Written
from app.scoreboard.queries.contest_snapshot import ContestSnapshot

# Bytes that an entry takes at least.
OVERHEAD = 2_000


class _Entry(NamedTuple):
    """A value and the bytes it counts for."""

    value: object
    size: int


class Shelf:
    """Values by key; may be used from any thread."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._entries: LRUCache[object, _Entry] = LRUCache(most, lambda entry: entry.size)
        self._lock = threading.Lock()

    @property
    def total(self) -> float:
        """Bytes of all entries."""
        return self._entries.currsize

    # Any: whoever put the value there knows its type.
    def get(self, key: object) -> Any:
        """The value, which is the last to be forgotten now; None where there is none."""
        with self._lock:
            entry = self._entries.get(key)
            return None if entry is None else entry.value

    def put(self, key: object, value: object, size: int) -> None:
        """Keep a value in place of an earlier one, and forget others until all fit; one that is too large is alone."""
        with self._lock:
            self._entries[key] = _Entry(value, min(self.most, size + OVERHEAD))

    def drop(self, key: object) -> None:
        """Forget a value."""
        with self._lock:
            self._entries.pop(key, None)


T = TypeVar("T")
JUDGE = Viewer("judge")
# Lists that are written at once: their threads are taken from nobody else.
THREADS = 2
# The share of the memory for lists that one list may take; a larger one is read anew for everybody who asks.
LARGEST_SHARE = 0.5
# Submissions of which the rows are made at once where a list is not kept.
PASSING = 16


class ListKey(NamedTuple):
    """The key of shared rows of a large collection: of everybody or of judges (`role`), before the start or after."""

    contest_id: str
    name: str
    role: str
    is_closed: bool

    def of_team(self, team_id: str | None) -> Hashable:
        """The key of the same rows with a team's own among them."""
        return (*self, "of", team_id)


class WrittenLists:
    """The lists that are written, and those being written; its coroutines are for one event loop."""

    def __init__(self, service: Service) -> None:
        self.shelf = Shelf(service.settings.list_memory)
        self._service = service
        self._work = SharedWork()
        self._limiter: CapacityLimiter | None = None

    async def large(self, kind: Large, viewer: Viewer, snapshot: ContestSnapshot, asked: Wanted) -> Written:
        """Submissions, judgements or runs: the shared rows, with a team's own ones in their places; raises TooLarge."""
        shared = JUDGE if viewer.sees_all else PUBLIC
        key = ListKey(snapshot.contest.id, kind.collection.name, shared.role, snapshot.closed)
        renderer: ListRenderer | None = self.shelf.get(key)
        if renderer is None:
            renderer = ListRenderer(kind, shared, int(self.shelf.most * LARGEST_SHARE))
            self.shelf.put(key, renderer, 0)
        written = await self._brought(renderer, key, snapshot)
        whose: Hashable = key
        if viewer.team_id is not None and not viewer.sees_all:
            whose = key.of_team(viewer.team_id)
            mix = partial(self._mixed, kind, viewer, renderer, key)
            written = await self._soon(whose, mix, partial(self._mixed_at_hand, renderer, whose))
        return await self._filtered(written, kind.collection.filters, whose, asked)

    async def small(self, collection: Collection, viewer: Viewer, snapshot: ContestSnapshot, asked: Wanted) -> Written:
        """A collection as a viewer sees it; all who see the same share it."""
        sees_other = viewer.logged_in and not viewer.sees_all and collection.sees_other(viewer, snapshot)
        shared = viewer if sees_other else JUDGE if viewer.sees_all else PUBLIC
        key = (snapshot.contest.id, collection.name, shared, snapshot.closed)
        version = self._version(collection, snapshot)

        def look() -> Written | None:
            entry: tuple[Hashable, Written] | None = self.shelf.get(key)
            return entry[1] if entry is not None and entry[0] == version else None

        write = partial(self._write_small, collection, shared, snapshot, key)
        written = await self._soon((*key, version), write, look)
        return await self._filtered(written, collection.filters, key, asked)

    def parts(
        self, kind: Large, viewer: Viewer, snapshot: ContestSnapshot, asked: Wanted, *, zipped: bool
    ) -> list[Callable[[], Awaitable[Part]]]:
        """The parts of a list that is too large to be kept, each made when it is called for."""

        def part_of(ids: Sequence[int]) -> Part:
            with self._service.database.read(for_request=True) as session:
                rows = kind.rows(viewer, snapshot, session, ids)
            some = Slice(tuple(ids), tuple(rows[id_] for id_ in ids))
            return Part.of((some.where(kind.collection.filters, asked) if asked else some).plain(), zipped=zipped)

        def make(ids: Sequence[int]) -> Callable[[], Awaitable[Part]]:
            return lambda: self._in_thread(partial(part_of, ids))

        return [make(ids) for ids in in_slices(all_ids(snapshot), PASSING)]

    async def page(
        self, kind: Large, viewer: Viewer, snapshot: ContestSnapshot, asked: Wanted, wanted: PageWanted
    ) -> Page:
        """Some objects of a large collection, read for this request alone; raises BadRequest."""
        return await self.few(lambda session: page_of(kind, viewer, snapshot, session, asked, wanted))

    async def zip(self, written: Written) -> None:
        """Zip what is not zipped yet of a list."""
        if not written.is_zipped:
            await self._in_thread(written.zip)

    async def few(self, documents: Callable[[Session], T]) -> T:
        """A handful of objects, read for this request alone."""

        def read() -> T:
            with self._service.database.read(for_request=True) as session:
                return documents(session)

        return await run_sync(read)

    async def _brought(self, renderer: ListRenderer, key: ListKey, snapshot: ContestSnapshot) -> Written:
        """The shared rows at this snapshot or a later one; raises TooLarge."""

        def look() -> Written | None:
            if renderer.is_too_large:
                raise TooLarge
            return renderer.written if renderer.snapshot is snapshot else None

        return await self._soon(key, partial(self._bring, renderer, key), look)

    def _version(self, collection: Collection, snapshot: ContestSnapshot) -> Hashable:
        # New with each reading, of everything or of the contest.
        read: Identical[object] = Identical(snapshot.memo if collection.of_board else snapshot.contest.teams)
        return (self._service.database.generation, read, snapshot.state, snapshot.phase)

    def _write_small(self, collection: Collection, viewer: Viewer, snapshot: ContestSnapshot, key: object) -> Written:
        version = self._version(collection, snapshot)  # before reading: what is written meanwhile may be missing
        with self._service.database.read(for_request=True) as session:
            models = [collection.parsed(each) for each in collection.documents(viewer, snapshot, session)]
        rows = tuple(row_of(collection, [model]) for model in models)
        written = Written.of([Slice(tuple(range(len(rows))), rows)])
        self.shelf.put(key, (version, written), written.size)
        return written

    def _bring(self, renderer: ListRenderer, key: ListKey) -> Written:
        contest_id, _, role, is_closed = key
        with renderer.lock:
            now = self._service.boards.snapshot(contest_id, public=role == PUBLIC.role)
            if now is None:
                self.shelf.drop(key)
                raise NotFound(N_("no contest %(contest)r"), contest=contest_id)
            if is_closed:
                now = seen_by(PUBLIC, now)
            with self._service.database.read(for_request=True) as session:
                try:
                    return renderer.bring(now, session)
                finally:
                    self.shelf.put(key, renderer, renderer.size)

    def _mixed_at_hand(self, renderer: ListRenderer, key: Hashable) -> Written | None:
        old: Derived | None = self.shelf.get(key)
        return old.written if old is not None and old.source is renderer.snapshot else None

    def _mixed(self, kind: Large, viewer: Viewer, renderer: ListRenderer, key: ListKey) -> Written:
        """The shared rows with a team's own, made anew where the shared ones are of another snapshot."""
        with renderer.lock:
            snapshot, slices = renderer.snapshot, list(renderer.slices)
        if snapshot is None:
            self._bring(renderer, key)
            snapshot, slices = renderer.snapshot, list(renderer.slices)
        assert snapshot is not None
        own = key.of_team(viewer.team_id)
        old: Derived | None = self.shelf.get(own)
        if old is None or old.source is not snapshot:
            with self._service.database.read(for_request=True) as session:
                rows = own_rows(kind, viewer, snapshot, session)
            old = Derived.of(snapshot, slices, lambda each: each.with_rows(rows), old)
            self.shelf.put(own, old, old.size)
        return old.written

    async def _filtered(self, written: Written, names: Sequence[str], key: Hashable, asked: Wanted) -> Written:
        if not asked:
            return written
        return await self._in_thread(partial(self._part, written, names, (key, asked), asked))

    def _part(self, written: Written, names: Sequence[str], key: object, asked: Wanted) -> Written:
        """The objects of the wanted values, cached with their version; invented values, of no object, fill no cache."""
        old: Derived | None = self.shelf.get(key)
        if old is None or old.source is not written:
            old = Derived.of(written, written.slices, lambda each: each.where(names, asked), old)
            if old.written.slices:
                self.shelf.put(key, old, old.size)
            else:
                self.shelf.drop(key)
        return old.written

    async def _soon(self, key: Hashable, work: Callable[[], T], look: Callable[[], T | None]) -> T:
        """A list, written once for all who wait for it."""
        return await self._work.soon(key, work, look, self._threads())

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await run_sync(work, limiter=self._threads())

    def _threads(self) -> CapacityLimiter:
        """The few threads in which lists are written."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(THREADS)
        return self._limiter
