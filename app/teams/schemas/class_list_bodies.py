"""Documents of class lists: their rows, and the people made from them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from app.accounts.schemas.account_bodies import Password, Username
from app.core.bodies import Body, Line, Sparse


class PersonRowBody(Body):
    """A row of a class list. Only the name is needed; teams, organizations and groups are named by id or name."""

    name: Line
    username: Username | None = Field(None, description="default: made of the name, such as maria.lopez")
    password: Password | None = None
    email: Line | None = Field(None, description="makes a CLICS person too; only judges see the address")
    team: Line | None = Field(None, description="default: a team of their own, with their name")
    organization: Line | None = None
    group: Line | None = None
    hidden: bool | None = Field(None, description="whether the team is hidden; default: no, or as it is")


class Change(BaseModel):
    """A property before and after an import; passwords are shown as null."""

    property: str
    before: str | bool | None
    after: str | bool | None


class TeamChanged(BaseModel):
    """A team that was there already and gets an organization, groups, or is hidden or shown."""

    team_id: str
    changes: list[Change]


class PersonMade(Sparse):
    """A row of a class list as it was stored."""

    where: str = Field(description="the line, or the place in the list")
    name: str
    username: str
    account_id: str
    account: Literal["made", "changed", "unchanged"]
    changes: list[Change] = Field([], description="of a changed account")
    team_id: str
    team: str
    has_password: bool = Field(description="whether they can log in with one")
    password: str | None = Field(None, description="what the server made; it is shown in this reply and never again")


class PeopleMade(Sparse):
    """The result of a class list: ids of new teams, organizations and groups, old teams that change, and all people."""

    dry_run: bool
    teams: list[str]
    changed_teams: list[TeamChanged]
    organizations: list[str]
    groups: list[str]
    people: list[PersonMade]
