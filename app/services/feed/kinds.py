"""The kinds of objects a feed tells of, in the order in which they may refer to each other, and how they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.grading.scoreboard_cache import ContestSnapshot
from app.services.contests import contests, judging
from app.services.contests.bodies import ContestView
from app.services.contests.contests import StateView
from app.services.contests.judging import JudgementTypeView, LanguageView
from app.services.feed.difference import Shown
from app.services.feed.readers import EVERYBODY, JUDGES, of_account, of_team
from app.services.messages import clarifications, commentary
from app.services.messages.clarifications import ClarificationView
from app.services.messages.commentary import CommentaryView
from app.services.people import account_bodies, teams
from app.services.people.directory import COLLECTIONS
from app.services.people.teams import TeamView
from app.services.problems import problems
from app.services.problems.problems import Problem
from app.services.scoreboard import awards
from app.services.scoreboard.awards import AwardView
from app.services.viewer import PUBLIC, Viewer
from app.services.visibility import seen_by
from app.storage import accounts as stored_accounts
from app.storage import clarifications as stored_clarifications
from app.storage import teams as stored_teams
from app.storage.tables import ContestRow

JUDGE = Viewer("judge")
Model = type[BaseModel]
Documents = Sequence[Mapping[str, Any]] | Sequence[BaseModel]


@dataclass(frozen=True, slots=True)
class FeedSnapshot:
    """A contest as one look found it: for everybody and for judges, and the transaction to read more in."""

    session: Session
    public: ContestSnapshot
    judges: ContestSnapshot

    def snapshot(self, viewer: Viewer) -> ContestSnapshot:
        """The contest as this viewer sees it."""
        return self.judges if viewer.sees_all else seen_by(viewer, self.public)


def nobody(_scene: FeedSnapshot) -> Iterable[Viewer]:
    """No team sees anything of its own."""
    return ()


@dataclass(frozen=True, slots=True)
class Kind:
    """One collection, or one object where `single`, as its GET route shows it.

    documents  what a viewer sees: the same function that its route asks
    model      the route's model, so that what is sent is what is answered
    sparse     does the route leave out what is not set?
    special    teams that may see more than everybody, or other things
    """

    type: str
    model: Model
    documents: Callable[[Viewer, ContestSnapshot, Session], Documents]
    sparse: bool = False
    single: bool = False
    special: Callable[[FeedSnapshot], Iterable[Viewer]] = nobody

    def shown(self, scene: FeedSnapshot) -> Iterator[Shown]:
        """Every object of the kind with what everybody, judges and some teams see."""
        seen: dict[str | None, dict[str, str]] = {}
        for key, viewer in ((EVERYBODY, PUBLIC), (JUDGES, JUDGE)):
            for object_id, text in self._texts(viewer, scene):
                seen.setdefault(object_id, {})[key] = text
        for viewer in self.special(scene):
            assert viewer.team_id is not None
            for object_id, text in self._texts(viewer, scene):
                views = seen.setdefault(object_id, {})
                if views.get(EVERYBODY) != text:
                    views[of_team(viewer.team_id)] = text
        for object_id, views in seen.items():
            yield Shown(self.type, object_id, views)

    def _texts(self, viewer: Viewer, scene: FeedSnapshot) -> Iterator[tuple[str | None, str]]:
        for document in self.documents(viewer, scene.snapshot(viewer), scene.session):
            found = as_model(self.model, document)
            yield None if self.single else str(found.id), as_text(found, sparse=self.sparse)  # type: ignore[attr-defined]


def as_model(model: Model, document: Mapping[str, Any] | BaseModel) -> BaseModel:
    """A document as its route answers it."""
    return document if isinstance(document, BaseModel) else model.model_validate(document)


def as_text(document: BaseModel, *, sparse: bool) -> str:
    """The JSON its route answers."""
    return document.model_dump_json(exclude_unset=sparse)


def hidden_teams(scene: FeedSnapshot) -> Iterable[Viewer]:
    """Teams that are not shown to everybody see themselves."""
    return [Viewer("team", None, team.id) for team in scene.public.contest.teams if team.hidden]


def those_who_have_begun(scene: FeedSnapshot) -> Iterable[Viewer]:
    """Teams with a clock of their own see the problems before everybody does."""
    return [Viewer("team", None, team_id) for team_id in sorted(scene.public.contest.participations)]


def those_who_are_told(scene: FeedSnapshot) -> Iterable[Viewer]:
    """Teams that have asked, or that are told what not everybody is."""
    asked: set[str] = {viewer.team_id for viewer in hidden_teams(scene) if viewer.team_id is not None}
    groups: set[str] = set()
    for row in stored_clarifications.clarifications(scene.session, scene.public.contest.id):
        asked.update(row.to_team_ids or (), [row.from_team_id] if row.from_team_id is not None else [])
        groups.update(row.to_group_ids or ())
    asked.update(team.id for team in scene.public.contest.teams if not groups.isdisjoint(team.group_ids))
    return [Viewer("team", None, team_id) for team_id in sorted(asked)]


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounts of a contest: all for judges, and for everybody else their own."""

    type: str = "accounts"

    def shown(self, scene: FeedSnapshot) -> Iterator[Shown]:
        """Every account there is; those of teams that do not take part only for themselves."""
        contest = scene.session.get_one(ContestRow, scene.public.contest.id)
        taking_part = {row.id for row in stored_teams.taking_part(scene.session, contest)}
        for row in stored_accounts.accounts(scene.session):
            text = as_text(account_bodies.view(row), sparse=False)
            views = {JUDGES: text} if row.team_id is None or row.team_id in taking_part else {}
            yield Shown(self.type, row.id, {**views, of_account(row.id): text})


BEFORE: tuple[Kind | Accounts, ...] = (
    Kind("contest", ContestView, contests.documents, single=True),
    Kind("judgement-types", JudgementTypeView, judging.type_documents),
    Kind("languages", LanguageView, judging.language_documents),
    Kind("problems", Problem, problems.documents, sparse=True, special=those_who_have_begun),
    *(Kind(each.name, each.view, each.documents, sparse=True, special=hidden_teams) for each in COLLECTIONS[:2]),
    Kind("teams", TeamView, teams.documents, sparse=True, special=hidden_teams),
    *(Kind(each.name, each.view, each.documents, sparse=True, special=hidden_teams) for each in COLLECTIONS[2:]),
    Accounts(),
)
"""What submissions refer to: few, and looked at as a whole whenever an admin has changed something."""
LARGE = ("submissions", "judgements", "runs")
"""What there are thousands of: only those are looked at that have changed (`app.services.feed.submitted`)."""
AFTER: tuple[Kind | Accounts, ...] = (
    Kind("clarifications", ClarificationView, clarifications.documents, sparse=True, special=those_who_are_told),
    Kind("awards", AwardView, awards.documents, special=hidden_teams),
    Kind("commentary", CommentaryView, commentary.documents, sparse=True, special=hidden_teams),
)
"""What may refer to submissions; few as well."""
STATE = Kind("state", StateView, contests.state_documents, single=True)
"""The last word of every look: nothing may follow the end of updates."""
ORDER: tuple[str, ...] = (*(kind.type for kind in BEFORE), *LARGE, *(kind.type for kind in AFTER), STATE.type)
"""Every kind after those it may refer to."""
