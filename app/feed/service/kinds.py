"""The kinds of objects in a feed, and the JSON of each object for everybody, for judges and for single teams."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.queries import accounts as stored_accounts
from app.accounts.queries import roles as stored_roles
from app.accounts.service.accounts import in_contest, of_contest
from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests.service.visibility import seen_by
from app.feed.service.collections import BY_NAME, IN_REFERENCE_ORDER, Collection
from app.feed.service.difference import Shown
from app.feed.service.readers import EVERYBODY, JUDGES, of_account, of_team
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import ContestRow

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
        roles = {row.account_id: row.role for row in stored_roles.of_contest(session, contest_id)}
        known_ids = {row.id for row in of_contest(session, session.get_one(ContestRow, contest_id), set(roles))}
        for row in stored_accounts.accounts(session):
            text = as_text(in_contest(row, roles.get(row.id)), sparse=False)
            views = {JUDGES: text} if row.id in known_ids else {}
            yield Shown(self.type, row.id, {**views, of_account(row.id): text})


def _kinds(names: Sequence[str]) -> tuple[Kind | Accounts, ...]:
    return tuple(Accounts() if name == Accounts.type else Kind(BY_NAME[name]) for name in names)


ORDER: tuple[str, ...] = tuple(each.name for each in IN_REFERENCE_ORDER)
"""Kinds in order of reference: each after those it refers to."""
LARGE: tuple[str, ...] = tuple(each.name for each in IN_REFERENCE_ORDER if each.large)
"""Kinds with thousands of objects: a look reads only those that changed (`app.feed.service.submitted`)."""
BEFORE = _kinds(ORDER[: ORDER.index(LARGE[0])])
"""Kinds that submissions refer to: few objects, rendered whole after every change by an admin."""
AFTER = _kinds(ORDER[ORDER.index(LARGE[-1]) + 1 : -1])
"""Kinds that may refer to submissions; few objects as well."""
STATE = Kind(IN_REFERENCE_ORDER[-1])
"""The last kind of every look: no event may follow the end of updates."""
