"""The kinds of objects in a feed, and the text of each object for everybody, for judges and for single teams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.grading.scoreboard_cache import ContestSnapshot
from app.services.collections import BY_NAME, IN_REFERENCE_ORDER, Collection
from app.services.feed.difference import Shown
from app.services.feed.readers import EVERYBODY, JUDGES, of_account, of_team
from app.services.people import account_bodies
from app.services.viewer import PUBLIC, Viewer
from app.services.visibility import seen_by
from app.storage import accounts as stored_accounts
from app.storage import teams as stored_teams
from app.storage.tables import ContestRow

JUDGE = Viewer("judge")
Model = type[BaseModel]


@dataclass(frozen=True, slots=True)
class FeedSnapshot:
    """A contest as one look found it: for everybody and for judges, and the transaction to read more in."""

    session: Session
    public: ContestSnapshot
    judges: ContestSnapshot

    def snapshot(self, viewer: Viewer) -> ContestSnapshot:
        """The contest as this viewer sees it."""
        return self.judges if viewer.sees_all else seen_by(viewer, self.public)


@dataclass(frozen=True, slots=True)
class Kind:
    """One collection, shown as its GET route shows it: by the same function, in the same model."""

    collection: Collection

    @property
    def type(self) -> str:
        """The name of the kind in events."""
        return self.collection.name

    def shown(self, scene: FeedSnapshot) -> Iterator[Shown]:
        """Every object of the kind, with its text for everybody, for judges and for some teams."""
        seen: dict[str | None, dict[str, str]] = {}
        for key, viewer in ((EVERYBODY, PUBLIC), (JUDGES, JUDGE)):
            for object_id, text in self._texts(viewer, scene):
                seen.setdefault(object_id, {})[key] = text
        for viewer in self.collection.special(scene.public, scene.session):
            assert viewer.team_id is not None
            for object_id, text in self._texts(viewer, scene):
                views = seen.setdefault(object_id, {})
                if views.get(EVERYBODY) != text:
                    views[of_team(viewer.team_id)] = text
        for object_id, views in seen.items():
            yield Shown(self.type, object_id, views)

    def _texts(self, viewer: Viewer, scene: FeedSnapshot) -> Iterator[tuple[str | None, str]]:
        each = self.collection
        for document in each.documents(viewer, scene.snapshot(viewer), scene.session):
            model = each.parsed(document)
            yield None if each.single else str(model.id), as_text(model, sparse=each.sparse)  # type: ignore[attr-defined]


def as_model(model: Model, document: Mapping[str, Any] | BaseModel) -> BaseModel:
    """A document as its route answers it."""
    return document if isinstance(document, BaseModel) else model.model_validate(document)


def as_text(document: BaseModel, *, sparse: bool) -> str:
    """The JSON its route answers."""
    return document.model_dump_json(exclude_unset=sparse)


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts of a contest: all for judges, and for everybody else their own."""

    type: ClassVar[str] = "accounts"

    def shown(self, scene: FeedSnapshot) -> Iterator[Shown]:
        """Every account there is; those of teams that do not take part only for themselves."""
        contest = scene.session.get_one(ContestRow, scene.public.contest.id)
        taking_part = {row.id for row in stored_teams.taking_part(scene.session, contest)}
        for row in stored_accounts.accounts(scene.session):
            text = as_text(account_bodies.view(row), sparse=False)
            views = {JUDGES: text} if row.team_id is None or row.team_id in taking_part else {}
            yield Shown(self.type, row.id, {**views, of_account(row.id): text})


def _kinds(names: Sequence[str]) -> tuple[Kind | Accounts, ...]:
    return tuple(Accounts() if name == Accounts.type else Kind(BY_NAME[name]) for name in names)


ORDER: tuple[str, ...] = tuple(each.name for each in IN_REFERENCE_ORDER)
"""Every kind after those it may refer to."""
LARGE: tuple[str, ...] = tuple(each.name for each in IN_REFERENCE_ORDER if each.large)
"""Kinds with thousands of objects: a look reads only those that changed (`app.services.feed.submitted`)."""
BEFORE = _kinds(ORDER[: ORDER.index(LARGE[0])])
"""Kinds that submissions refer to: few objects, read as a whole whenever an admin has changed something."""
AFTER = _kinds(ORDER[ORDER.index(LARGE[-1]) + 1 : -1])
"""Kinds that may refer to submissions; few objects as well."""
STATE = Kind(IN_REFERENCE_ORDER[-1])
"""The last kind of every look: nothing may follow the end of updates."""
