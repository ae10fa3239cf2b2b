"""Accounts with their tokens, and teams."""

from __future__ import annotations

from typing import NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict


class Identity(TypedDict):
    """The account that is logged in."""

    username: str


class Account(TypedDict):
    """An account; without a team it is a judge's, an admin's or a helper's."""

    id: str
    username: str
    team_id: str | None


class NewAccount(TypedDict):
    """An account that an import made or changed, with the password that the server made for it."""

    username: str
    name: str
    team_id: str | None
    team: NotRequired[str | None]
    has_password: NotRequired[bool]
    password: NotRequired[str]


class Change(TypedDict):
    """A property before and after an import; of a secret both are null."""

    property: str
    before: str | bool | None
    after: str | bool | None


class Person(NewAccount):
    """An account of a class list: made, changed or unchanged."""

    where: str
    account: str
    changes: list[Change]


class TeamChanged(TypedDict):
    """A team that was there, and what an import changes of it."""

    team_id: str
    changes: list[Change]


class ClassList(TypedDict):
    """An imported class list: its people, the ids of what is new, and the teams that change."""

    people: list[Person]
    changed_teams: list[TeamChanged]
    teams: list[str]
    organizations: list[str]
    groups: list[str]


class Token(TypedDict):
    """A token of an account."""

    id: str
    label: str
    created: str
    last_used: str | None
    expires: str | None
    current: bool


class NewToken(TypedDict):
    """A token just made: the only reply that shows it."""

    id: str
    token: str


class TeamName(TypedDict):
    """A team's id and name."""

    id: str
    name: str


class Team(TeamName):
    """A team as admins and judges see it."""

    group_ids: list[str]
    organization_id: NotRequired[str | None]
    hidden: NotRequired[bool]
    disqualified: NotRequired[bool]


class Role(TypedDict):
    """The role of an account in a contest or at a problem."""

    account_id: str
    username: str
    name: str | None
    role: str
    rests: bool
    granted_by: str | None
    granted: str


class Organiser(TypedDict):
    """An account with roles: whether it may make contests, and its roles by contest and by problem."""

    account_id: str
    username: str
    organiser: bool
    contests: dict[str, str]
    problems: dict[str, str]


class AuditEntry(TypedDict):
    """A change, by whom and from where."""

    id: str
    time: str
    username: str
    role: str
    address: str
    credential: str
    operation: str
    method: str
    path: str
    account_id: str | None
    contest_id: str | None
    problem_id: str | None
    changes: dict[str, JsonValue]


class Identified(TypedDict):
    """Anything that has an id."""

    id: str
