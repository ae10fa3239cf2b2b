"""Events for objects that differ from their last published version, for each audience that sees another one now.

Guarantee 3: an audience is sent a deletion only of an object that it saw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.feed.queries import NewEvent
from app.feed.service.index import ACCOUNT, EVERYBODY, JUDGES, OWNER, Entry, Index, Reader, ShownLast, digest

NOBODY: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Shown:
    """An object as endpoints show it now, as JSON text: `p` for everybody, `j` for judges, `o:TEAM`, `a:ACCOUNT`.

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
    """Events for published objects of a kind that nobody may see any more, the latest first."""
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
