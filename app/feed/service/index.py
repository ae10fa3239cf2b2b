"""What a feed has published last, and the events for objects that differ from it now, for each audience that sees them.

Guarantee 3: an audience is sent a deletion only of an object that it saw.
"""

import hashlib
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from app.accounts.service.viewer import Viewer
from app.feed.queries import Event, NewEvent

EVERYBODY, OWNER, JUDGES, ACCOUNT = "p", "o", "j", "a"


def digest(text: str) -> int:
    """Hash a document, to notice changes."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader of a contest's feed: a judge, or the public, possibly with a team and an account."""

    sees_all: bool = False
    team_id: str | None = None
    account_id: str | None = None

    @property
    def role(self) -> str:
        """The letter of the kind of reader; tokens are valid for one kind only."""
        if self.sees_all:
            return "j"
        return "p" if self.team_id is None else "t"

    def gets(self, audience: str, owner: str | None) -> bool:
        """Whether this reader is in an event's audience."""
        if self.sees_all:
            return JUDGES in audience
        if EVERYBODY in audience and (owner is None or owner != self.team_id):
            return True
        if OWNER in audience and owner is not None and owner == self.team_id:
            return True
        return ACCOUNT in audience and owner is not None and owner == self.account_id

    def views(self, owner: str | None) -> list[str]:
        """The keys of `Entry.views` for this reader, except its account's; the latest view holds."""
        if self.sees_all:
            return [JUDGES]
        keys = [EVERYBODY] if owner is None or owner != self.team_id else []
        if self.team_id is not None:
            keys.append(of_team(self.team_id))
        return keys


def reader_of(viewer: Viewer) -> Reader:
    """The reader for a viewer."""
    return Reader(viewer.sees_all, None if viewer.sees_all else viewer.team_id, viewer.account_id)


def of_team(team_id: str) -> str:
    """The key of a team's view, which replaces or complements the public one."""
    return f"{OWNER}:{team_id}"


def of_account(account_id: str) -> str:
    """The key of one account's view."""
    return f"{ACCOUNT}:{account_id}"


class ShownLast(NamedTuple):
    """The version of an object published last to an audience: its digest (None: deleted) and the event's id."""

    digest: int | None
    event_id: int


@dataclass(slots=True)
class Entry:
    """A published object: `owner` is the team that audience `p` excludes; the last version of each view."""

    owner: str | None = None
    views: dict[str, ShownLast] = field(default_factory=dict)

    def seen_by(self, reader: Reader) -> ShownLast | None:
        """The last version for this reader, if any. An account's view comes before its team's."""
        if not reader.sees_all and reader.account_id is not None:
            own = self.views.get(of_account(reader.account_id))
            if own is not None:
                return own
        views = [view for key in reader.views(self.owner) if (view := self.views.get(key)) is not None]
        return max(views, key=lambda view: view.event_id, default=None)


class Index:
    """The last published version of every object, by kind and id; each kind in the order of first events."""

    def __init__(self) -> None:
        self.of: dict[str, dict[str | None, Entry]] = {}
        self._order: dict[str, list[tuple[int, str | None]]] = {}

    def ids(self, type_: str) -> list[str | None]:
        """The ids of all objects of a kind that were ever published, in the order of their first events."""
        return list(self.of.get(type_, ()))

    def entry(self, type_: str, object_id: str | None) -> Entry | None:
        """The published versions of one object."""
        return self.of.get(type_, {}).get(object_id)

    def take(self, row: Event) -> set[int]:
        """Add an event; returns the ids of events that it replaces for all readers."""
        objects = self.of.setdefault(row.type, {})
        entry = objects.get(row.object_id)
        if entry is None:
            entry = objects[row.object_id] = Entry()
            self._order.setdefault(row.type, []).append((row.id, row.object_id))
        if EVERYBODY in row.audience:
            entry.owner = row.owner
        shown = ShownLast(None if row.data is None else digest(row.data), row.id)
        before = {view.event_id for view in entry.views.values()}
        entry.views.update(dict.fromkeys(_keys(row.audience, row.owner), shown))
        return before.difference(view.event_id for view in entry.views.values())

    def behind(self, type_: str, first: int, reader: Reader, most: int) -> tuple[list[tuple[int, int]], int | None]:
        """The next objects of a kind that this reader sees, as (first event, last event), and where to continue."""
        # The order never changes, so that a client of any age finds its place in it.
        order = self._order.get(type_, [])
        at = bisect_right(order, first, key=lambda place: place[0])
        some = order[at : at + most]
        objects: list[tuple[int, int]] = []
        for began, object_id in some:
            entry = self.entry(type_, object_id)
            view = None if entry is None else entry.seen_by(reader)
            if view is not None and view.digest is not None:
                objects.append((began, view.event_id))
        return objects, some[-1][0] if len(some) == most else None


def _keys(audience: str, owner: str | None) -> list[str]:
    """The keys of the views of an audience, each string once: hundreds of thousands of objects have them."""
    return [letter if letter in {EVERYBODY, JUDGES} else sys.intern(f"{letter}:{owner}") for letter in audience]


NOBODY: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Shown:
    """An object as endpoints show it now, as JSON text: `p` for everyone, `j` for judges, `o:TEAM`, `a:ACCOUNT`.

    owner  the team whose view replaces the public one, as for a submission
    """

    type: str
    id: str | None
    views: Mapping[str, str]
    owner: str | None = None


def changes(index: Index, shown: Iterable[Shown]) -> list[NewEvent]:
    """Events for the objects that differ from their last published version."""
    return [event for each in shown for event in _of_one(each, index.entry(each.type, each.id))]


def deletions(index: Index, type_: str, shown: Iterable[str | None]) -> list[NewEvent]:
    """Events for published objects of a kind that no one may see any longer, the latest first."""
    shown_ids = set(shown)
    gone = [object_id for object_id in index.ids(type_) if object_id not in shown_ids]
    events: list[NewEvent] = []
    for object_id in reversed(gone):
        entry = index.entry(type_, object_id)
        owner = entry.owner if entry is not None else None
        events += _of_one(Shown(type_, object_id, NOBODY, owner), entry)
    return events


def _of_one(new: Shown, old: Entry | None) -> Iterator[NewEvent]:
    published = old.views if old is not None else {}
    groups: dict[str | None, str] = {}
    plain = [EVERYBODY, JUDGES]
    if new.owner is not None:
        plain.insert(1, f"{OWNER}:{new.owner}")
    for key in plain:
        data = new.views.get(key)
        if _differs(published.get(key), data):
            groups[data] = groups.get(data, "") + key[0]
    others = sorted({*published, *new.views}.difference(plain))
    for key in others:  # before the team's: the view of an account replaces its team's
        if key[0] == ACCOUNT:
            yield from _of_account(new, published, key)
    for data, audience in groups.items():
        owner = None if audience == JUDGES else new.owner
        yield NewEvent(audience, owner, new.type, new.id, data)
    if not others:
        return
    public_event = next(((True, data) for data, audience in groups.items() if EVERYBODY in audience), (False, None))
    for key in others:
        if key[0] == OWNER:
            yield from _of_team(new, old, key, public_event)


def _differs(published: ShownLast | None, data: str | None) -> bool:
    before = None if published is None else published.digest
    if before is None or data is None:
        return (before is None) is not (data is None)
    return before != digest(data)


def _of_account(new: Shown, published: Mapping[str, ShownLast], key: str) -> Iterator[NewEvent]:
    wanted = new.views.get(key)
    if _differs(published.get(key), wanted):
        yield NewEvent(ACCOUNT, key.partition(":")[2], new.type, new.id, wanted)


def _of_team(new: Shown, old: Entry | None, key: str, public_event: tuple[bool, str | None]) -> Iterator[NewEvent]:
    """The event for one team, unless the public event of this look is right for it already."""
    team_id = key.partition(":")[2]
    wanted = new.views.get(key, new.views.get(EVERYBODY))
    if public_event[0]:
        known = None if public_event[1] is None else digest(public_event[1])
    else:
        view = old.seen_by(Reader(team_id=team_id)) if old is not None else None
        known = view.digest if view is not None else None
    if known != (None if wanted is None else digest(wanted)):
        yield NewEvent(OWNER, team_id, new.type, new.id, wanted)
