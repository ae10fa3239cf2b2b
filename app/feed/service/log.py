"""The event log of a contest in memory: the last version of each object, the latest events, a cache of older pages."""

from __future__ import annotations

import hashlib
import json
import struct
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import NamedTuple

from cachetools import LRUCache

from app.feed.queries import Event
from app.feed.service.readers import EVERYBODY, JUDGES, OWNER, Entry, Place, Reader, ShownLast, of_account, write_token

PAGE = 256
MOST_TAIL_BYTES = 8 * 2**20
MOST_PAGE_BYTES = 32 * 2**20
RUNS = "runs"


# About the bytes of memory that a line takes beside its texts.
SIZE_OF_A_LINE = 400
SHAPE, VIEW = struct.Struct("<I"), struct.Struct("<Qq")


class ObjectText(NamedTuple):
    """An object as JSON: for judges, and for all others who may see it."""

    id: str | None
    judges: str
    others: str


# Runs by judgement.
Runs = Mapping[str, Sequence[ObjectText]]


def digest(text: str) -> int:
    """Hash a document, to notice changes."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


class Line:
    """An event as it is sent; its bytes are made once per kind of reader that gets it, and shared."""

    __slots__ = ("_lines", "_texts", "audience", "gone", "id", "object_id", "owner", "size", "type")

    def __init__(self, row: Event, runs: Runs) -> None:
        self.id = row.id
        self.audience = row.audience
        self.owner = row.owner
        self.type = row.type
        self.object_id = row.object_id
        self.gone = row.data is None
        self._texts = _texts(row, runs)
        self._lines: dict[str, bytes] | None = None
        self.size = SIZE_OF_A_LINE + 2 * sum(len(each.others) for each in self._texts)

    def sent(self, epoch: str, role: str) -> bytes:
        """The line or lines for a kind of reader; only the last one has a token: nobody resumes between."""
        if self._lines is None:
            self._lines = {}
        line = self._lines.get(role)
        if line is None:
            line = self._lines[role] = self.at(write_token(epoch, Place(self.id), role), role)
        return line

    def at(self, token: str, role: str) -> bytes:
        """The line with the token of another place."""
        bodies = self._bodies(role)
        if not bodies:
            return b""
        lines = "}\n".join(bodies)
        return f'{lines},"token":"{token}"}}\n'.encode()

    def notifications(self, role: str) -> list[bytes]:
        """The JSON objects without tokens."""
        return [f"{body}}}".encode() for body in self._bodies(role)]

    def _bodies(self, role: str) -> list[str]:
        """The JSON objects without their ends; all but judges may get shorter messages of rejections."""
        of_judges = role == JUDGES
        return [_body(self.type, each.id, each.judges if of_judges else each.others) for each in self._texts]


def _texts(row: Event, runs: Runs) -> Sequence[ObjectText]:
    if not of_all_runs(row.type, row.object_id):
        data = row.data or "null"
        return (ObjectText(row.object_id, data, data),)
    return runs.get(row.object_id or "", ()) if row.data is not None else ()


def of_all_runs(type_: str, object_id: str | None) -> bool:
    """Whether an event is about all runs of a judgement. Otherwise it deletes one run."""
    return type_ == RUNS and object_id is not None and "-" not in object_id


def _body(type_: str, object_id: str | None, data: str) -> str:
    id_ = "null" if object_id is None else json.dumps(object_id)
    return f'{{"type":"{type_}","id":{id_},"data":{data}'


class _Shape(NamedTuple):
    """What thousands of entries share: their owner, and the keys of their views, those of one event together."""

    owner: str | None
    keys: tuple[tuple[str, ...], ...]


class _Step(NamedTuple):
    """What an event makes of an entry: its new shape, and which views of the entry it keeps or replaces for all."""

    shape: bytes
    kept_places: Sequence[slice]
    replaced: Sequence[slice]


@dataclass(frozen=True, slots=True)
class _Order:
    """The objects of a kind in the order of their first events."""

    firsts: array[int] = field(default_factory=lambda: array("Q"))
    ids: list[str | None] = field(default_factory=list)

    def add(self, first: int, object_id: str | None) -> None:
        """Add an object; its id comes first: other threads look for it by its event."""
        self.ids.append(object_id)
        self.firsts.append(first)


class Index:
    """The last published version of every object, by kind and id; each kind in the order of first events.

    There are hundreds of thousands, so that an entry is held as bytes: the number of its shape, then for each event of
    it the digest and the event's id, which is negative for a deletion.
    """

    def __init__(self) -> None:
        self.of: dict[str, dict[str | None, bytes]] = {}
        self._order: dict[str, _Order] = {}
        self._shapes: list[_Shape] = []
        self._numbers: dict[_Shape, int] = {}
        self._steps: dict[tuple[bytes, str, str | None], _Step] = {}

    def ids(self, type_: str) -> Sequence[str | None]:
        """The ids of all objects of a kind that were ever published, in the order of their first events."""
        return self._order.get(type_, _Order()).ids

    def entry(self, type_: str, object_id: str | None) -> Entry | None:
        """The published versions of one object."""
        packed = self.of.get(type_, {}).get(object_id)
        if packed is None:
            return None
        shape = self._shapes[SHAPE.unpack_from(packed)[0]]
        views: dict[str, ShownLast] = {}
        for keys, (hashed, event_id) in zip(shape.keys, VIEW.iter_unpack(packed[SHAPE.size :]), strict=True):
            view = ShownLast(hashed, event_id) if event_id > 0 else ShownLast(None, -event_id)
            for key in keys:
                views[key] = view
        return Entry(shape.owner, views)

    def take(self, row: Event) -> list[int]:
        """Add an event; returns the ids of events that it replaces for all readers."""
        objects = self.of.setdefault(row.type, {})
        old = objects.get(row.object_id, b"")
        change = (old[: SHAPE.size], row.audience, row.owner)
        step = self._steps.get(change)
        if step is None:  # few shapes change in few ways, and a log has hundreds of thousands of events
            step = self._steps[change] = self._step(*change)
        new = VIEW.pack(0, -row.id) if row.data is None else VIEW.pack(digest(row.data), row.id)
        objects[row.object_id] = b"".join((step.shape, *[old[place] for place in step.kept_places], new))
        if not old:
            self._order.setdefault(row.type, _Order()).add(row.id, row.object_id)
        return [abs(VIEW.unpack(old[replaced])[1]) for replaced in step.replaced]

    def behind(self, type_: str, first: int, reader: Reader, most: int) -> tuple[list[tuple[int, int]], int | None]:
        """The next objects of a kind that this reader sees, as (first event, last event), and where to continue."""
        order = self._order.get(type_, _Order())
        count = len(order.firsts)
        at = bisect_right(order.firsts, first, hi=count)
        objects: list[tuple[int, int]] = []
        for place in range(at, min(at + most, count)):
            entry = self.entry(type_, order.ids[place])
            view = None if entry is None else entry.seen_by(reader)
            if view is not None and view.digest is not None:
                objects.append((order.firsts[place], view.event_id))
        end = at + most
        return objects, order.firsts[end - 1] if end < count else None

    def _step(self, before: bytes, audience: str, owner: str | None) -> _Step:
        old = self._shapes[SHAPE.unpack(before)[0]] if before else _Shape(None, ())
        mine = _keys(audience, owner)
        left = [tuple(key for key in keys if key not in mine) for keys in old.keys]
        shape = _Shape(owner if EVERYBODY in audience else old.owner, (*filter(None, left), tuple(mine)))
        number = self._numbers.setdefault(shape, len(self._shapes))
        if number == len(self._shapes):
            self._shapes.append(shape)
        places = [slice(at, at + VIEW.size) for at in range(SHAPE.size, SHAPE.size + len(left) * VIEW.size, VIEW.size)]
        kept_places = [place for place, keys in zip(places, left, strict=True) if keys]
        return _Step(SHAPE.pack(number), kept_places, [place for place in places if place not in kept_places])


def _keys(audience: str, owner: str | None) -> list[str]:
    return [letter if letter in {EVERYBODY, JUDGES} else f"{letter}:{owner}" for letter in audience]


# A page's number, and the only kind whose events it has; None: it has all.
PageKey = tuple[int, str | None]


@dataclass
class Log:
    """A contest's log. Only the publisher adds to it; streams read it from the event loop.

    epoch   secret of the contest: tokens of a deleted contest are invalid for a later one of the same id
    head    id of the last event that may be sent
    closed  no events will follow: the contest was deleted, or another process has written to the log
    """

    contest_id: str
    read_page: Callable[[str, int, str | None], list[Line]]
    epoch: str = ""
    head: int = 0
    closed: bool = False
    index: Index = field(default_factory=Index)
    tail: list[Line] = field(default_factory=list)
    tail_bytes: int = 0
    pages: LRUCache[PageKey, list[Line]] = field(default_factory=lambda: LRUCache(MOST_PAGE_BYTES, _bytes_of))
    guard: Lock = field(default_factory=Lock)

    def take(self, row: Event) -> list[int]:
        """Add a stored event to the index only; returns the ids of replaced events."""
        self.head = row.id
        return self.index.take(row)

    def add(self, row: Event, runs: Runs) -> list[int]:
        """Add a new event to index and tail; streams may send it from now on."""
        line = Line(row, runs)
        with self.guard:
            if row.id != self.head + 1:  # what was replaced by then has been deleted: pages have what is left
                self.tail, self.tail_bytes = [], 0
            self.tail.append(line)
            self.tail_bytes += line.size
            if self.tail_bytes > MOST_TAIL_BYTES:
                gone = len(self.tail) // 2  # half at once: deleting at the front of a list moves the rest
                self.tail_bytes -= sum(old.size for old in self.tail[:gone])
                del self.tail[:gone]
            return self.take(row)

    def gets(self, reader: Reader, line: Line) -> bool:
        """Whether an event is for this reader. Its team's event is not, where the account has a view of its own."""
        if not reader.gets(line.audience, line.owner):
            return False
        if OWNER not in line.audience or line.owner != reader.team_id or reader.account_id is None:
            return True
        entry = self.index.entry(line.type, line.object_id)
        return entry is None or of_account(reader.account_id) not in entry.views

    def at_hand(self, after: int) -> list[Line] | None:
        """The next events after id `after`, at most PAGE, if they are in memory."""
        with self.guard:
            if after >= self.head:
                return []
            if not self.tail or self.tail[0].id > after + 1:
                return None
            start = after + 1 - self.tail[0].id  # ids in it have no gaps
            return self.tail[start : start + PAGE]

    def page(self, number: int, type_: str | None = None) -> list[Line]:
        """A page of events, or those on it of one kind; blocks where it has to be read."""
        if (at_hand := self.page_at_hand(number, type_)) is not None:
            return at_hand
        is_full = ids_on(number)[1] <= self.head  # before reading: an event added meanwhile is missing in the page
        lines = self.read_page(self.contest_id, number, type_)
        with self.guard:
            if is_full:
                self.pages[number, type_] = lines
        return lines

    def page_at_hand(self, number: int, type_: str | None = None) -> list[Line] | None:
        """A page of events from the cache, which may have more than those of one kind; or None."""
        with self.guard:
            whole = self.pages.get((number, None))
            return whole if whole is not None else self.pages.get((number, type_))


def _bytes_of(page: list[Line]) -> int:
    """The size of a page, of which one alone may be larger than all that may be kept."""
    return min(MOST_PAGE_BYTES, sum(line.size for line in page))


def page_of(event_id: int) -> int:
    """The number of the page that holds an event."""
    return (event_id - 1) // PAGE


def ids_on(number: int) -> tuple[int, int]:
    """The first and the last event of a page."""
    return number * PAGE + 1, (number + 1) * PAGE


@dataclass
class Compaction:
    """Replaced events, to be deleted after a while."""

    waiting: deque[tuple[datetime, int]] = field(default_factory=deque)

    def add(self, when: datetime, ids: Sequence[int]) -> None:
        """Queue events replaced at this moment."""
        self.waiting.extend((when, id_) for id_ in ids)

    def older_than(self, moment: datetime) -> Iterator[int]:
        """Remove and yield those replaced before a moment."""
        while self.waiting and self.waiting[0][0] < moment:
            yield self.waiting.popleft()[1]
