"""Rights of a client in a contest: the endpoints of the CLICS Contest API and their properties."""

from __future__ import annotations

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.schemas.settings import ContestSettings
from app.contests.service.capabilities import capabilities
from app.contests.service.contests import contest_of
from app.feed.service.collections import COLLECTIONS, Collection
from app.teams.queries import teams

SCOREBOARD = ("time", "contest_time", "state", "rows", "version")


class Endpoint(BaseModel):
    """A kind of object, and its properties the client may see."""

    type: str
    properties: list[str]


class Access(BaseModel):
    """The rights of a client; they stay the same while the contest runs."""

    capabilities: list[str]
    endpoints: list[Endpoint]


def access(session: Session, viewer: Viewer, contest_id: str) -> Access:
    """The viewer's rights in a contest, those for later phases among them; raises NotFound."""
    contest = contest_of(session, contest_id)
    takes_part = viewer.team_id is not None and teams.takes_part(session, contest, viewer.team_id)
    settings = contest.settings
    allowed = capabilities(viewer, settings, takes_part=takes_part)
    return Access(capabilities=list(allowed), endpoints=endpoints(viewer, settings))


def endpoints(viewer: Viewer, settings: ContestSettings) -> list[Endpoint]:
    """The endpoints this client may read. Without an account there are no accounts, and nothing may refer to one."""
    reads_answers = viewer.sees_all or viewer.team_id is not None or settings.show_others_answers
    listed = [
        Endpoint(type=each.name, properties=_properties(viewer, each, reads_answers=reads_answers))
        for each in COLLECTIONS
        if viewer.logged_in or not each.of_accounts
    ]
    return [*listed, Endpoint(type="scoreboard", properties=list(SCOREBOARD))]


def _properties(viewer: Viewer, collection: Collection, *, reads_answers: bool) -> list[str]:
    names = [name for name in collection.model.model_fields if reads_answers or name not in collection.of_answers]
    return names if viewer.sees_all else [name for name in names if name not in collection.of_judges]
