"""What a client may see and do in a contest: the endpoints of the CLICS Contest API and their properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from app.domain.settings import ContestSettings
from app.services.contests.bodies import ContestView
from app.services.contests.contests import StateView
from app.services.contests.judging import JudgementTypeView, LanguageView
from app.services.messages.clarifications import ClarificationView
from app.services.messages.commentary import CommentaryView
from app.services.people import teams as team_routes
from app.services.people.account_bodies import AccountView
from app.services.people.directory import COLLECTIONS
from app.services.people.teams import TeamView
from app.services.problems.problems import Problem
from app.services.scoreboard.awards import AwardView
from app.services.submissions.judgements import JudgedCase, Judgement
from app.services.submissions.submissions import Submission
from app.services.viewer import Viewer

MODELS: Mapping[str, type[BaseModel]] = {
    "contest": ContestView,
    "judgement-types": JudgementTypeView,
    "languages": LanguageView,
    "problems": Problem,
    **{collection.name: collection.view for collection in COLLECTIONS},
    "teams": TeamView,
    "accounts": AccountView,
    "state": StateView,
    "submissions": Submission,
    "judgements": Judgement,
    "runs": JudgedCase,
    "clarifications": ClarificationView,
    "awards": AwardView,
    "commentary": CommentaryView,
}
BESIDE: Mapping[str, Sequence[str]] = {"submissions": ("comment",), "runs": ("testcase", "raw", "message")}
"""Properties that are not in the model of a kind, as only those who may read an answer see them."""
SCOREBOARD = ("time", "contest_time", "state", "rows", "version")
OF_JUDGES = {
    ("problems", "package"),
    ("submissions", "account_id"),
    *(("teams", name) for name in team_routes.OF_JUDGES),
    *((collection.name, name) for collection in COLLECTIONS for name in collection.of_judges),
}
OF_ACCOUNTS = {("accounts", "*")}


class Endpoint(BaseModel):
    """A kind of object, and its properties the client may see."""

    type: str
    properties: list[str]


class Access(BaseModel):
    """What a client may see and do; does not change while the contest runs."""

    capabilities: list[str]
    endpoints: list[Endpoint]


def endpoints(viewer: Viewer, settings: ContestSettings) -> list[Endpoint]:
    """The endpoints this client may read. Without an account there are no accounts, and nothing may refer to one."""
    found = []
    reads_answers = viewer.sees_all or viewer.team_id is not None or settings.show_others_answers
    for type_, model in MODELS.items():
        names = _properties(viewer, type_, [*model.model_fields, *(BESIDE.get(type_, ()) if reads_answers else ())])
        if names:
            found.append(Endpoint(type=type_, properties=names))
    return [*found, Endpoint(type="scoreboard", properties=list(SCOREBOARD))]


def _properties(viewer: Viewer, type_: str, names: Sequence[str]) -> list[str]:
    hidden = (set() if viewer.sees_all else OF_JUDGES) | (set() if viewer.logged_in else OF_ACCOUNTS)
    return [name for name in names if (type_, name) not in hidden and (type_, "*") not in hidden]
