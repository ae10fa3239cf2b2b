"""What has to be told: the difference between what the endpoints show now and what was told last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from app.services.feed.log import Index, digest
from app.services.feed.readers import ACCOUNT, EVERYBODY, JUDGES, OWNER, Entry, Reader, ShownLast
from app.storage.events import NewEvent

NOBODY: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class Shown:
    """One object as the endpoints show it now, as JSON text: `p` for everybody, `j` for judges, `o:TEAM`, `a:ACCOUNT`.

    owner  the team whose own view takes the place of everybody's, as for a submission
    """

    type: str
    id: str | None
    views: Mapping[str, str]
    owner: str | None = None


def changes(index: Index, shown: Iterable[Shown]) -> list[NewEvent]:
    """Events for those objects that are not as they were told."""
    return [event for each in shown for event in _of_one(each, index.entry(each.type, each.id))]


def deletions(index: Index, type_: str, shown: Iterable[str | None]) -> list[NewEvent]:
    """Events for the objects of a kind that are shown to nobody any more, the last one first."""
    there = set(shown)
    gone = [object_id for _, object_id in index.order.get(type_, []) if object_id not in there]
    found: list[NewEvent] = []
    for object_id in reversed(gone):
        entry = index.entry(type_, object_id)
        owner = entry.owner if entry is not None else None
        found += _of_one(Shown(type_, object_id, NOBODY, owner), entry)
    return found


def _of_one(new: Shown, old: Entry | None) -> Iterator[NewEvent]:
    told = old.views if old is not None else {}
    groups: dict[str | None, str] = {}
    plain = [EVERYBODY, JUDGES]
    if new.owner is not None:
        plain.insert(1, f"{OWNER}:{new.owner}")
    for key in plain:
        data = new.views.get(key)
        before = told[key].digest if key in told else None
        if before != (None if data is None else digest(data)):
            groups[data] = groups.get(data, "") + key[0]
    others = sorted({*told, *new.views} - set(plain))
    for key in others:  # before the team's: what an account sees stands in its place
        if key[0] == ACCOUNT:
            yield from _of_account(new, told, key)
    for data, audience in groups.items():
        owner = None if audience == JUDGES else new.owner
        yield NewEvent(audience, owner, new.type, new.id, data)
    said = next(((True, data) for data, audience in groups.items() if EVERYBODY in audience), (False, None))
    for key in others:
        if key[0] == OWNER:
            yield from _of_team(new, old, key, said)


def _of_account(new: Shown, told: Mapping[str, ShownLast], key: str) -> Iterator[NewEvent]:
    wanted = new.views.get(key)
    known = told[key].digest if key in told else None
    if known != (None if wanted is None else digest(wanted)):
        yield NewEvent(ACCOUNT, key.partition(":")[2], new.type, new.id, wanted)


def _of_team(new: Shown, old: Entry | None, key: str, said: tuple[bool, str | None]) -> Iterator[NewEvent]:
    """The event for one team, unless what everybody was told just now is right for it already."""
    team_id = key.partition(":")[2]
    wanted = new.views.get(key, new.views.get(EVERYBODY))
    if said[0]:
        known = None if said[1] is None else digest(said[1])
    else:
        view = old.seen_by(Reader(team_id=team_id)) if old is not None else None
        known = view.digest if view is not None else None
    if known != (None if wanted is None else digest(wanted)):
        yield NewEvent(OWNER, team_id, new.type, new.id, wanted)
