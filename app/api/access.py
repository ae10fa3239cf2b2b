"""What a client may see and do in a contest: the endpoints of the CLICS Contest API and their properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from app.api import teams as team_routes
from app.api.account_bodies import AccountView
from app.api.auth import Viewer
from app.api.awards import AwardView
from app.api.capabilities import capabilities
from app.api.clarifications import ClarificationView
from app.api.commentary import CommentaryView
from app.api.contest_bodies import ContestView
from app.api.contests import StateView, contest_of
from app.api.deps import CurrentViewer, Reading
from app.api.directory import COLLECTIONS
from app.api.gated import GatedRoute
from app.api.judgements import JudgedCase, Judgement
from app.api.judging import JudgementTypeView, LanguageView
from app.api.problems import Problem
from app.api.submissions_read import Submission
from app.api.teams import TeamView
from app.storage import teams

router = APIRouter(route_class=GatedRoute, tags=["contests"])

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


@router.get("/contests/{contest_id}/access", summary="What the client may see and do")
def get_access(viewer: CurrentViewer, session: Reading, contest_id: str) -> Access:
    """Also what it may do only later, such as submitting before the start."""
    contest = contest_of(session, contest_id)
    takes_part = viewer.team_id is not None and teams.takes_part(session, contest, viewer.team_id)
    allowed = capabilities(viewer, contest.settings, takes_part=takes_part)
    return Access(capabilities=list(allowed), endpoints=endpoints(viewer, contest.settings))


def endpoints(viewer: Viewer, settings: Mapping[str, Any]) -> list[Endpoint]:
    """The endpoints this client may read. Without an account there are no accounts, and nothing may refer to one."""
    found = []
    reads_answers = viewer.sees_all or viewer.team_id is not None or bool(settings.get("show_others_answers"))
    for type_, model in MODELS.items():
        names = _properties(viewer, type_, [*model.model_fields, *(BESIDE.get(type_, ()) if reads_answers else ())])
        if names:
            found.append(Endpoint(type=type_, properties=names))
    return [*found, Endpoint(type="scoreboard", properties=list(SCOREBOARD))]


def _properties(viewer: Viewer, type_: str, names: Sequence[str]) -> list[str]:
    hidden = (set() if viewer.sees_all else OF_JUDGES) | (set() if viewer.logged_in else OF_ACCOUNTS)
    return [name for name in names if (type_, name) not in hidden and (type_, "*") not in hidden]
