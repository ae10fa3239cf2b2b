"""The event log of a contest in memory: the last version of each object, the latest events, a cache of older pages."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import NamedTuple

from cachetools import LRUCache

from app.services.feed.readers import EVERYBODY, JUDGES, OWNER, Entry, Place, Reader, ShownLast, of_account, write_token
from app.storage.events import Told

PAGE = 256
MOST_TAIL_BYTES = 8 * 2**20
MOST_PAGE_BYTES = 32 * 2**20
RUNS = "runs"


class RunText(NamedTuple):
    """A run as JSON: for judges, and for all others who may see it."""

    id: str
    judges: str
    others: str


Runs = Mapping[str, Sequence[RunText]]
"""Runs by judgement."""


def digest(text: str) -> int:
    """Hash a document, to notice changes."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


class Line:
    """An event as it is sent; its bytes are made once per kind of reader and shared."""

    __slots__ = ("_bodies", "_lines", "audience", "gone", "id", "object_id", "owner", "size", "type")

    def __init__(self, row: Told, runs: Runs) -> None:
        self.id = row.id
        self.audience = row.audience
        self.owner = row.owner
        self.type = row.type
        self.object_id = row.object_id
        self.gone = row.data is None
        self._bodies = _bodies(row, runs)
        self._lines: dict[str, bytes] = {}
        self.size = 200 + 2 * sum(map(len, self._bodies[False]))

    def sent(self, epoch: str, role: str) -> bytes:
        """The line or lines for a kind of reader; only the last one has a token: nobody resumes between."""
        line = self._lines.get(role)
        if line is None:
            line = self._lines[role] = self.at(write_token(epoch, Place(self.id), role), role)
        return line

    def at(self, token: str, role: str) -> bytes:
        """The line with the token of another place."""
        bodies = self._bodies[role == JUDGES]
        if not bodies:
            return b""
        *before, last = bodies
        return b"".join([*(body + b"}\n" for body in before), last, f',"token":"{token}"}}\n'.encode()])

    def notifications(self, role: str) -> list[bytes]:
        """The JSON objects without tokens."""
        return [body + b"}" for body in self._bodies[role == JUDGES]]


def _bodies(row: Told, runs: Runs) -> Mapping[bool, tuple[bytes, ...]]:
    """Bodies for judges (True) and for all others (False), who may see shorter messages of rejections."""
    if not of_all_runs(row.type, row.object_id):
        return _same((_body(row.type, row.object_id, row.data or "null"),))
    texts = runs.get(row.object_id or "", ()) if row.data is not None else ()
    of_judges = tuple(_body(RUNS, each.id, each.judges) for each in texts)
    if all(each.judges == each.others for each in texts):
        return _same(of_judges)
    return {True: of_judges, False: tuple(_body(RUNS, each.id, each.others) for each in texts)}


def _same(bodies: tuple[bytes, ...]) -> Mapping[bool, tuple[bytes, ...]]:
    return {True: bodies, False: bodies}


def of_all_runs(type_: str, object_id: str | None) -> bool:
    """Whether an event is about all runs of a judgement. Otherwise it deletes one run."""
    return type_ == RUNS and object_id is not None and "-" not in object_id


def _body(type_: str, object_id: str | None, data: str) -> bytes:
    id_ = "null" if object_id is None else json.dumps(object_id)
    return f'{{"type":"{type_}","id":{id_},"data":{data}'.encode()


class Index:
    """The last published version of every object, by kind and id; each kind in the order of first events."""

    def __init__(self) -> None:
        self.of: dict[str, dict[str | None, Entry]] = {}
        self.order: dict[str, list[tuple[int, str | None]]] = {}

    def entry(self, type_: str, object_id: str | None) -> Entry | None:
        """The published versions of one object."""
        return self.of.get(type_, {}).get(object_id)

    def take(self, row: Told) -> list[int]:
        """Add an event; returns the ids of events that it replaces for all readers."""
        old = self.entry(row.type, row.object_id)
        keys = _keys(row.audience, row.owner)
        view = ShownLast(None if row.data is None else digest(row.data), row.id)
        views = dict(old.views) if old is not None else {}
        replaced = {views[key].event_id for key in keys if key in views}
        views.update(dict.fromkeys(keys, view))
        owner = row.owner if EVERYBODY in row.audience else old.owner if old is not None else None
        entry = Entry(row.id if old is None else old.first, owner, views)
        self.of.setdefault(row.type, {})[row.object_id] = entry
        if old is None:
            self.order.setdefault(row.type, []).append((row.id, row.object_id))
        return [id_ for id_ in replaced if all(left.event_id != id_ for left in views.values())]

    def behind(self, type_: str, first: int, reader: Reader, most: int) -> tuple[list[tuple[int, int]], int | None]:
        """The next objects of a kind that this reader sees, as (first event, last event), and where to continue."""
        order = self.order.get(type_, [])
        at = bisect_right(order, first, key=lambda each: each[0])
        objects: list[tuple[int, int]] = []
        for place in range(at, min(at + most, len(order))):
            began, object_id = order[place]
            view = self.of[type_][object_id].seen_by(reader)
            if view is not None and view.digest is not None:
                objects.append((began, view.event_id))
        end = at + most
        return objects, order[end - 1][0] if end < len(order) else None


def _keys(audience: str, owner: str | None) -> list[str]:
    return [letter if letter in {EVERYBODY, JUDGES} else f"{letter}:{owner}" for letter in audience]


@dataclass
class Log:
    """A contest's log. Only the publisher adds to it; streams read it from the event loop.

    epoch   secret of the contest: tokens of a deleted contest are invalid for a later one of the same id
    head    id of the last event that may be sent
    closed  no events will follow: the contest was deleted, or another process has written to the log
    """

    contest_id: str
    read_page: Callable[[str, int], list[Line]]
    epoch: str = ""
    head: int = 0
    closed: bool = False
    index: Index = field(default_factory=Index)
    tail: list[Line] = field(default_factory=list)
    tail_bytes: int = 0
    pages: LRUCache[int, list[Line]] = field(default_factory=lambda: LRUCache(MOST_PAGE_BYTES, _bytes_of))
    guard: Lock = field(default_factory=Lock)

    def take(self, row: Told) -> list[int]:
        """Add a stored event to the index only; returns the ids of replaced events."""
        self.head = row.id
        return self.index.take(row)

    def add(self, row: Told, runs: Runs) -> list[int]:
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

    def page(self, number: int) -> list[Line]:
        """A page of events; blocks where it has to be read."""
        if (at_hand := self.page_at_hand(number)) is not None:
            return at_hand
        is_full = ids_on(number)[1] <= self.head  # before reading: an event added meanwhile is missing in the page
        lines = self.read_page(self.contest_id, number)
        with self.guard:
            if is_full:
                self.pages[number] = lines
        return lines

    def page_at_hand(self, number: int) -> list[Line] | None:
        """A page of events from the cache, or None."""
        with self.guard:
            return self.pages.get(number)


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
