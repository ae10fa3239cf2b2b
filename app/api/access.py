"""What a client may see and do in a contest: the endpoints of the CLICS Contest API and their properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fastapi import APIRouter
from pydantic import BaseModel

from app.api.account_bodies import AccountView
from app.api.auth import Viewer
from app.api.contest_bodies import ContestView
from app.api.contests import StateView, contest_of
from app.api.deps import CurrentViewer, Reading
from app.api.judgements import JudgedCase, Judgement
from app.api.judging import JudgementTypeView, LanguageView
from app.api.problems import Problem
from app.api.submissions_read import Submission
from app.api.teams import TeamView
from app.storage import teams

router = APIRouter(tags=["contests"])

MODELS: Mapping[str, type[BaseModel]] = {
    "contest": ContestView,
    "judgement-types": JudgementTypeView,
    "languages": LanguageView,
    "problems": Problem,
    "teams": TeamView,
    "accounts": AccountView,
    "state": StateView,
    "submissions": Submission,
    "judgements": Judgement,
    "runs": JudgedCase,
}
SCOREBOARD = ("time", "contest_time", "state", "rows")
OF_JUDGES = {("teams", "hidden"), ("problems", "package")}
OF_ACCOUNTS = {("submissions", "account_id")}


class Endpoint(BaseModel):
    """A kind of object, and its properties the client may see."""

    type: str
    properties: list[str]


class Access(BaseModel):
    """What a client may see and do; does not change while the contest runs."""

    capabilities: list[str]
    endpoints: list[Endpoint]


@router.get("/contests/{contest_id}/access", summary="What the client may see and do")
def access(viewer: CurrentViewer, session: Reading, contest_id: str) -> Access:
    """Also what it may do only later, such as submitting before the start."""
    contest = contest_of(session, contest_id)
    takes_part = viewer.team_id is not None and teams.takes_part(session, contest, viewer.team_id)
    return Access(capabilities=capabilities(viewer, takes_part=takes_part), endpoints=endpoints(viewer))


def capabilities(viewer: Viewer, *, takes_part: bool) -> list[str]:
    """The capabilities of the CLICS Contest API that this client has."""
    if viewer.is_admin:
        return ["contest_start", "contest_thaw", "admin_submit", "proxy_submit"]
    return ["team_submit"] if viewer.role == "team" and takes_part else []


def endpoints(viewer: Viewer) -> list[Endpoint]:
    """The endpoints this client may read. Without an account there are no accounts, and nothing may refer to one."""
    found = []
    for type_, model in MODELS.items():
        if type_ == "accounts" and not viewer.logged_in:
            continue
        found.append(Endpoint(type=type_, properties=_properties(viewer, type_, list(model.model_fields))))
    return [*found, Endpoint(type="scoreboard", properties=list(SCOREBOARD))]


def _properties(viewer: Viewer, type_: str, names: Sequence[str]) -> list[str]:
    hidden = (set() if viewer.sees_all else OF_JUDGES) | (set() if viewer.logged_in else OF_ACCOUNTS)
    return [name for name in names if (type_, name) not in hidden]
