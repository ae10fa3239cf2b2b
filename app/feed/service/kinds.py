"""The kinds of objects in a feed, and the JSON of each object for everybody, for judges and for single teams.

- The diff between what the endpoints show now and what was published last, as events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.service.accounts import in_contest, of_contest
from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests.service.visibility import seen_by
from app.feed.queries import NewEvent
from app.feed.service.collections import BY_NAME, IN_REFERENCE_ORDER, Collection
from app.feed.service.log import (
    ACCOUNT,
    EVERYBODY,
    JUDGES,
    OWNER,
    Entry,
    Index,
    Reader,
    ShownLast,
    digest,
    of_account,
    of_team,
)
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import ContestRow

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


JUDGE = Viewer("judge")
Model = type[BaseModel]


@dataclass(frozen=True, slots=True)
class FeedSnapshot:
    """A contest at one look: the snapshots for everybody and for judges, and the transaction for further reads."""

    session: Session
    public: ContestSnapshot
    judges: ContestSnapshot

    def snapshot(self, viewer: Viewer) -> ContestSnapshot:
        """The contest as this viewer sees it."""
        return self.judges if viewer.sees_all else seen_by(viewer, self.public)


@dataclass(frozen=True, slots=True)
class Kind:
    """A collection, rendered as by its GET route: with the same function and model."""

    collection: Collection

    @property
    def type(self) -> str:
        """The name of the kind in events."""
        return self.collection.name

    def shown(self, feed_snapshot: FeedSnapshot) -> Iterator[Shown]:
        """Render every object of the kind for everybody, for judges and for teams with views of their own."""
        seen: dict[str | None, dict[str, str]] = {}
        for key, viewer in ((EVERYBODY, PUBLIC), (JUDGES, JUDGE)):
            for object_id, text in self._texts(viewer, feed_snapshot):
                seen.setdefault(object_id, {})[key] = text
        for viewer in self.collection.special(feed_snapshot.public, feed_snapshot.session):
            assert viewer.team_id is not None
            for object_id, text in self._texts(viewer, feed_snapshot):
                views = seen.setdefault(object_id, {})
                if views.get(EVERYBODY) != text:
                    views[of_team(viewer.team_id)] = text
        for object_id, views in seen.items():
            yield Shown(self.type, object_id, views)

    def _texts(self, viewer: Viewer, feed_snapshot: FeedSnapshot) -> Iterator[tuple[str | None, str]]:
        each = self.collection
        for document in each.documents(viewer, feed_snapshot.snapshot(viewer), feed_snapshot.session):
            model = each.parsed(document)
            yield None if each.single else str(model.id), as_text(model, sparse=each.sparse)  # type: ignore[attr-defined]


def as_text(document: BaseModel, *, sparse: bool) -> str:
    """Serialise a document as its route does."""
    return document.model_dump_json(exclude_unset=sparse)


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts of a contest: judges see all, others their own."""

    type: ClassVar[str] = "accounts"

    def shown(self, feed_snapshot: FeedSnapshot) -> Iterator[Shown]:
        """Render every account; accounts of teams outside the contest only for themselves."""
        session, contest_id = feed_snapshot.session, feed_snapshot.public.contest.id
        roles = {row.account_id: row.role for row in accounts_queries.of_contest(session, contest_id)}
        known_ids = {row.id for row in of_contest(session, session.get_one(ContestRow, contest_id), set(roles))}
        for row in accounts_queries.accounts(session):
            text = as_text(in_contest(row, roles.get(row.id)), sparse=False)
            views = {JUDGES: text} if row.id in known_ids else {}
            yield Shown(self.type, row.id, {**views, of_account(row.id): text})


def _kinds(names: Sequence[str]) -> tuple[Kind | Accounts, ...]:
    return tuple(Accounts() if name == Accounts.type else Kind(BY_NAME[name]) for name in names)


# Kinds in order of reference: each after those it refers to.
ORDER: tuple[str, ...] = tuple(each.name for each in IN_REFERENCE_ORDER)
# Kinds with thousands of objects: a look reads only those that changed (`app.feed.service.submitted`).
LARGE: tuple[str, ...] = tuple(each.name for each in IN_REFERENCE_ORDER if each.large)
# Kinds that submissions refer to: few objects, rendered whole after every change by an admin.
BEFORE = _kinds(ORDER[: ORDER.index(LARGE[0])])
# Kinds that may refer to submissions; few objects as well.
AFTER = _kinds(ORDER[ORDER.index(LARGE[-1]) + 1 : -1])
# The last kind of every look: no event may follow the end of updates.
STATE = Kind(IN_REFERENCE_ORDER[-1])
