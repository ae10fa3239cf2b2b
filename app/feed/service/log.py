"""The event log of a contest in memory: its index, a cache of pages of events, and the tokens that name a place in it.

Guarantee 6: 2,000 streams share the cached pages, and the bytes of each line; the lock guards the pages, which streams
read while the publisher adds to them.
"""

import hashlib
import json
import re
import struct
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import NamedTuple

from anyio.to_thread import run_sync
from cachetools import LRUCache
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from app.core.messages import N_, BadRequest
from app.feed.queries import Event
from app.feed.service.index import JUDGES, OWNER, Index, Reader, of_account

PAGE = 256
# Clients that keep up read the last pages; pages for those far behind are read again.
MOST_PAGE_BYTES = 32 * 2**20
RUNS = "runs"
# A kind that changes often and that only runs refer to: replaced events of it are deleted after a while.
REPLACEABLE = "judgements"
# About the bytes of memory that a line takes beside its texts.
SIZE_OF_A_LINE = 400
FIELDS = struct.Struct(">QBQ")
NO_KIND = 255  # kinds are numbered from 0
TOKEN = re.compile(r"[ptj][0-9a-f]{66}")


class ObjectText(NamedTuple):
    """An object as JSON: for judges, and for all others who may see it."""

    id: str | None
    judges: str
    others: str


# Runs by judgement.
Runs = Mapping[str, Sequence[ObjectText]]


class Line:
    """An event as it is sent; its bytes are made once per kind of reader that gets it, and shared."""

    __slots__ = ("_lines", "_texts", "audience", "id", "object_id", "owner", "size", "type")

    def __init__(self, row: Event, runs: Runs) -> None:
        self.id = row.id
        self.audience = row.audience
        self.owner = row.owner
        self.type = row.type
        self.object_id = row.object_id
        self._texts = _texts(row, runs)
        self._lines: dict[str, bytes] = {}
        self.size = SIZE_OF_A_LINE + 2 * sum(len(each.others) for each in self._texts)

    def sent(self, epoch: str, role: str) -> bytes:
        """The line or lines for a kind of reader; only the last one has a token: no one resumes between."""
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
        datas = [each.judges if role == JUDGES else each.others for each in self._texts]
        ids = [json.dumps(each.id) for each in self._texts]
        return [f'{{"type":"{self.type}","id":{id_},"data":{data}' for id_, data in zip(ids, datas, strict=True)]


def _texts(row: Event, runs: Runs) -> Sequence[ObjectText]:
    if not of_all_runs(row.type, row.object_id):
        data = row.data or "null"
        return (ObjectText(row.object_id, data, data),)
    return runs.get(row.object_id or "", ()) if row.data is not None else ()


def of_all_runs(type_: str, object_id: str | None) -> bool:
    """Whether an event is about all runs of a judgement. Otherwise it deletes one run."""
    return type_ == RUNS and object_id is not None and "-" not in object_id


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a feed: after event `event`; or, where `kind` is set, within the initial listing as of that event:
    after the object whose first event was `first`, of the kind at that index in the order of kinds.
    """

    event: int
    kind: int | None = None
    first: int = 0


def write_token(epoch: str, place: Place, role: str) -> str:
    """Write the token of a place, valid for the log with the secret `epoch` and this kind of reader only.

    The token is encrypted: the number of events would reveal verdicts behind a frozen board. A place has one token.
    """
    kind = NO_KIND if place.kind is None else place.kind
    plain = FIELDS.pack(place.event, kind, place.first)
    return f"{role}{_cipher(epoch).encrypt(plain, [role.encode()]).hex()}"


def read_token(token: str, epoch: str, head: int, role: str) -> Place:
    """Read a token; raises BadRequest for one that this log did not give to such a reader."""
    if TOKEN.fullmatch(token) and token[0] == role:
        with suppress(InvalidTag):
            plain = _cipher(epoch).decrypt(bytes.fromhex(token[1:]), [role.encode()])
            event, kind, first = FIELDS.unpack(plain)
            if event <= head:
                return Place(event, None if kind == NO_KIND else kind, first)
    raise BadRequest(N_("expected a token of this feed, found %(found)r"), where="since_token", found=token[:40])


def _cipher(epoch: str) -> AESSIV:
    # The same place gives the same text, which needs a mode without a nonce.
    return AESSIV(hashlib.sha256(epoch.encode()).digest())


# A page's number, and the only kind whose events it has; None: it has all.
PageKey = tuple[int, str | None]


@dataclass
class Log:
    """A contest's log. Only the publisher adds to it; streams read it from the event loop.

    epoch        secret of the contest: tokens of a deleted contest are invalid for a later one of the same id
    head         id of the last event that may be sent
    closed       no events will follow: the contest was deleted, or is another one of the same id
    superfluous  events that newer ones have replaced, and when
    """

    contest_id: str
    read_page: Callable[[str, int, str | None], list[Line]]
    epoch: str = ""
    head: int = 0
    closed: bool = False
    index: Index = field(default_factory=Index)
    superfluous: deque[tuple[datetime, int]] = field(default_factory=deque)
    pages: LRUCache[PageKey, list[Line]] = field(default_factory=lambda: LRUCache(MOST_PAGE_BYTES, _bytes_of))
    guard: Lock = field(default_factory=Lock)

    def take(self, row: Event) -> None:
        """Add a stored event to the index only."""
        self.head = row.id
        replaced = self.index.take(row)
        if row.type == REPLACEABLE:
            self.superfluous.extend((row.time, id_) for id_ in sorted(replaced))

    def add(self, row: Event, runs: Runs) -> None:
        """Add a new event to the index and its page; streams may send it from now on."""
        number = page_of(row.id)
        with self.guard:
            page = self.pages.get((number, None))
        if page is None and row.id == ids_on(number)[0]:
            page = []
        elif page is None:
            page = [line for line in self.read_page(self.contest_id, number, None) if line.id < row.id]
        with self.guard:
            self.pages[number, None] = [*page, Line(row, runs)]
            self.take(row)

    def take_superfluous(self, moment: datetime) -> list[int]:
        """Remove and return the events that were replaced before a moment."""
        ids = []
        while self.superfluous and self.superfluous[0][0] < moment:
            ids.append(self.superfluous.popleft()[1])
        return ids

    def gets(self, reader: Reader, line: Line) -> bool:
        """Whether an event is for this reader. Its team's event is not, where the account has a view of its own."""
        if not reader.gets(line.audience, line.owner):
            return False
        if OWNER not in line.audience or line.owner != reader.team_id or reader.account_id is None:
            return True
        entry = self.index.entry(line.type, line.object_id)
        return entry is None or of_account(reader.account_id) not in entry.views

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


async def lines_behind(log: Log, at: int) -> Sequence[Line]:
    """The next events, a page at a time."""
    for number in range(page_of(at + 1), page_of(log.head) + 1 if at < log.head else 0):
        lines = await page(log, number)
        if left := lines[bisect_right(lines, at, key=lambda line: line.id) :]:
            return left
    return []


async def lines_of(log: Log, ids: Iterable[int], type_: str) -> dict[int, Line]:
    """Events of a kind by id, those that were replaced and deleted in the meantime left out.

    The others of their pages are not read: runs, which are rendered again, would be for each kind beside them.
    """
    lines: dict[int, Line] = {}
    wanted = set(ids)
    for number in sorted({page_of(id_) for id_ in wanted}):
        lines.update((line.id, line) for line in await page(log, number, type_) if line.id in wanted)
    return lines


async def page(log: Log, number: int, type_: str | None = None) -> Sequence[Line]:
    """A page, or those on it of one kind, from memory or read in a thread."""
    cached = log.page_at_hand(number, type_)
    return cached if cached is not None else await run_sync(log.page, number, type_)
